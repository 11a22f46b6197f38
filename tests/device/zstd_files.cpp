// zstd_files [-b BLOCKS] FILE...: decodes FILEs by all emulated stages, in batches of so many
// blocks (64), and by libzstd. What the stages take must be what libzstd gives; what they refuse
// and libzstd takes is counted, with the reason that a decoder by the letter of the format has.
// Without such a reason it is wrong. Files of others are checked with it by hand: tests/README.md.
#include "tests/device/emulation.h"

#include "tests/device/zstd_batches.h"
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/zstd_frames.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace
{

using byte_vector = std::vector<unsigned char>;

unsigned long taken, refused, wrong;
std::map<std::string, unsigned long> stricter; // what libzstd takes and the stages refuse, and why

void check_file(const char *name, uint32_t blocks)
{
    std::ifstream file(name, std::ios::binary);
    const byte_vector input((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    unsigned char *due;
    size_t size;
    const bool by_libzstd = frame_reference(input.data(), input.size(), &due, &size);
    zstd_cut cut = {blocks};
    cut.tile = 32768;
    const zstd_decoded is = zstd_decode_all(input.data(), input.size(), cut);
    naive_zstd naive = {};
    const char *what = is.broken;
    if (!file)
        what = "it cannot be read";
    else if (is.is_taken && !by_libzstd)
        what = "taken, and libzstd refuses it";
    else if (is.is_taken && (is.content.size() != size || // memcmp is not for nothing at all
                             (size > 0 && std::memcmp(is.content.data(), due, size) != 0)))
        what = "other content than libzstd's";
    else if (!is.is_taken && by_libzstd && naive_zstd_decode(&naive, input.data(), input.size()))
        what = "refused, and the format allows it";
    else if (!is.is_taken && by_libzstd)
        stricter[naive.why]++;
    if (what)
        std::fprintf(stderr, "FAIL: %s: %s\n", name, what);
    wrong += what != nullptr;
    taken += is.is_taken;
    refused += !is.is_taken;
    naive_zstd_free(&naive);
    std::free(due);
}

} // namespace

int main(int argc, char **argv)
{
    int first = 1;
    uint32_t blocks = 64;
    if (argc > 2 && std::strcmp(argv[1], "-b") == 0) {
        blocks = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
        first = 3;
    }
    for (int i = first; i < argc && blocks > 0; i++)
        check_file(argv[i], blocks);
    for (const auto &why : stricter)
        std::printf("%lu refused, but not by libzstd: %s\n", why.second, why.first.c_str());
    std::printf("%lu taken, %lu refused, %lu wrong\n", taken, refused, wrong);
    return wrong != 0 || taken + refused == 0;
}

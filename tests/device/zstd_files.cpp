// SPDX-License-Identifier: MIT
// zstd_files [-a] [-b BLOCKS] file...: decodes files by all emulated stages, in batches of so many
// blocks (64), and by libzstd; with -a also cut short at every byte, and with every byte changed to
// every other value. What the stages take must be what libzstd gives; what they refuse and libzstd
// takes is counted, with the error that a decoder by the letter of the format has. Without such a
// reason it is wrong. Files of others are checked with it by hand: tests/README.md.
#include "tests/device/emulation.h"

#include "tests/device/zstd_batches.h"
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/zstd_frames.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace
{

using byte_vector = std::vector<unsigned char>;

unsigned long taken, refused, wrong;
std::map<std::string, unsigned long> stricter; // what libzstd takes and the stages refuse, and why

void check(const char *name, const byte_vector &input, uint32_t blocks)
{
    unsigned char *due;
    size_t size;
    const bool by_libzstd = frame_reference(input.data(), input.size(), &due, &size);
    zstd_cut cut = {blocks};
    cut.tile = 32768;
    const zstd_decoded is = zstd_decode_all(input.data(), input.size(), cut);
    naive_zstd naive = {};
    const char *what = is.broken;
    if (is.is_taken && !by_libzstd)
        what = "taken, and libzstd refuses it";
    else if (is.is_taken &&
             (is.content.size() != size || // memcmp wants memory, if only for nothing
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

void check_alterations(const char *name, const byte_vector &input, uint32_t blocks)
{
    for (size_t size = 0; size < input.size(); size++)
        check(name, {input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size)}, blocks);
    for (size_t at = 0; at < input.size(); at++)
        for (unsigned change = 1; change < 256; change++) {
            byte_vector altered = input;
            altered[at] = static_cast<unsigned char>(altered[at] ^ change);
            check(name, altered, blocks);
        }
}

void check_file(const char *name, uint32_t blocks, bool alters)
{
    std::ifstream file(name, std::ios::binary);
    const byte_vector input((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    if (!file) {
        std::fprintf(stderr, "FAIL: %s: cannot be read\n", name);
        wrong++;
        return;
    }
    check(name, input, blocks);
    if (alters)
        check_alterations(name, input, blocks);
}

} // namespace

int main(int argc, char **argv)
{
    uint32_t blocks = 64;
    bool alters = false;
#ifdef __GLIBC__ // memory of this size is taken thousands of times: it is not given back each time
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    for (int option; (option = getopt(argc, argv, "ab:")) != -1;)
        if (option == 'a')
            alters = true;
        else if (option == 'b')
            blocks = static_cast<uint32_t>(std::strtoul(optarg, nullptr, 10));
        else
            return 2;
    for (int i = optind; i < argc && blocks > 0; i++)
        check_file(argv[i], blocks, alters);
    for (const auto &why : stricter)
        std::printf("%lu refused, but not by libzstd: %s\n", why.second, why.first.c_str());
    std::printf("%lu taken, %lu refused, %lu wrong\n", taken, refused, wrong);
    return wrong != 0 || taken + refused == 0;
}

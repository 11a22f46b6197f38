// SPDX-License-Identifier: MIT
// For libFuzzer: all emulated stages of the GPU's zstd decoder, on batches that the host plans,
// against libzstd. What the stages take decodes to what libzstd gives; what they refuse, libzstd
// refuses too, or it is one of the cases that doc/decoding.md lists. A decoder by the letter of the
// format says which.
//
// The first byte says how batches are cut, and what the others are (made_zstd.h). `make fuzz`
// builds it.
#include "tests/device/emulation.h"

#include "tests/device/zstd_batches.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made_zstd.h"
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/random.h"
#include "tests/helpers/zstd_frames.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr size_t size_max = 20000;
constexpr size_t content_max = 1 << 19; // larger is left alone: it takes too long
constexpr size_t blocks_max = 200;

// What libzstd takes and this does not: doc/decoding.md, "What is refused".
static bool is_listed(const char *why)
{
    static const char *const listed[] = {
        "a block larger than the window",
        "an empty block",
        "reserved bits of the modes",
        "no sequences, in two bytes",
        "a weight that is too large",
        "an FSE table of too many symbols",
        "an FSE table that is cut short",
        "bits are left in a stream of literals",
        "a stream of bits without an end",
        "a stream of bits is too short",
        "bits are left after the sequences",
        "more content than a block may have",
        "more literals than a block may have",
        "an offset to before the frame or its window",
        "content of another size than is stated",
    };
    return std::any_of(std::begin(listed), std::end(listed),
                       [=](const char *one) { return std::strcmp(one, why) == 0; });
}

// --- decoding ---

static void check(const byte_vector &input, const naive_zstd &naive, const byte_vector *due,
                  const zstd_cut &cut)
{
    const zstd_decoded is = zstd_decode_all(input.data(), input.size(), cut);
    fuzz_require(!is.broken, is.broken);
    fuzz_require(!is.is_taken || due, "taken, and libzstd refuses it");
    fuzz_require(!is.is_taken || is.content == *due, "other content than libzstd's");
    fuzz_require(!is.is_taken || !naive.why, "taken, and the naive decoder refuses it");
    fuzz_require(is.is_taken || naive.why, "refused, and the naive decoder takes it");
    if (!is.is_taken && due && !is_listed(naive.why)) {
        std::fprintf(stderr, "%s: libzstd takes it, and it is not listed\n", naive.why);
        std::abort();
    }
}

static int decode(const byte_vector &input, zstd_cut cut)
{
    naive_zstd naive;
    const bool taken = naive_zstd_decode(&naive, input.data(), input.size());
    const bool large = naive.content_size > content_max || naive.blocks_count > blocks_max;
    if (large) {
        naive_zstd_free(&naive);
        return -1;
    }
    unsigned char *content;
    size_t content_size;
    const bool by_libzstd = frame_reference(input.data(), input.size(), &content, &content_size);
    const byte_vector due(content, content + content_size);
    std::free(content);
    fuzz_require(by_libzstd || !taken, "the naive decoder takes what libzstd refuses");
    check(input, naive, by_libzstd ? &due : nullptr, cut);
    cut.blocks = blocks_max;
    if (naive.blocks_count > 1)
        check(input, naive, by_libzstd ? &due : nullptr, cut);
    naive_zstd_free(&naive);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > size_max)
        return -1;
    zstd_cut cut = {1 + data[0] % 5u};
    cut.keep_min = data[0] / 5 % 4 * 100u;
    cut.fill = static_cast<unsigned char>(data[0] * 73);
    cut.tile = data[0] % 7 ? 32768 : 4096;
    cut.way = data[0] % 2 ? ZSTD_BY_FRAMES : ZSTD_BY_BYTES;
    emulate_seed(data[0] % 3u);
    return decode(fuzz_zstd(data, size), cut);
}

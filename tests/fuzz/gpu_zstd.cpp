// SPDX-License-Identifier: MIT
// For libFuzzer: zstd files that the emulated GPU decompresses, in batches of two blocks, against
// libzstd. What it takes decodes to what libzstd gives; what it refuses, libzstd refuses too, or it
// is one of the cases that doc/decoding.md lists. A decoder by the letter of the format says which.
// Nobody looks at checksums.
//
// The first byte says how many bytes arrive at a time, and what the others are (made_zstd.h). `make
// fuzz` builds it.
#include "tests/device/gpu_files.h"

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

static int decode(const byte_vector &input, size_t at_once)
{
    static struct gpu_files *const engine = gpu_files_open(&codec_zstd, "524288,2,1,262144", true);
    naive_zstd naive;
    const bool taken = naive_zstd_decode(&naive, input.data(), input.size());
    bool large = naive.content_size > content_max || naive.blocks_count > blocks_max;
    for (size_t i = 0; i < naive.frames_count; i++)
        large |= naive.frames[i].window > 1u << 21; // more than the device has memory for
    unsigned char *content;
    size_t size;
    const bool by_libzstd = !large && frame_reference(input.data(), input.size(), &content, &size);
    if (!large) {
        static const unsigned char none[1] = {};
        fuzz_require(by_libzstd || !taken, "the naive decoder takes what libzstd refuses");
        const gpu_file_result is = gpu_files_count(engine, input.data(), input.size(), at_once,
                                                   !by_libzstd ? nullptr
                                                   : size > 0  ? content
                                                               : none,
                                                   size);
        std::free(content);
        fuzz_require(is != GPU_FILE_WRONG, "other content than libzstd's, or it refuses it");
        fuzz_require((is == GPU_FILE_TAKEN) == taken, "not as the naive decoder has it");
        if (is != GPU_FILE_TAKEN && by_libzstd && !is_listed(naive.why)) {
            std::fprintf(stderr, "%s: libzstd takes it, and it is not listed\n", naive.why);
            std::abort();
        }
    }
    naive_zstd_free(&naive);
    return large ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > size_max)
        return -1;
    return decode(fuzz_zstd(data, size), data[0] * 37u);
}

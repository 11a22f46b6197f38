// SPDX-License-Identifier: MIT
// For libFuzzer: zstd parsed to operations and executed on a core, by every set of loops, against
// libzstd. What is taken decodes to what libzstd gives; what needs the fallback, a decoder by the
// letter of the format refuses, or it has offsets that no window that is parsed reaches.
//
// The first byte says how much of the data the walk sees at a time, and what the others are
// (made_zstd.h). `make fuzz` builds it.
extern "C" {
#include "tests/helpers/frame_by_blocks.h"
}
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made_zstd.h"
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/zstd_frames.h"

#include <algorithm>
#include <cstdlib>

constexpr size_t size_max = 20000;
constexpr size_t content_max = 1 << 20; // larger is left alone: it takes too long

static void check(const byte_vector &input, const by_blocks &by, const byte_vector *due,
                  bool is_legal)
{
    unsigned char *content;
    size_t size;
    const bool taken = frame_by_blocks(&by, input.data(), input.size(), &content, &size);
    const byte_vector is(content, content + size);
    std::free(content);
    fuzz_require(!taken || due, "taken, and libzstd refuses it");
    fuzz_require(!taken || is == *due, "other content than libzstd's");
    fuzz_require(taken || !is_legal, "doubtful, and the naive decoder takes it");
}

static bool has_tiny_block(const naive_zstd &naive)
{
    return std::any_of(
        naive.blocks, naive.blocks + naive.blocks_count,
        [](const naive_block &block) { return block.type == NAIVE_COMPRESSED && block.size < 3; });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static zstd_run *const run = by_blocks_run();
    static const size_t pieces[] = {1, 3, 50, 0, size_max};
    if (size < 1 || size > size_max)
        return -1;
    const byte_vector input = fuzz_zstd(data, size);
    naive_zstd naive;
    const bool is_legal =
        naive_zstd_decode(&naive, input.data(), input.size()) && !has_tiny_block(naive);
    const bool is_large = naive.content_size > content_max;
    naive_zstd_free(&naive);
    if (is_large)
        return -1;
    unsigned char *content;
    size_t content_size;
    const bool is_right = frame_reference(input.data(), input.size(), &content, &content_size);
    const byte_vector due(content, content + content_size);
    std::free(content);
    for (const struct block_loops *const *loops = block_loops; *loops; loops++)
        if ((*loops)->runs_here())
            check(input, {*loops, run, pieces[data[0] % 5]}, is_right ? &due : nullptr, is_legal);
    return 0;
}

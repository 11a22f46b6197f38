/* SPDX-License-Identifier: MIT */
// zstd decoded by all emulated stages, on batches that the host plans, as a device does it.
#ifndef GPUHISTO_TESTS_ZSTD_BATCHES_H
#define GPUHISTO_TESTS_ZSTD_BATCHES_H

#include <cstddef>
#include <cstdint>
#include <vector>

// Which stages copy matches.
enum zstd_way {
    ZSTD_AS_SHIPPED, // as decode_copies_frames() says
    ZSTD_BY_FRAMES,  // copy
    ZSTD_BY_BYTES    // link and follow
};

// How a stream is cut into batches, and how kernels are launched on them.
struct zstd_cut {
    uint32_t blocks;           // of a batch, at most
    size_t at_once = 1u << 30; // compressed bytes that arrive at a time
    unsigned tile = 4096;      // of these, by few threads: 4096, 32768; 0: the one that is shipped
    zstd_way way = ZSTD_AS_SHIPPED;
    uint32_t keep_min = 0;     // as in struct decode_batch
    unsigned char fill = 0xa5; // what memory is full of that nobody has written
};

// What became of a stream.
struct zstd_decoded {
    bool is_taken = false;
    uint32_t refusal = 0;               // of the stages; if 0, the host refuses it
    std::vector<unsigned char> content; // up to the first batch that is refused
    unsigned long batches = 0;
    unsigned long alone = 0;      // of these, with content, stood alone
    const char *broken = nullptr; // a promise of batch.h's that was not kept
};

// Decodes whole frames, in[0..len). One thread.
zstd_decoded zstd_decode_all(const unsigned char *in, size_t len, const zstd_cut &cut);

#endif

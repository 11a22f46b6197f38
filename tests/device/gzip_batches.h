/* SPDX-License-Identifier: MIT */
// gzip decoded by all emulated stages, in batches as the host cuts them, as a device does it.
#ifndef GPUHISTO_TESTS_GZIP_BATCHES_H
#define GPUHISTO_TESTS_GZIP_BATCHES_H

#include <cstddef>
#include <cstdint>
#include <vector>

// How a file is cut into batches, and what memory these have.
struct gzip_cut {
    uint32_t size = 1u << 20;  // compressed bytes of a batch, at least twice GZIP_MARGIN
    uint32_t room = 1u << 22;  // content of a batch
    uint32_t blocks = 256;     // as in struct decode_capacity
    uint32_t frames = 64;      // the same
    uint32_t keep_min = 0;     // as in struct decode_batch
    unsigned char fill = 0xa5; // what memory is full of that nobody has written
};

// What became of a file.
struct gzip_decoded {
    bool is_taken = false;
    uint32_t refusal = 0;
    std::vector<unsigned char> content; // up to the first batch that is refused
    unsigned long batches = 0;
    const char *broken = nullptr; // a promise of the stages' that was not kept
};

// Decodes a file, in[0..len). One thread.
gzip_decoded gzip_decode_all(const unsigned char *in, size_t len, const gzip_cut &cut);

#endif

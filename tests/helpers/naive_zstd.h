/* SPDX-License-Identifier: MIT */
/* A decoder of zstd by the letter of RFC 8878, a bit at a time.
 *
 * It takes no dictionaries and no windows above 2^27 bytes, looks at no checksums, and is stricter
 * than libzstd where that takes what the format forbids: reserved bits, offsets beyond the window,
 * Huffman codes of 12 bits, streams of bits that end too early. It also refuses what some versions
 * of libzstd refuse, although the format may allow it: a count of 0 sequences in two bytes, and
 * tables of Huffman weights that know weights above 11. */
#ifndef GPUHISTO_TESTS_NAIVE_ZSTD_H
#define GPUHISTO_TESTS_NAIVE_ZSTD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum naive_block_type { NAIVE_RAW, NAIVE_RLE, NAIVE_COMPRESSED };

struct naive_block {
    enum naive_block_type type;
    size_t size; /* the compressed bytes after its header */
};

struct naive_frame {
    uint64_t window;
};

struct naive_zstd {
    unsigned char *content;
    struct naive_block *blocks;
    struct naive_frame *frames;
    size_t content_size, blocks_count, frames_count;
    const char *why; /* NULL: decoded to the end; otherwise what is wrong in the last block */
};

/* Decodes in[0..len): whole frames, also skippable ones, one after the other. Returns whether all
 * were taken. The caller frees what was decoded until then by naive_zstd_free. Without memory the
 * process ends with status 1. */
int naive_zstd_decode(struct naive_zstd *result, const unsigned char *in, size_t len);
void naive_zstd_free(struct naive_zstd *result);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* A decoder of zstd by the letter of RFC 8878, a bit at a time. The stages of the GPU's decoder are
 * compared with it, one by one, so it keeps the parts of a frame: literals, sequences, content.
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

struct naive_sequence {
    uint32_t literals, match; /* bytes copied from the literals, then from the content before */
    uint32_t offset_value;    /* as the format has it: 1 to 3 repeat an offset */
    uint32_t offset;          /* what it comes to */
};

enum naive_block_type { NAIVE_RAW, NAIVE_RLE, NAIVE_COMPRESSED };

struct naive_block {
    enum naive_block_type type;
    size_t at, size;                  /* the compressed bytes after its header */
    size_t frame;                     /* index of its frame */
    size_t first_literal, literals;   /* in naive_zstd.literals; raw and RLE blocks have */
    size_t first_sequence, sequences; /* neither. In naive_zstd.sequences */
    size_t first_content, content;    /* in naive_zstd.content */
    uint32_t repeat_offsets_before[3],
        repeat_offsets[3]; /* the last three offsets before and after it */
};

struct naive_frame {
    size_t at, size; /* from its magic number, with its checksum */
    uint64_t window;
    uint64_t stated; /* bytes of content, or UINT64_MAX */
    size_t first_block, blocks;
    size_t first_content, content;
};

struct naive_zstd {
    unsigned char *content, *literals;
    struct naive_sequence *sequences;
    struct naive_block *blocks;
    struct naive_frame *frames;
    size_t content_size, literals_size, sequences_count, blocks_count, frames_count;
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

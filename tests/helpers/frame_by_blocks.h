/* SPDX-License-Identifier: MIT */
/* zstd frames decoded by src/parallel alone, one run of blocks after the other. */
#ifndef GPUHISTO_TESTS_FRAME_BY_BLOCKS_H
#define GPUHISTO_TESTS_FRAME_BY_BLOCKS_H

#include "src/parallel/block_loops.h"
#include "src/parallel/zstd_blocks.h"

/* The way in which frames are decoded. */
struct by_blocks {
    const struct block_loops *loops;
    struct zstd_run *run; /* open; used for one run after the other */
    size_t piece;         /* bytes that the walk sees at a time; 0: only what it must, of a file */
};

/* Reads a run that is in memory. */
struct memory_reader {
    struct zstd_reader reader; /* first; `read` is memory_reader_read */
    const unsigned char *in;   /* in[0..len): from the run on */
    size_t len;
};

size_t memory_reader_read(const struct zstd_reader *reader, unsigned char *to, size_t len,
                          size_t at);

/* Returns an open run, to be closed and freed. Without memory the process ends with status 1. */
struct zstd_run *by_blocks_run(void);

/* Decodes in[0..len), whole frames and skippable ones. Checksums are passed over. True if nothing
 * needs the fallback; the content, of *size bytes, is the caller's to free in either case. Without
 * memory the process ends with status 1. */
bool frame_by_blocks(const struct by_blocks *by, const unsigned char *in, size_t len,
                     unsigned char **content, size_t *size);

#endif

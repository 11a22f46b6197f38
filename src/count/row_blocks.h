/* SPDX-License-Identifier: MIT */
/* Which parts of a long table of counts may have any: a bit for each block of rows, so that a walk
 * over the counts of a small FILE takes time by what it holds, and not by how long the table is. */
#ifndef GPUHISTO_ROW_BLOCKS_H
#define GPUHISTO_ROW_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROW_BLOCKS 4096

struct row_blocks {
    unsigned shift;                   /* a block has 1 << shift rows, at least 64 */
    uint64_t marked[ROW_BLOCKS / 64]; /* a bit for each block */
};

/* Makes blocks of so many rows, none of which is marked. */
void row_blocks_clear(struct row_blocks *blocks, size_t rows);

/* Marks the block of a row. */
static inline void row_blocks_mark(struct row_blocks *blocks, size_t row)
{
    size_t block = row >> blocks->shift;
    blocks->marked[block / 64] |= (uint64_t)1 << block % 64;
}

/* Marks all blocks that are marked in `from`; both have the same rows. */
void row_blocks_add(struct row_blocks *blocks, const struct row_blocks *from);

/* The first row from `row` on whose block is marked, or SIZE_MAX. */
size_t row_blocks_next(const struct row_blocks *blocks, size_t row);

/* Whether the block of a row is marked. */
static inline bool row_blocks_has(const struct row_blocks *blocks, size_t row)
{
    size_t block = row >> blocks->shift;
    return block < ROW_BLOCKS && (blocks->marked[block / 64] >> block % 64 & 1);
}

/* The first row after the block of a row. */
static inline size_t row_blocks_end(const struct row_blocks *blocks, size_t row)
{
    return ((row >> blocks->shift) + 1) << blocks->shift;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "row_blocks.h"

#define SHIFT_LEAST 6 /* bits: 64 rows are 512 bytes of counts */

void row_blocks_clear(struct row_blocks *blocks, size_t rows)
{
    *blocks = (struct row_blocks){.shift = SHIFT_LEAST};
    while ((rows - 1) >> blocks->shift >= ROW_BLOCKS)
        blocks->shift++;
}

void row_blocks_add(struct row_blocks *blocks, const struct row_blocks *from)
{
    for (size_t i = 0; i < ROW_BLOCKS / 64; i++)
        blocks->marked[i] |= from->marked[i];
}

size_t row_blocks_next(const struct row_blocks *blocks, size_t row)
{
    size_t block = row >> blocks->shift, word = block / 64;
    if (block >= ROW_BLOCKS)
        return SIZE_MAX;
    uint64_t marked = blocks->marked[word] >> block % 64 << block % 64;
    while (marked == 0 && ++word < ROW_BLOCKS / 64)
        marked = blocks->marked[word];
    if (marked == 0)
        return SIZE_MAX;
    size_t next = (word * 64 + (size_t)__builtin_ctzll(marked)) << blocks->shift;
    return next > row ? next : row;
}

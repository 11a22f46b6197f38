/* SPDX-License-Identifier: MIT */
/* Finds where blocks of deflate may begin. Nothing marks the beginning of a block, but that of a
 * dynamic block has fields that must fit: two complete codes, and before them the complete code in
 * which they are written. Hardly anything else fits by chance, and a false beginning is harmless:
 * the parser of the block before does not end there. Stored and fixed blocks cannot be found, and
 * last blocks are left out; the parser of the block before goes on with them.
 *
 * Data can be made in which much fits for long, so the reading of headers has a budget. The rest
 * takes the same time for each byte, whatever its value. */
#ifndef GPUHISTO_DEFLATE_FIND_H
#define GPUHISTO_DEFLATE_FIND_H

#include "block_loops.h"

#define DEFLATE_NONE UINT64_MAX

/* Returns the first bit in [from, to) with which a dynamic block that is not the last may begin, or
 * DEFLATE_NONE. The block's codes must be in the input. *budget, unless it is NULL, is how many
 * bits of headers may be read, and is lowered by those that were; below 0 nothing is found. With
 * all loops the result is the same. Pure; any thread. */
uint64_t deflate_find(const struct block_loops *loops, const struct deflate_input *input,
                      uint64_t from, uint64_t to, int64_t *budget);

#endif

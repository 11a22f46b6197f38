/* SPDX-License-Identifier: MIT */
/* Where blocks of deflate may begin. Nothing marks the beginning of a block, but that of a dynamic
 * block has fields that must fit: two complete codes, and before them the complete code in which
 * they are written. Hardly anything else fits by chance, and what does is harmless: whoever parses
 * the block before does not end there. Stored and fixed blocks cannot be found, and last blocks are
 * left out; they are parsed by whoever parses the block before.
 *
 * Data can be made in which much fits for long, so what is read of headers has a budget. The rest
 * takes the same time for each byte, whatever that is. */
#ifndef GPUHISTO_DEFLATE_FIND_H
#define GPUHISTO_DEFLATE_FIND_H

#include "deflate_format.h"

#define DEFLATE_NONE UINT64_MAX

/* Returns the first bit in [from, to) with which a dynamic block that is not the last may begin, or
 * DEFLATE_NONE. The block's codes must be in the input. *budget, unless it is NULL: how many bits
 * of headers may be read, from which those that were are taken; below 0 nothing is found. Pure; any
 * thread. */
uint64_t deflate_find(const struct deflate_input *input, uint64_t from, uint64_t to,
                      int64_t *budget);

#endif

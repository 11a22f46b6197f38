/* SPDX-License-Identifier: MIT */
/* Loops rule out nearly all bits, by the first bits of a block and by its precode. Where these fit,
 * the codes are read: one bit in some 2000. */
#include "deflate_find.h"

static bool has_codes(const struct deflate_input *input, uint64_t bit, int64_t *budget)
{
    struct deflate_codes codes;
    uint64_t end = bit + 3;
    const enum deflate_read read = deflate_read_codes(input, &end, &codes);
    if (budget)
        *budget -= (int64_t)(end - bit);
    return read == DEFLATE_READ;
}

uint64_t deflate_find(const struct block_loops *loops, const struct deflate_input *input,
                      uint64_t from, uint64_t to, int64_t *budget)
{
    uint64_t found[PRECODES_MAX], at = from / 8 * 8;
    to = to < input->bits ? to : input->bits;
    if (budget && *budget < 0)
        return DEFLATE_NONE;
    while (at < to) {
        const unsigned count = loops->find_precodes(input, &at, to, found);
        for (unsigned i = 0; i < count; i++) {
            if (found[i] < from)
                continue;
            if (has_codes(input, found[i], budget))
                return found[i];
            if (budget && *budget < 0)
                return DEFLATE_NONE;
        }
    }
    return DEFLATE_NONE;
}

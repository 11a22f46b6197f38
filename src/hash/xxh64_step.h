/* SPDX-License-Identifier: MIT */
/* What all ways to take stripes share. */
#ifndef GPUHISTO_XXH64_STEP_H
#define GPUHISTO_XXH64_STEP_H

#include <stdint.h>

#define XXH64_PRIME_1 UINT64_C(0x9e3779b185ebca87)
#define XXH64_PRIME_2 UINT64_C(0xc2b2ae3d27d4eb4f)

/* How far ahead stripes are fetched from memory, bytes: a page's end stops the processor's own
 * prefetching. Out of the cache it costs nothing. */
#define XXH64_AHEAD 4096

static inline uint64_t xxh64_rotate(uint64_t word, unsigned by)
{
    return word << by | word >> (64 - by);
}

/* A lane after one more word, times the second prime. */
static inline uint64_t xxh64_step(uint64_t lane, uint64_t product)
{
    return xxh64_rotate(lane + product, 31) * XXH64_PRIME_1;
}

/* Has the compiler leave lanes in registers of their own. It would put them into one vector, whose
 * multiplication takes three times as long as theirs. */
#define XXH64_KEEP_APART(a, b, c, d) __asm__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d))

#endif

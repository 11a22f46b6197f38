/* SPDX-License-Identifier: MIT */
/* The inner loop of XXH64, one variant for each instruction set, and what all variants share.
 *
 * Input is taken in stripes of 32 bytes, one word for each of four lanes. A word is multiplied and
 * added to its lane; the lane is rotated and multiplied again. Only the second multiplication
 * depends on the stripe before. A core has one scalar multiplier, which both multiplications of
 * four lanes keep busy for eight cycles a stripe; the chain itself takes five. Vectors take over
 * the first multiplication. */
#ifndef GPUHISTO_XXH64_VARIANT_H
#define GPUHISTO_XXH64_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XXH64_LANES 4
#define XXH64_STRIPE 32 /* bytes */

#define XXH64_PRIME_1 UINT64_C(0x9e3779b185ebca87)
#define XXH64_PRIME_2 UINT64_C(0xc2b2ae3d27d4eb4f)

/* Prefetch distance, bytes: the hardware prefetcher stops at the end of a page. */
#define XXH64_AHEAD 4096

struct xxh64_variant {
    const char *name;        /* as the kernels for the same instructions are called */
    bool (*runs_here)(void); /* true if this processor has the instructions */
    /* Adds `count` stripes to the lanes; data may have any alignment. */
    void (*add)(uint64_t lanes[XXH64_LANES], const unsigned char *data, size_t count);
};

extern const struct xxh64_variant xxh64_avx512, xxh64_avx2, xxh64_portable;

static inline uint64_t xxh64_rotate(uint64_t word, unsigned by)
{
    return word << by | word >> (64 - by);
}

/* Returns a lane after one more word, given that word times the second prime. */
static inline uint64_t xxh64_step(uint64_t lane, uint64_t product)
{
    return xxh64_rotate(lane + product, 31) * XXH64_PRIME_1;
}

/* Keeps the lanes in scalar registers. Compilers would put them into one vector, whose
 * multiplication takes three times as long. */
#define XXH64_KEEP_APART(a, b, c, d) __asm__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d))

#endif

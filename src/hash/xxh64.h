/* SPDX-License-Identifier: MIT */
/* XXH64, with the seed 0: the hash of zstd's content checksums, and of fingerprints. After Yann
 * Collet's description of the algorithm. A frame is one chain, and what a GPU decompresses waits
 * for the core that hashes it; this is why it is not left to xxHash's library.
 *
 * Input is taken in stripes of 32 bytes, eight for each of four lanes. A lane's word is multiplied
 * and added, and the lane is rotated and multiplied again. Only the latter depends on the stripe
 * before, and takes five cycles. A core has one multiplier for ordinary integers, though, so that
 * both multiplications take eight for the four lanes. Where there are vectors, they do the first
 * one, and the multiplier is left to the second. */
#ifndef GPUHISTO_XXH64_H
#define GPUHISTO_XXH64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XXH64_LANES 4
#define XXH64_STRIPE 32 /* bytes */

/* One way to take stripes. */
struct xxh64_stripes {
    const char *name;        /* as that of a counter for the same instructions */
    bool (*runs_here)(void); /* whether this processor can */
    /* Goes on with `count` stripes from data on, which need not be aligned. */
    void (*add)(uint64_t lanes[XXH64_LANES], const unsigned char *data, size_t count);
};

/* All of them, the fastest first; NULL ends it. The last one runs anywhere. */
extern const struct xxh64_stripes *const xxh64_ways[];
extern const struct xxh64_stripes xxh64_avx512, xxh64_avx2, xxh64_portable;

/* A hash under way: to be copied at will, and continued by any thread. */
struct xxh64 {
    const struct xxh64_stripes *stripes;
    uint64_t lanes[XXH64_LANES];
    uint64_t len;                     /* bytes so far; those after the last stripe are here: */
    unsigned char rest[XXH64_STRIPE]; /* len % XXH64_STRIPE of them */
};

/* Begins one, the fastest way that runs here, or in the way given. */
void xxh64_begin(struct xxh64 *hash);
void xxh64_begin_by(struct xxh64 *hash, const struct xxh64_stripes *stripes);

/* Goes on with data[0..len). */
void xxh64_add(struct xxh64 *hash, const void *data, size_t len);

/* The hash of all that was added; more can be added still. */
uint64_t xxh64_value(const struct xxh64 *hash);

#endif

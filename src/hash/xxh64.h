/* SPDX-License-Identifier: MIT */
/* XXH64 with seed 0, after Yann Collet's description: zstd's content checksum, and fingerprints.
 * It is not left to libxxhash because a frame is one serial chain: what a GPU decompresses waits
 * for the core that hashes it. */
#ifndef GPUHISTO_XXH64_H
#define GPUHISTO_XXH64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XXH64_LANES 4
#define XXH64_STRIPE 32 /* bytes */

/* The inner loop for one instruction set. */
struct xxh64_variant {
    const char *name;        /* as the kernels for the same instructions are called */
    bool (*runs_here)(void); /* true if this processor has the instructions */
    /* Adds `count` stripes to the lanes; data may have any alignment. */
    void (*add)(uint64_t lanes[XXH64_LANES], const unsigned char *data, size_t count);
};

/* All variants, fastest first, ended by NULL. The last one runs anywhere. */
extern const struct xxh64_variant *const xxh64_variants[];

/* The state of a hash. It may be copied, and continued by any thread. */
struct xxh64 {
    const struct xxh64_variant *variant;
    uint64_t lanes[XXH64_LANES];
    uint64_t len;                     /* bytes added */
    unsigned char rest[XXH64_STRIPE]; /* the len % XXH64_STRIPE bytes after the last whole stripe */
};

/* Begins a hash with the fastest variant that runs here, or with the given one. */
void xxh64_begin(struct xxh64 *hash);
void xxh64_begin_with(struct xxh64 *hash, const struct xxh64_variant *variant);

/* Adds data[0..len). */
void xxh64_add(struct xxh64 *hash, const void *data, size_t len);

/* Returns the hash of all bytes added so far. More may be added afterwards. */
uint64_t xxh64_value(const struct xxh64 *hash);

#endif

/* SPDX-License-Identifier: MIT */
/* The loops in plain C. */
#include "block_loops.h"

#include <string.h>

#define TARGET
#define INLINE static inline __attribute__((always_inline))

INLINE void copy_max(unsigned char *to, const unsigned char *from)
{
    unsigned char bytes[COPY_MAX];
    memcpy(bytes, from, COPY_MAX);
    memcpy(to, bytes, COPY_MAX);
}

INLINE void widen(uint16_t *to, const unsigned char *from, size_t len)
{
    uint16_t symbols[COPY_MAX];
    for (size_t i = 0; i < len; i++)
        symbols[i] = from[i];
    memcpy(to, symbols, len * sizeof *to);
}

/* Returns the lowest `count` bits, at most 64. */
INLINE uint64_t low_bits(uint64_t word, unsigned count)
{
    return count < 64 ? word & (((uint64_t)1 << count) - 1) : word;
}

#include "deflate_loop.h"
#include "execute_loop.h"
#include "huffman_streams.h"
#include "last_offsets_portable.h"
#include "sequence_loop.h"
#include "zstd_list_loop.h"

static bool portable_runs_here(void)
{
    return true;
}

const struct block_loops block_loops_portable = {
    .name = "portable",
    .runs_here = portable_runs_here,
    .read_stream = read_stream,
    .read_streams = read_streams,
    .parse_sequences = parse_sequences,
    .parse_symbols = parse_symbols,
    .execute = execute,
    .execute_some = execute_some,
    .execute_symbols = execute_symbols,
    .make_list = make_list,
};

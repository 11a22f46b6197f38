/* SPDX-License-Identifier: MIT */
/* The ceiling of what reads memory: a loop that does nothing else. */
#ifndef GPUHISTO_BENCH_CEILING_H
#define GPUHISTO_BENCH_CEILING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t ceiling_vector __attribute__((vector_size(64)));

/* The sum of the words of data[0..len), in vectors as wide as the processor's; what is left after
 * the last 256 bytes is not read. */
#if defined __x86_64__
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static uint64_t
only_read(const unsigned char *data, size_t len)
{
    ceiling_vector sums[4] = {0};
    for (size_t i = 0; i + sizeof sums <= len; i += sizeof sums)
        for (unsigned k = 0; k < 4; k++) {
            ceiling_vector piece;
            memcpy(&piece, data + i + k * sizeof piece, sizeof piece);
            sums[k] += piece;
        }
    ceiling_vector sum = sums[0] + sums[1] + sums[2] + sums[3];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

#endif

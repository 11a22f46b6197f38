/* SPDX-License-Identifier: MIT */
/* A batch of values in this machine's byte order, which vector loops turn into a batch of rows. A
 * part of a file of kernels, which defines TARGET and INLINE as for count_values.h. */
#ifndef GPUHISTO_BATCH_H
#define GPUHISTO_BATCH_H

#include "src/bins/value_type.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The values of a batch: few enough that their rows stay in the L1 cache. */
#define BATCH 1024

/* Vectors are aligned to a cache line, which is the longest vector: one across two lines takes
 * twice as long. */
#define ALIGNED _Alignas(64)

union batch {
    ALIGNED unsigned char bytes[BATCH * 8];
    uint16_t bits16[BATCH];
    uint32_t bits32[BATCH];
    uint64_t bits64[BATCH];
    float singles[BATCH];
    double doubles[BATCH];
};

/* Returns value i. Size and kind are constants wherever this is used. */
TARGET INLINE uint64_t whole_at(const union batch *batch, size_t i, size_t size, char kind)
{
    if (size == 2)
        return kind == 'i' ? (uint64_t)(int16_t)batch->bits16[i] : batch->bits16[i];
    if (size == 4)
        return kind == 'i' ? (uint64_t)(int32_t)batch->bits32[i] : batch->bits32[i];
    return batch->bits64[i];
}

TARGET INLINE double double_at(const union batch *batch, size_t i, size_t size)
{
    return size == 4 ? (double)batch->singles[i] : batch->doubles[i];
}

TARGET INLINE uint64_t double_bits_at(const union batch *batch, size_t i, size_t size)
{
    const double value = double_at(batch, i, size);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

TARGET INLINE void swap_bytes(union batch *batch, size_t size)
{
    for (size_t i = 0; i < BATCH; i++)
        if (size == 2)
            batch->bits16[i] = __builtin_bswap16(batch->bits16[i]);
        else if (size == 4)
            batch->bits32[i] = __builtin_bswap32(batch->bits32[i]);
        else
            batch->bits64[i] = __builtin_bswap64(batch->bits64[i]);
}

/* Widens values of 3 bytes to 4, with their sign, and fills up with zeros. */
TARGET INLINE void widen_3_bytes(const struct value_type *type, const unsigned char *data,
                                 size_t values, union batch *batch)
{
    const size_t low = type->big_endian ? 2 : 0, high = 2 - low;
    const uint32_t sign = type->kind == 'i' ? (uint32_t)1 << 23 : 0;
    for (size_t i = 0; i < values; i++, data += 3) {
        uint32_t bits = data[low] | (uint32_t)data[1] << 8 | (uint32_t)data[high] << 16;
        batch->bits32[i] = (bits ^ sign) - sign;
    }
    memset(batch->bits32 + values, 0, (BATCH - values) * sizeof batch->bits32[0]);
}

/* Counts n rows. How fast a loop over single rows is would depend on its alignment. */
TARGET INLINE void count_unrolled(const uint32_t *rows, size_t n, uint64_t *counts)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++)
        counts[rows[i]]++;
}

/* Returns 2^exponent, for exponents of normal doubles. */
TARGET INLINE double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* True if a number of a batch may lose bits when it is multiplied by 2^-exponent. The check for
 * bits below the unit of limbs would not notice. */
TARGET static bool batch_may_vanish(const double *values, int exponent)
{
    if (exponent <= 0)
        return false;
    const double normal = power_of_two(exponent - 1022);
    uint64_t tiny = 0;
    for (size_t i = 0; i < BATCH; i++)
        tiny |= (uint64_t)(fabs(values[i]) < normal) & (uint64_t)(values[i] != 0);
    return tiny != 0;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef GPUHISTO_TESTS_BITS_H
#define GPUHISTO_TESTS_BITS_H

/* Floating-point values and the bits that they are in memory. */
#include <stdint.h>
#include <string.h>

/* The double of these bits, which may be an infinity or any NaN. */
static inline double double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bits of a double; those of a NaN as they are. */
static inline uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The float of these bits. */
static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bits of a float. */
static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif

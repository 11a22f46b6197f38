#ifndef GPUHISTO_TESTS_BITS_H
#define GPUHISTO_TESTS_BITS_H

/* Doubles and the 64 bits that they are in memory. */
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

#endif

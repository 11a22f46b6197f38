/* SPDX-License-Identifier: MIT */
/* The last step of a parser: the double nearest to an integer times a power of ten. CPUs and GPUs
 * use it; GPUs have a copy of the table.
 *
 * The algorithm of Eisel and Lemire: Daniel Lemire, "Number Parsing at a Gigabyte per Second",
 * Software: Practice and Experience 51 (8), 2021, sections 5 to 9. The mantissa is multiplied by
 * the first 128 bits of the power of five; powers of two only count in the exponent. */
#ifndef GPUHISTO_DECIMAL_TO_DOUBLE_H
#define GPUHISTO_DECIMAL_TO_DOUBLE_H

#include "number.h"

/* A mantissa of 64 bits times a smaller power is less than half of the least double, times a
 * greater one more than the largest. */
#define POWER_MIN (-342)
#define POWER_MAX 308

/* The last power of the table. show_number.c needs it to turn the least double into an integer. */
#define POWER_SHOWN_MAX 324

/* The last power by which a mantissa can be divided without a remainder. Powers from here to -1 are
 * rounded up, so that the product does not come out just below. */
#define NUMBER_EXACT_MIN (-27)

/* The last power that 128 bits hold exactly. */
#define POWER_EXACT_MAX 55

/* Bits of a double's mantissa that are stored, and bits of the product that are used: these, the
 * one that is not stored, one to round by, and one more as the product's first bit may be 0. */
#define NUMBER_STORED 52
#define NUMBER_WANTED (NUMBER_STORED + 3)

#define NUMBER_EXPONENT_MAX 0x7ff
#define NUMBER_EXPONENT_BIAS 1023

/* The first bits of 5^power, with the highest bit set. */
struct power {
    uint64_t high, low;
};

/* Makes the table of powers. Only number_prepare calls it. */
void decimal_to_double_prepare(void);

/* Returns the table, of the powers from POWER_MIN to POWER_SHOWN_MAX. Parsers use it up to
 * POWER_MAX. */
const struct power *number_powers(void);

/* Returns a power of the table rounded up, where 128 bits do not hold it. */
struct power number_power_above(int power);

/* Returns the high word of a product, and sets *low to the other one. */
static inline ON_BOTH uint64_t number_product(uint64_t a, uint64_t b, uint64_t *low)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    *low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

/* Returns floor(log2(10^power)), exact for all powers of the table. */
static inline ON_BOTH int number_exponent(int power)
{
    return 217706 * power >> 16;
}

/* Rounds a mantissa to all bits but the last. */
static inline ON_BOTH uint64_t number_halved(uint64_t mantissa)
{
    return (mantissa + (mantissa & 1)) >> 1;
}

static inline ON_BOTH double number_from_bits(uint64_t exponent, uint64_t mantissa)
{
    uint64_t bits = exponent << NUMBER_STORED | (mantissa & ((UINT64_C(1) << NUMBER_STORED) - 1));
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Makes a double below the least normal one by cutting the mantissa. No such power of ten is half
 * way between two doubles. */
static inline ON_BOTH double number_subnormal(int exponent, uint64_t mantissa)
{
    if (exponent <= -63)
        return 0;
    mantissa = number_halved(mantissa >> (1 - exponent));
    return number_from_bits(mantissa >> NUMBER_STORED, mantissa);
}

/* Sets *value to the double nearest to mantissa * 10^power, half way the even one, infinity if it
 * is too large. False, and nothing is set, if that would take more than 128 bits. `powers` is
 * number_powers() or a copy of it. */
static inline ON_BOTH bool decimal_to_double(const struct power *powers, uint64_t mantissa,
                                             int64_t power, double *value)
{
    if (mantissa == 0 || power < POWER_MIN) {
        *value = 0;
        return true;
    }
    if (power > POWER_MAX) {
        *value = number_from_bits(NUMBER_EXPONENT_MAX, 0);
        return true;
    }
    const struct power *five = &powers[power - POWER_MIN];
    const int zeros = __builtin_clzll(mantissa);
    const uint64_t below = UINT64_MAX >> NUMBER_WANTED;
    uint64_t low, high = number_product(mantissa << zeros, five->high, &low);
    if ((high & below) == below) {
        /* The other half of the power may carry up to the bits that are wanted. */
        uint64_t unused, more = number_product(mantissa << zeros, five->low, &unused);
        low += more;
        high += low < more;
    }
    if (low == UINT64_MAX && (power < NUMBER_EXACT_MIN || power > POWER_EXACT_MAX))
        return false;

    const int first = (int)(high >> 63), shift = 64 - NUMBER_WANTED + first;
    uint64_t bits = high >> shift;
    int exponent = number_exponent((int)power) + 63 + first - zeros + NUMBER_EXPONENT_BIAS;
    if (exponent <= 0) {
        *value = number_subnormal(exponent, bits);
        return true;
    }
    /* Half way, and rounded down to an even one, only where nothing was dropped. With other powers
     * what is half way has more than 64 bits. */
    if (low == 0 && power >= -4 && power <= 23 && (bits & 3) == 1 && bits << shift == high)
        bits--;
    bits = number_halved(bits);
    if (bits >> (NUMBER_STORED + 1)) {
        bits >>= 1;
        exponent++;
    }
    *value = exponent >= NUMBER_EXPONENT_MAX ? number_from_bits(NUMBER_EXPONENT_MAX, 0)
                                             : number_from_bits((uint64_t)exponent, bits);
    return true;
}

#endif

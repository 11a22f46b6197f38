/* SPDX-License-Identifier: MIT */
/* Bins of so many significant decimal digits: 12.3 to 12.4, 0.0499 to 0.05. binning.h lays them;
 * this header has what finds rows quickly, for the CPU's loops and for the GPU's kernels.
 *
 * A decade, from a power of ten to the next, has 9 * 10^(digits - 1) bins, whose edges are decimals
 * of so many digits. There are decades from 1e-38 to 1e39 on both sides of zero, a bin between them
 * and zero on either side, and one for zero alone. An edge is the double nearest to its decimal
 * (half way the even one), as strtod gives it; or the nearest float, for values that are floats. So
 * a value that was written with so many digits begins a bin.
 *
 *     row   1 ...    P      P + 1        P + 2   P + 3        P + 4 ...     2 P + 3   2 P + 4
 *     from  -1e39   ...     -1e-38       0       5e-324       1e-38 ...               1e39
 *
 * with P bins of the decades on a side. Row 0 is below, and NaN belongs to row 2 P + 5. */
#ifndef GPUHISTO_BINNING_DIGITS_H
#define GPUHISTO_BINNING_DIGITS_H

#include "number_nearest.h"

#include <stddef.h>
#include <stdint.h>

#define DIGITS_MIN 1
#define DIGITS_MAX 5
#define DIGITS_DEFAULT 3

#define DECADE_FIRST (-38) /* the first one begins at 1e-38 */
#define DECADES 77

/* Binary exponents of the decades, and how many there are: from below 1e-38 to above 1e39. */
#define DIGITS_EXPONENT_FIRST (-127)
#define DIGITS_EXPONENTS 257

/* The decades' bins on one side of zero, of which a decade has per_decade. */
#define DIGITS_SIDE(per_decade) ((uint32_t)DECADES * (per_decade))

/* All bins. */
#define DIGITS_BINS(digits_per_decade) (2 * (size_t)DIGITS_SIDE(digits_per_decade) + 3)

/* What takes a double to its number among the bins: a power of ten times a power of two, rounded
 * up, 128 bits. */
struct digits_scale {
    uint64_t high, low;
};

/* The same for positive values of one binary exponent that are neither very small nor very large:
 * 64 bits are enough, and no edge is just in the middle between two values, which floats have from
 * 2^24 on. Those from `next` on, as bits, belong to the next decade. */
struct digits_step {
    uint64_t next;
    uint64_t scale[2]; /* before next, from next on */
    uint32_t row[2];   /* that number 0 of the decade would have, modulo 2^32 */
};

/* Binary exponents that have steps. Those that have none, and a step after the last one, give
 * DIGITS_NO_ROW. */
#define DIGITS_STEP_FIRST (-66)
#define DIGITS_STEPS 132
#define DIGITS_STEPS_OF_SINGLES (24 - DIGITS_STEP_FIRST)
#define DIGITS_NO_ROW UINT32_MAX

struct digits_layout {
    const struct digits_scale *scales; /* by binary exponent; NULL: other bins */
    const struct digits_step *steps;   /* likewise; part of the same memory */
    uint32_t digits;                   /* DIGITS_MIN to DIGITS_MAX */
    uint32_t per_decade;               /* bins: 9 * 10^(digits - 1) */
    uint32_t next;                     /* 10^digits: numbers from here on are the next decade's */
    uint32_t shift;                    /* of a scaled value to its number */
    bool singles;                      /* edges are the nearest floats, and so are values */
};

/* floor(log10(2^exponent)) for a double's exponent. */
static inline ON_BOTH int digits_decade(int exponent)
{
    return (exponent * 1262611) >> 22;
}

/* How many of the decades' bins, on the positive side, begin at or below a double whose bits these
 * are, less one: -1 below all of them, DIGITS_SIDE beyond. `exponent` is its own, less
 * DIGITS_EXPONENT_FIRST, and below DIGITS_EXPONENTS.
 *
 * An edge is not above the value if its decimal is not above the middle between the value and the
 * next one: then it is rounded to the value, or lies below it. So that middle is scaled by a power
 * of ten: to a number from 10^(digits - 1) to 20 * 10^(digits - 1), as a binary exponent's values
 * begin in one decade and may end in the next. Rounding the scale up makes the 128 bits of the
 * product too large by less than 2 of the last bit, so an edge just in the middle is seen by it; of
 * two values the even one is the nearest. Any other edge is farther from all middles than that:
 * tests/unit/test_digits.c goes through all edges. */
static inline ON_BOTH int32_t digits_bin(const struct digits_layout *layout, uint64_t bits,
                                         uint32_t exponent)
{
    const bool subnormal = layout->singles && exponent == 0;          /* of a float */
    const unsigned unit = layout->singles ? subnormal ? 41 : 40 : 11; /* the value's last bit */
    const struct digits_scale scale = layout->scales[exponent];
    const uint64_t mantissa = bits << 11 | UINT64_C(1) << 63;
    const uint64_t middle = mantissa | UINT64_C(1) << (unit - 1);
    uint64_t low, unused, high = number_product(middle, scale.high, &low);
    const uint64_t more = number_product(middle, scale.low, &unused);
    low += more;
    high += low < more;
    high -= (mantissa >> unit & 1) & (low < 2);
    const uint32_t number = (uint32_t)(high >> layout->shift);
    const int decade = digits_decade((int)exponent + DIGITS_EXPONENT_FIRST) - DECADE_FIRST;
    const int32_t first = decade * (int32_t)layout->per_decade - (int32_t)layout->next / 10;
    const uint32_t carried = number / 10 + layout->per_decade;
    return first + (int32_t)(number < layout->next ? number : carried);
}

/* The row of a double. A negative one, counted from zero, belongs to the bin in which the next
 * value towards zero is, as bins begin with their lower edge. */
static inline ON_BOTH uint32_t digits_row(const struct digits_layout *layout, uint64_t bits)
{
    const uint32_t side = DIGITS_SIDE(layout->per_decade);
    const uint64_t infinity = (uint64_t)0x7ff << NUMBER_STORED, negative = bits >> 63;
    uint64_t magnitude = bits & INT64_MAX;
    if (magnitude == 0)
        return side + 2;
    if (magnitude > infinity)
        return 2 * side + 5;
    /* Floats up to the least normal one are as far apart as floats get. */
    const uint64_t least = (uint64_t)(NUMBER_EXPONENT_BIAS - 126) << NUMBER_STORED;
    const unsigned unit = layout->singles ? magnitude <= least ? 30 : 29 : 0;
    magnitude -= negative << unit;
    const int exponent =
        (int)(magnitude >> NUMBER_STORED) - NUMBER_EXPONENT_BIAS - DIGITS_EXPONENT_FIRST;
    int32_t bin = exponent < 0 ? -1 : (int32_t)side;
    if (exponent >= 0 && exponent < DIGITS_EXPONENTS)
        bin = digits_bin(layout, magnitude, (uint32_t)exponent);
    bin = bin < -1 ? -1 : bin;
    bin = bin < (int32_t)side ? bin : (int32_t)side;
    return negative ? side - (uint32_t)bin : side + 4 + (uint32_t)bin;
}

/* A number as people write it: number * 10^power. */
struct digits_decimal {
    int64_t number;
    int power;
};

/* The nearest double; half way the even one. number_prepare was called. Any thread. */
double digits_nearest(struct digits_decimal decimal);

/* Edge k of the bins, from 0 to their number, as a decimal; the edge between zero and the numbers
 * over it is zero here. */
struct digits_decimal digits_decimal_edge(const struct digits_layout *layout, size_t k);

/* The same edge as it is shown, the double nearest to its decimal; and as values are compared with
 * it. number_prepare was called. Any thread. */
double digits_shown_edge(const struct digits_layout *layout, size_t k);
double digits_edge(const struct digits_layout *layout, size_t k);

#endif

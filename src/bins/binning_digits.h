/* SPDX-License-Identifier: MIT */
/* Bins of so many significant decimal digits: 12.3 to 12.4, 0.0499 to 0.05. binning.h builds them;
 * this header finds rows quickly, in the CPU's loops and the GPU's kernels.
 *
 * A decade, from a power of ten to the next, has 9 * 10^(digits - 1) bins, whose edges are decimals
 * of so many digits. There are decades from 1e-38 to 1e39 on both sides of zero, a bin between them
 * and zero on either side, and one for zero alone. An edge is the double nearest to its decimal
 * (half way the even one), or the nearest float if values are floats. So a value that was written
 * with so many digits begins a bin.
 *
 *     row   1 ...    P      P + 1        P + 2   P + 3        P + 4 ...     2 P + 3   2 P + 4
 *     from  -1e39   ...     -1e-38       0       5e-324       1e-38 ...               1e39
 *
 * with P bins of the decades on a side. Row 0 is below, and NaN belongs to row 2 P + 5.
 *
 * Whole values below 10^digits are bins of their own; with three digits 1000 to 1009, 1010 to 1019
 * and so on follow. Below zero they are mirrored: -1 has the bin before that of 0, and -1010 to
 * -1001 are one bin. */
#ifndef GPUHISTO_BINNING_DIGITS_H
#define GPUHISTO_BINNING_DIGITS_H

#include "src/text/decimal_to_double.h"
#include "src/base/int128.h"

#define DIGITS_MIN 1
#define DIGITS_MAX 5
#define DIGITS_DEFAULT 3

#define DECADE_FIRST (-38) /* the first one begins at 1e-38 */
#define DECADES 77

/* Binary exponents of the decades, from below 1e-38 to above 1e39. */
#define DIGITS_EXPONENT_FIRST (-127)
#define DIGITS_EXPONENTS 257

/* The numbers of bins that the decades have on one side of zero, and of all bins. */
#define DIGITS_SIDE(per_decade) ((uint32_t)DECADES * (per_decade))
#define DIGITS_BINS(digits_per_decade) (2 * (size_t)DIGITS_SIDE(digits_per_decade) + 3)

/* A factor that turns a double into its number among the bins: a power of ten times a power of two,
 * rounded up, 128 bits. */
struct digits_scale {
    uint64_t high, low;
};

/* Shorter factors for positive values of one binary exponent that are neither very small nor very
 * large: 64 bits are enough, as no edge is just in the middle between two values. (Floats have such
 * edges from 2^24 on.) */
struct digits_step {
    uint64_t next;     /* where the next decade begins, as bits of a double */
    uint64_t scale[2]; /* before next, from next on */
    uint32_t row[2];   /* that number 0 of the decade would have, modulo 2^32 */
};

/* Binary exponents with steps. Others, and the step after the last one, give DIGITS_NO_ROW. */
#define DIGITS_STEP_FIRST (-66)
#define DIGITS_STEPS 132
#define DIGITS_STEPS_OF_SINGLES (24 - DIGITS_STEP_FIRST)
#define DIGITS_NO_ROW UINT32_MAX

struct digits_layout {
    const struct digits_scale *scales; /* by binary exponent; NULL: whole values, or other bins */
    const struct digits_step *steps;   /* by binary exponent; in the same memory */
    uint32_t digits;                   /* DIGITS_MIN to DIGITS_MAX */
    uint32_t per_decade;               /* bins: 9 * 10^(digits - 1) */
    uint32_t next;                     /* 10^digits: larger numbers are in the next decade */
    uint32_t shift;                    /* of a scaled value to its number */
    bool singles;                      /* edges are the nearest floats, and so are values */
};

/* Returns floor(log10(2^exponent)) for a double's exponent. */
static inline ON_BOTH int digits_decade(int exponent)
{
    return (exponent * 1262611) >> 22;
}

/* Returns the bin among the decades over zero, from 0, of a double with these bits: -1 below all,
 * DIGITS_SIDE above. `exponent` is its own less DIGITS_EXPONENT_FIRST, below DIGITS_EXPONENTS.
 *
 * An edge is not above the value if its decimal is not above the middle between the value and the
 * next one: then it is rounded to the value, or lies below it. So that middle is scaled by a power
 * of ten to a number from 10^(digits - 1) to 20 * 10^(digits - 1), as a binary exponent's values
 * begin in one decade and may end in the next. The scale is rounded up, which makes the 128 bits of
 * the product too large by less than 2 of the last bit: so an edge just in the middle is
 * recognised, and of two values the even one is the nearest. All other edges are farther from all
 * middles: tests/unit/test_digits.c goes through them. */
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

/* Returns the row of a double. A negative one, counted from zero, belongs to the bin of the next
 * value towards zero, as bins begin with their lower edge. */
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
    const uint64_t min = (uint64_t)(NUMBER_EXPONENT_BIAS - 126) << NUMBER_STORED;
    const unsigned unit = layout->singles ? magnitude <= min ? 30 : 29 : 0;
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

/* Returns the nearest double; half way the even one. After number_prepare. Any thread. */
double digits_nearest(struct digits_decimal decimal);

/* Returns edge k, from 0 to the number of bins: as a decimal, where the edge between zero and the
 * numbers over it is zero; as it is shown, the nearest double; and as values are compared with it.
 * After number_prepare. Any thread. */
struct digits_decimal digits_decimal_edge(const struct digits_layout *layout, size_t k);
double digits_shown_edge(const struct digits_layout *layout, size_t k);
double digits_edge(const struct digits_layout *layout, size_t k);

/* Writes the edge as show_double would, but faster. */
void digits_show_edge(const struct digits_layout *layout, size_t k, char *text);

/* Returns the bin, from 0, of a whole value, and edge k of bins for whole values. */
size_t digits_whole_bin(const struct digits_layout *layout, int128 value);
int128 digits_whole_edge(const struct digits_layout *layout, size_t k);

#endif

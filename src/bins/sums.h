/* SPDX-License-Identifier: MIT */
/* The numbers that --stats needs beside the bins: sums that do not round, and moments, which are
 * two such sums with a min and a max. */
#ifndef GPUHISTO_SUMS_H
#define GPUHISTO_SUMS_H

#include "src/base/byte_word.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* --- exact sums --- */

/* Sums of doubles, of whole numbers and of their squares, without rounding: they do not depend on
 * the order in which numbers are added and sums merged. A sum is rounded once, when it is read.
 *
 * It is a fixed-point number wide enough for 2^64 squares of doubles. Its digits of 32 bits are
 * kept in 64, so that many numbers are added before digits are carried: the small superaccumulator
 * of Radford Neal ("Fast exact summation using small and large superaccumulators", 2015). */

#define EXACT_LOWEST (-2176) /* what digit 0 counts is 2^EXACT_LOWEST: below the least square */
#define EXACT_HIGHEST                                                                              \
    2176 /* sums are below 2^EXACT_HIGHEST, as the greatest square is below 2^2048 */
#define EXACT_DIGITS 140 /* up to 2^2304 */

/* A sum; one of nothing is all zeros. Most sums use few digits, and only these are looked at. */
struct exact_sum {
    int64_t digits[EXACT_DIGITS]; /* digits[i] counts 2^(EXACT_LOWEST + 32 * i), either sign */
    uint32_t added;               /* numbers since digits were carried */
    uint16_t used;                /* all digits but the last `used` ones are 0 */
    uint16_t end;                 /* and so are those from here on */
};

/* Returns the mantissa of a finite double, which is mantissa * 2^*exponent without its sign. */
static inline uint64_t double_mantissa(double value, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int biased = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    *exponent = (biased > 0 ? biased : 1) - 1075;
    return biased > 0 ? fraction | (uint64_t)1 << 52 : fraction;
}

/* Makes it a sum of nothing. */
void exact_sum_clear(struct exact_sum *sum);

/* Each adds a finite double, or its square. */
void exact_sum_add(struct exact_sum *sum, double value);
void exact_sum_add_square(struct exact_sum *sum, double value);

/* Adds value * 2^exponent, exponent from EXACT_LOWEST to 1024. */
void exact_sum_add_int128(struct exact_sum *sum, int128 value, int exponent);

/* Enough for what a deviation is computed of: the product of two sums. */
#define EXACT_WORDS (EXACT_DIGITS + 2)

/* A number: `count` words of 64 bits, the lowest first, times 2^exponent. */
struct exact_number {
    uint64_t words[EXACT_WORDS]; /* of those that count the last is not 0 */
    int count;                   /* 0 for 0 */
    int exponent;                /* of a sum EXACT_LOWEST and a multiple of 64 */
    bool is_negative;
};

/* Reads a sum, or adds one that is given as words times 2^exponent. */
void exact_sum_read(const struct exact_sum *sum, struct exact_number *number);
void exact_sum_add_words(struct exact_sum *sum, const uint64_t *words, int count, int exponent,
                         bool is_negative);

/* Adds another sum. */
void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from);

/* Returns the double nearest to sum / n, n > 0; half way the even one; infinity if it is too large.
 */
double exact_sum_quotient(const struct exact_sum *sum, uint64_t n);

/* --- moments --- */

/* Doubles from the first to below the second may stand for whole numbers of 64 bits that were
 * rounded to them. */
#define MOMENTS_LARGE 0x1p53
#define MOMENTS_LARGE_END 0x1p64

/* Moments of numbers, all zeros before any. Numbers are either all whole or all doubles. Doubles
 * may be rounded whole numbers (moments_add_large): then the sums are those of the whole numbers,
 * and so are the least and the greatest, beside their doubles. */
struct moments {
    bool any;                 /* a number was added; until then the others mean nothing */
    bool any_large;           /* of doubles: one was added by moments_add_large */
    double min, max;          /* of doubles, perhaps infinite */
    int128 least, greatest;   /* of whole numbers; of doubles, if any_large, of the large ones */
    uint64_t lowest, highest; /* how many are -inf and inf, which are in no sum */
    struct exact_sum sum, squares;
};

/* Resets moments to those before any number. */
void moments_clear(struct moments *moments);

/* Each widens the range to include the numbers from the one to the other. */
void moments_widen(struct moments *moments, double min, double max);
void moments_widen_whole(struct moments *moments, int128 least, int128 greatest);

/* Adds a whole number of at most 64 bits and a sign, 0 or more times. */
void moments_add_times(struct moments *moments, int128 value, uint64_t times);

/* Adds a double, perhaps infinite, 1 or more times. */
void moments_add_double(struct moments *moments, double value, uint64_t times);

/* Adds a whole number of at most 64 bits, of MOMENTS_LARGE at least, 1 or more times, and the
 * double nearest to it. */
void moments_add_rounded(struct moments *moments, double nearest, int128 number, uint64_t times);

/* Large whole numbers, beside the doubles nearest to them. All zeros before any. */
struct large_numbers {
    bool any;
    int128 least, greatest;
    int128 rests, squares; /* their sum, and that of their squares, less those of the doubles; up to
                            * 2^32 numbers do not overflow them */
};

/* Adds a number of at most 64 bits, unless the double is below MOMENTS_LARGE. */
static inline void large_numbers_add(struct large_numbers *large, double nearest, int128 number)
{
    if (nearest < MOMENTS_LARGE && nearest > -MOMENTS_LARGE)
        return;
    const int128 rounded = (int128)nearest, rest = number - rounded;
    large->rests += rest;
    large->squares += rest * (number + rounded);
    large->least = !large->any || number < large->least ? number : large->least;
    large->greatest = !large->any || number > large->greatest ? number : large->greatest;
    large->any = true;
}

/* Adds the difference between large numbers and their doubles, which are added too. All large
 * numbers of a run are added like this, or none. */
void moments_add_large(struct moments *moments, const struct large_numbers *large);

/* True if the least, or the greatest, is a whole number that was rounded to its double; sets it
 * then. */
bool moments_least_large(const struct moments *moments, int128 *least);
bool moments_greatest_large(const struct moments *moments, int128 *greatest);

/* Adds other moments. */
void moments_merge(struct moments *into, const struct moments *from);

/* Return the sum and the mean, both rounded once, and the standard deviation of the n numbers, n >
 * 0, that were added: the square root of the variance, both rounded to the nearest double.
 * Infinite, or NaN, if numbers are infinite. */
double moments_sum(const struct moments *moments);
double moments_mean(const struct moments *moments, uint64_t n);
double moments_deviation(const struct moments *moments, uint64_t n);

/* True if the sum is a whole number of at most 64 bits that no double equals; sets it then. */
bool moments_sum_large(const struct moments *moments, int128 *sum);

#endif

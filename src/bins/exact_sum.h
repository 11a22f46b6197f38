/* SPDX-License-Identifier: MIT */
/* Sums of doubles, of whole numbers and of their squares, without rounding: they do not depend on
 * the order in which numbers are added and sums merged. A sum is rounded once, when it is read.
 *
 * It is a fixed-point number wide enough for 2^64 squares of doubles. Its digits of 32 bits are
 * kept in 64, so that many numbers are added before digits are carried: the small superaccumulator
 * of Radford Neal ("Fast exact summation using small and large superaccumulators", 2015). */
#ifndef GPUHISTO_EXACT_SUM_H
#define GPUHISTO_EXACT_SUM_H

#include "src/base/int128.h"

#include <stdbool.h>
#include <stdint.h>

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

void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from);

/* True if the sum is a whole number of at most 64 bits and a sign: sets *number. */
bool exact_sum_is_whole(const struct exact_sum *sum, int128 *number);

/* Returns the double nearest to sum / n, n > 0; half way the even one; infinity if it is too large.
 */
double exact_sum_quotient(const struct exact_sum *sum, uint64_t n);

/* Returns the standard deviation of n numbers, n > 0, given their sum and that of their squares:
 * the square root of the variance, both rounded to the nearest double. */
double exact_deviation(const struct exact_sum *sum, const struct exact_sum *squares, uint64_t n);

#endif

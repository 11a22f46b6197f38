/* SPDX-License-Identifier: MIT */
/* Sums of doubles, of whole numbers and of their squares, without rounding: they do not depend on
 * the order in which numbers are added and sums merged. A sum is rounded once, when it is read.
 *
 * It is a fixed-point number wide enough for 2^64 squares of doubles. Its digits of 32 bits are
 * kept in 64, so that many numbers are added before digits are carried: the small superaccumulator
 * of Radford Neal ("Fast exact summation using small and large superaccumulators", 2015). */
#ifndef GPUHISTO_EXACT_SUM_H
#define GPUHISTO_EXACT_SUM_H

#include "whole.h"

#include <stdbool.h>
#include <stdint.h>

#define EXACT_LOWEST (-2176) /* what digit 0 counts is 2^EXACT_LOWEST: below the least square */
#define EXACT_DIGITS 140     /* up to 2^2304: the greatest square is below 2^2048 */

/* All zeros for a sum of nothing. */
struct exact_sum {
    int64_t digits[EXACT_DIGITS]; /* digits[i] counts 2^(EXACT_LOWEST + 32 * i), either sign */
    uint32_t added;               /* numbers since digits were carried */
};

/* Each adds a finite double, or its square. */
void exact_sum_add(struct exact_sum *sum, double value);
void exact_sum_add_square(struct exact_sum *sum, double value);

/* Adds value * 2^exponent, exponent from EXACT_LOWEST to 1024. */
void exact_sum_add_whole(struct exact_sum *sum, whole value, int exponent);

void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from);

/* Makes the sum its magnitude, with digits from 0 up to 2^32. True if it was negative. */
bool exact_sum_make_positive(struct exact_sum *sum);

/* True if the sum is a whole number of at most 64 bits and a sign: sets *number. */
bool exact_sum_is_whole(const struct exact_sum *sum, whole *number);

/* Returns the double nearest to sum / n, n > 0; half way the even one; infinity if it is too large.
 */
double exact_sum_quotient(const struct exact_sum *sum, uint64_t n);

/* Returns the standard deviation of n numbers, n > 0, given their sum and that of their squares:
 * the square root of the variance, both rounded to the nearest double. */
double exact_deviation(const struct exact_sum *sum, const struct exact_sum *squares, uint64_t n);

#endif

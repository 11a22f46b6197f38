/* SPDX-License-Identifier: MIT */
/* The q of a q-quantile, as exact as it was typed: 0.07 times 100 is 7, which no double can say. */
#ifndef GPUHISTO_PROBABILITY_H
#define GPUHISTO_PROBABILITY_H

#include <stdint.h>

#define PROBABILITY_DIGITS 40 /* that can be told apart: a quantile's name has to fit a column */

/* 0.DIGITS * 10^exponent, from 0 to 1. Digits begin and end with another one than 0, so that equal
 * probabilities have equal members; 0 has none, and the exponent 0. */
struct probability {
    char digits[PROBABILITY_DIGITS + 1];
    int exponent;
};

/* Returns the rank, from 1, of the quantile of n samples, n > 0: q * n, rounded up, without any
 * error; for q = 0 the first. */
uint64_t probability_rank(const struct probability *q, uint64_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* The numbers that --stats needs beside the bins: min, max and exact sums. */
#ifndef GPUHISTO_MOMENTS_H
#define GPUHISTO_MOMENTS_H

#include "exact_sum.h"

#include <stdbool.h>

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

/* Return the sum, the mean, both rounded once, and the standard deviation (exact_deviation) of the
 * n numbers, n > 0, that were added. Infinite, or NaN, if numbers are infinite. */
double moments_sum(const struct moments *moments);
double moments_mean(const struct moments *moments, uint64_t n);
double moments_deviation(const struct moments *moments, uint64_t n);

/* True if the sum is a whole number of at most 64 bits that no double equals; sets it then. */
bool moments_sum_large(const struct moments *moments, int128 *sum);

#endif

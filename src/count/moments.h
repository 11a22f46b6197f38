/* SPDX-License-Identifier: MIT */
/* What --stats tells of numbers beside their bins: the least and the greatest, and exact sums. */
#ifndef GPUHISTO_MOMENTS_H
#define GPUHISTO_MOMENTS_H

#include "exact_sum.h"

#include <stdbool.h>

/* From here on doubles may stand for whole numbers that they do not hold, up to the end, which is
 * what the greatest number of 64 bits is rounded to. */
#define MOMENTS_LARGE 0x1p53
#define MOMENTS_LARGE_END 0x1p64

/* All zeros is what there is before any number. Numbers are either all whole or all doubles.
 * Doubles may be whole numbers that were rounded (moments_add_large); then the sums are those of
 * the whole numbers, and so are the least and the greatest, beside their doubles. */
struct moments {
    bool any;                 /* a number was added, and the members that follow say something */
    bool any_large;           /* of doubles: one was added by moments_add_large */
    double min, max;          /* of doubles, perhaps infinite */
    whole least, greatest;    /* of whole numbers; or if any_large, of those that are large */
    uint64_t lowest, highest; /* how many are -inf, and inf, which no sum has */
    struct exact_sum sum, squares;
};

/* Widen the range by numbers from min to max. */
void moments_widen(struct moments *moments, double min, double max);
void moments_widen_whole(struct moments *moments, whole least, whole greatest);

/* Adds a double that is not NaN. */
void moments_add(struct moments *moments, double value);

/* Adds a whole number of at most 64 bits and a sign, so many times; 0 times is fine. */
void moments_add_times(struct moments *moments, whole value, uint64_t times);

/* Large whole numbers, beside the doubles that are nearest to them. All zeros is none. */
struct large_numbers {
    bool any;
    whole least, greatest;
    whole rests, squares; /* what their sum, and that of their squares, is above that of the
                           * doubles; of at most 2^32 numbers, so that they do not overflow */
};

/* Adds a number of at most 64 bits; nothing if the double is below MOMENTS_LARGE. */
static inline void large_numbers_add(struct large_numbers *large, double nearest, whole number)
{
    if (nearest < MOMENTS_LARGE && nearest > -MOMENTS_LARGE)
        return;
    const whole rounded = (whole)nearest, rest = number - rounded;
    large->rests += rest;
    large->squares += rest * (number + rounded);
    large->least = !large->any || number < large->least ? number : large->least;
    large->greatest = !large->any || number > large->greatest ? number : large->greatest;
    large->any = true;
}

/* Adds what is lacking of numbers that were, or will be, added as doubles. Of a run either all
 * large numbers are added so, or none is. */
void moments_add_large(struct moments *moments, const struct large_numbers *large);

/* True if the least, or the greatest, is a whole number that its double does not hold: sets it. */
bool moments_least_large(const struct moments *moments, whole *least);
bool moments_greatest_large(const struct moments *moments, whole *greatest);

/* Adds what was counted elsewhere. */
void moments_merge(struct moments *into, const struct moments *from);

/* Of n numbers, n > 0, all of which were added: the sum, the mean, both rounded once, and the
 * standard deviation (exact_deviation). Infinite, or NaN, where numbers are infinite. */
double moments_sum(const struct moments *moments);
double moments_mean(const struct moments *moments, uint64_t n);
double moments_deviation(const struct moments *moments, uint64_t n);

/* True if the sum is a whole number of at most 64 bits that no double holds: sets it. */
bool moments_sum_large(const struct moments *moments, whole *sum);

#endif

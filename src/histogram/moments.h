/* SPDX-License-Identifier: MIT */
/* What --stats tells of numbers beside their bins: the least and the greatest, and exact sums. */
#ifndef GPUHISTO_MOMENTS_H
#define GPUHISTO_MOMENTS_H

#include "exact_sum.h"

#include <stdbool.h>

/* All zeros is what there is before any number. Numbers are either all whole or all doubles. */
struct moments {
    bool any;                 /* a number was added, and the members that follow say something */
    double min, max;          /* of doubles, perhaps infinite */
    whole least, greatest;    /* of whole numbers */
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

/* Adds what was counted elsewhere. */
void moments_merge(struct moments *into, const struct moments *from);

/* Of n numbers, n > 0, all of which were added: the sum, the mean, both rounded once, and the
 * standard deviation (exact_deviation). Infinite, or NaN, where numbers are infinite. */
double moments_sum(const struct moments *moments);
double moments_mean(const struct moments *moments, uint64_t n);
double moments_deviation(const struct moments *moments, uint64_t n);

#endif

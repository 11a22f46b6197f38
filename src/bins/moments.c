/* SPDX-License-Identifier: MIT */
#include "moments.h"

#include <math.h>

void moments_clear(struct moments *moments)
{
    moments->any = moments->any_large = false;
    moments->min = moments->max = 0;
    moments->least = moments->greatest = 0;
    moments->lowest = moments->highest = 0;
    exact_sum_clear(&moments->sum);
    exact_sum_clear(&moments->squares);
}

void moments_widen(struct moments *moments, double min, double max)
{
    if (!moments->any || min < moments->min)
        moments->min = min;
    if (!moments->any || max > moments->max)
        moments->max = max;
    moments->any = true;
}

void moments_widen_whole(struct moments *moments, int128 least, int128 greatest)
{
    if (!moments->any || least < moments->least)
        moments->least = least;
    if (!moments->any || greatest > moments->greatest)
        moments->greatest = greatest;
    moments->any = true;
}

/* Adds magnitude * times * 2^exponent, in halves that can be multiplied. */
static void add_times(struct exact_sum *sum, uint64_t magnitude, uint64_t times, int exponent,
                      bool negative)
{
    for (int shift = 0; shift < 64; shift += 32) {
        int128 product = (int128)(magnitude >> shift & UINT32_MAX) * (int128)times;
        exact_sum_add_int128(sum, negative ? -product : product, exponent + shift);
    }
}

void moments_add_times(struct moments *moments, int128 value, uint64_t times)
{
    uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);
    uint128 square = (uint128)magnitude * magnitude;
    if (times == 0)
        return;
    moments_widen_whole(moments, value, value);
    add_times(&moments->sum, magnitude, times, 0, value < 0);
    add_times(&moments->squares, (uint64_t)square, times, 0, false);
    add_times(&moments->squares, (uint64_t)(square >> 64), times, 64, false);
}

static void widen_large(struct moments *moments, int128 least, int128 greatest)
{
    if (!moments->any_large || least < moments->least)
        moments->least = least;
    if (!moments->any_large || greatest > moments->greatest)
        moments->greatest = greatest;
    moments->any_large = true;
}

void moments_add_large(struct moments *moments, const struct large_numbers *large)
{
    if (!large->any)
        return;
    widen_large(moments, large->least, large->greatest);
    exact_sum_add_int128(&moments->sum, large->rests, 0);
    exact_sum_add_int128(&moments->squares, large->squares, 0);
}

/* True if a number was rounded to the double `nearest`, which does not equal it. */
static bool is_rounded(int128 number, double nearest)
{
    return (double)number == nearest && number != (int128)nearest;
}

bool moments_least_large(const struct moments *moments, int128 *least)
{
    *least = moments->least;
    return moments->any_large && is_rounded(moments->least, moments->min);
}

bool moments_greatest_large(const struct moments *moments, int128 *greatest)
{
    *greatest = moments->greatest;
    return moments->any_large && is_rounded(moments->greatest, moments->max);
}

bool moments_sum_large(const struct moments *moments, int128 *sum)
{
    return moments->lowest == 0 && moments->highest == 0 &&
           exact_sum_is_whole(&moments->sum, sum) && *sum != (int128)(double)*sum;
}

void moments_merge(struct moments *into, const struct moments *from)
{
    if (!from->any)
        return;
    bool any = into->any;
    moments_widen(into, from->min, from->max);
    into->any = any;
    if (from->any_large)
        widen_large(into, from->least, from->greatest);
    else if (!into->any_large)
        moments_widen_whole(into, from->least, from->greatest);
    into->any = true;
    into->lowest += from->lowest;
    into->highest += from->highest;
    exact_sum_merge(&into->sum, &from->sum);
    exact_sum_merge(&into->squares, &from->squares);
}

double moments_mean(const struct moments *moments, uint64_t n)
{
    if (moments->lowest && moments->highest)
        return NAN;
    if (moments->lowest || moments->highest)
        return moments->lowest ? -HUGE_VAL : HUGE_VAL;
    return exact_sum_quotient(&moments->sum, n);
}

double moments_sum(const struct moments *moments)
{
    return moments_mean(moments, 1);
}

double moments_deviation(const struct moments *moments, uint64_t n)
{
    if (moments->lowest || moments->highest)
        return NAN;
    return exact_deviation(&moments->sum, &moments->squares, n);
}

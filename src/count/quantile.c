/* SPDX-License-Identifier: MIT */
#include "quantile.h"
#include "show_number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- which sample --- */

uint64_t probability_rank(const struct probability *q, uint64_t n)
{
    unsigned_whole rank = 0; /* what n times the digits so far is, rounded down */
    bool more = false;       /* something was cut off */
    if (q->exponent > 0)
        return n;
    /* From the last digit on, each is added and all are moved behind the point. Rounding down on
     * the way does not change how the end is rounded. */
    for (size_t i = strlen(q->digits); i-- > 0; rank /= 10) {
        rank += (unsigned_whole)(q->digits[i] - '0') * n;
        more |= rank % 10 != 0;
    }
    for (int zeros = -q->exponent; zeros > 0 && rank > 0; zeros--, rank /= 10)
        more |= rank % 10 != 0;
    return rank == 0 && !more ? 1 : (uint64_t)rank + more;
}

/* Returns the row of the sample of a rank: ROW_BELOW, a bin or ROW_ABOVE. */
static size_t row_of_rank(const struct tally *tally, uint64_t rank)
{
    size_t row = 0, end = 0;
    for (uint64_t sum = 0;; row = end, rank -= sum) {
        row = tally_next_block(tally, row, &end);
        sum = tally_sum(tally, row, end);
        if (sum >= rank)
            break;
    }
    for (; tally->counts[row] < rank; row++)
        rank -= tally->counts[row];
    return row;
}

/* --- where it lies --- */

/* The least and the greatest that the sample can be. */
struct extremes {
    double min, max;
    whole least, greatest;      /* of whole values, and of doubles that stand for whole numbers: */
    bool is_least, is_greatest; /* they do */
};

/* Returns the extremes of the sample of a rank: the first and the last sample are known. */
static struct extremes extremes_of_rank(const struct moments *moments, uint64_t rank,
                                        uint64_t samples)
{
    struct extremes extremes = {.min = moments->min, .max = moments->max};
    extremes.is_least = moments_least_large(moments, &extremes.least);
    extremes.is_greatest = moments_greatest_large(moments, &extremes.greatest);
    if (rank == 1) {
        extremes.max = extremes.min;
        extremes.greatest = extremes.least;
        extremes.is_greatest = extremes.is_least;
    } else if (rank == samples) {
        extremes.min = extremes.max;
        extremes.least = extremes.greatest;
        extremes.is_least = extremes.is_greatest;
    }
    return extremes;
}

static void set_end(double value, double *end, char text[ROW_TEXT])
{
    *end = value + 0.0; /* not -0 */
    show_double(*end, text);
}

static void set_extremes(struct quantile *found, const struct extremes *extremes)
{
    set_end(extremes->min, &found->lower, found->lower_text);
    set_end(extremes->max, &found->upper, found->upper_text);
    if (extremes->is_least)
        show_whole(extremes->least, found->lower_text);
    if (extremes->is_greatest)
        show_whole(extremes->greatest, found->upper_text);
    found->slack = extremes->is_least || extremes->is_greatest ? DBL_EPSILON : 0;
}

/* Sets the interval to the row, within the extremes. */
static void set_doubles(struct quantile *found, const struct binning *binning,
                        const struct extremes *extremes, size_t row)
{
    set_extremes(found, extremes);
    if (row != ROW_BELOW && row != ROW_ABOVE(binning) && binning_is_zero_alone(binning, row - 1)) {
        set_end(0, &found->lower, found->lower_text);
        set_end(0, &found->upper, found->upper_text);
        return;
    }
    if (row != ROW_BELOW && binning_edge(binning, row - 1) > found->lower) {
        found->lower = binning_edge(binning, row - 1);
        binning_show_edge(binning, row - 1, found->lower_text);
        /* A float may be below the decimal that names the edge, and a sample. */
        if (strtod(found->lower_text, NULL) > found->lower)
            show_double(found->lower, found->lower_text);
    }
    if (row == ROW_ABOVE(binning) || binning_edge(binning, row) > found->upper)
        return;
    /* The row excludes this edge, so the lower end may be the only double in it. If that is large
     * it may stand for several whole numbers. */
    if (fabs(found->lower) < MOMENTS_LARGE &&
        nextafter(binning_edge(binning, row), -HUGE_VAL) <= found->lower) {
        set_end(found->lower, &found->upper, found->upper_text);
        return;
    }
    found->upper =
        binning->is_right ? binning_shown_edge(binning, row) : binning_edge(binning, row);
    binning_show_edge(binning, row, found->upper_text);
}

static void set_wholes(struct quantile *found, const struct binning *binning,
                       const struct extremes *extremes, size_t row)
{
    whole from = extremes->least, to = extremes->greatest;
    if (row != ROW_BELOW && binning_whole_edge(binning, row - 1) > from)
        from = binning_whole_edge(binning, row - 1);
    if (row != ROW_ABOVE(binning) && binning_whole_edge(binning, row) - 1 < to)
        to = binning_whole_edge(binning, row) - 1;
    found->lower = (double)from;
    found->upper = (double)to;
    bool is_exact = (whole)found->lower == from && (whole)found->upper == to;
    found->slack = is_exact ? 0 : DBL_EPSILON;
    show_whole(from, found->lower_text);
    show_whole(to, found->upper_text);
}

struct quantile quantile(const struct histogram *histogram, const struct tally *tally,
                         const struct probability *q)
{
    const struct binning *binning = &histogram->binning;
    const uint64_t samples = tally->samples - tally->counts[ROW_INVALID(binning)];
    struct quantile found = {NAN, NAN, 0, "nan", "nan", false};
    if (samples == 0)
        return found;
    const uint64_t rank = probability_rank(q, samples);
    const size_t row = row_of_rank(tally, rank);
    const struct extremes extremes = extremes_of_rank(tally->moments, rank, samples);
    if (binning->is_whole)
        set_wholes(&found, binning, &extremes, row);
    else
        set_doubles(&found, binning, &extremes, row);
    found.in_bin = row != ROW_BELOW && row != ROW_ABOVE(binning);
    return found;
}

/* --- one number for it --- */

/* Returns the greatest relative error of a value for samples from a to b, both over 0, or a little
 * more: two operations round it by a factor of 1 + 2^-53 each, and the decimal that is printed may
 * be half a unit of the last place lower. */
static double error_bound(double value, double a, double b)
{
    double low = fabs(value - a) / a, high = fabs(b - value) / b;
    return (low > high ? low : high) * (1 + 4 * DBL_EPSILON);
}

/* Rounds an error from 0 to 1 up to three digits. */
static double round_up(double error)
{
    char text[ROW_TEXT];
    snprintf(text, sizeof text, "%.2e", error);
    double nearest = strtod(text, NULL);
    snprintf(text, sizeof text, "%.2e", nearest + pow(10, floor(log10(error)) - 2));
    return nearest >= error ? nearest : strtod(text, NULL);
}

/* Returns the estimate for samples from a to b, 0 < a < b, which may be off by `slack`, relatively.
 * 2ab / (a + b) has the same relative error at both ends. It is rounded to as few digits as
 * increase the error little. */
static struct estimate estimate_between(double a, double b, double slack)
{
    char text[ROW_TEXT];
    double ratio = b / a, best = b * (2 / (1 + ratio)), least = error_bound(best, a, b);
    if (!(least < 1))
        return (struct estimate){0, 1};
    double value = best, limit = fmin(1.1 * least, 1);
    for (int digits = 1; digits < DBL_DECIMAL_DIG; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, best);
        value = strtod(text, NULL);
        if (value >= a && value <= b && error_bound(value, a, b) <= limit)
            break;
        value = best;
    }
    return (struct estimate){value, round_up(error_bound(value, a, b) + slack)};
}

struct estimate quantile_estimate(const struct quantile *found)
{
    double a = found->lower, b = found->upper;
    if (a == b || isnan(a))
        return (struct estimate){a, isnan(a) ? NAN : found->slack};
    a = found->in_bin && a < -DBL_MAX ? -DBL_MAX : a;
    b = found->in_bin && b > DBL_MAX ? DBL_MAX : b;
    if (isinf(a) || isinf(b))
        return (struct estimate){isinf(b) ? HUGE_VAL : -HUGE_VAL, HUGE_VAL};
    if (a > 0)
        return estimate_between(a, b, found->slack);
    if (b < 0) {
        struct estimate mirrored = estimate_between(-b, -a, found->slack);
        return (struct estimate){-mirrored.value + 0.0, mirrored.error};
    }
    return (struct estimate){0, 1};
}

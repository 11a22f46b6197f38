/* SPDX-License-Identifier: MIT */
#include "quantile.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- which sample --- */

/* Returns a tenth, rounded down. Sets *more if it is cut off. */
static uint128 tenth_of(uint128 number, bool *more)
{
    const uint64_t low = (uint64_t)number;
    if (low == number) { /* which is much faster */
        *more |= low % 10 != 0;
        return low / 10;
    }
    *more |= number % 10 != 0;
    return number / 10;
}

uint64_t probability_rank(const struct probability *q, uint64_t n)
{
    uint128 rank = 0;  /* what n times the digits so far is, rounded down */
    bool more = false; /* something was cut off */
    if (q->exponent > 0)
        return n;
    /* From the last digit on, each is added and all are moved behind the point. Rounding down on
     * the way does not change how the end is rounded. */
    for (size_t i = strlen(q->digits); i-- > 0;)
        rank = tenth_of(rank + (uint128)(q->digits[i] - '0') * n, &more);
    for (int zeros = -q->exponent; zeros > 0 && rank > 0; zeros--)
        rank = tenth_of(rank, &more);
    return rank == 0 && !more ? 1 : (uint64_t)rank + more;
}

struct quantiles quantiles_of(const struct histogram_spec *spec, const struct tally *tally)
{
    const struct moments *moments = tally->moments;
    struct quantiles quantiles = {.binning = &spec->binning,
                                  .tally = tally,
                                  .samples =
                                      tally->samples - tally->counts[ROW_INVALID(&spec->binning)],
                                  .extremes = {.min = moments->min, .max = moments->max}};
    struct extremes *extremes = &quantiles.extremes;
    extremes->is_least = moments_least_large(moments, &extremes->least);
    extremes->is_greatest = moments_greatest_large(moments, &extremes->greatest);
    return quantiles;
}

/* Returns the row of the sample of a rank: ROW_BELOW, a bin or ROW_ABOVE. */
static size_t row_of_rank(struct quantiles *quantiles, uint64_t rank)
{
    const struct tally *tally = quantiles->tally;
    if (rank <= quantiles->before)
        quantiles->row = quantiles->before = 0;
    size_t row = quantiles->row, end = 0;
    for (uint64_t before = quantiles->before, sum;; row = end, before += sum) {
        row = tally_next_block(tally, row, &end);
        sum = tally_sum(tally, row, end);
        quantiles->before = before;
        if (before + sum >= rank)
            break;
    }
    for (; quantiles->before + tally->counts[row] < rank; row++)
        quantiles->before += tally->counts[row];
    quantiles->row = row;
    return row;
}

/* --- where it lies --- */

static void set_end(double value, double *end, char text[ROW_TEXT])
{
    *end = value + 0.0; /* not -0 */
    show_double(*end, text);
}

static void set_lower(struct quantile *found, const struct extremes *extremes)
{
    set_end(extremes->min, &found->lower, found->lower_text);
    if (extremes->is_least)
        show_whole(extremes->least, found->lower_text);
}

static void set_upper(struct quantile *found, const struct extremes *extremes)
{
    set_end(extremes->max, &found->upper, found->upper_text);
    if (extremes->is_greatest)
        show_whole(extremes->greatest, found->upper_text);
}
/* Returns the extremes of the sample of a rank: the first and the last sample are known. */
static struct extremes extremes_of_rank(const struct quantiles *quantiles, uint64_t rank)
{
    struct extremes extremes = quantiles->extremes;
    if (rank == 1) {
        extremes.max = extremes.min;
        extremes.greatest = extremes.least;
        extremes.is_greatest = extremes.is_least;
    } else if (rank == quantiles->samples) {
        extremes.min = extremes.max;
        extremes.least = extremes.greatest;
        extremes.is_least = extremes.is_greatest;
    }
    return extremes;
}

static bool is_row_of_zero(const struct binning *binning, size_t row)
{
    return row != ROW_BELOW && row != ROW_ABOVE(binning) && binning_is_zero_alone(binning, row - 1);
}

/* Sets the lower end to that of the row, unless it is below the extremes. */
static void set_lower_edge(struct quantile *found, const struct binning *binning,
                           const struct extremes *extremes, size_t row)
{
    const double edge = row != ROW_BELOW ? binning_edge(binning, row - 1) : -HUGE_VAL;
    if (edge <= extremes->min) {
        set_lower(found, extremes);
        return;
    }
    found->lower = edge;
    /* A float may be below the decimal that names the edge, and a sample. */
    if (binning->digits.singles && binning_shown_edge(binning, row - 1) > edge)
        show_double(edge, found->lower_text);
    else
        binning_show_edge(binning, row - 1, found->lower_text);
}

/* Sets the upper end, after the lower one, to that of the row, unless it is above the extremes. */
static void set_upper_edge(struct quantile *found, const struct binning *binning,
                           const struct extremes *extremes, size_t row)
{
    const double edge = row != ROW_ABOVE(binning) ? binning_edge(binning, row) : HUGE_VAL;
    if (row == ROW_ABOVE(binning) || edge > extremes->max) {
        set_upper(found, extremes);
        return;
    }
    /* The row excludes this edge, so the lower end may be the only double in it. If that is large
     * it may stand for several whole numbers. */
    if (fabs(found->lower) < MOMENTS_LARGE && nextafter(edge, -HUGE_VAL) <= found->lower) {
        set_end(found->lower, &found->upper, found->upper_text);
        return;
    }
    found->upper = binning->is_right ? binning_shown_edge(binning, row) : edge;
    binning_show_edge(binning, row, found->upper_text);
}

/* Sets the interval to the row, within the extremes. */
static void set_doubles(struct quantile *found, const struct binning *binning,
                        const struct extremes *extremes, size_t row)
{
    found->slack = extremes->is_least || extremes->is_greatest ? DBL_EPSILON : 0;
    if (is_row_of_zero(binning, row)) {
        set_end(0, &found->lower, found->lower_text);
        set_end(0, &found->upper, found->upper_text);
    } else if (extremes->min == extremes->max) { /* as rows need not be looked at then */
        set_lower(found, extremes);
        set_upper(found, extremes);
    } else {
        set_lower_edge(found, binning, extremes, row);
        set_upper_edge(found, binning, extremes, row);
    }
}

static void set_wholes(struct quantile *found, const struct binning *binning,
                       const struct extremes *extremes, size_t row)
{
    int128 from = extremes->least, to = extremes->greatest;
    if (row != ROW_BELOW && binning_whole_edge(binning, row - 1) > from)
        from = binning_whole_edge(binning, row - 1);
    if (row != ROW_ABOVE(binning) && binning_whole_edge(binning, row) - 1 < to)
        to = binning_whole_edge(binning, row) - 1;
    found->lower = (double)from;
    found->upper = (double)to;
    bool is_exact = (int128)found->lower == from && (int128)found->upper == to;
    found->slack = is_exact ? 0 : DBL_EPSILON;
    show_whole(from, found->lower_text);
    show_whole(to, found->upper_text);
}

struct quantile quantiles_find(struct quantiles *quantiles, const struct probability *q)
{
    const struct binning *binning = quantiles->binning;
    struct quantile found;
    if (quantiles->samples == 0)
        return (struct quantile){NAN, NAN, 0, "nan", "nan", false};
    const uint64_t rank = probability_rank(q, quantiles->samples);
    const size_t row = row_of_rank(quantiles, rank);
    const struct extremes extremes = extremes_of_rank(quantiles, rank);
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

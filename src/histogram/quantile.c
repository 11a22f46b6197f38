#include "quantile.h"
#include "show_number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- which sample --- */

/* The rank, from 1, of the q-quantile of so many samples. */
static uint64_t rank_of(double q, uint64_t samples)
{
    double wanted = q * (double)samples;
    uint64_t rank = wanted < (double)samples ? (uint64_t)wanted : samples;
    if (rank == 0 || (rank < samples && (double)rank < wanted))
        rank++;
    return rank;
}

/* The row of the sample of a rank: ROW_BELOW, a bin or ROW_ABOVE. */
static size_t row_of_rank(const uint64_t *counts, uint64_t rank)
{
    size_t row = ROW_BELOW;
    for (; counts[row] < rank; row++)
        rank -= counts[row];
    return row;
}

/* --- where it lies --- */

/* The least and the greatest sample that can be meant. */
struct extremes {
    double min, max;
    whole least, greatest;
};

/* The first and the last sample by rank are known. */
static struct extremes extremes_of_rank(const struct moments *moments, uint64_t rank,
                                        uint64_t samples)
{
    struct extremes extremes = {moments->min, moments->max, moments->least, moments->greatest};
    if (rank == 1) {
        extremes.max = extremes.min;
        extremes.greatest = extremes.least;
    } else if (rank == samples) {
        extremes.min = extremes.max;
        extremes.least = extremes.greatest;
    }
    return extremes;
}

static void set_end(double value, double *end, char text[ROW_TEXT])
{
    *end = value + 0.0; /* not -0 */
    show_double(*end, text);
}

/* Sets the interval to the row, as far as it lies between the least and the greatest. */
static void set_doubles(struct quantile *found, const struct binning *binning,
                        const struct extremes *extremes, size_t row)
{
    set_end(extremes->min, &found->lower, found->lower_text);
    set_end(extremes->max, &found->upper, found->upper_text);
    if (row != ROW_BELOW && row != ROW_ABOVE(binning) && binning_is_zero_alone(binning, row - 1)) {
        set_end(0, &found->lower, found->lower_text);
        set_end(0, &found->upper, found->upper_text);
        return;
    }
    if (row != ROW_BELOW && binning_edge(binning, row - 1) > found->lower) {
        found->lower = binning_edge(binning, row - 1);
        binning_show_edge(binning, row - 1, found->lower_text);
    }
    if (row == ROW_ABOVE(binning) || binning_edge(binning, row) > found->upper)
        return;
    /* The row excludes this edge: there may be no other double in it than the lower end. */
    if (nextafter(binning_edge(binning, row), -HUGE_VAL) <= found->lower) {
        set_end(found->lower, &found->upper, found->upper_text);
        return;
    }
    found->upper = binning_edge(binning, row);
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
    show_whole(from, found->lower_text);
    show_whole(to, found->upper_text);
}

/* --- one number for it --- */

/* The greatest relative error of a value for samples from a up to b, both over 0, or a little more:
 * two operations have rounded it, by a factor of 1 + 2^-53 each, and the decimal that is printed
 * may be half a unit of the last place lower. */
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

/* Sets the value for samples from a up to b, 0 < a < b. 2ab / (a + b) errs as much, relatively, at
 * both ends; it is rounded to as few digits as err little more. */
static void set_value(struct quantile *found, double a, double b)
{
    char text[ROW_TEXT];
    double ratio = b / a, best = b * (2 / (1 + ratio)), least = error_bound(best, a, b);
    found->value = 0;
    found->error = 1;
    if (!(least < 1))
        return;
    double value = best, limit = fmin(1.1 * least, 1);
    for (int digits = 1; digits < DBL_DECIMAL_DIG; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, best);
        value = strtod(text, NULL);
        if (value >= a && value <= b && error_bound(value, a, b) <= limit)
            break;
        value = best;
    }
    found->value = value;
    found->error = round_up(error_bound(value, a, b));
}

static void estimate(struct quantile *found, bool in_bin)
{
    double a = found->lower, b = found->upper;
    found->value = a;
    found->error = 0;
    if (a == b)
        return;
    a = in_bin && a < -DBL_MAX ? -DBL_MAX : a; /* samples in bins are finite */
    b = in_bin && b > DBL_MAX ? DBL_MAX : b;
    if (isinf(a) || isinf(b)) {
        found->value = isinf(b) ? HUGE_VAL : -HUGE_VAL;
        found->error = HUGE_VAL;
    } else if (a > 0) {
        set_value(found, a, b);
    } else if (b < 0) {
        set_value(found, -b, -a);
        found->value = -found->value + 0.0;
    } else {
        found->value = 0;
        found->error = 1;
    }
}

struct quantile quantile(const struct histogram *histogram, const struct tally *tally, double q)
{
    const struct binning *binning = &histogram->binning;
    const uint64_t samples = tally->samples - tally->counts[ROW_INVALID(binning)];
    struct quantile found = {NAN, NAN, "nan", "nan", NAN, NAN};
    if (samples == 0)
        return found;
    const uint64_t rank = rank_of(q, samples);
    const size_t row = row_of_rank(tally->counts, rank);
    const struct extremes extremes = extremes_of_rank(tally->moments, rank, samples);
    if (binning->is_whole)
        set_wholes(&found, binning, &extremes, row);
    else
        set_doubles(&found, binning, &extremes, row);
    estimate(&found, row != ROW_BELOW && row != ROW_ABOVE(binning));
    return found;
}

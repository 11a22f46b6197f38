/* SPDX-License-Identifier: MIT */
#include "binned_rows.h"
#include "statistics.h"
#include "show_number.h"

#include <math.h>
#include <string.h>

enum row_kind binned_row_kind(const struct histogram *histogram, size_t row)
{
    const struct binning *binning = &histogram->binning;
    row %= ROWS(binning); /* of its channel */
    if (row == ROW_BELOW)
        return ROW_KIND_BELOW;
    if (row == ROW_INVALID(binning))
        return ROW_KIND_INVALID;
    return row == ROW_ABOVE(binning) ? ROW_KIND_ABOVE : ROW_KIND_BIN;
}

void binned_label_row(const struct histogram *histogram, size_t row, struct row_label *label)
{
    const struct binning *binning = &histogram->binning;
    label->kind = binned_row_kind(histogram, row);
    const bool follows = label->next == row;
    label->next = row + 1;
    if (label->kind == ROW_KIND_INVALID) {
        *label = (struct row_label){.kind = ROW_KIND_INVALID, .name = "invalid"};
        return;
    }
    if (label->kind == ROW_KIND_BIN && binning_is_zero_alone(binning, row - 1)) {
        *label = (struct row_label){.name = "0", .lo = "0", .hi = "0", .note = "0"};
        return;
    }
    if (row == ROW_BELOW)
        strcpy(label->lo, "-inf");
    else if (follows)
        memcpy(label->lo, label->hi, sizeof label->lo);
    else
        binning_show_edge(binning, row - 1, label->lo);
    if (row < ROW_ABOVE(binning))
        binning_show_edge(binning, row, label->hi);
    else
        strcpy(label->hi, "inf");
    memcpy(label->name, label->lo, sizeof label->name);
    memcpy(label->note, label->hi, sizeof label->note);
}

/* Adds a whole number if it is one, otherwise a double. */
static void add_number(struct statistics *statistics, const char *name, bool is_whole, whole number,
                       double value)
{
    char text[ROW_TEXT];
    if (!is_whole) {
        statistics_add_number(statistics, name, value);
        return;
    }
    show_whole(number, text);
    statistics_add_text(statistics, name, text);
}

/* Adds the least and the greatest sample. */
static void add_extremes(struct statistics *statistics, bool is_whole,
                         const struct moments *moments)
{
    whole least = moments->least, greatest = moments->greatest;
    const bool is_least = is_whole || moments_least_large(moments, &least);
    const bool is_greatest = is_whole || moments_greatest_large(moments, &greatest);
    add_number(statistics, "min", is_least, least, moments->min);
    add_number(statistics, "max", is_greatest, greatest, moments->max);
}

void binned_add_statistics(const struct histogram *histogram, const struct tally *tally,
                           struct statistics *statistics)
{
    const struct moments *moments = tally->moments;
    uint64_t invalid = tally->counts[ROW_INVALID(&histogram->binning)];
    uint64_t numbers = tally->samples - invalid;
    bool any = numbers > 0;
    statistics_add_count(statistics, "count", numbers);
    statistics_add_count(statistics, "invalid", invalid);
    if (any) {
        add_extremes(statistics, histogram->binning.is_whole, moments);
    } else {
        statistics_add_number(statistics, "min", NAN);
        statistics_add_number(statistics, "max", NAN);
    }
    whole sum;
    const bool is_large = moments_sum_large(moments, &sum);
    add_number(statistics, "sum", is_large, sum, moments_sum(moments));
    statistics_add_number(statistics, "mean", any ? moments_mean(moments, numbers) : NAN);
    statistics_add_deviation(statistics, "stddev", any ? moments_deviation(moments, numbers) : NAN);
}

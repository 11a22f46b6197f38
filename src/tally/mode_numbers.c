/* SPDX-License-Identifier: MIT */
/* Numbers in bins between the edges of a binning: decimal numbers in text, as doubles, and binary
 * values of a fixed size. */
#include "src/text/show_number.h"
#include "statistics.h"

#include <math.h>
#include <string.h>

static void binned_label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    const struct binning *binning = &spec->binning;
    const bool follows = label->next == row;
    label->next = row + 1;
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
static void add_number(struct statistics *to, const char *name, bool is_whole, int128 number,
                       double value)
{
    char text[ROW_TEXT];
    if (!is_whole) {
        statistics_add_number(to, name, value);
        return;
    }
    show_whole(number, text);
    statistics_add_text(to, name, text);
}

static void binned_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                  struct statistics *to)
{
    const struct moments *moments = tally->moments;
    const uint64_t invalid = tally->counts[ROW_INVALID(&spec->binning)];
    const uint64_t numbers = tally->samples - invalid;
    const bool any = numbers > 0, is_whole = any && spec->binning.is_whole;
    int128 least = moments->least, greatest = moments->greatest, sum;
    const bool is_least = is_whole || moments_least_large(moments, &least);
    const bool is_greatest = is_whole || moments_greatest_large(moments, &greatest);
    const bool is_sum = moments_sum_large(moments, &sum);
    statistics_add_count(to, "count", numbers);
    statistics_add_count(to, "invalid", invalid);
    add_number(to, "min", is_least, least, any ? moments->min : NAN);
    add_number(to, "max", is_greatest, greatest, any ? moments->max : NAN);
    add_number(to, "sum", is_sum, sum, moments_sum(moments));
    statistics_add_number(to, "mean", any ? moments_mean(moments, numbers) : NAN);
    statistics_add_deviation(to, "stddev", any ? moments_deviation(moments, numbers) : NAN);
}

const struct mode mode_numbers = {
    .id = MODE_NUMBERS,
    .name = "numbers",
    .is_text = true,
    .is_binned = true,
    .counts_every = true,
    .columns = {"lo", "count", "hi"},
    .label_row = binned_label_row,
    .add_statistics = binned_add_statistics,
};

const struct mode mode_values = {
    .id = MODE_VALUES,
    .name = "values",
    .is_binned = true,
    .counts_every = true,
    .has_types = true,
    .columns = {"lo", "count", "hi"},
    .label_row = binned_label_row,
    .add_statistics = binned_add_statistics,
};

void histogram_spec_numbers(struct histogram_spec *spec, const struct binning *binning)
{
    *spec = (struct histogram_spec){.mode = &mode_numbers,
                                    .bins = ROWS(binning),
                                    .type = *value_type_find("f64"),
                                    .binning = *binning};
}

void histogram_spec_values(struct histogram_spec *spec, const struct value_type *type,
                           const struct binning *binning)
{
    *spec = (struct histogram_spec){.mode = &mode_values,
                                    .sample_size = type->size,
                                    .bins = ROWS(binning),
                                    .channels = 1,
                                    .type = *type,
                                    .binning = *binning};
}

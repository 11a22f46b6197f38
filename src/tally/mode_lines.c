/* SPDX-License-Identifier: MIT */
/* Lines, or records of CSV: each is a sample, in the one row there is. They are counted for their
 * keys. */
#include "histogram_spec.h"
#include "statistics.h"
#include "tally.h"

#include <stdio.h>

static void lines_label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    (void)spec;
    (void)row;
    snprintf(label->name, sizeof label->name, "lines");
}

static void lines_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                 struct statistics *to)
{
    (void)spec;
    statistics_add_count(to, "lines", tally->samples);
}

const struct mode mode_lines = {
    .id = MODE_LINES,
    .name = "lines",
    .is_text = true,
    .counts_every = true,
    .columns = {"bin", "count"},
    .label_row = lines_label_row,
    .add_statistics = lines_add_statistics,
};

void histogram_spec_lines(struct histogram_spec *spec)
{
    *spec = (struct histogram_spec){.mode = &mode_lines, .bins = 1};
}

/* SPDX-License-Identifier: MIT */
/* Two tables of the same bins, side by side. */
#ifndef GPUHISTO_DIFF_H
#define GPUHISTO_DIFF_H

#include "picture.h"
#include "report.h"

/* The counts of two tables. All tallies are of the histogram, which has one channel. */
struct diff_counts {
    const struct histogram_spec *spec;
    const struct tally *before, *after;
    const struct tally *both; /* the sum of the two */
};

/* Writes for each row both counts, both percents, their difference in percentage points and their
 * ratio. A picture has a bar to the left for a percent that fell, and to the right for one that
 * rose. It uses the options format, header and empty. Errors stay with the writer. */
void diff_write(struct writer *out, const struct report_options *options,
                const struct diff_counts *counts);

/* The functions that struct format has for --diff. */
struct diff;
void diff_delimited(struct diff *diff);
void diff_json(struct diff *diff);
void diff_plot(struct diff *diff);

/* Shows a number divided by another one: "inf" if only the other one is 0, "nan" if both are. */
void diff_show_ratio(double number, double other, char text[SHOW_NUMBER]);

/* Measures the screen for rows with such cells and a bar to either side of an axis. */
void diff_fit_bars(struct picture *picture, const struct screen *screen,
                   const struct picture_cells *cells);

/* Writes the bar of a row, and ends it: to the left for a fall, of which `units` say how far. */
void diff_bar(struct writer *out, const struct picture *picture, bool is_fall, uint64_t units);

/* --- diff_keys.c --- */

/* Two tables by key, whose keys are the same and in the same order. */
struct diff_tables {
    const struct histogram_spec *spec;
    const struct key_tallies *before, *after;
    size_t top;          /* keys that are shown alone */
    const char *columns; /* what they are called */
};

/* Writes for each key both counts, their difference and their ratio; with statistics, which a
 * picture has not, also the mean and the quantiles of both. It uses the options format, header,
 * stats and quantiles. Errors stay with the writer. */
void diff_write_keys(struct writer *out, const struct report_options *options,
                     const struct diff_tables *tables);

/* The functions that struct format has for that. */
struct diff_keys;
void diff_keys_delimited(struct diff_keys *diff);
void diff_keys_json(struct diff_keys *diff);
void diff_keys_plot(struct diff_keys *diff);

#endif

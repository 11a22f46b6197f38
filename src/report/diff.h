/* SPDX-License-Identifier: MIT */
/* Two tables of the same bins, side by side. */
#ifndef GPUHISTO_DIFF_H
#define GPUHISTO_DIFF_H

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

#endif

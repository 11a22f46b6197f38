/* SPDX-License-Identifier: MIT */
/* What the modes have in common whose samples are numbers: rows between the edges of a binning. */
#ifndef GPUHISTO_BINNED_ROWS_H
#define GPUHISTO_BINNED_ROWS_H

#include "histogram.h"

/* As in struct mode. */
enum row_kind binned_row_kind(const struct histogram *histogram, size_t row);
void binned_label_row(const struct histogram *histogram, size_t row, struct row_label *label);
void binned_add_statistics(const struct histogram *histogram, const struct tally *tally,
                           struct statistics *statistics);

#define BINNED_COLUMNS                                                                             \
    {                                                                                              \
        "lo", "count", "hi"                                                                        \
    }

#endif

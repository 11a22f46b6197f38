/* A tally as text. */
#ifndef GPUHISTO_REPORT_H
#define GPUHISTO_REPORT_H

#include "src/histogram/histogram.h"
#include "writer.h"

#include <stdbool.h>

#define QUANTILES_MAX 64

struct report_options {
    unsigned format;                 /* an index of format_table and format_names (format.h) */
    bool stats;                      /* facts instead of rows; JSON has both */
    bool header;                     /* a first row with the columns' names; JSON has none */
    size_t quantile_count;           /* 0 but for modes whose samples are numbers */
    double quantiles[QUANTILES_MAX]; /* each 0 to 1; printed after the bins */
};

/* Writes the table: every row in order, or where bins are many those that are not empty; or facts.
 * Errors stay with the writer until it is flushed. */
void report_write(struct writer *out, const struct report_options *options,
                  const struct histogram *histogram, const struct tally *tally);

#endif

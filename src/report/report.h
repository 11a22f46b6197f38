/* A tally as text. */
#ifndef GPUHISTO_REPORT_H
#define GPUHISTO_REPORT_H

#include "src/histogram/histogram.h"
#include "writer.h"

#include <stdbool.h>

enum format {
    FORMAT_TSV,
    FORMAT_CSV,
    FORMAT_JSON,
};

#define QUANTILES_MAX 64

struct report_options {
    enum format format;
    bool header; /* a first row with the columns' names; JSON has none */
    size_t quantile_count;
    double quantiles[QUANTILES_MAX]; /* of numbers, to be told behind the bins; each 0 to 1 */
};

/* Writes every bin in order; of log-linear ones those that are not empty. Errors stay with the
 * writer until it is flushed. */
void report_write(struct writer *out, const struct report_options *options,
                  const struct histogram *histogram, const struct tally *tally);

#endif

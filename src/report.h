/* A tally as text. */
#ifndef GPUHISTO_REPORT_H
#define GPUHISTO_REPORT_H

#include "histogram.h"

#include <stdio.h>

enum format {
    FORMAT_TSV,
    FORMAT_CSV,
    FORMAT_JSON,
};

struct report_options {
    enum format format;
    bool header; /* a first row with the columns' names; JSON has none */
};

/* Writes every bin in order. Errors stay with the stream: ask ferror, or look at what fclose says.
 */
void report_write(FILE *out, const struct report_options *options,
                  const struct histogram *histogram, const struct tally *tally);

#endif

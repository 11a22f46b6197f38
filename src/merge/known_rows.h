/* SPDX-License-Identifier: MIT */
/* Known rows: the text in JSON of a histogram's rows, up to their counts. Tables with the same bins
 * have the same text there, which is parsed only once. What equals it byte by byte is read here;
 * everything else is for the library that reads JSON, which takes three to eight times as long. */
#ifndef GPUHISTO_KNOWN_ROWS_H
#define GPUHISTO_KNOWN_ROWS_H

#include "src/count/histogram.h"

/* All zeros: no rows are known. Once made it never changes, so any thread may read it. */
struct known_rows {
    size_t rows;    /* the last one that is known; the first is 1 */
    char *text;     /* of all rows: ,{"lo":1,"hi":2,"count": */
    uint32_t *ends; /* row r is text[ends[r - 1]..ends[r]) */
};

/* True if making the rows of a histogram known saves time, for so many bytes of tables that are
 * still to be read. Those of several channels, and of modes with few rows, never are. */
bool known_rows_pay(const struct histogram *histogram, uint64_t bytes);

/* Makes rows known, as many as fit in 64 MiB; none if memory is short. */
void known_rows_make(struct known_rows *known, const struct histogram *histogram);

void known_rows_free(struct known_rows *known);

/* Reads a row at text[0..len), if it is complete and follows *row, by a few rows at most. Sets *row
 * and *count, and returns the length; otherwise 0. */
size_t known_rows_read(const struct known_rows *known, const char *text, size_t len, size_t *row,
                       uint64_t *count);

#endif

/* SPDX-License-Identifier: MIT */
/* The text that this program writes for a row of a histogram in JSON, up to its count: tables that
 * were made alike have the same text there, so it need be understood only once. Only what equals it
 * byte by byte is taken; everything else is for the library that reads JSON. */
#ifndef GPUHISTO_KNOWN_ROWS_H
#define GPUHISTO_KNOWN_ROWS_H

#include "src/count/histogram.h"

/* All zeros: no rows are known. Once made it never changes, so any number of threads may read. */
struct known_rows {
    size_t rows;    /* known are the rows from 1 to this one */
    char *text;     /* of all rows: ,{"lo":1,"hi":2,"count": */
    uint32_t *ends; /* row r is text[ends[r - 1]..ends[r]) */
};

/* Whether it takes less time to make the rows of a histogram known than it saves, if so many bytes
 * of its tables are still to be read. False if they never are known: those of several channels, and
 * of modes with few rows. */
bool known_rows_pay(const struct histogram *histogram, uint64_t bytes);

/* Makes known what fits in 64 MiB; no rows if memory is short. */
void known_rows_make(struct known_rows *known, const struct histogram *histogram);

void known_rows_free(struct known_rows *known);

/* If text[0..len) begins with all of a row that comes after *row, by a few rows at most: its
 * length, and sets *row and *count. Otherwise 0. */
size_t known_rows_read(const struct known_rows *known, const char *text, size_t len, size_t *row,
                       uint64_t *count);

#endif

/* SPDX-License-Identifier: MIT */
/* Rows of a histogram, found by the edges that a table shows. */
#ifndef GPUHISTO_FIND_ROWS_H
#define GPUHISTO_FIND_ROWS_H

#include "src/count/histogram.h"

/* A walk over the rows of a table, which mostly follow each other. */
struct row_finder {
    const struct histogram *histogram;
    size_t next;            /* the row after the last one that was found */
    bool follows;           /* the last one followed the one before it */
    struct row_label label; /* of the row that was guessed last */
};

/* Begins a walk. The histogram's mode is_binned; it must outlive the walk. */
void row_finder_begin(struct row_finder *finder, const struct histogram *histogram);

/* Returns the row that begins and ends with these edges; SIZE_MAX if there is none, as for equal
 * edges, a bin that no value can be in. Rows may come in any order. */
size_t row_finder_find(struct row_finder *finder, const char *lo, const char *hi);

#endif

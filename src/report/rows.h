/* The rows of a table: what a tally says, chosen, in order and named, for a format to write. */
#ifndef GPUHISTO_ROWS_H
#define GPUHISTO_ROWS_H

#include "src/histogram/histogram.h"

/* What all rows add up to, shown or not. */
struct totals {
    uint64_t samples;       /* all that were looked at */
    uint64_t of[ROW_KINDS]; /* by enum row_kind */
};

struct row {
    struct row_label label;
    uint64_t count;
};

/* A walk over the rows that are shown. */
struct rows {
    const struct histogram *histogram;
    const struct tally *tally;
    size_t next;
    struct row row; /* the one that was given last */
};

/* Adds up a tally. */
struct totals rows_add_up(const struct histogram *histogram, const struct tally *tally);

/* Begins a walk. Both must outlive it. */
void rows_begin(struct rows *rows, const struct histogram *histogram, const struct tally *tally);

/* The next row that is shown: each, or where bins are many (histogram_is_sparse) those with a count
 * and the one for what is not a number. It is the walk's own and good until the next call. NULL
 * after the last one. */
const struct row *rows_next(struct rows *rows);

#endif

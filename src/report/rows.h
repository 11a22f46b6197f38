/* SPDX-License-Identifier: MIT */
/* The rows of a table: what a tally says, chosen, in order and named, for a format to write. */
#ifndef GPUHISTO_ROWS_H
#define GPUHISTO_ROWS_H

#include "src/count/histogram.h"
#include "src/count/tally.h"

#define ROWS_CUT_MAX 512 /* of rows_cut: more are as many as this */

/* What all rows add up to, shown or not. */
struct totals {
    uint64_t samples;       /* all that were looked at */
    uint64_t of[ROW_KINDS]; /* by enum row_kind */
};

struct row {
    struct row_label label;
    size_t index;     /* among the rows of a channel */
    uint64_t count;   /* in all channels */
    uint64_t running; /* the counts of this row and of all rows before it, shown or not */
};

/* Which rows without a count are shown. */
enum empty_rows {
    EMPTY_DEFAULT,    /* all, unless bins are many (histogram_is_sparse): only INVALID */
    EMPTY_SHOWN,      /* all */
    EMPTY_LEFT_OUT,   /* none */
    EMPTY_IN_PICTURE, /* bins that were chosen by their edges; not single values, as of bytes */
};

/* A walk over the rows that are shown. */
struct rows {
    const struct histogram *histogram;
    const struct tally *tally;
    size_t bins_begin, bins_end, invalid; /* which rows are bins, and which one INVALID, if any */
    bool empty_bins, empty_invalid, empty_others; /* rows that are shown without a count */
    struct row_range within[2];                   /* bins that are, too: between others */
    size_t step;                                  /* rows of a channel */
    size_t next;
    uint64_t least, at_least; /* rows_cut: rows with fewer samples are left out, and all but so many
                               * with just as many */
    struct row row;           /* the one that was given last */
};

/* Adds up a tally. */
struct totals rows_add_up(const struct histogram *histogram, const struct tally *tally);

/* Begins a walk. Histogram and tally must outlive it. */
void rows_begin(struct rows *rows, const struct histogram *histogram, const struct tally *tally,
                enum empty_rows empty);

/* Leaves out rows if there are more than `most`, at least 2: those with the least counts, the last
 * ones of those with the same, until there is a line left to say so. Returns how many are left out.
 * Before the walk. */
size_t rows_cut(struct rows *rows, size_t most);

/* The next row that is shown: with a count, or as enum empty_rows says. It is the walk's own and
 * good until the next call. NULL after the last one. */
const struct row *rows_next(struct rows *rows);

#endif

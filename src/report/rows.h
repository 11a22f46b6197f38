/* SPDX-License-Identifier: MIT */
/* The rows of a table: what a tally says, chosen, in order and with labels. */
#ifndef GPUHISTO_ROWS_H
#define GPUHISTO_ROWS_H

#include "groups.h"

#include "src/tally/histogram_spec.h"
#include "src/tally/tally.h"

#define ROWS_CUT_MAX 512 /* rows that rows_cut leaves, at most */

/* The sums of all rows, shown or not. */
struct totals {
    uint64_t samples;       /* counted in rows or not */
    uint64_t of[ROW_KINDS]; /* by enum row_kind */
};

/* Names of rows that are groups, and memory for one of them. */
struct row_names {
    const struct groups *groups; /* NULL: rows have labels */
    char *text;                  /* groups_name_capacity bytes */
};

struct row {
    struct row_label label;
    const char *name; /* label.name, or that of the group */
    size_t index;     /* among the rows of a channel */
    uint64_t count;   /* in all channels */
    uint64_t running; /* the sum of this row and all rows before it, shown or not */
};

/* The rows without a count that are shown. */
enum empty_rows {
    EMPTY_DEFAULT,    /* all; if bins may be many, only INVALID */
    EMPTY_SHOWN,      /* all */
    EMPTY_LEFT_OUT,   /* none */
    EMPTY_IN_PICTURE, /* bins with edges; not single values, such as bytes */
};

/* A walk over the rows that are shown. */
struct rows {
    const struct histogram_spec *spec;
    const struct tally *tally;
    size_t count;                         /* rows of a channel */
    size_t bins_begin, bins_end, invalid; /* which rows are bins, and which one INVALID, if any */
    bool empty_bins, empty_invalid, empty_others; /* rows that are shown without a count */
    struct row_range between[2];                  /* empty bins that are shown, between others */
    size_t next;
    uint64_t min;         /* rows with fewer samples are left out (rows_cut) */
    uint64_t min_count;   /* how many of those with just as many are still shown */
    struct row_range cut; /* rows of ordered groups that are left out */
    struct row_names names;
    struct row row; /* the current one */
};

/* Returns the sums of a tally's rows. */
struct totals rows_add_up(const struct histogram_spec *spec, const struct tally *tally);

/* Returns the sums of rows that are groups. */
struct totals rows_add_up_groups(const struct groups *groups, const struct tally *tally);

/* Begins a walk. Histogram, tally and the groups of the names must outlive it. */
void rows_begin(struct rows *rows, const struct histogram_spec *spec, const struct tally *tally,
                const struct row_names *names, enum empty_rows empty);

/* Leaves out the rows with the least counts if there are more than `max`, at least 2; of equal
 * counts the last ones; of groups that are ordered those before the rest. One line is left free to
 * say so. Returns how many are left out. Call it before the walk. */
size_t rows_cut(struct rows *rows, size_t max);

/* Returns the next row that is shown, which is valid until the next call; NULL after the last one.
 */
const struct row *rows_next(struct rows *rows);

#endif

/* SPDX-License-Identifier: MIT */
/* Tallies as text: tables, pictures and statistics. */
#ifndef GPUHISTO_REPORT_H
#define GPUHISTO_REPORT_H

#include "group_order.h"
#include "groups.h"
#include "rows.h"
#include "shard_record.h"
#include "writer.h"

#include "src/base/memory.h"
#include "src/tally/statistics.h"

#include <stdbool.h>

struct format; /* format.h */

#define QUANTILES_MAX 64

/* The bins that are shown instead of those that were counted. */
struct report_bins {
    bool keep;          /* in a picture too, though there may be more rows than a screen has */
    unsigned max;       /* equal ones over what was seen; 0: bins are shown as they are */
    unsigned own;       /* of whole values below this, as no range was given; 0: other bins */
    unsigned log_parts; /* of each decade; 0: no decades */
};

struct report_terminal {
    bool in_place;    /* pictures and statistics replace each other */
    size_t lines;     /* of the screen that a picture should fit on; 0: any number */
    bool is_replaced; /* by the next picture: rows that do not fit are left out */
};

struct report_options {
    const struct format *format;
    bool stats;            /* statistics instead of rows; JSON and pictures have both */
    bool header;           /* a first row with the columns' names; JSON has none */
    bool percent;          /* the percent and the running percent of each row */
    enum empty_rows empty; /* EMPTY_DEFAULT, EMPTY_SHOWN or EMPTY_LEFT_OUT */

    struct group_order order; /* of keys */
    struct report_bins bins;
    struct report_terminal terminal;
    const struct words *words;        /* the options that make the same samples and bins */
    const struct shard_record *shard; /* which part of the input this is; NULL: all */
    size_t quantile_count;            /* over 0 with stats, or an order of keys */
    struct probability quantiles[QUANTILES_MAX]; /* among the statistics of numbers */
};

/* Writes the table, or statistics. Errors stay with the writer until it is flushed. */
void report_write(struct writer *out, const struct report_options *options,
                  const struct histogram_spec *spec, const struct tally *tally);

/* Writes a result for each group, and its name first. It uses `tally`, one of the histogram's, as
 * memory. */
void report_write_groups(struct writer *out, const struct report_options *options,
                         const struct histogram_spec *spec, const struct groups *groups,
                         struct tally *tally);

/* Finds the statistics of the mode, and of numbers the quantiles. */
void report_find_statistics(const struct report_options *options, const struct histogram_spec *spec,
                            const struct tally *tally, struct statistics *statistics);

/* Writes the separator between a table and the one before it, if it `follows` one: an empty line,
 * unless each is a line. On a terminal a picture replaces the one before. */
void report_write_gap(struct writer *out, const struct report_options *options, bool follows);

#endif

/* SPDX-License-Identifier: MIT */
/* How a table is written: a format is given rows, which are chosen, in order and named already.
 *
 * To add one: a line in formats.def, and a file format_NAME.c with its struct format, in
 * src/local.mk. */
#ifndef GPUHISTO_FORMAT_H
#define GPUHISTO_FORMAT_H

#include "rows.h"
#include "screen.h"
#include "shard_record.h"
#include "writer.h"

#include "src/base/words.h"
#include "src/count/statistics.h"
#include "src/count/quantile.h"

#define PERCENT_DIGITS 4 /* decimals of the shares of --percent */

#define PICTURE_COLUMNS 4 /* before the bar, at most */
#define PICTURE_ROWS 40   /* that are taken in at a glance */

/* What a picture is measured by. All 0 before the first row or statistic is measured. */
struct picture {
    size_t widths[PICTURE_COLUMNS]; /* characters */
    uint64_t largest;               /* count */
    size_t room;                    /* for the largest bar, characters */
    struct screen screen;
};

/* What a format knows of the table beside its rows. */
struct table {
    struct writer *out;
    const char *file; /* whose rows these are, as printable text; NULL: of all FILEs together */
    unsigned channel; /* likewise, from 1; 0: of all of them */
    const struct histogram *histogram; /* the mode's name and columns, the type of values */
    const struct words *words;         /* the options that make the same samples and bins */
    const struct tally *tally;         /* for the counts of each channel */
    const struct moments *moments;     /* of --stats; NULL: there are none */
    const struct shard_record *shard;  /* what of the FILEs this is; NULL: all there is */
    struct totals totals;
    bool header; /* a first row with the columns' names is wanted; for formats that can */
    bool
        has_statistics; /* set and looked at by formats that must close what they began with them */
    bool percent;       /* shares are wanted, as the last columns; pictures have them anyway */
    size_t written; /* 0 when a list begins: how much of it is written is the format's to count */
    size_t tables;  /* that came before this one */
    size_t most;    /* rows that are shown; 0: all of them */
    size_t cut;     /* and how many are left out for that */
    struct picture picture; /* for the format's own use, if it measures rows */
};

/* Functions are called in this order, but for measure_statistic, which comes just before
 * begin_statistics. They write to table->out, where errors are kept. With --stats statistics take
 * the place of rows; a format that has_both writes statistics after rows, and quantiles between the
 * two. */
struct format {
    bool is_line; /* a table is one line */
    bool has_both;
    /* With --each a FILE has a table of its own, from begin to end; otherwise there is one table,
     * in which the rows of all FILEs follow each other. */
    bool is_apart;
    bool is_picture; /* for people: rows without a count are left out where most have none */
    bool is_image;   /* no text, and of pairs alone: it has no statistics, shares or headings, and
                      * nothing   stands between one and the next */
    void (*measure)(struct table *table, const struct row *row); /* once for each row; or NULL */
    void (*measure_statistic)(struct table *table, const struct statistic *statistic); /* or NULL */
    void (*begin)(struct table *table);
    void (*row)(struct table *table, const struct row *row); /* once for each row */
    void (*begin_quantiles)(struct table *table); /* of numbers; or NULL, as the next one */
    void (*quantile)(struct table *table, const struct probability *q,
                     const struct quantile *found);
    void (*begin_statistics)(struct table *table); /* with --stats */
    void (*statistic)(struct table *table, const struct statistic *statistic);
    /* Of formats that have_both and are no picture, with --stats and several channels: before the
     * quantiles and statistics of each, and after them. */
    void (*begin_channel)(struct table *table);
    void (*end_channel)(struct table *table);
    void (*end)(struct table *table);

    /* Unless the format is_apart: all statistics of a FILE or a channel as one row, and the names
     * of the columns, with --stats and --each or several channels. An interval has two columns. */
    void (*statistics_heading)(struct table *table, const struct statistics *statistics);
    void (*statistics_row)(struct table *table, const struct statistics *statistics);
};

/* All formats, and their names, which end with NULL: by the same index, in the order of
 * formats.def. */
extern const struct format *const format_table[];
extern const char *const format_names[];

#define FORMAT(name) extern const struct format format_##name;
#include "src/report/formats.def"
#undef FORMAT

#endif

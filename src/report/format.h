/* SPDX-License-Identifier: MIT */
/* How a table is written: a format is given rows, which are chosen, in order and named already.
 * doc/adding.md says how to add one. */
#ifndef GPUHISTO_FORMAT_H
#define GPUHISTO_FORMAT_H

#include "picture.h"
#include "report.h"
#include "rows.h"
#include "writer.h"

#include "src/count/statistics.h"

#define PERCENT_DIGITS 4 /* decimals of --percent */
#define COUNT_COLUMN 1   /* of a mode's columns: there is one for each channel instead */

struct counts {
    const struct histogram *histogram;
    const struct tally *tally;
};

/* What a format knows of a table besides its rows. */
struct table {
    struct writer *out;
    const struct format *format;
    const struct report_options *options;
    const char *file;      /* whose rows these are, as printable text; NULL: of all files */
    unsigned channel;      /* the same, from 1; 0: of all channels */
    struct counts shown;   /* the rows of the table */
    struct counts counted; /* what statistics are found in: bins may be finer than those shown */
    struct totals totals;  /* of the rows */
    size_t written;        /* for the format: how much of the rows it has written, from 0 */
    size_t tables;         /* that came before this one */
    size_t most;           /* rows that are shown; 0: all of them */
    size_t cut;            /* how many are left out for that */

    struct picture picture; /* of formats that measure rows */
};

enum format_kind {
    FORMAT_DELIMITED, /* all rows follow each other, with --each those of all files */
    FORMAT_OBJECT,    /* a line for each table, with rows and statistics */
    FORMAT_PICTURE,   /* for people, with rows and statistics: empty rows are mostly left out */
    FORMAT_IMAGE,     /* no text, and of pairs alone: no statistics, percents or headers */
};

/* Functions are called in this order. measure and end may be NULL; FORMAT_IMAGE has no statistics,
 * and only FORMAT_DELIMITED has statistics_row. Errors stay with table->out. With --stats,
 * statistics take the place of rows, or follow them (format_has_both). */
struct format {
    enum format_kind kind;
    char separator;                                              /* of FORMAT_DELIMITED */
    void (*measure)(struct table *table, const struct row *row); /* once for each row */
    void (*begin)(struct table *table);
    void (*row)(struct table *table, const struct row *row); /* once for each row */

    /* The statistics of table->counted. FORMAT_OBJECT gets those of each channel in turn. */
    void (*statistics)(struct table *table, const struct statistics *statistics);
    void (*end)(struct table *table);

    /* FORMAT_DELIMITED, instead of all others: the statistics of one of several files or channels
     * as a row, below a header if it is the first. */
    void (*statistics_row)(struct table *table, const struct statistics *statistics, bool is_first);
};

static inline bool format_has_both(const struct format *format)
{
    return format->kind == FORMAT_OBJECT || format->kind == FORMAT_PICTURE;
}

/* Writes a row's count in each channel. */
static inline void format_counts(struct table *table, const struct row *row, char separator)
{
    const struct tally *tally = table->shown.tally;
    const size_t step = histogram_rows(table->shown.histogram);
    for (size_t at = row->index; at < tally->bins; at += step) {
        if (at > row->index)
            writer_char(table->out, separator);
        writer_count(table->out, tally->counts[at]);
    }
}

/* All formats, and their names, which end with NULL: by the same index, in the order of
 * formats.def. */
extern const struct format *const format_table[];
extern const char *const format_names[];

#define FORMAT(name) extern const struct format format_##name;
#include "src/report/formats.def"
#undef FORMAT

#endif

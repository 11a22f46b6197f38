/* SPDX-License-Identifier: MIT */
/* The interface of a format, which writes a table: it is given rows that are chosen, in order and
 * named. doc/adding.md says how to add one. */
#ifndef GPUHISTO_FORMAT_H
#define GPUHISTO_FORMAT_H

#include "percent.h"
#include "picture.h"
#include "report.h"
#include "rows.h"
#include "writer.h"

#include "src/tally/statistics.h"

#define PERCENT_DIGITS 4 /* decimals of --percent */
#define COUNT_COLUMN 1   /* of a mode's columns: there is one for each channel instead */

struct counts {
    const struct histogram_spec *spec;
    const struct tally *tally;
};

/* A table as a format sees it, besides its rows. */
struct table {
    struct writer *out;
    const struct format *format;
    const struct report_options *options;
    const struct groups *groups;      /* of which this one is; NULL: there are none */
    const char *group[GROUP_COLUMNS]; /* what says so, as printable text; NULL: no such column */
    size_t group_index;               /* which one it is */
    struct row_names names;           /* if rows are groups */
    unsigned channel;                 /* the same, from 1; 0: of all channels */
    struct counts shown;              /* the rows of the table */
    struct counts counted; /* what statistics are found in: bins may be finer than those shown */
    struct totals totals;  /* of the rows */
    size_t written;        /* for the format: how much of the rows it has written, from 0 */
    size_t tables;         /* that came before this one */
    size_t max;            /* rows that are shown; 0: all of them */
    size_t cut;            /* how many are left out for that */

    struct picture picture; /* of formats that measure rows */
};

struct diff;
struct diff_keys;
struct heat_format; /* heat.h */

/* Functions are called in this order; measure, statistics and end may be NULL. Errors stay with
 * table->out. */
struct format {
    const char *name;
    char separator;    /* of columns: rows of all groups follow each other, and statistics take the
                        * place of rows; '\0': each group has a table, and statistics follow rows */
    bool is_picture;   /* for people: empty rows are mostly left out, bins are few, and each channel
                        * has a picture */
    bool is_binary;    /* not for terminals */
    bool is_read_back; /* by --merge: numbers by key have a table though there is no key, and shares
                        * keep times as fine as they were counted */
    bool is_cumulative;      /* of numbers and values between edges, the upper of which are in their
                              * bins, and with their sum */
    const struct mode *mode; /* the only one that it shows; NULL: any */
    const char *last_line;   /* below all tables, also if there are none; NULL: no such line */

    void (*prepare)(void);           /* what the sandbox would forbid; or NULL */
    void (*diff)(struct diff *diff); /* writes two tables; NULL: --diff is refused */
    void (*diff_keys)(struct diff_keys *diff); /* writes two tables by key, if diff is there */
    const struct heat_format *heat; /* numbers by key as one picture; NULL: a table for each key */
    void (*measure)(struct table *table, const struct row *row); /* once for each row */
    void (*begin)(struct table *table);
    void (*row)(struct table *table, const struct row *row); /* once for each row */

    /* The statistics of table->counted. Without a separator, those of each channel in turn. */
    void (*statistics)(struct table *table, const struct statistics *statistics);
    void (*end)(struct table *table);

    /* Writes, for a format with a separator, the statistics of one of several groups or channels as
     * a row, below a header if it is the first. No other function is called then. */
    void (*statistics_row)(struct table *table, const struct statistics *statistics, bool is_first);
};

/* Returns which rows without a count the format shows. */
static inline enum empty_rows format_empty_rows(const struct report_options *options)
{
    return options->format->is_picture && options->empty == EMPTY_DEFAULT ? EMPTY_IN_PICTURE
                                                                          : options->empty;
}

/* Writes a row's count in each channel. */
static inline void format_counts(struct table *table, const struct row *row, char separator)
{
    const struct tally *tally = table->shown.tally;
    const size_t step = histogram_spec_rows(table->shown.spec);
    for (size_t at = row->index; at < tally->bins; at += step) {
        if (at > row->index)
            writer_char(table->out, separator);
        writer_count(table->out, tally->counts[at]);
    }
}

/* Writes the name of a table's group, for people. */
static inline void format_name_group(struct table *table)
{
    const char *const name = table->group[GROUP_NAME], *const offset = table->group[GROUP_OFFSET];
    if (name)
        writer_text(table->out, name);
    if (offset)
        writer_format(table->out, "%soffset %s", name ? ", " : "", offset);
}

/* Writes a row's percent and running percent, each after a text. */
static inline void format_percents(struct table *table, const struct row *row, const char *before,
                                   const char *between)
{
    char percent[PERCENT_TEXT], running[PERCENT_TEXT];
    percent_show(row->count, table->totals.samples, PERCENT_DIGITS, percent);
    percent_show(row->running, table->totals.samples, PERCENT_DIGITS, running);
    writer_format(table->out, "%s%s%s%s", before, percent, between, running);
}

#define FORMATS_MAX 16 /* with the NULL at the end */

/* All formats, ended by NULL. The first one is the default. */
extern const struct format *const formats[];

#define FORMAT(name) extern const struct format format_##name;
#include "src/report/formats.def"
#undef FORMAT

#endif

/* SPDX-License-Identifier: MIT */
/* What the files of src/report share: rows that are chosen, in order and named, and the values that
 * a format shows of them. */
#ifndef GPUHISTO_REPORT_FORMAT_H
#define GPUHISTO_REPORT_FORMAT_H

#include "report.h"
#include "src/tally/coarsen.h"
#include "src/text/field.h"

/* --- rows.c: what a tally says, chosen, in order and with labels --- */

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

/* --- the rows of a table of keys: one for each, with the number of its samples --- */

/* A histogram whose rows are groups. Only groups->name knows their names: labels are empty. */
struct group_rows {
    struct mode mode;
    struct histogram_spec spec;
    struct tally tally;
};

/* Makes rows of groups that are keys of a histogram without bins of its own. Free them. 0, or -1:
 * memory is short. */
int group_rows_make(struct group_rows *rows, const struct histogram_spec *spec,
                    const struct groups *groups);

void group_rows_free(struct group_rows *rows);

/* --- groups.c --- */

/* Returns part i of the name of a group as it was found, which need not be printable. */
struct key_name groups_part(const struct groups *groups, size_t group, unsigned i);

/* Returns the samples of a key. */
uint64_t groups_samples(const struct groups *groups, size_t group);

/* Memory for the counts of a group. */
struct group_tally {
    struct tally tally;
    struct row_blocks blocks; /* of the tally */
};

/* Makes it all zeros; tally_close frees it. 0; or -1 if memory is short, and nothing to free. */
int group_tally_open(struct group_tally *memory, const struct histogram_spec *spec);

/* Sets a tally with blocks, which is all zeros or has another group's counts, to those of a
 * group. */
void groups_load(const struct groups *groups, size_t group, const struct histogram_spec *spec,
                 struct tally *tally);

/* Writes a name as one printable line (name_text) to text, which has groups_name_capacity bytes:
 * its parts with GROUP_SEPARATOR between them. No first part of a key is
 * written as GROUP_REST or GROUP_MISSING, beside which other parts are empty. */
void groups_show_name(const struct groups *groups, size_t group, char *text);

/* Returns the room that the longest name needs. */
size_t groups_name_capacity(const struct groups *groups);

/* Prepares names of keys for a picture with `beside` characters beside them: they fit on the
 * screen, without a space at the end, and no two are the same; in ASCII if the screen has nothing
 * else. Sets `gaps`, which are to be freed: the text that stands in the middle of a longer name,
 * "..." for 0, or "~2~" for 2 where the first would not tell it apart. 0, or -1: memory is short.
 */
int groups_shorten_names(struct groups *groups, const struct screen *screen, size_t beside);

/* --- plot.c: parts of pictures --- */

/* Returns the columns of text[0..len) in UTF-8: two for East Asian characters, none for combining
 * marks; one for each character if the user's locale does not have UTF-8. One thread. */
size_t screen_width(const char *text, size_t len);

#define PICTURE_CELLS_MAX 5 /* before the bar */
#define PICTURE_COLUMNS (PICTURE_CELLS_MAX + KEY_PARTS_MAX - 1)
#define PICTURE_GAP 2 /* blanks between columns */
#define PICTURE_LABEL (ROW_TEXT + 2)
#define BAR_EIGHTHS 8 /* of a character, which the blocks of Unicode show */

/* The measures of rows. 0 before the first one. */
struct picture {
    size_t widths[PICTURE_COLUMNS]; /* of the columns, in characters */
    uint64_t largest;               /* that a bar shows */
    size_t width;                   /* for the largest bar, in characters */
    bool utf8;
};

/* Writes the label of a row: its name; of numbers the lower edge, rounded to what people would
 * write: "0.15", or "2^-10" where edges are powers of two. The rows below and above all bins are
 * named by their edges. */
void picture_label(const struct histogram_spec *spec, const struct row *row,
                   char text[PICTURE_LABEL]);

/* Returns the length of a count's bar if the largest count, at least as large, is `max` units
 * long: rounded, but at least 1 unless the count is 0. Any `max` up to 2^62. */
uint64_t bar_length(uint64_t count, uint64_t largest, uint64_t max);

/* Writes the bar of a count, where that of the largest is `width` characters long: in UTF-8 by
 * blocks of eighths (U+2588 to U+258F), otherwise by whole '#'. */
void bar_write(struct writer *out, uint64_t count, uint64_t largest, size_t width, bool utf8);

/* --- table.c: a table --- */

#define CELLS_MAX (2 * (QUANTILES_MAX + 2) + 4)

/* A value of a row or of --stats: a column of a table, a member of an object. */
struct cell {
    const char *prefix; /* of the name, or NULL */
    const char *name;
    const char *text; /* NULL: it is the count of a channel; of JSON, a list if there are several */
    const char *upper; /* of an interval; empty: its ends are the same; NULL: it is none */
    uint64_t count;
    bool is_note; /* text beside a label, which TSV leaves out at the end of a row */
};

/* The values that a format shows of a row, in order, and memory for their texts. */
struct cells {
    struct cell list[CELLS_MAX];
    size_t count;
    char texts[6][SHOW_NUMBER];
    uint64_t bar; /* of a picture; of two tables to the left (is_fall) or right of an axis */
    bool is_fall;
};

/* Rows of a histogram and their counts. */
struct counts {
    const struct histogram_spec *spec;
    const struct tally *tally;
};

enum { BEFORE, AFTER, SIDES };

/* Two tables side by side (diff.c). */
struct diff {
    const struct tally *sides[SIDES]; /* of the rows */

    /* By key: */
    const struct diff_tables *tables; /* NULL: bins */
    struct groups groups[SIDES];      /* the same keys, with names from AFTER */
    struct statistics *of;            /* of each side of the key that is written, with --stats */
    struct group_tally memory;        /* for one side, with --stats */
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
    const char *label;                /* what the header calls rows */
    unsigned channel;                 /* of which the table is, from 1; 0: of all channels */
    const struct mode *mode;          /* names and properties of what was counted */
    const char *type;                 /* of its values; NULL: the mode has none */
    unsigned channels;                /* of which each row has a count */
    struct counts shown;              /* the rows of the table */
    struct counts counted; /* what statistics are found in: bins may be finer than those shown */
    struct totals totals;  /* of the rows */
    size_t written;        /* for the format: how much of the rows it has written, from 0 */
    size_t tables;         /* that came before this one */
    size_t max;            /* rows that are shown; 0: all of them */
    size_t cut;            /* how many are left out for that */
    struct diff *diff;     /* two tables; or NULL */
    /* Sets the cells of a row of these two; NULL: table_cells does. */
    void (*fill_cells)(struct table *table, const struct row *row, struct cells *cells);

    struct picture picture; /* of formats that measure rows */
};

#define PERCENT_DIGITS 4 /* decimals of --percent */

#define PERCENT_DIGITS_MAX 6
#define PERCENT_TEXT 32 /* bytes that are enough, with the end */

/* Writes how many percent of `whole` `part` is, with `digits` (1 to PERCENT_DIGITS_MAX) decimals:
 * "33.33", "100.00". The exact quotient is rounded once, to the nearest decimal and upwards if it
 * is half way. Percents of 0 are 0. */
void percent_show(uint64_t part, uint64_t whole, unsigned digits, char text[PERCENT_TEXT]);

/* Appends a cell. */
struct cell *cells_add(struct cells *cells, const char *name, const char *text);

/* Sets the cells of a row; of NULL their names alone. */
void table_cells(struct table *table, const struct row *row, struct cells *cells);

/* Sets the rows, and what they are of. */
void table_show(struct table *table, struct counts shown);

/* Calls visit for each row that is shown, until writing fails. */
void table_each_row(struct table *table, void (*visit)(struct table *table, const struct row *row));

/* Adds up the rows. */
void table_add_up(struct table *table);

/* Measures rows, if the format does, and writes them. Their sums are known. */
void table_measure(struct table *table);
void table_write_rows(struct table *table);

/* Counts again in the bins that are asked for, or in those of a picture, unless that is NULL or
 * bins are to be kept. */
enum coarsen_outcome report_widen(const struct report_options *options,
                                  const struct counts *counted, const struct picture_bins *picture,
                                  struct coarse_rows *rows);

/* Finds the statistics of the mode, and of numbers the quantiles that are asked for. */
void report_find_statistics(const struct report_options *options, const struct histogram_spec *spec,
                            const struct tally *tally, struct statistics *statistics);

/* Returns which rows without a count the format shows. */
static inline enum empty_rows format_empty_rows(const struct report_options *options)
{
    return options->format->is_picture && options->empty == EMPTY_DEFAULT ? EMPTY_IN_PICTURE
                                                                          : options->empty;
}

/* Writes the name of a table's group, for people. */
void format_name_group(struct table *table);

/* --- heat.c: numbers by key, a row for each key and a column for each bin. All keys have the same
 * bins, which are those that a picture of all samples together would have, or as many as there is
 * room for. --- */

/* Writes the heat map of all groups, which are keys. `names` are theirs. It uses the tally, which
 * has blocks, as memory. Errors stay with the writer. */
void heat_write(struct writer *out, const struct report_options *options,
                const struct histogram_spec *spec, const struct row_names *names,
                struct tally *tally);

#endif

/* SPDX-License-Identifier: MIT */
/* Tallies as text: tables, pictures and statistics, of all samples or by group; and two tables side
 * by side. */
#ifndef GPUHISTO_REPORT_REPORT_H
#define GPUHISTO_REPORT_REPORT_H

#include "src/tally/statistics.h"
#include "src/text/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct file_groups;
struct file_tallies;
struct histogram_spec;
struct key_tallies;
struct mode;
struct tally;
struct words;
struct writer;

/* --- formats: what they can do; doc/adding.md says how to add one --- */

struct table;
struct row;

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
    bool heat;               /* numbers by key as one picture; otherwise a table for each key */

    /* Once for each row, and before for the header (NULL), if there is one. */
    void (*measure)(struct table *table, const struct row *row);
    void (*begin)(struct table *table);
    void (*row)(struct table *table, const struct row *row); /* once for each row */

    /* The statistics of table->counted. Without a separator, those of each channel in turn. */
    void (*statistics)(struct table *table, const struct statistics *statistics);
    void (*end)(struct table *table);

    /* Writes, for a format with a separator, the statistics of one of several groups or channels as
     * a row, below a header if it is the first. No other function is called then. */
    void (*statistics_row)(struct table *table, const struct statistics *statistics, bool is_first);
};

#define FORMATS_MAX 16 /* with the NULL at the end */

/* All formats, ended by NULL. The first one is the default. */
extern const struct format *const formats[];
extern const struct format format_tsv, format_csv, format_json, format_plot, format_prometheus,
    format_pgm;

#define PICTURE_ROWS 40    /* that people see at a glance */
#define PICTURE_CROWDED 90 /* percent of the samples in one bar: then others cannot be seen */

/* --- the terminal that a picture is made for --- */

struct screen {
    unsigned columns; /* characters of a line, 1 to 65535 */
    unsigned rows;    /* lines; 0: not a terminal */
    bool utf8;        /* the user's locale has UTF-8 */
};

/* Returns the screen of a descriptor. Other descriptors are as wide as COLUMNS in the environment
 * says, or 80. The process's own locale does not change, so numbers keep the decimal point of C.
 * The first call loads the user's locale, which a sandbox may forbid. One thread. */
struct screen screen_of(int fd);

/* --- groups: the results of a run that has several, one for each group of its samples, which are
 * those of a file (--each) or of a block of it (--each=SIZE), or those with a key (--by) --- */

#define GROUP_REST "(other)"      /* what all keys are called that are not shown alone */
#define GROUP_MISSING "(invalid)" /* and records without a key */

/* Stands between the parts of a name, and of the header of their columns. It is in no part, as
 * names are shown without control characters. */
#define GROUP_SEPARATOR '\t'

/* The columns that say which group it is, in order. */
enum group_column {
    GROUP_NAME,
    GROUP_OFFSET, /* of a block: the bytes of content before it */
    GROUP_COLUMNS,
};

/* Groups in the order in which they are shown, numbered from 0. */
struct groups {
    const char *columns[GROUP_COLUMNS]; /* what they are, as headers call them; NULL: groups do not
                                         * have this column */
    const struct key_tallies *keys;     /* or NULL: */
    const struct file_groups *files;
    unsigned parts;    /* of each name, a column each; of keys only */
    size_t count;      /* that are shown */
    size_t all;        /* keys, files or blocks */
    size_t rest;       /* the group that is this one and all that follow, added up; SIZE_MAX: there
                        * is none */
    size_t missing;    /* that of records without a key; SIZE_MAX: there are none, or they are left
                        * out */
    unsigned threads;  /* that may show them together, if they are keys; 0 as 1 */
    bool skip_invalid; /* what is not a number is left out, also of the total */
    bool is_ordered;   /* by --sort: of a picture that is too long the last ones are left out */
    size_t shown_max[KEY_PARTS_MAX]; /* bytes of each part of a name in a picture; 0: names are
                                      * shown in full */
    bool is_ascii;                   /* names are shown in ASCII */
    uint32_t *gaps;                  /* of each name that is longer: see groups_shorten_names */
};

/* The files of --each, in order. */
struct file_groups {
    const struct file_tallies *tallies;
    char *const *names; /* as typed, `count` */
    size_t count;       /* 0: the only one is standard input */
};

/* Makes groups of files, which must outlive them; or of their blocks, if they are divided. Those of
 * the only file do without its name. */
struct groups groups_of_files(const struct file_groups *files);

/* Makes groups of keys, which must outlive them, in the order in which they were sorted last: the
 * first `top` ones, and all others, if there are any, as one. */
struct groups groups_of_keys(const struct key_tallies *keys, size_t top, const char *column,
                             bool skip_invalid);

/* --- names of keys, files and columns: one printable line that says which bytes a name has --- */

#define NAME_TEXT_BYTE 4 /* bytes of the text for a byte of the name, at most */

/* Writes a name to text, which has NAME_TEXT_BYTE * len + 1 bytes. A backslash becomes two, and
 * bytes that are not UTF-8, or encode what -c escapes except the space, become \xNN, and if
 * `is_ascii` all that are not ASCII: so two names never have one text. Returns its length. Any
 * thread. */
size_t name_text(const unsigned char *name, size_t len, bool is_ascii, char *text);

/* --- the order in which --sort shows keys: that of a column --- */

#define GROUP_ORDER_KEY "key"     /* the column of names */
#define GROUP_ORDER_COUNT "count" /* of samples; with --stats, of numbers */

struct group_order {
    const char *column; /* NULL: --sort was not given */
    bool is_reversed;   /* the least number first, or the last key */
};

/* The columns that a table by key has besides its keys, to which all pointers refer. */
struct group_columns {
    const struct histogram_spec *spec; /* of any mode by key */
    bool has_numbers;                  /* GROUP_ORDER_COUNT is the count of numbers */
    size_t quantile_count;
    const struct probability *quantiles;
    const struct groups *before; /* the same keys of another table: the order is by how much their
                                  * numbers rose since; or NULL */
    bool is_by_size;             /* a number that fell counts as one that rose */
};

/* True if the order is by a statistic, for which numbers need moments. */
bool group_order_needs_moments(const struct group_order *order);

/* Checks that a table of numbers (is_binned) or of lines with these quantiles has the column. 0, or
 * -1 with an error that lists the columns there are. */
int group_order_check(const struct group_order *order, bool is_binned,
                      const struct probability *quantiles, size_t count, struct error *error);

/* Lists groups that are keys in ascending order by name, in the order of a column that was checked:
 * by the numbers that are printed, the greatest first unless it is reversed. Quantiles go by their
 * lower ends, then their upper ones. Keys with the same number are in order by name, and those
 * without one, as NaN, are last. At most groups->threads threads work on it. Sets *list, which is
 * to be freed. 0, or -1: memory is short. */
int group_order_list(const struct group_order *order, const struct group_columns *columns,
                     const struct groups *groups, size_t **list);

/* --- the part of a job's input that a table counts, as JSON shows it: when shards are merged,
 * these records prove that every byte was counted once --- */

#define SHARDS_MAX 1000000             /* of a job */
#define SHARD_NAME_MAX (4 * 4096 + 16) /* bytes of a file's name as printable text */

/* Bytes [begin, end); or shards from begin to end, both included. */
struct shard_range {
    uint64_t begin, end;
};

/* A file that is in the shard, or a part of it. */
struct shard_file {
    uint64_t index; /* among the files of the command line, from 1 */
    char *name;     /* as printable text (show_text) */
    uint64_t size;  /* bytes, as stored */
    uint64_t fingerprint;
    struct shard_range *ranges; /* of bytes as stored, ascending; [0,0) of an empty file */
    size_t range_count;
};

/* The input that was divided: the same in all shards of a job. */
struct shard_job {
    uint64_t of;                   /* how many shards there are */
    uint64_t files, bytes, digest; /* of all files together */
};

struct shard_record {
    struct shard_job job;
    struct shard_range *shards; /* which shards these are, from 1, ascending */
    size_t shard_count;
    struct shard_file *files; /* in the order of the command line */
    size_t file_count;
};

/* True if the record is that of all shards of its job. */
static inline bool shard_record_is_complete(const struct shard_record *record)
{
    return record->shard_count == 1 && record->shards[0].begin == 1 &&
           record->shards[0].end == record->job.of;
}

/* Frees the lists and names of a record that owns them, and empties it. */
void shard_record_free(struct shard_record *record);

/* --- tables --- */

/* The rows without a count that are shown. */
enum empty_rows {
    EMPTY_DEFAULT,    /* all; if bins may be many, only INVALID */
    EMPTY_SHOWN,      /* all */
    EMPTY_LEFT_OUT,   /* none */
    EMPTY_IN_PICTURE, /* bins with edges; not single values, such as bytes */
};

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

/* Writes the separator between a table and the one before it, if it `follows` one: an empty line,
 * unless each is a line. On a terminal a picture replaces the one before. */
void report_write_gap(struct writer *out, const struct report_options *options, bool follows);

/* The sums of all rows, shown or not. */
struct totals {
    uint64_t samples;       /* counted in rows or not */
    uint64_t of[ROW_KINDS]; /* by enum row_kind */
};

/* Returns the sums of a tally's rows. */
struct totals rows_add_up(const struct histogram_spec *spec, const struct tally *tally);

/* --- two tables of the same bins, or by the same keys, side by side --- */

/* The counts of two tables. All tallies are of the histogram, which has one channel. */
struct diff_counts {
    const struct histogram_spec *spec;
    const struct tally *before, *after;
    const struct tally *both; /* the sum of the two */
};

/* Writes for each row both counts, both percents, their difference in percentage points and their
 * ratio. A picture has a bar to the left for a percent that fell, and to the right for one that
 * rose. It uses the options format, header and empty. Errors stay with the writer. */
void diff_write(struct writer *out, const struct report_options *options,
                const struct diff_counts *counts);

/* Two tables by key, whose keys are the same and in the same order. */
struct diff_tables {
    const struct histogram_spec *spec;
    const struct key_tallies *before, *after;
    size_t top;          /* keys that are shown alone */
    const char *columns; /* what they are called */
};

/* Writes for each key both counts, their difference and their ratio; with statistics, which a
 * picture has not, also the mean and the quantiles of both. It uses the options format, header,
 * stats and quantiles. Errors stay with the writer. */
void diff_write_keys(struct writer *out, const struct report_options *options,
                     const struct diff_tables *tables);

#endif

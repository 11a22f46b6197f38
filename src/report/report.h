/* SPDX-License-Identifier: MIT */
/* A tally as text. */
#ifndef GPUHISTO_REPORT_H
#define GPUHISTO_REPORT_H

#include "rows.h"
#include "shard_record.h"
#include "writer.h"

#include "src/base/words.h"
#include "src/count/file_tallies.h"
#include "src/count/probability.h"

#include <stdbool.h>

#define QUANTILES_MAX 64

struct report_options {
    unsigned format;       /* an index of format_table and format_names (format.h) */
    bool stats;            /* statistics instead of rows; JSON has both */
    bool header;           /* a first row with the columns' names; JSON has none */
    bool in_place;         /* on a terminal, pictures and statistics take each other's place */
    size_t lines;          /* of the screen that a picture should fit on; 0: any number */
    bool is_replaced;      /* by the next picture: rows that do not fit are left out */
    bool percent;          /* the share and the running share of each row */
    enum empty_rows empty; /* EMPTY_DEFAULT, EMPTY_SHOWN or EMPTY_LEFT_OUT */
    bool keep_bins;        /* in a picture too, though there may be more rows than a screen has */
    unsigned most_bins;    /* equal ones to lay over what was seen; 0: bins are shown as they are */
    unsigned own_bins;     /* of whole values below this, as no range was given; 0: other bins */
    unsigned log_parts;    /* of the decades to lay over it instead; 0: none */
    const struct words *words;        /* the options that make the same samples and bins */
    const struct shard_record *shard; /* what of the FILEs this is; NULL: all there is */
    size_t quantile_count;            /* over 0 with stats */
    struct probability quantiles[QUANTILES_MAX]; /* among the statistics of numbers */
};

/* The FILEs of --each, in order. */
struct report_files {
    const struct file_tallies *tallies;
    char *const *names; /* as typed; NULL: the only one is standard input */
    bool skip_invalid;  /* what is not a number is left out, also of the total */
};

/* Writes the table, or statistics. Errors stay with the writer until it is
 * flushed. */
void report_write(struct writer *out, const struct report_options *options,
                  const struct histogram *histogram, const struct tally *tally);

/* Writes a result for each FILE, and its name first. `tally` is one of the histogram's to work
 * with. */
void report_write_each(struct writer *out, const struct report_options *options,
                       const struct histogram *histogram, const struct report_files *files,
                       struct tally *tally);

/* Writes what comes before a table; `follows` says that it follows another one: nothing before the
 * first one, an empty line before others, unless each is a line. A picture takes the place of the
 * one that is on the terminal. */
void report_write_gap(struct writer *out, const struct report_options *options, bool follows);

#endif

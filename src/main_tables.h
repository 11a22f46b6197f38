/* SPDX-License-Identifier: MIT */
/* The tables and the progress of a run that counts: one table at the end, or one for each file;
 * with --interval, others before. */
#ifndef GPUHISTO_MAIN_TABLES_H
#define GPUHISTO_MAIN_TABLES_H

#include "main.h"

struct main_tables {
    struct options *options; /* of which the report's change with the terminal */
    struct output *output;
    struct progress progress;
    struct tally so_far;      /* of --interval; otherwise without counts */
    struct row_blocks blocks; /* of the tally, as a small input is printed sooner by them */
    bool has_printed;         /* a table so far */
    bool said_utc;            /* by main_write_keys */
    double next;              /* when the next one is due, in seconds since progress.begin */
    double last;              /* the same of the last one, once SIGINT has come; otherwise 0 */
};

/* Starts the clock. All arguments must outlive the tables. */
void main_tables_begin(struct main_tables *tables, struct options *options, struct output *output,
                       struct source *source);

/* Opens what the pool counts into: the tally, and with --each the tallies of the files. 0, or -1:
 * out of memory. */
int main_tables_open(struct main_tables *tables, const struct source *source, struct tally *tally);

/* Prints progress and tables that are due. For pool_options.tick; `arg` is the struct. Ends the
 * process after the last table of a run that was interrupted. */
void main_tables_tick(void *arg, const struct pool_view *view);

/* Prints the result, which the output ends with. The exit status. */
int main_tables_print(struct main_tables *tables, struct tally *tally);

/* Frees what main_tables_open has opened. */
void main_tables_close(struct main_tables *tables, struct tally *tally);

#endif

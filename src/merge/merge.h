/* SPDX-License-Identifier: MIT */
/* Tables that were made elsewhere, added up. */
#ifndef GPUHISTO_MERGE_H
#define GPUHISTO_MERGE_H

#include "known_rows.h"
#include "read_table.h"
#include "shard_join.h"

#include "src/base/reason.h"
#include "src/count/key_tallies.h"
#include "src/count/tally.h"

#include <stdbool.h>

/* Makes the histogram that a table's options describe; free its bins. 0; or -1 with a reason if no
 * table that can be added up has such options. Not for two threads at once. */
typedef int merge_layer(const struct words *options, struct histogram *histogram,
                        struct reason *why);

/* Sorts a table's options; free them. 0, or -1 with a reason. */
typedef int merge_sorter(const struct words *options, struct table_words *sorted,
                         struct reason *why);

/* Tables whose samples came from elsewhere than those of the first one. */
struct merge_others {
    uint64_t tables;
    size_t file;       /* of the first of them */
    struct reason how; /* it differs; begins with its name */
};

/* How tables are understood. */
struct merge_form {
    merge_layer *lay;
    merge_sorter *sort;
    bool has_moments;   /* --stats needs moments */
    bool is_cumulative; /* --format=prometheus does, and bins with their upper edge */
    size_t max_keys;    /* of tables by key, together: see key_tallies_open */
    uint64_t max_key_bytes;
};

/* The first table, with which all others must agree. */
struct merge_first {
    const char *name; /* of its file; NULL: there was no table */
    struct words options;
    struct table_words sorted; /* the options */
};

/* The last table, with which the next one in the same file must agree. */
struct merge_last {
    const char *name; /* of its file; NULL: there was no table */
    struct words options;
    uint64_t table, tables; /* numbers by key: which one of a result it is, of how many; or 0 */
};

/* The sum so far. Set the form; all else begins with zeros. */
struct merge {
    struct merge_form form;
    struct merge_first first;
    struct merge_last last;
    struct merge_others others;
    struct histogram histogram;
    struct tally tally;
    struct key_tallies *keys; /* of tables by key, which all forks share: then the tally has no
                               * counts; NULL: tables are of all samples */
    struct row_blocks blocks; /* of the tally, if there are numbers by key */
    uint64_t total;           /* samples of all tables: the tally's */
    uint64_t tables;
    struct shard_join shards;
    struct known_rows known; /* of the histogram */
    size_t file;             /* which one is being read; set it, for `others` */
    bool is_fork;            /* another merge has the first table: see merge_fork */
};

#define MERGE_OVERFLOW "the total exceeds 2^64"

/* Adds a table of the file `name`, which stays valid. 0; or -1 with a reason, without the name, and
 * nothing to be done but merge_free. */
int merge_add(struct merge *merge, struct read_table *table, const char *name, struct reason *why);

/* At the end of a file: 0; or -1 with a reason, without the name, if it ends between two tables of
 * a result. */
int merge_end_file(struct merge *merge, const char *name, struct reason *why);

/* Sets the reason to how a table's options differ from those of the file `first`. */
void merge_show_difference(struct reason *why, const struct words *options, const char *first,
                           const struct words *first_options);

/* Returns the options that all tables have: without those that say where samples came from, if
 * these differ. */
struct words *merge_options(struct merge *merge);

/* Makes the histogram's rows known, if that pays for so many bytes of tables that are still to be
 * read. Does nothing the second time. There was a table. */
void merge_know_rows(struct merge *merge, uint64_t bytes);

/* Begins *fork: what one thread adds up of the tables after the first one, which `merge` has. Until
 * merge_join, `merge` stays as it is. 0; or -1 if memory is short, and nothing to free. */
int merge_fork(const struct merge *merge, struct merge *fork);

/* Adds *fork, whose total and that of *merge together are below 2^64, and frees it. 0; or -1 if
 * memory is short. */
int merge_join(struct merge *merge, struct merge *fork);

/* Frees a fork without adding it. */
void merge_free_fork(struct merge *fork);

void merge_free(struct merge *merge);

#endif

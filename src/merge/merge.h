/* SPDX-License-Identifier: MIT */
/* Tables that were made elsewhere, added up. */
#ifndef GPUHISTO_MERGE_H
#define GPUHISTO_MERGE_H

#include "known_rows.h"
#include "read_table.h"
#include "share_join.h"

#include "src/base/reason.h"

#include <stdbool.h>

/* Lays the histogram that a table's options make; free its bins. 0; or -1 with a reason if no table
 * that can be added up has such options. Not for two threads at once. */
typedef int merge_layer(const struct words *options, struct histogram *histogram,
                        struct reason *why);

/* Sorts a table's options; free them. 0, or -1 with a reason. */
typedef int merge_sorter(const struct words *options, struct table_words *sorted,
                         struct reason *why);

/* Tables whose samples came from elsewhere than those of the first one. */
struct merge_others {
    uint64_t tables;
    size_t file;       /* of the first of them */
    struct reason how; /* it differs */
};

/* What was added so far. Set `lay`, `sort` and has_moments, which --stats needs; otherwise all
 * zeros. */
struct merge {
    merge_layer *lay;
    merge_sorter *sort;
    bool has_moments;

    const char *first; /* the FILE of the first table; NULL: there was none */
    struct histogram histogram;
    struct words options;      /* of the first table */
    struct table_words sorted; /* the same */
    struct tally tally;
    uint64_t total;          /* of all tables: of the tally's samples */
    struct known_rows known; /* of the histogram */
    struct share_join shares;
    uint64_t tables;
    bool is_part; /* another one had the first table: see merge_fork */

    size_t file;               /* which one is read; set it, for `others` */
    const char *last;          /* the FILE of the last table; NULL: there was none */
    struct words last_options; /* of the last table */
    struct merge_others others;
};

#define MERGE_OVERFLOW "the total goes beyond 2^64"

/* Adds a table of FILE `name`, which stays valid. 0; or -1 with a reason that begins with the name
 * if it cannot be added, and nothing to be done but merge_free. */
int merge_add(struct merge *merge, struct read_table *table, const char *name, struct reason *why);

/* Makes the reason how the options of a table differ from those of `first`, both names of FILEs. */
void merge_tell_options(struct reason *why, const char *name, const struct words *options,
                        const char *first, const struct words *first_options);

/* The options that all tables were made with: without those that say where samples came from, if
 * these differ. */
struct words *merge_options(struct merge *merge);

/* Makes the histogram's rows known, if that pays when about so many bytes of tables are still to be
 * read, and it was not done before. There was a table. */
void merge_know_rows(struct merge *merge, uint64_t bytes);

/* Begins *part: what a thread adds up by itself of the tables after the first ones, which `merge`
 * has. Until merge_join, `merge` stays as it is. 0; or -1 if memory is short, and nothing to free.
 */
int merge_fork(const struct merge *merge, struct merge *part);

/* Adds *part, whose total and that of *merge together are below 2^64, and frees it. 0; or -1 if
 * memory is short. */
int merge_join(struct merge *merge, struct merge *part);

/* Frees a part that is not to be added. */
void merge_free_part(struct merge *part);

/* Whether there was a table. */
bool merge_has_tables(const struct merge *merge);

void merge_free(struct merge *merge);

#endif

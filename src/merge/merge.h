/* SPDX-License-Identifier: MIT */
/* Tables that were made elsewhere, added up. */
#ifndef GPUHISTO_MERGE_H
#define GPUHISTO_MERGE_H

#include "known_rows.h"
#include "read_table.h"
#include "share_join.h"

#include "src/base/reason.h"

#include <stdbool.h>

/* Lays the histogram that a table's options make, and says whether its bins were laid over what was
 * seen. 0; or -1 with a reason if they are none, or not in their only spelling. */
typedef int merge_layer(const struct words *options, struct histogram *histogram, bool *is_coarse,
                        struct reason *why);

/* What was added so far. Set `lay` and has_moments, which --stats needs; otherwise all zeros. */
struct merge {
    merge_layer *lay;
    bool has_moments;

    const char *first; /* the FILE of the first table; NULL: there was none */
    struct histogram histogram;
    struct words options;
    struct tally tally;
    uint64_t total;          /* of all tables: of the tally's samples */
    struct known_rows known; /* of the histogram */
    struct share_join shares;
    uint64_t tables;
    bool is_part; /* another one had the first table: see merge_fork */
};

#define MERGE_OVERFLOW "the total goes beyond 2^64"

/* Adds a table of FILE `name`, which stays valid. 0; or -1 with a reason that begins with the name
 * if it cannot be added, and nothing to be done but merge_free. */
int merge_add(struct merge *merge, struct read_table *table, const char *name, struct reason *why);

/* Says how options differ from those of the tables before. -1. */
int merge_refuse_options(const struct merge *merge, const struct words *options, const char *name,
                         struct reason *why);

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

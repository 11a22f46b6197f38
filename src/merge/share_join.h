/* SPDX-License-Identifier: MIT */
/* Shares of a job, put together: the proof that every byte was counted once. */
#ifndef GPUHISTO_SHARE_JOIN_H
#define GPUHISTO_SHARE_JOIN_H

#include "src/base/reason.h"
#include "src/report/share_record.h"

#include <stdbool.h>

/* A piece of a share, and which table has it. */
struct held_range {
    struct share_range range;
    const char *holder;
    uint64_t order; /* of the table */
};

struct held_file {
    struct share_file file; /* without ranges */
    struct held_range held;
    bool owns_name; /* entries of one FILE and table have the same name */
};

/* A join that is all zeros has no shares yet. */
struct share_join {
    const char *first; /* the table of the first share */
    uint64_t order;    /* of the next table: of two that overlap, the later one is at fault */
    uint64_t of, list_files, list_bytes, list_digest;
    struct held_range *parts;
    size_t part_count, part_room;
    struct held_file *files; /* one for each range */
    size_t file_count, file_room;
};

/* Adds a share of a table, whose name `holder` stays valid. 0; or -1 with a reason if it is none,
 * or one of another job. */
int share_join_add(struct share_join *join, const struct share_record *share, const char *holder,
                   struct reason *why);

/* Makes *into a join without shares, of the same job as `join`. */
void share_join_fork(const struct share_join *join, struct share_join *into);

/* Moves all shares of `from` to a join of the same job. 0; or -1 if memory is short, and *from may
 * have lost some. */
int share_join_move(struct share_join *join, struct share_join *from);

/* Makes *record the record of all shares, which is to be freed, after the last one. 0; or -1 with a
 * reason if shares overlap, or tell of different FILEs; or if one is missing, unless
 * may_be_incomplete. */
int share_join_finish(struct share_join *join, bool may_be_incomplete, struct share_record *record,
                      struct reason *why);

/* Frees what was added. */
void share_join_free(struct share_join *join);

/* Frees a record, and makes it an empty one. */
void share_free(struct share_record *record);

#endif

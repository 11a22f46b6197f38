/* SPDX-License-Identifier: MIT */
/* The shards of a job, collected table by table; at the end, the proof that every byte was counted
 * once. */
#ifndef GPUHISTO_SHARD_JOIN_H
#define GPUHISTO_SHARD_JOIN_H

#include "src/base/reason.h"
#include "src/report/shard_record.h"

#include <stdbool.h>

/* The shard of one table. */
struct joined_shard {
    struct shard_record record; /* owned */
    const char *table;          /* the name of its file */
    uint64_t order;             /* of the table: if two overlap, the later one is at fault */
};

/* All zeros: no shards yet. */
struct shard_join {
    const char *first; /* the table of the first shard */
    struct shard_job job;
    uint64_t order; /* of the next table */
    struct joined_shard *shards;
    size_t count, room;
};

/* Moves the shard of a table into the join, and leaves *record empty. `table` stays valid. 0; or -1
 * with a reason if the record is wrong or of another job. */
int shard_join_add(struct shard_join *join, struct shard_record *record, const char *table,
                   struct reason *why);

/* Makes *into a join without shards, of the same job as `join`. */
void shard_join_fork(const struct shard_join *join, struct shard_join *into);

/* Moves all shards of `from` to a join of the same job. 0; or -1 if memory is short. */
int shard_join_move(struct shard_join *join, struct shard_join *from);

/* shard_proof.c: proves that no shard is missing, unless may_be_incomplete, and that none overlap.
 * *record becomes the record of them all; free it. 0; or -1 with a reason. */
int shard_join_finish(const struct shard_join *join, bool may_be_incomplete,
                      struct shard_record *record, struct reason *why);

void shard_join_free(struct shard_join *join);

#endif

/* SPDX-License-Identifier: MIT */
/* The shard of the input that a run counts, and the record of it in the table. */
#ifndef GPUHISTO_RUN_SHARD_H
#define GPUHISTO_RUN_SHARD_H

#include "src/open/share.h"
#include "src/report/shard_record.h"

/* run_shard_close frees it. */
struct run_shard {
    struct share share;
    struct shard_record record;
    struct shard_range number;  /* of the shard, from 1 to `of` */
    struct shard_range *ranges; /* one for each file of the record */
    char *names;                /* of these files, as printable text, one after the other */
};

/* Fills in the record, after all files of the shard were counted. 0, or -1: out of memory. */
int run_shard_record(struct run_shard *run);

/* Frees the shard and the record. Does nothing if both are zeroed. */
void run_shard_close(struct run_shard *run);

#endif

/* SPDX-License-Identifier: MIT */
/* The shard of the input that a run counts, and the record of it in the table. */
#ifndef GPUHISTO_MAIN_SHARD_H
#define GPUHISTO_MAIN_SHARD_H

#include "src/open/shard.h"
#include "src/report/shard_record.h"

/* main_shard_close frees it. */
struct main_shard {
    struct shard shard;
    struct shard_record record;
    struct shard_range number;  /* of the shard, from 1 to `of` */
    struct shard_range *ranges; /* one for each file of the record */
    char *names;                /* of these files, as printable text, one after the other */
};

/* Fills in the record, after all files of the shard were counted. 0, or -1: out of memory. */
int main_shard_record(struct main_shard *run);

/* Frees the shard and the record. Does nothing if both are zeroed. */
void main_shard_close(struct main_shard *run);

#endif

/* SPDX-License-Identifier: MIT */
#include "main.h"

#include "src/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Appends a file, which the record has room for. 0, or -1: out of memory. */
static int add_file(struct shard_record *record, const struct file_shard *file)
{
    const size_t capacity = 4 * strlen(file->name) + 16; /* as printable text */
    struct shard_range *range = malloc(sizeof *range);
    char *name = malloc(capacity);
    record->files[record->file_count++] =
        (struct shard_file){file->index + 1, name, file->size, file->fingerprint, range, 1};
    if (!range || !name)
        return -1;
    *range = (struct shard_range){file->begin, file->end};
    show_text(file->name, strlen(file->name), name, capacity);
    return 0;
}

int main_record_shard(const struct shard *shard, struct shard_record *record)
{
    int rc = 0;
    *record = (struct shard_record){
        .job = {shard->choice.of, shard->files, shard->bytes, shard->digest},
        .shards = malloc(sizeof record->shards[0]),
        .files = calloc(shard->count + 1, sizeof record->files[0]),
    };
    if (!record->shards || !record->files)
        return -1;
    record->shards[record->shard_count++] =
        (struct shard_range){shard->choice.part, shard->choice.part};
    for (size_t i = 0; i < shard->count && rc == 0; i++)
        rc = add_file(record, &shard->list[i]);
    return rc;
}

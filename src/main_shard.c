/* SPDX-License-Identifier: MIT */
#include "main_shard.h"
#include "src/base/show.h"

#include <stdlib.h>
#include <string.h>

/* Returns how many bytes a name takes as printable text, at most, with its end. */
static size_t shown_size(const char *name)
{
    return 4 * strlen(name) + 16;
}

int main_shard_record(struct main_shard *run)
{
    const struct shard *shard = &run->shard;
    const size_t count = shard->count;
    size_t room = 1;
    for (size_t i = 0; i < count; i++)
        room += shown_size(shard->list[i].name);
    struct shard_file *files = calloc(count + 1, sizeof files[0]);
    run->number = (struct shard_range){shard->choice.part, shard->choice.part};
    run->ranges = calloc(count + 1, sizeof run->ranges[0]);
    run->names = malloc(room);
    run->record = (struct shard_record){
        .job = {shard->choice.of, shard->files, shard->bytes, shard->digest},
        .shards = &run->number,
        .shard_count = 1,
        .files = files,
        .file_count = count,
    };
    if (!files || !run->ranges || !run->names)
        return -1;
    char *name = run->names;
    for (size_t i = 0; i < count; i++) {
        const struct file_shard *file = &shard->list[i];
        run->ranges[i] = (struct shard_range){file->begin, file->end};
        files[i] = (struct shard_file){file->index + 1, name, file->size, file->fingerprint,
                                       &run->ranges[i], 1};
        name += show_text(file->name, strlen(file->name), name, shown_size(file->name)) + 1;
    }
    return 0;
}

void main_shard_close(struct main_shard *run)
{
    shard_close(&run->shard);
    free(run->record.files);
    free(run->ranges);
    free(run->names);
    *run = (struct main_shard){.names = NULL};
}

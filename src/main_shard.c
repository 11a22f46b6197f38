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
    const struct share *share = &run->share;
    const size_t count = share->count;
    size_t room = 1;
    for (size_t i = 0; i < count; i++)
        room += shown_size(share->cuts[i].name);
    struct shard_file *files = calloc(count + 1, sizeof files[0]);
    run->number = (struct shard_range){share->choice.part, share->choice.part};
    run->ranges = calloc(count + 1, sizeof run->ranges[0]);
    run->names = malloc(room);
    run->record = (struct shard_record){
        .job = {share->choice.of, share->files, share->bytes, share->digest},
        .shards = &run->number,
        .shard_count = 1,
        .files = files,
        .file_count = count,
    };
    if (!files || !run->ranges || !run->names)
        return -1;
    char *name = run->names;
    for (size_t i = 0; i < count; i++) {
        const struct share_cut *cut = &share->cuts[i];
        run->ranges[i] = (struct shard_range){cut->begin, cut->end};
        files[i] = (struct shard_file){cut->index + 1,  name, cut->size, cut->fingerprint,
                                       &run->ranges[i], 1};
        name += show_text(cut->name, strlen(cut->name), name, shown_size(cut->name)) + 1;
    }
    return 0;
}

void main_shard_close(struct main_shard *run)
{
    share_close(&run->share);
    free(run->record.files);
    free(run->ranges);
    free(run->names);
    *run = (struct main_shard){.names = NULL};
}

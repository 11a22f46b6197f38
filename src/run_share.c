/* SPDX-License-Identifier: MIT */
#include "run_share.h"
#include "src/base/show.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a name as printable text, at most, with its end. */
static size_t name_room(const char *name)
{
    return 4 * strlen(name) + 16;
}

/* Bytes that the names take as printable text, each with its end. */
static size_t names_size(const struct share *share)
{
    size_t size = 1;
    for (size_t i = 0; i < share->count; i++)
        size += name_room(share->cuts[i].name);
    return size;
}

int run_share_record(struct run_share *run)
{
    const struct share *share = &run->share;
    const size_t count = share->count, room = names_size(share);
    struct share_record *record = &run->record;
    struct share_file *files = calloc(count + 1, sizeof files[0]);
    run->part = (struct share_range){share->choice.part, share->choice.part};
    run->ranges = calloc(count + 1, sizeof run->ranges[0]);
    run->names = malloc(room);
    *record = (struct share_record){
        .of = share->choice.of,
        .parts = &run->part,
        .part_count = 1,
        .list_files = share->files,
        .list_bytes = share->bytes,
        .list_digest = share->digest,
        .files = files,
        .file_count = count,
    };
    if (!files || !run->ranges || !run->names)
        return -1;
    char *name = run->names;
    for (size_t i = 0; i < count; i++) {
        const struct share_cut *cut = &share->cuts[i];
        run->ranges[i] = (struct share_range){cut->begin, cut->end};
        files[i] = (struct share_file){cut->index + 1,  name, cut->size, cut->fingerprint,
                                       &run->ranges[i], 1};
        name += show_text(cut->name, strlen(cut->name), name, name_room(cut->name)) + 1;
    }
    return 0;
}

void run_share_close(struct run_share *run)
{
    share_close(&run->share);
    free(run->record.files);
    free(run->ranges);
    free(run->names);
    *run = (struct run_share){.names = NULL};
}

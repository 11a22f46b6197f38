/* SPDX-License-Identifier: MIT */
#include "shard_join.h"
#include "src/base/grow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int refuse(struct reason *why, const char *text)
{
    return reason_set(why, "\"share\" %s", text);
}

static int check_ranges(const struct shard_file *file, struct reason *why)
{
    for (size_t i = 0; i < file->range_count; i++) {
        const struct shard_range range = file->ranges[i];
        const bool is_empty = file->size == 0 && range.begin == 0 && range.end == 0;
        if (range.end > file->size || !(range.begin < range.end || is_empty))
            return refuse(why, "has a range outside its file");
        if (i > 0 && range.begin < file->ranges[i - 1].end)
            return refuse(why, "has ranges that are out of order");
    }
    return 0;
}

/* Checks a record for itself. 0, or -1 with a reason. */
static int check_record(const struct shard_record *record, struct reason *why)
{
    const struct shard_job *job = &record->job;
    if (job->of == 0 || record->shard_count == 0)
        return refuse(why, "names no share");
    if (job->of > SHARDS_MAX)
        return reason_set(why, "\"share\" names more than %d shares", SHARDS_MAX);
    for (size_t i = 0; i < record->shard_count; i++) {
        const struct shard_range shards = record->shards[i];
        if (shards.begin < 1 || shards.begin > shards.end || shards.end > job->of)
            return refuse(why, "names a share that cannot exist");
        if (i > 0 && shards.begin <= record->shards[i - 1].end)
            return refuse(why, "has ranges that are out of order");
    }
    for (size_t i = 0; i < record->file_count; i++) {
        const struct shard_file *file = &record->files[i];
        if (file->index < 1 || file->index > job->files || file->range_count == 0 ||
            file->size > job->bytes)
            return refuse(why, "has a file that is not in its list");
        if (i > 0 && file->index <= file[-1].index)
            return refuse(why, "has files that are out of order");
        if (check_ranges(file, why) != 0)
            return -1;
    }
    return 0;
}

/* Checks that a job is the same as that of the first shard. */
static int check_job(const struct shard_join *join, const struct shard_job *job, struct reason *why)
{
    char first[REASON_SUBJECT_MAX];
    reason_show_subject(join->first, first);
    if (job->of != join->job.of)
        return reason_set(why, "is one of %" PRIu64 " shares, but %s is one of %" PRIu64, job->of,
                          first, join->job.of);
    if (memcmp(job, &join->job, sizeof *job) == 0)
        return 0;
    return reason_set(why,
                      "is a share of different files than %s: %" PRIu64 " with %" PRIu64
                      " bytes, not %" PRIu64 " with %" PRIu64 ", digest %016" PRIx64
                      ", not %016" PRIx64,
                      first, job->files, job->bytes, join->job.files, join->job.bytes, job->digest,
                      join->job.digest);
}

int shard_join_add(struct shard_join *join, struct shard_record *record, const char *table,
                   struct reason *why)
{
    if (check_record(record, why) != 0)
        return -1;
    if (!join->first) {
        join->first = table;
        join->job = record->job;
    }
    if (check_job(join, &record->job, why) != 0)
        return -1;
    struct joined_shard *longer =
        grow_list(join->shards, &join->room, join->count + 1, sizeof *longer);
    if (!longer)
        return reason_set(why, "out of memory");
    join->shards = longer;
    join->shards[join->count++] = (struct joined_shard){*record, table, join->order++};
    *record = (struct shard_record){.job.of = 0};
    return 0;
}

void shard_join_fork(const struct shard_join *join, struct shard_join *into)
{
    *into = (struct shard_join){.first = join->first, .job = join->job};
}

int shard_join_move(struct shard_join *join, struct shard_join *from)
{
    const size_t count = join->count + from->count;
    struct joined_shard *longer = grow_list(join->shards, &join->room, count, sizeof *longer);
    if (!longer)
        return count == 0 ? 0 : -1;
    join->shards = longer;
    if (from->count > 0)
        memcpy(longer + join->count, from->shards, from->count * sizeof *longer);
    join->count = count;
    from->count = 0;
    return 0;
}

void shard_join_free(struct shard_join *join)
{
    for (size_t i = 0; i < join->count; i++)
        shard_record_free(&join->shards[i].record);
    free(join->shards);
    *join = (struct shard_join){0};
}

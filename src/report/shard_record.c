/* SPDX-License-Identifier: MIT */
#include "shard_record.h"
#include "json.h"
#include "writer.h"

#include <inttypes.h>
#include <stdlib.h>

/* Writes `key`, which ends with the colon, and a list of pairs. */
static void write_ranges(struct writer *out, const char *key, const struct shard_range *ranges,
                         size_t count)
{
    writer_text(out, key);
    for (size_t i = 0; i < count; i++)
        writer_format(out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "[", ranges[i].begin,
                      ranges[i].end);
    writer_text(out, count ? "]" : "[]");
}

static void write_file(struct writer *out, const struct shard_file *file)
{
    writer_format(out, "{\"index\":%" PRIu64 ",\"name\":", file->index);
    json_string(out, file->name);
    writer_format(out, ",\"size\":%" PRIu64 ",\"fingerprint\":\"%016" PRIx64 "\"", file->size,
                  file->fingerprint);
    write_ranges(out, ",\"ranges\":", file->ranges, file->range_count);
    writer_char(out, '}');
}

void shard_record_write(struct writer *out, const struct shard_record *record)
{
    const struct shard_job *job = &record->job;
    writer_format(out, "{\"of\":%" PRIu64, job->of);
    write_ranges(out, ",\"parts\":", record->shards, record->shard_count);
    writer_format(out,
                  ",\"list\":{\"files\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"digest\":\"%016" PRIx64
                  "\"},\"files\":[",
                  job->files, job->bytes, job->digest);
    for (size_t i = 0; i < record->file_count; i++) {
        writer_text(out, i ? "," : "");
        write_file(out, &record->files[i]);
    }
    writer_text(out, "]}");
}

void shard_record_free(struct shard_record *record)
{
    for (size_t i = 0; i < record->file_count; i++) {
        free(record->files[i].name);
        free(record->files[i].ranges);
    }
    free(record->files);
    free(record->shards);
    *record = (struct shard_record){0};
}

/* SPDX-License-Identifier: MIT */
#include "share_record.h"
#include "json_text.h"
#include "writer.h"

#include <inttypes.h>

/* Writes `key`, which ends with the colon, and a list of pairs. */
static void write_ranges(struct writer *out, const char *key, const struct share_range *ranges,
                         size_t count)
{
    writer_text(out, key);
    for (size_t i = 0; i < count; i++)
        writer_format(out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "[", ranges[i].begin,
                      ranges[i].end);
    writer_text(out, count ? "]" : "[]");
}

static void write_file(struct writer *out, const struct share_file *file)
{
    writer_format(out, "{\"index\":%" PRIu64 ",\"name\":", file->index);
    json_string(out, file->name);
    writer_format(out, ",\"size\":%" PRIu64 ",\"fingerprint\":\"%016" PRIx64 "\"", file->size,
                  file->fingerprint);
    write_ranges(out, ",\"ranges\":", file->ranges, file->range_count);
    writer_char(out, '}');
}

void share_record_write(struct writer *out, const struct share_record *record)
{
    writer_format(out, "{\"of\":%" PRIu64, record->of);
    write_ranges(out, ",\"parts\":", record->parts, record->part_count);
    writer_format(out,
                  ",\"list\":{\"files\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"digest\":\"%016" PRIx64
                  "\"},\"files\":[",
                  record->list_files, record->list_bytes, record->list_digest);
    for (size_t i = 0; i < record->file_count; i++) {
        writer_text(out, i ? "," : "");
        write_file(out, &record->files[i]);
    }
    writer_text(out, "]}");
}

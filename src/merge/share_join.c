/* SPDX-License-Identifier: MIT */
#include "share_join.h"
#include "grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int share_refuse(struct reason *why, const char *holder, const char *text)
{
    reason_of(why, holder, "%s", text);
    return -1;
}

static int share_no_memory(const char *holder, struct reason *why)
{
    return share_refuse(why, holder, "out of memory");
}

/* Whether the record can be one, by itself. */
static int share_check(const struct share_record *share, const char *holder, struct reason *why)
{
    static const char not_ascending[] = "\"share\" has ranges that do not ascend";
    if (share->of == 0 || share->part_count == 0)
        return share_refuse(why, holder, "\"share\" has no share");
    if (share->of > SHARES_MAX) {
        reason_of(why, holder, "\"share\" is of more than %d", SHARES_MAX);
        return -1;
    }
    for (size_t i = 0; i < share->part_count; i++) {
        const struct share_range part = share->parts[i];
        if (part.begin < 1 || part.begin > part.end || part.end > share->of)
            return share_refuse(why, holder, "\"share\" has parts that are none");
        if (i > 0 && part.begin <= share->parts[i - 1].end)
            return share_refuse(why, holder, not_ascending);
    }
    for (size_t i = 0; i < share->file_count; i++) {
        const struct share_file *file = &share->files[i];
        if (file->index < 1 || file->index > share->list_files || file->range_count == 0 ||
            file->size > share->list_bytes)
            return share_refuse(why, holder, "\"share\" has a file that is not in its list");
        if (i > 0 && file->index <= file[-1].index)
            return share_refuse(why, holder, "\"share\" has files that do not ascend");
        for (size_t k = 0; k < file->range_count; k++) {
            const struct share_range range = file->ranges[k];
            const bool is_empty = file->size == 0 && range.begin == 0 && range.end == 0;
            if (range.end > file->size || !(range.begin < range.end || is_empty))
                return share_refuse(why, holder, "\"share\" has a range that its file has not");
            if (k > 0 && range.begin < file->ranges[k - 1].end)
                return share_refuse(why, holder, not_ascending);
        }
    }
    return 0;
}

/* Whether it is of the same job as the first one. */
static int share_compare(const struct share_join *join, const struct share_record *share,
                         const char *holder, struct reason *why)
{
    char first[REASON_SUBJECT_MAX];
    struct reason subject;
    reason_of(&subject, join->first, "%s", "");
    snprintf(first, sizeof first, "%.*s", (int)strlen(subject.text) - 2, subject.text);
    if (share->of != join->of) {
        reason_of(why, holder, "is a share of %" PRIu64 ", and %s one of %" PRIu64, share->of,
                  first, join->of);
        return -1;
    }
    if (share->list_files == join->list_files && share->list_bytes == join->list_bytes &&
        share->list_digest == join->list_digest)
        return 0;
    reason_of(why, holder,
              "is a share of other files than %s: %" PRIu64 " of %" PRIu64
              " bytes in all, not %" PRIu64 " of %" PRIu64 ", digest %016" PRIx64
              ", not %016" PRIx64,
              first, share->list_files, share->list_bytes, join->list_files, join->list_bytes,
              share->list_digest, join->list_digest);
    return -1;
}

static int join_add_part(struct share_join *join, struct share_range range, const char *holder)
{
    struct held_range *longer =
        grow_list(join->parts, &join->part_room, join->part_count + 1, sizeof *longer);
    if (!longer)
        return -1;
    join->parts = longer;
    join->parts[join->part_count++] = (struct held_range){range, holder, join->order};
    return 0;
}

/* Adds a range of a FILE, and its name if `held` owns that. 0; or -1: memory is short, and the name
 * is still the caller's. */
static int join_add_range(struct share_join *join, const struct held_file *held)
{
    struct held_file *longer =
        grow_list(join->files, &join->file_room, join->file_count + 1, sizeof *longer);
    if (!longer)
        return -1;
    join->files = longer;
    join->files[join->file_count++] = *held;
    return 0;
}

/* Adds all ranges of a FILE, with one copy of its name. */
static int join_add_file(struct share_join *join, const struct share_file *file, const char *holder)
{
    struct held_file held = {.file = *file, .owns_name = true};
    held.file.ranges = NULL;
    held.file.name = strdup(file->name ? file->name : "");
    if (!held.file.name)
        return -1;
    for (size_t i = 0; i < file->range_count; i++) {
        held.held = (struct held_range){file->ranges[i], holder, join->order};
        if (join_add_range(join, &held) != 0) {
            if (held.owns_name)
                free(held.file.name);
            return -1;
        }
        held.owns_name = false;
    }
    return 0;
}

int share_join_add(struct share_join *join, const struct share_record *share, const char *holder,
                   struct reason *why)
{
    if (share_check(share, holder, why) != 0)
        return -1;
    if (!join->first) {
        join->first = holder;
        join->of = share->of;
        join->list_files = share->list_files;
        join->list_bytes = share->list_bytes;
        join->list_digest = share->list_digest;
    }
    if (share_compare(join, share, holder, why) != 0)
        return -1;
    for (size_t i = 0; i < share->part_count; i++)
        if (join_add_part(join, share->parts[i], holder) != 0)
            return share_no_memory(holder, why);
    for (size_t i = 0; i < share->file_count; i++)
        if (join_add_file(join, &share->files[i], holder) != 0)
            return share_no_memory(holder, why);
    join->order++;
    return 0;
}

void share_join_fork(const struct share_join *join, struct share_join *into)
{
    *into = (struct share_join){.first = join->first,
                                .of = join->of,
                                .list_files = join->list_files,
                                .list_bytes = join->list_bytes,
                                .list_digest = join->list_digest};
}

int share_join_move(struct share_join *join, struct share_join *from)
{
    const size_t parts = join->part_count + from->part_count;
    const size_t files = join->file_count + from->file_count;
    if (from->part_count > 0) {
        struct held_range *longer = grow_list(join->parts, &join->part_room, parts, sizeof *longer);
        if (!longer)
            return -1;
        join->parts = longer;
        memcpy(longer + join->part_count, from->parts, from->part_count * sizeof *longer);
        join->part_count = parts;
        from->part_count = 0;
    }
    if (from->file_count > 0) {
        struct held_file *longer = grow_list(join->files, &join->file_room, files, sizeof *longer);
        if (!longer)
            return -1;
        join->files = longer;
        memcpy(longer + join->file_count, from->files, from->file_count * sizeof *longer);
        join->file_count = files;
        from->file_count = 0;
    }
    return 0;
}

void share_join_free(struct share_join *join)
{
    for (size_t i = 0; i < join->file_count; i++)
        if (join->files[i].owns_name)
            free(join->files[i].file.name);
    free(join->files);
    free(join->parts);
    *join = (struct share_join){0};
}

void share_free(struct share_record *record)
{
    for (size_t i = 0; i < record->file_count; i++) {
        free(record->files[i].name);
        free(record->files[i].ranges);
    }
    free(record->files);
    free(record->parts);
    *record = (struct share_record){0};
}

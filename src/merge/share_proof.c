/* SPDX-License-Identifier: MIT */
#include "share_join.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARES_LISTED 8 /* runs of those that are missing */

static int compare_numbers(uint64_t one, uint64_t other)
{
    return (one > other) - (one < other);
}

/* By where they begin, and then in the order of the tables. */
static int compare_parts(const void *one, const void *other)
{
    const struct held_range *a = one, *b = other;
    const int order = compare_numbers(a->range.begin, b->range.begin);
    return order != 0 ? order : compare_numbers(a->order, b->order);
}

static int compare_files(const void *one, const void *other)
{
    const struct held_file *a = one, *b = other;
    const int order = compare_numbers(a->file.index, b->file.index);
    return order != 0 ? order : compare_parts(&a->held, &b->held);
}

/* Whether no share is there twice. Parts are sorted. */
static int check_parts(const struct share_join *join, struct reason *why)
{
    for (size_t i = 1; i < join->part_count; i++) {
        const struct held_range *before = &join->parts[i - 1], *part = &join->parts[i];
        struct reason other;
        if (part->range.begin > before->range.end)
            continue;
        reason_of(&other, before->holder, "%s", "");
        reason_of(why, part->holder, "share %" PRIu64 "/%" PRIu64 " is in %.*s, too",
                  part->range.begin, join->of, (int)strlen(other.text) - 2, other.text);
        return -1;
    }
    return 0;
}

/* Whether two tables mean the same FILE, and no byte of it is in both. */
static int check_pair(const struct held_file *before, const struct held_file *held,
                      struct reason *why)
{
    const struct share_file *one = &before->file, *other = &held->file;
    struct reason subject;
    reason_of(&subject, before->held.holder, "%s", "");
    const int len = (int)strlen(subject.text) - 2;
    if (one->index != other->index)
        return 0;
    if (strcmp(one->name, other->name) != 0 || one->size != other->size) {
        reason_of(why, held->held.holder,
                  "file %" PRIu64 " is %.200s of %" PRIu64 " bytes, and in %.*s %.200s of %" PRIu64,
                  other->index, other->name, other->size, len, subject.text, one->name, one->size);
        return -1;
    }
    if (one->fingerprint != other->fingerprint) {
        reason_of(why, held->held.holder,
                  "%.200s has the fingerprint %016" PRIx64 ", and in %.*s %016" PRIx64
                  ": it was changed, or there are two of that name",
                  other->name, other->fingerprint, len, subject.text, one->fingerprint);
        return -1;
    }
    if (held->held.range.begin >= before->held.range.end && one->size > 0)
        return 0;
    reason_of(why, held->held.holder, "bytes from %" PRIu64 " of %.200s are in %.*s, too",
              held->held.range.begin, other->name, len, subject.text);
    return -1;
}

/* Appends the shares from `first` to `last` to a text of `size` bytes, which has room. */
static void append_missing(char *text, size_t size, uint64_t first, uint64_t last)
{
    const size_t len = strlen(text);
    const char *before = len ? ", " : "";
    if (first == last)
        snprintf(text + len, size - len, "%s%" PRIu64, before, first);
    else
        snprintf(text + len, size - len, "%s%" PRIu64 "-%" PRIu64, before, first, last);
}

/* Whether all shares are there. Parts are sorted. */
static int check_missing(const struct share_join *join, struct reason *why)
{
    char list[SHARES_LISTED * 48] = "", others[48] = "";
    uint64_t next = 1, missing = 0, listed = 0;
    size_t runs = 0;
    for (size_t i = 0; i <= join->part_count; i++) {
        const uint64_t begin = i < join->part_count ? join->parts[i].range.begin : join->of + 1;
        if (begin > next) {
            missing += begin - next;
            if (runs++ < SHARES_LISTED) {
                append_missing(list, sizeof list, next, begin - 1);
                listed = missing;
            }
        }
        if (i < join->part_count)
            next = join->parts[i].range.end + 1;
    }
    if (missing == 0)
        return 0;
    if (missing > listed)
        snprintf(others, sizeof others, " and %" PRIu64 " others", missing - listed);
    reason_set(why, "share%s %s%s of %" PRIu64 " %s missing", missing == 1 ? "" : "s", list, others,
               join->of, missing == 1 ? "is" : "are");
    return -1;
}

/* Says that no share is missing. */
static void show_shares(const struct share_join *join, char *text, size_t size)
{
    if (join->of == 1)
        snprintf(text, size, "the share is there");
    else
        snprintf(text, size, "all %" PRIu64 " shares are there", join->of);
}

/* Names the first bytes that are missing, if a FILE is there without them; whether there are any.
 * Entries are sorted, and do not overlap. */
static bool find_gap(const struct share_join *join, struct reason *why)
{
    char shares[64];
    uint64_t end = 0;
    for (size_t i = 0; i < join->file_count; i++) {
        const struct held_file *held = &join->files[i];
        const bool is_last = i + 1 == join->file_count || held[1].file.index != held->file.index;
        const uint64_t begin = held->held.range.begin, size = held->file.size;
        const uint64_t missing = begin > end ? begin : is_last ? size : 0;
        end = begin > end ? end : held->held.range.end;
        if (missing > end) {
            show_shares(join, shares, sizeof shares);
            reason_of(why, held->file.name, "%s, but not bytes %" PRIu64 " to %" PRIu64, shares,
                      end, missing);
            return true;
        }
        end = is_last ? 0 : end;
    }
    return false;
}

/* Whether the ranges of all FILEs are as long as the FILEs. */
static int check_bytes(const struct share_join *join, struct reason *why)
{
    uint64_t bytes = 0, files = 0;
    char shares[64];
    for (size_t i = 0; i < join->file_count; i++) {
        const struct held_file *held = &join->files[i];
        if (__builtin_add_overflow(bytes, held->held.range.end - held->held.range.begin, &bytes)) {
            reason_set(why, "the shares are of more than 2^64 bytes");
            return -1;
        }
        files += i == 0 || held->file.index != held[-1].file.index;
    }
    if (find_gap(join, why))
        return -1;
    if (bytes == join->list_bytes && files == join->list_files)
        return 0;
    show_shares(join, shares, sizeof shares);
    reason_set(
        why, "%s, but only %" PRIu64 " of %" PRIu64 " files, and %" PRIu64 " of %" PRIu64 " bytes",
        shares, files, join->list_files, bytes, join->list_bytes);
    return -1;
}

/* --- the record --- */

/* Appends a range to the last one if they touch, otherwise to the list, which has room. */
static void append_range(struct share_range *ranges, size_t *count, struct share_range range,
                         uint64_t gap)
{
    if (*count > 0 && ranges[*count - 1].end + gap == range.begin)
        ranges[*count - 1].end = range.end;
    else
        ranges[(*count)++] = range;
}

/* Makes the record of one FILE, whose entries are files[0..count). */
static int make_file(struct held_file *files, size_t count, struct share_file *file)
{
    *file = files[0].file;
    file->range_count = 0;
    file->ranges = calloc(count, sizeof file->ranges[0]);
    file->name = file->ranges ? strdup(file->name) : NULL;
    if (!file->name) {
        free(file->ranges);
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        append_range(file->ranges, &file->range_count, files[i].held.range, 0);
    return 0;
}

static int make_record(const struct share_join *join, struct share_record *record)
{
    *record = (struct share_record){.of = join->of,
                                    .list_files = join->list_files,
                                    .list_bytes = join->list_bytes,
                                    .list_digest = join->list_digest};
    record->parts = calloc(join->part_count + 1, sizeof record->parts[0]);
    record->files = calloc(join->file_count + 1, sizeof record->files[0]);
    bool failed = !record->parts || !record->files;
    for (size_t i = 0; !failed && i < join->part_count; i++)
        append_range(record->parts, &record->part_count, join->parts[i].range, 1);
    for (size_t i = 0, next; !failed && i < join->file_count; i = next) {
        for (next = i + 1; next < join->file_count; next++)
            if (join->files[next].file.index != join->files[i].file.index)
                break;
        failed = make_file(&join->files[i], next - i, &record->files[record->file_count]) != 0;
        record->file_count += !failed;
    }
    if (failed)
        share_free(record);
    return failed ? -1 : 0;
}

/* As share_join_finish, but the reason may have names in it as they are. */
static int prove_join(struct share_join *join, bool may_be_incomplete, struct share_record *record,
                      struct reason *why)
{
    if (join->part_count > 0)
        qsort(join->parts, join->part_count, sizeof join->parts[0], compare_parts);
    if (join->file_count > 0)
        qsort(join->files, join->file_count, sizeof join->files[0], compare_files);
    if (check_parts(join, why) != 0)
        return -1;
    for (size_t i = 1; i < join->file_count; i++)
        if (check_pair(&join->files[i - 1], &join->files[i], why) != 0)
            return -1;
    const bool is_missing = check_missing(join, why) != 0;
    if (is_missing ? !may_be_incomplete : check_bytes(join, why) != 0)
        return -1;
    if (make_record(join, record) == 0)
        return 0;
    reason_of(why, join->first, "out of memory");
    return -1;
}

int share_join_finish(struct share_join *join, bool may_be_incomplete, struct share_record *record,
                      struct reason *why)
{
    const int rc = prove_join(join, may_be_incomplete, record, why);
    if (rc != 0)
        reason_make_printable(why);
    return rc;
}

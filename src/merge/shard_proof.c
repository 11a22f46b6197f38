/* SPDX-License-Identifier: MIT */
/* The shards of a job: joined, and then the proof that no shard and no byte is missing, and that
 * none was counted twice. */
#include "merge.h"

#include "src/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAPS_LISTED 8 /* of missing shards */

/* --- the shard of a table --- */

static int refuse(struct error *error, const char *text)
{
    return error_set(error, "\"share\" %s", text);
}

static int check_ranges(const struct shard_file *file, struct error *error)
{
    for (size_t i = 0; i < file->range_count; i++) {
        const struct shard_range range = file->ranges[i];
        const bool is_empty = file->size == 0 && range.begin == 0 && range.end == 0;
        if (range.end > file->size || !(range.begin < range.end || is_empty))
            return refuse(error, "has a range outside its file");
        if (i > 0 && range.begin < file->ranges[i - 1].end)
            return refuse(error, "has ranges that are out of order");
    }
    return 0;
}

/* Checks a record for itself. 0, or -1 with an error. */
static int check_record(const struct shard_record *record, struct error *error)
{
    const struct shard_job *job = &record->job;
    if (job->of == 0 || record->shard_count == 0)
        return refuse(error, "names no share");
    if (job->of > SHARDS_MAX)
        return error_set(error, "\"share\" names more than %d shares", SHARDS_MAX);
    for (size_t i = 0; i < record->shard_count; i++) {
        const struct shard_range shards = record->shards[i];
        if (shards.begin < 1 || shards.begin > shards.end || shards.end > job->of)
            return refuse(error, "names a share that cannot exist");
        if (i > 0 && shards.begin <= record->shards[i - 1].end)
            return refuse(error, "has ranges that are out of order");
    }
    for (size_t i = 0; i < record->file_count; i++) {
        const struct shard_file *file = &record->files[i];
        if (file->index < 1 || file->index > job->files || file->range_count == 0 ||
            file->size > job->bytes)
            return refuse(error, "has a file that is not in its list");
        if (i > 0 && file->index <= file[-1].index)
            return refuse(error, "has files that are out of order");
        if (check_ranges(file, error) != 0)
            return -1;
    }
    return 0;
}

/* Checks that a job is the same as that of the first shard. */
static int check_job(const struct shard_join *join, const struct shard_job *job,
                     struct error *error)
{
    char first[ERROR_SUBJECT_MAX];
    error_show_subject(join->first, first);
    if (job->of != join->job.of)
        return error_set(error, "is one of %" PRIu64 " shares, but %s is one of %" PRIu64, job->of,
                         first, join->job.of);
    if (memcmp(job, &join->job, sizeof *job) == 0)
        return 0;
    return error_set(error,
                     "is a share of different files than %s: %" PRIu64 " with %" PRIu64
                     " bytes, not %" PRIu64 " with %" PRIu64 ", digest %016" PRIx64
                     ", not %016" PRIx64,
                     first, job->files, job->bytes, join->job.files, join->job.bytes, job->digest,
                     join->job.digest);
}

int shard_join_add(struct shard_join *join, struct shard_record *record, const char *table,
                   struct error *error)
{
    if (check_record(record, error) != 0)
        return -1;
    if (!join->first) {
        join->first = table;
        join->job = record->job;
    }
    if (check_job(join, &record->job, error) != 0)
        return -1;
    struct joined_shard *longer =
        grow_list(join->shards, &join->capacity, join->count + 1, sizeof *longer);
    if (!longer)
        return error_set(error, "out of memory");
    join->shards = longer;
    join->shards[join->count++] = (struct joined_shard){*record, table, join->order++};
    *record = (struct shard_record){.job.of = 0};
    return 0;
}

int shard_join_move(struct shard_join *join, struct shard_join *from)
{
    const size_t count = join->count + from->count;
    struct joined_shard *longer = grow_list(join->shards, &join->capacity, count, sizeof *longer);
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

/* --- the ranges of all shards --- */

/* A range that a table counted: of shards, or of a file's bytes. */
struct piece {
    struct shard_range range;
    const struct shard_file *file; /* NULL: the range is of shards */
    const struct joined_shard *from;
};

/* Sorted: all ranges of shards, and all ranges of bytes by file. */
struct proof {
    const struct shard_join *join;
    struct piece *shards, *bytes;
    size_t shard_count, byte_count;
};

static int compare_numbers(uint64_t one, uint64_t other)
{
    return (one > other) - (one < other);
}

/* By file, then by where they begin, then in the order of the tables. */
static int compare_pieces(const void *one, const void *other)
{
    const struct piece *a = one, *b = other;
    int order = a->file ? compare_numbers(a->file->index, b->file->index) : 0;
    if (order == 0)
        order = compare_numbers(a->range.begin, b->range.begin);
    return order != 0 ? order : compare_numbers(a->from->order, b->from->order);
}

/* Lists the ranges of all tables. 0, or -1: memory is short. */
static int list_pieces(struct proof *proof)
{
    const struct shard_join *join = proof->join;
    size_t shards = 0, bytes = 0;
    for (size_t i = 0; i < join->count; i++) {
        const struct shard_record *record = &join->shards[i].record;
        shards += record->shard_count;
        for (size_t k = 0; k < record->file_count; k++)
            bytes += record->files[k].range_count;
    }
    proof->shards = calloc(shards + 1, sizeof *proof->shards);
    proof->bytes = calloc(bytes + 1, sizeof *proof->bytes);
    if (!proof->shards || !proof->bytes)
        return -1;
    for (size_t i = 0; i < join->count; i++) {
        const struct joined_shard *from = &join->shards[i];
        const struct shard_record *record = &from->record;
        for (size_t k = 0; k < record->shard_count; k++)
            proof->shards[proof->shard_count++] = (struct piece){record->shards[k], NULL, from};
        for (size_t k = 0; k < record->file_count; k++)
            for (size_t r = 0; r < record->files[k].range_count; r++)
                proof->bytes[proof->byte_count++] =
                    (struct piece){record->files[k].ranges[r], &record->files[k], from};
    }
    qsort(proof->shards, proof->shard_count, sizeof *proof->shards, compare_pieces);
    qsort(proof->bytes, proof->byte_count, sizeof *proof->bytes, compare_pieces);
    return 0;
}

/* --- nothing overlaps --- */

static int check_shards(const struct proof *proof, struct error *error)
{
    char other[ERROR_SUBJECT_MAX];
    for (size_t i = 1; i < proof->shard_count; i++) {
        const struct piece *before = &proof->shards[i - 1], *piece = &proof->shards[i];
        if (piece->range.begin > before->range.end)
            continue;
        error_show_subject(before->from->table, other);
        return error_of(error, piece->from->table, "share %" PRIu64 "/%" PRIu64 " is also in %s",
                        piece->range.begin, proof->join->job.of, other);
    }
    return 0;
}

/* Checks that two tables mean the same file, and that no byte of it is in both. */
static int check_pair(const struct piece *before, const struct piece *piece, struct error *error)
{
    const struct shard_file *one = before->file, *other = piece->file;
    const char *table = piece->from->table;
    char shown[ERROR_SUBJECT_MAX];
    if (one->index != other->index)
        return 0;
    error_show_subject(before->from->table, shown);
    if (strcmp(one->name, other->name) != 0 || one->size != other->size)
        return error_of(error, table,
                        "file %" PRIu64 " is %.200s of %" PRIu64
                        " bytes, but in %s %.200s of %" PRIu64,
                        other->index, other->name, other->size, shown, one->name, one->size);
    if (one->fingerprint != other->fingerprint)
        return error_of(error, table,
                        "%.200s has the fingerprint %016" PRIx64 ", but in %s %016" PRIx64
                        ": it was changed, or two files have that name",
                        other->name, other->fingerprint, shown, one->fingerprint);
    if (piece->range.begin >= before->range.end && one->size > 0)
        return 0;
    return error_of(error, table, "bytes from %" PRIu64 " of %.200s are also in %s",
                    piece->range.begin, other->name, shown);
}

/* --- nothing is missing --- */

static int check_missing_shards(const struct proof *proof, struct error *error)
{
    const uint64_t of = proof->join->job.of;
    char list[GAPS_LISTED * 48] = "", others[48] = "";
    uint64_t next = 1, missing = 0, listed = 0;
    size_t gaps = 0, len = 0; /* of the list, which has room */
    for (size_t i = 0; i <= proof->shard_count; i++) {
        const bool is_end = i == proof->shard_count;
        const uint64_t begin = is_end ? of + 1 : proof->shards[i].range.begin;
        if (begin > next) {
            missing += begin - next;
            const char *before = gaps > 0 ? ", " : "";
            if (gaps++ < GAPS_LISTED) {
                const size_t room = sizeof list - len;
                len += (size_t)(begin - next == 1
                                    ? snprintf(list + len, room, "%s%" PRIu64, before, next)
                                    : snprintf(list + len, room, "%s%" PRIu64 "-%" PRIu64, before,
                                               next, begin - 1));
                listed = missing;
            }
        }
        next = is_end ? next : proof->shards[i].range.end + 1;
    }
    if (missing == 0)
        return 0;
    if (missing > listed)
        snprintf(others, sizeof others, " and %" PRIu64 " others", missing - listed);
    return error_set(error, "share%s %s%s of %" PRIu64 " %s missing", missing == 1 ? "" : "s", list,
                     others, of, missing == 1 ? "is" : "are");
}

/* Writes that no shard is missing. */
static void show_complete(const struct proof *proof, char *text, size_t size)
{
    if (proof->join->job.of == 1)
        snprintf(text, size, "the share is present");
    else
        snprintf(text, size, "all %" PRIu64 " shares are present", proof->join->job.of);
}

/* Names the first bytes that are missing of a file. True if there are any. */
static bool find_gap(const struct proof *proof, struct error *error)
{
    char shards[64];
    uint64_t end = 0;
    for (size_t i = 0; i < proof->byte_count; i++) {
        const struct piece *piece = &proof->bytes[i];
        const bool is_last =
            i + 1 == proof->byte_count || piece[1].file->index != piece->file->index;
        const uint64_t begin = piece->range.begin;
        const uint64_t missing = begin > end ? begin : is_last ? piece->file->size : 0;
        end = begin > end ? end : piece->range.end;
        if (missing > end) {
            show_complete(proof, shards, sizeof shards);
            error_of(error, piece->file->name,
                     "%s, but bytes %" PRIu64 " to %" PRIu64 " are missing", shards, end, missing);
            return true;
        }
        end = is_last ? 0 : end;
    }
    return false;
}

static int check_missing_bytes(const struct proof *proof, struct error *error)
{
    const struct shard_job *job = &proof->join->job;
    uint64_t bytes = 0, files = 0;
    char shards[64];
    for (size_t i = 0; i < proof->byte_count; i++) {
        const struct piece *piece = &proof->bytes[i];
        if (__builtin_add_overflow(bytes, piece->range.end - piece->range.begin, &bytes))
            return error_set(error, "the shares have more than 2^64 bytes");
        files += i == 0 || piece->file->index != piece[-1].file->index;
    }
    if (find_gap(proof, error))
        return -1;
    if (bytes == job->bytes && files == job->files)
        return 0;
    show_complete(proof, shards, sizeof shards);
    return error_set(error,
                     "%s, but only %" PRIu64 " of %" PRIu64 " files, and %" PRIu64 " of %" PRIu64
                     " bytes",
                     shards, files, job->files, bytes, job->bytes);
}

/* --- the record of all --- */

/* Appends a range to a list that has room, or extends its last range if it is `gap` away. */
static void append_range(struct shard_range *ranges, size_t *count, struct shard_range range,
                         uint64_t gap)
{
    if (*count > 0 && ranges[*count - 1].end + gap == range.begin)
        ranges[*count - 1].end = range.end;
    else
        ranges[(*count)++] = range;
}

/* Makes the record of one file, of which there are `count` pieces. 0, or -1: memory is short. */
static int make_file(const struct piece *pieces, size_t count, struct shard_file *file)
{
    *file = *pieces->file;
    file->range_count = 0;
    file->ranges = calloc(count, sizeof file->ranges[0]);
    file->name = file->ranges ? strdup(file->name) : NULL;
    if (!file->name) {
        free(file->ranges);
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        append_range(file->ranges, &file->range_count, pieces[i].range, 0);
    return 0;
}

static int make_record(const struct proof *proof, struct shard_record *record)
{
    *record = (struct shard_record){
        .job = proof->join->job,
        .shards = calloc(proof->shard_count + 1, sizeof record->shards[0]),
        .files = calloc(proof->byte_count + 1, sizeof record->files[0]),
    };
    bool failed = !record->shards || !record->files;
    for (size_t i = 0; !failed && i < proof->shard_count; i++)
        append_range(record->shards, &record->shard_count, proof->shards[i].range, 1);
    for (size_t i = 0, next; !failed && i < proof->byte_count; i = next) {
        const struct piece *pieces = &proof->bytes[i];
        for (next = i + 1; next < proof->byte_count; next++)
            if (proof->bytes[next].file->index != pieces->file->index)
                break;
        failed = make_file(pieces, next - i, &record->files[record->file_count]) != 0;
        record->file_count += !failed;
    }
    if (failed)
        shard_record_free(record);
    return failed ? -1 : 0;
}

/* Proves as shard_join_finish, but names of files in the error are not printable yet. */
static int prove(struct proof *proof, bool may_be_incomplete, struct shard_record *record,
                 struct error *error)
{
    if (list_pieces(proof) != 0)
        goto no_memory;
    if (check_shards(proof, error) != 0)
        return -1;
    for (size_t i = 1; i < proof->byte_count; i++)
        if (check_pair(&proof->bytes[i - 1], &proof->bytes[i], error) != 0)
            return -1;
    const bool is_missing = check_missing_shards(proof, error) != 0;
    if (is_missing ? !may_be_incomplete : check_missing_bytes(proof, error) != 0)
        return -1;
    if (make_record(proof, record) == 0)
        return 0;
no_memory:
    error_of(error, proof->join->first, "out of memory");
    return -1;
}

int shard_join_finish(const struct shard_join *join, bool may_be_incomplete,
                      struct shard_record *record, struct error *error)
{
    struct proof proof = {.join = join};
    const int rc = prove(&proof, may_be_incomplete, record, error);
    if (rc != 0)
        error_make_printable(error);
    free(proof.shards);
    free(proof.bytes);
    return rc;
}

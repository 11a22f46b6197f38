/* SPDX-License-Identifier: MIT */
#include "decoder_internal.h"
#include "src/records/records.h"

#include <stdlib.h>
#include <string.h>

struct decoder_file decoder_file_begin(const struct compressed_start *start,
                                       const struct record_kind *kind,
                                       const struct decode_walk *walk)
{
    return (struct decoder_file){.start = *start,
                                 .kind = *kind,
                                 .walk = *walk,
                                 .need = 1,
                                 .counted = start->skip,
                                 .repeated = start->repeated,
                                 .points = {.point = {{start->offset, 0}}, .count = 1}};
}

/* --- frames --- */

static void forget_point(struct resume_points *points, unsigned n)
{
    points->count--;
    memmove(points->point + n, points->point + n + 1,
            (points->count - n) * sizeof points->point[0]);
}

/* Forgets frames before the last one that begins no later than what was counted ends. */
static void forget_counted_points(struct decoder_file *file)
{
    struct resume_points *points = &file->points;
    while (points->count > 1 && points->point[1].content <= file->counted)
        forget_point(points, 0);
}

uint64_t decoder_file_kept(struct decoder_file *file)
{
    forget_counted_points(file);
    return file->points.point[0].at;
}

/* Adds the frame that follows a batch, or goes on after it. Only the last of those that begin no
 * later than what was counted ends is needed; if there are too many, any other can go. */
static void add_point(struct decoder_file *file, const struct decoder_batch *batch)
{
    struct resume_points *points = &file->points;
    const bool is_told = batch->next_at == DECODE_FRAME_TOLD;
    forget_counted_points(file);
    if (points->count == RESUME_POINTS)
        forget_point(points, 1);
    points->point[points->count++] =
        (struct resume_point){is_told ? batch->verdict->frame_at : batch->next_at,
                              file->content - batch->verdict->before};
}

/* --- batches --- */

/* Returns the bytes at the beginning of a batch, the next one to be judged, that were counted
 * before. */
static uint32_t counted_before(const struct decoder_file *file,
                               const struct decode_verdict *verdict)
{
    if (file->start.skip <= file->content)
        return 0;
    uint64_t before = file->start.skip - file->content;
    return before < verdict->content ? (uint32_t)before : verdict->content;
}

/* Gets the last bytes of the content up to and with a batch, of which `own` are to be counted: at
 * least as many as a character can be cut off after. Returns how many. */
static size_t last_bytes(const struct decoder_file *file, const struct decode_verdict *verdict,
                         uint32_t own, unsigned char bytes[2 * CHARACTER_SIZE_MAX])
{
    const size_t cut = file->tail.len, new = own < 4 ? own : 4;
    memcpy(bytes, file->tail.cut, cut);
    for (size_t i = 0; i < new; i++)
        bytes[cut + i] = (unsigned char)(verdict->last >> (32 - 8 * (new - i)));
    return cut + new;
}

/* Returns the tail. A separator of records that was counted before ends no record that is left. */
uint64_t decoder_file_tail(const struct decoder_file *file, const struct decode_verdict *verdict)
{
    const struct record_kind *kind = &file->kind;
    const uint32_t own = verdict->content - counted_before(file, verdict);
    const uint64_t all = (uint64_t)file->tail.len + own;
    unsigned char last[2 * CHARACTER_SIZE_MAX];
    if (kind->type == RECORD_PAIRS)
        return all > 0;
    if (kind->type == RECORD_CHARACTERS)
        return characters_tail(last, last_bytes(file, verdict, own, last));
    if (!record_is_text(kind))
        return all % kind->size;
    return verdict->tail >= own ? all : verdict->tail;
}

/* Returns the bytes from the tail of the batch before to that of a batch. */
static size_t bytes_between(const struct decoder_file *file, const struct decode_verdict *verdict,
                            uint64_t tail)
{
    return (size_t)file->tail.len + verdict->content - counted_before(file, verdict) - tail;
}

bool decoder_file_is_empty(const struct decoder_file *file, const struct decode_verdict *verdict,
                           uint64_t tail)
{
    return bytes_between(file, verdict, tail) == 0;
}

/* Takes the next `own` bytes. Returns how many of them no chunk had before. */
static size_t take_fresh(struct decoder_file *file, size_t own)
{
    const size_t again = file->repeated < own ? file->repeated : own;
    file->repeated -= again;
    return own - again;
}

/* Goes on to the end of a batch. The last byte of pairs is shared, as it is in two of them. */
void decoder_file_advance(struct decoder_file *file, struct decoder_batch *batch, uint32_t tail)
{
    const struct decode_verdict *verdict = batch->verdict;
    struct chunk *chunk = &batch->slot.chunk;
    const uint32_t before = counted_before(file, verdict);
    const size_t own = bytes_between(file, verdict, tail);
    batch->shared = file->kind.type == RECORD_PAIRS && own > 0 ? tail : 0;
    batch->begin = (int64_t)before - (int64_t)file->tail.len;
    chunk->len = own + batch->shared;
    chunk->origin.bytes = take_fresh(file, own);
    if (file->kind.type == RECORD_CHARACTERS) {
        unsigned char last[2 * CHARACTER_SIZE_MAX];
        const size_t len = last_bytes(file, verdict, verdict->content - before, last);
        memcpy(file->tail.cut, last + len - tail, tail);
    }
    file->tail.len = tail;
    file->tail.last = batch;
    file->content += verdict->content;
    add_point(file, batch);
}

void decoder_file_count(struct decoder_file *file, const struct decoder_batch *batch)
{
    file->counted += batch->slot.chunk.len - batch->shared;
    file->fresh += batch->slot.chunk.origin.bytes;
    file->judged++;
}

/* --- the end --- */

bool decoder_file_is_done(const struct decoder_file *file)
{
    return file->end == FILE_WHOLE && file->content >= file->start.skip;
}

struct compressed_rest decoder_file_end(struct decoder_file *file, bool is_lost)
{
    const struct resume_point *point = &file->points.point[file->points.count - 1];
    while (point->content > file->counted)
        point--; /* the first one is not after what was counted */
    struct compressed_rest rest = {.is_left = is_lost || !decoder_file_is_done(file),
                                   .offset = point->at,
                                   .skip = file->counted - point->content,
                                   .index = file->start.index + file->judged,
                                   .bytes = file->counted - file->start.skip,
                                   .fresh = file->fresh,
                                   .is_wrong = file->is_wrong};
    if (!rest.is_left) {
        rest.tail_len = file->tail.len;
        if (file->kind.type == RECORD_PAIRS)
            rest.fresh += take_fresh(file, file->tail.len);
    }
    if (rest.tail_len > 0)
        rest.tail = file->tail.bytes;
    else
        free(file->tail.bytes);
    file->tail.bytes = NULL;
    return rest;
}

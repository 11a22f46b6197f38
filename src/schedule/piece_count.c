/* SPDX-License-Identifier: MIT */
/* The way of a stream's bytes to a piece, and of content from a piece to the sink. */
#include "pieces.h"

#include <string.h>

/* Milliseconds to wait for a stream before a piece is cut that is shorter than it could be. */
#define HURRY_MS 10

/* The fewest bytes that are counted where they are, without a copy. */
#define BORROWED_MIN ((size_t)16 << 10)

/* --- reading a stream --- */

/* Drops what is kept before what may be begun anew; and of a frame or member that is too long all
 * but its end. */
static void limit_kept(struct pieces *pieces)
{
    struct bytes *bytes = &pieces->file->input.bytes;
    pthread_mutex_lock(&pieces->lock);
    const uint64_t anew = pieces->anew;
    const uint64_t counted = pieces->retired < pieces->next
                                 ? pieces->slots[pieces->retired % pieces->count]->offset
                                 : bytes->taken;
    pthread_mutex_unlock(&pieces->lock);
    window_drop(&bytes->window, anew);
    if (bytes->taken - bytes->window.begin <= PIECES_KEPT_MAX)
        return;
    const uint64_t ahead = bytes->taken - PIECES_KEPT_AHEAD;
    window_drop(&bytes->window, counted < ahead ? counted : ahead);
}

ssize_t pieces_read(struct pieces *pieces, unsigned char *to, size_t cap, bool patient)
{
    struct bytes *bytes = &pieces->file->input.bytes;
    if (pieces->ahead_len > 0) {
        const size_t some = cap < pieces->ahead_len ? cap : pieces->ahead_len;
        memcpy(to, pieces->ahead, some);
        pieces->ahead += some;
        pieces->ahead_len -= some;
        return (ssize_t)some;
    }
    if (!patient && !bytes_ready(bytes, HURRY_MS))
        return PIECES_DRY;
    const ssize_t got = bytes_read(bytes, to, cap, &pieces->fault);
    limit_kept(pieces);
    return got < 0 ? 0 : got;
}

/* --- counting --- */

int piece_count_begin(struct piece_counting *counting, struct worker *worker, struct file *file,
                      uint64_t segment, uint64_t position)
{
    struct extent *extent = &counting->extent;
    *counting = (struct piece_counting){.extent = {.worker = worker, .file = file}};
    if (file->in_stream) {
        extent->segment =
            (struct segment){.records = &file->input.records, .at = file->at, .begin = position};
        return 0;
    }
    return segment_begin_at(extent, segment, position, 0) == 0
               ? 0
               : source_fail_for_memory(worker, file);
}

/* True if the chunk, which begins with `waited` bytes, may have content where it is. */
static bool may_borrow(const struct extent *extent, const struct chunk *chunk, size_t waited,
                       const unsigned char *data, size_t len, size_t before)
{
    const struct segment *segment = &extent->segment;
    return chunk->may_borrow && len >= BORROWED_MIN && !segment_is_stream(extent) &&
           !segment->records->too_long && (!segment->span || segment->span->has_boundary) &&
           waited <= before && (waited == 0 || memcmp(data - waited, chunk->data, waited) == 0);
}

/* Gives the next bytes to a chunk. Returns how many. */
static size_t fill(struct piece_counting *counting, struct chunk *chunk, size_t waited,
                   const unsigned char *data, size_t len, size_t before)
{
    const size_t limit = source_fill_limit(&counting->extent.file->input, chunk, waited);
    const size_t some = len < limit - waited ? len : limit - waited;
    if (may_borrow(&counting->extent, chunk, waited, data, some, before)) {
        chunk->data = (unsigned char *)data - waited; /* which nobody writes to */
    } else if (some > 0) {
        memcpy(chunk->data + waited, data, some);
    }
    chunk->len = waited + some;
    return some;
}

/* Counts some of data[0..len) by one chunk, which ends the segment if `ends` and it has all of
 * that. Returns how much, or -1: the run has failed. */
static ssize_t count_chunk(struct piece_counting *counting, const unsigned char *data, size_t len,
                           size_t before, bool ends)
{
    struct extent *extent = &counting->extent;
    struct chunk *chunk = runner_choose(extent->worker, FLOW_DECODED);
    if (!chunk)
        return -1;
    const size_t waited = segment_begin_chunk(extent, chunk),
                 some = fill(counting, chunk, waited, data, len, before);
    extent->segment.content += some;
    const int rc = segment_cut(extent, chunk, waited, false);
    if (rc != 0)
        chunk->len = chunk->begin = chunk->origin.bytes = 0;
    counting->is_ended = ends && some == len;
    chunk->origin.end = counting->is_ended ? ENDS_SEGMENT : ENDS_NOTHING;
    chunk->give &= segment_is_stream(extent); /* otherwise every worker has content to count */
    return runner_push(extent->worker, chunk, FLOW_DECODED) == 0 && rc == 0 ? (ssize_t)some : -1;
}

int piece_count(struct piece_counting *counting, const unsigned char *data, size_t len,
                size_t before, bool is_last)
{
    struct extent *extent = &counting->extent;
    const struct content_range *range = &extent->file->input.plan.range;
    const uint64_t position = extent->segment.begin + extent->segment.content;
    const bool is_stream = segment_is_stream(extent);
    struct error fault;
    len = content_left(range, position, len);
    if (content_check(range, position + len, false, &fault) != 0)
        return source_fail_of(extent->worker, extent->file, fault.text);
    const uint64_t left_out = position < range->begin ? range->begin - position : 0;
    size_t done = left_out < len ? (size_t)left_out : len;
    extent->segment.content += done;
    while (done < len) {
        const ssize_t some =
            count_chunk(counting, data + done, len - done, before + done, is_last && !is_stream);
        if (some < 0)
            return -1;
        done += (size_t)some;
    }
    return 0;
}

int piece_count_end(struct piece_counting *counting)
{
    struct extent *extent = &counting->extent;
    if (segment_is_stream(extent)) {
        extent->file->at = extent->segment.at;
        return 0;
    }
    if (!counting->is_ended && count_chunk(counting, NULL, 0, 0, true) < 0)
        return -1;
    return segment_end(extent);
}

bool pieces_go_on(const struct pieces *pieces)
{
    return content_left(&pieces->file->input.plan.range, pieces->position, 1) > 0;
}

bool pieces_are_beyond(const struct pieces *pieces)
{
    const uint64_t end = pieces->file->input.plan.range.end;
    return pieces->position > 0 && pieces->position - 1 > end;
}

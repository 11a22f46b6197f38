/* SPDX-License-Identifier: MIT */
/* The way of a stream's bytes to a piece, and of content from a piece to the sink. */
#include "pieces.h"

#include <string.h>

/* Milliseconds to wait for a stream before a piece is cut that is shorter than it could be. */
#define HURRY_MS 10

/* How often it is looked, while a stream is waited for, whether it is still wanted. */
#define WANTED_MS 50

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

/* False: the range that is counted has ended, say, or the run has failed. */
static bool is_wanted(struct pieces *pieces)
{
    pthread_mutex_lock(&pieces->lock);
    const bool is_wanted = !pieces->is_stopped && !pieces->has_failed;
    pthread_mutex_unlock(&pieces->lock);
    return is_wanted;
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
    while (!bytes_ready(bytes, WANTED_MS))
        if (!is_wanted(pieces))
            return 0;
    const ssize_t got = bytes_read(bytes, to, cap, &pieces->fault);
    limit_kept(pieces);
    return got < 0 ? 0 : got;
}

/* --- counting --- */

int piece_count_begin(struct piece_counting *counting, struct worker *worker, struct file *file,
                      uint64_t number, uint64_t position)
{
    counting->is_ended = false;
    if (file->in_stream)
        segment_begin_stream(&counting->segment, worker, file, position);
    else if (segment_begin_at(&counting->segment, worker, file, number, position, 0) != 0)
        return source_fail_for_memory(worker, file);
    return 0;
}

/* True if the chunk, which begins with `waited` bytes, may have content where it is. */
static bool may_borrow(const struct segment *segment, const struct chunk *chunk, size_t waited,
                       const unsigned char *data, size_t len, size_t before)
{
    return chunk->may_borrow && len >= BORROWED_MIN && !segment_is_stream(segment) &&
           !segment->records->too_long && (!segment->span || segment->span->has_boundary) &&
           waited <= before && (waited == 0 || memcmp(data - waited, chunk->data, waited) == 0);
}

/* Counts some of data[0..len) by one chunk, which ends the segment if `ends` and it has all of
 * that. Returns how much, or -1: the run has failed. */
static ssize_t count_chunk(struct piece_counting *counting, const unsigned char *data, size_t len,
                           size_t before, bool ends)
{
    struct segment *segment = &counting->segment;
    struct chunk *chunk = runner_choose(segment->worker, FLOW_DECODED);
    if (!chunk)
        return -1;
    const size_t waited = segment_begin_chunk(segment, chunk),
                 space = source_fill_limit(&segment->file->input, chunk, waited) - waited,
                 some = len < space ? len : space;
    if (may_borrow(segment, chunk, waited, data, some, before))
        chunk->data = (unsigned char *)data - waited; /* which nobody writes to */
    else if (some > 0)
        memcpy(chunk->data + waited, data, some);
    chunk->len = waited + some;
    segment->content += some;
    const int rc = segment_cut(segment, chunk, waited, false);
    if (rc != 0)
        chunk->len = chunk->begin = chunk->origin.bytes = 0;
    counting->is_ended = ends && some == len;
    chunk->origin.end = counting->is_ended ? ENDS_SEGMENT : ENDS_NOTHING;
    chunk->give &= segment_is_stream(segment); /* otherwise every worker has content to count */
    return runner_push(segment->worker, chunk, FLOW_DECODED) == 0 && rc == 0 ? (ssize_t)some : -1;
}

int piece_count(struct piece_counting *counting, const unsigned char *data, size_t len,
                size_t before, bool is_last)
{
    struct segment *segment = &counting->segment;
    const struct content_range *range = &segment->file->input.plan.range;
    const uint64_t position = segment->begin + segment->content;
    const bool ends = is_last && !segment_is_stream(segment);
    struct error fault;
    len = content_left(range, position, len);
    if (content_check(range, position + len, false, &fault) != 0)
        return source_fail_of(segment->worker, segment->file, fault.text);
    const uint64_t left_out = position < range->begin ? range->begin - position : 0;
    size_t done = left_out < len ? (size_t)left_out : len;
    segment->content += done;
    while (done < len) {
        const ssize_t some = count_chunk(counting, data + done, len - done, before + done, ends);
        if (some < 0)
            return -1;
        done += (size_t)some;
    }
    return 0;
}

int piece_count_end(struct piece_counting *counting)
{
    struct segment *segment = &counting->segment;
    const bool is_ended = counting->is_ended || segment_is_stream(segment) ||
                          count_chunk(counting, NULL, 0, 0, true) == 0;
    const int rc = is_ended ? segment_end(segment) : -1;
    segment_close(segment);
    return rc;
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

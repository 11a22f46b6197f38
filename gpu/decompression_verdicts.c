/* SPDX-License-Identifier: MIT */
/* What the device has decoded: judged, counted, and at the end what is left. */
#include "decompression_internal.h"
#include "src/records/records.h"

#include <stdlib.h>
#include <string.h>

/* --- batches --- */

static struct decompression_batch *remove_oldest(struct decompression *decompression)
{
    struct decompression_batch *batch = decompression->oldest;
    decompression->oldest = batch->next;
    if (!decompression->oldest)
        decompression->newest = NULL;
    return batch;
}

static bool is_hashed(const struct decompression *decompression,
                      const struct decompression_batch *batch)
{
    return !batch->is_hashed || content_check_is_done(decompression->check, &batch->job);
}

/* The batch is neither decoded nor counted any more. */
static void release(struct decompression *decompression, struct decompression_batch *batch)
{
    batch->state = is_hashed(decompression, batch) ? DECOMPRESSION_FREE : DECOMPRESSION_HASHING;
}

/* Frees the batches whose content was hashed meanwhile. Whether there was one. */
static bool free_hashed(struct decompression *decompression)
{
    bool freed = false;
    for (unsigned i = 0; i < decompression->decoding.batches; i++) {
        struct decompression_batch *batch = &decompression->batch[i];
        if (batch->state != DECOMPRESSION_HASHING)
            continue;
        release(decompression, batch);
        freed |= batch->state == DECOMPRESSION_FREE;
    }
    return freed;
}

/* --- frames --- */

/* Drops the n-th frame that was noted. */
static void forget_frame(struct decompression *decompression, unsigned n)
{
    struct decompression_frame *frames = decompression->frames;
    decompression->frame_count--;
    memmove(frames + n, frames + n + 1, (decompression->frame_count - n) * sizeof *frames);
}

/* Forgets frames before the last one that begins no later than what was counted ends. */
static void forget_counted_frames(struct decompression *decompression)
{
    while (decompression->frame_count > 1 &&
           decompression->frames[1].content <= decompression->counted)
        forget_frame(decompression, 0);
}

uint64_t decompression_kept(struct decompression *decompression)
{
    forget_counted_frames(decompression);
    return decompression->frames[0].at;
}

/* Notes where the frame begins that follows a batch, or goes on after it. Of those up to what was
 * counted only the last one is needed; any other does too, if there are too many. */
static void note_frame(struct decompression *decompression, const struct decompression_batch *batch)
{
    struct decompression_frame *frames = decompression->frames;
    forget_counted_frames(decompression);
    if (decompression->frame_count == DECOMPRESSION_FRAMES)
        forget_frame(decompression, 1);
    frames[decompression->frame_count++] = (struct decompression_frame){
        batch->next_at, decompression->content - batch->verdict->before};
}

/* --- verdicts --- */

/* Bytes at the beginning of a batch, the next one to be counted, that were counted before. */
static uint32_t counted_before(const struct decompression *decompression,
                               const struct decompression_batch *batch)
{
    const uint32_t content = batch->verdict->content;
    if (decompression->skip <= decompression->content)
        return 0;
    uint64_t before = decompression->skip - decompression->content;
    return before < content ? (uint32_t)before : content;
}

static bool has_pairs(const struct decompression *decompression)
{
    return records_size(decompression->histogram) == RECORD_PAIRS;
}

/* The last bytes of what was decoded, up to and with a batch, of which `own` are to be counted: at
 * least as many as a character can be cut off after. Returns how many. */
static size_t last_bytes(const struct decompression *decompression,
                         const struct decompression_batch *batch, uint32_t own,
                         unsigned char bytes[2 * CHARACTER_SIZE_MAX])
{
    const size_t cut = decompression->tail, new = own < 4 ? own : 4;
    memcpy(bytes, decompression->cut, cut);
    for (size_t i = 0; i < new; i++)
        bytes[cut + i] = (unsigned char)(batch->verdict->last >> (32 - 8 * (new - i)));
    return cut + new;
}

/* Bytes at the end of what was decoded, up to and with a batch, that are not counted with it; more
 * than a record can have: it must not be counted here. A separator of records that was counted
 * before ends nothing of what is left. */
static uint64_t tail_after(const struct decompression *decompression,
                           const struct decompression_batch *batch)
{
    const size_t size = records_size(decompression->histogram);
    const uint32_t own = batch->verdict->content - counted_before(decompression, batch);
    const uint64_t all = (uint64_t)decompression->tail + own;
    unsigned char last[2 * CHARACTER_SIZE_MAX];
    if (size == RECORD_PAIRS)
        return all > 0;
    if (size == RECORD_CHARACTERS)
        return characters_tail(last, last_bytes(decompression, batch, own, last));
    if (!records_are_text(size))
        return all % size;
    return batch->verdict->tail >= own ? all : batch->verdict->tail;
}

/* Bytes of a batch that no chunk had before, of `own` that end before its tail. */
static size_t new_bytes(struct decompression *decompression, size_t own)
{
    const size_t again = decompression->repeated < own ? decompression->repeated : own;
    decompression->repeated -= again;
    return own - again;
}

/* Bytes that end with a batch that was not refused, from what was left of the one before to its
 * tail. */
static size_t own_bytes(const struct decompression *decompression,
                        const struct decompression_batch *batch, uint64_t tail)
{
    return (size_t)decompression->tail + batch->verdict->content -
           counted_before(decompression, batch) - tail;
}

/* Whether no record ends with a batch, so that there is nothing to count. */
static bool is_empty(const struct decompression *decompression,
                     const struct decompression_batch *batch, uint64_t tail)
{
    return own_bytes(decompression, batch, tail) == 0;
}

/* Has a batch that was not refused counted, with what was left of the one before. The last byte of
 * pairs is in two of them. 0 or -1. */
static int count_batch(struct decompression *decompression, struct decompression_batch *batch,
                       uint32_t tail)
{
    struct chunk *chunk = &batch->slot.chunk;
    const uint32_t before = counted_before(decompression, batch);
    const unsigned index = batch->slot.index;
    const size_t own = own_bytes(decompression, batch, tail);
    batch->shared = has_pairs(decompression) && own > 0 ? tail : 0;
    batch->begin = (int64_t)before - (int64_t)decompression->tail;
    chunk->len = own + batch->shared;
    chunk->origin.bytes = new_bytes(decompression, own);
    if (records_size(decompression->histogram) == RECORD_CHARACTERS) {
        unsigned char last[2 * CHARACTER_SIZE_MAX];
        const size_t len = last_bytes(decompression, batch, batch->verdict->content - before, last);
        memcpy(decompression->cut, last + len - tail, tail);
    }
    decompression->tail = tail;
    decompression->last = batch;
    decompression->content += batch->verdict->content;
    note_frame(decompression, batch);
    if (chunk->len == 0)
        return 0;
    chunk->data = NULL;
    batch->state = DECOMPRESSION_COUNTING;
    decompression->counting++;
    return calls_count_content(decompression->calls, index, batch->begin, chunk->len);
}

/* Whether a batch is to be counted: 1; 0: the FILE is left from there on; -1: the device is lost;
 * 2: that is not known yet. */
static int judge(struct decompression *decompression, const struct decompression_batch *batch,
                 uint64_t tail)
{
    const size_t size = records_size(decompression->histogram);
    enum content_verdict verdict = CONTENT_GOOD;
    bool is_good = batch->verdict->refused >= batch->plan.blocks && tail <= records_most(size);
    if (decompression->is_refused)
        return 0;
    if (is_good && batch->is_hashed)
        verdict = content_check_verdict(decompression->check, &batch->job);
    if (verdict == CONTENT_LOST)
        return -1;
    if (verdict == CONTENT_PENDING)
        return 2;
    decompression->is_wrong =
        verdict == CONTENT_WRONG && decompression->content > decompression->skip;
    decompression->is_refused = !is_good || verdict != CONTENT_GOOD;
    decompression->is_over |= decompression->is_refused;
    return !decompression->is_refused;
}

/* The oldest batch without a verdict, or NULL. */
static struct decompression_batch *oldest_decoding(const struct decompression *decompression)
{
    struct decompression_batch *batch = decompression->oldest;
    while (batch && batch->state != DECOMPRESSION_DECODING)
        batch = batch->next;
    return batch;
}

/* Looks whether the next verdict has arrived. If it is good, hashing begins. 1, 0 or -1. */
static int look_at_verdict(struct decompression *decompression)
{
    struct decompression_batch *batch = oldest_decoding(decompression);
    int arrived = batch ? calls_decoded(decompression->calls, batch->slot.index) : 0;
    if (arrived != 1)
        return arrived;
    batch->state = DECOMPRESSION_DECODED;
    decompression->decoding_count--;
    decompression->is_bad |= batch->verdict->refused < batch->plan.blocks;
    decompression->is_over |= decompression->is_bad;
    batch->is_hashed = decompression->check && !decompression->is_bad && !decompression->is_refused;
    if (batch->is_hashed) {
        batch->job = (struct content_job){.slot = batch->slot.index,
                                          .plan = &batch->plan,
                                          .frame_ends = batch->frame_ends,
                                          .goes_on = batch->goes_on};
        content_check_begin(decompression->check, &batch->job);
    }
    return 1;
}

/* Has the oldest batch counted, or leaves it, once it is known which. 1, 0 or -1. */
static int look_at_oldest(struct decompression *decompression, struct slot **counted,
                          struct chunk **empty)
{
    struct decompression_batch *batch = decompression->oldest;
    if (!batch || batch->state != DECOMPRESSION_DECODED)
        return 0;
    uint64_t tail = tail_after(decompression, batch);
    int judged = judge(decompression, batch, tail);
    if (judged == 2 || judged < 0)
        return judged == 2 ? 0 : -1;
    /* What is counted before an empty batch must be known to be, as that has its position at once.
     */
    if (judged == 1 && decompression->counting > 0 && is_empty(decompression, batch, tail))
        return 0;
    remove_oldest(decompression);
    if (judged == 1 && count_batch(decompression, batch, (uint32_t)tail) != 0)
        return -1;
    if (batch->state == DECOMPRESSION_COUNTING) {
        *counted = &batch->slot;
    } else {
        if (judged == 1) {
            decompression->counted_index++;
            *empty = &batch->slot.chunk;
        }
        release(decompression, batch);
    }
    return 1;
}

int decompression_look(struct decompression *decompression, struct slot **counted,
                       struct chunk **empty)
{
    *counted = NULL;
    *empty = NULL;
    if (!decompression->is_active)
        return 0;
    bool freed = free_hashed(decompression);
    int copied = decompression_look_at_inputs(decompression);
    int arrived = copied < 0 ? -1 : look_at_verdict(decompression);
    if (arrived < 0)
        return -1;
    int judged = look_at_oldest(decompression, counted, empty);
    if (judged < 0)
        return -1;
    int launched = decompression_launch_due(decompression);
    return launched < 0 ? -1 : freed || copied || arrived || judged || launched;
}

bool decompression_is_on_device(const struct decompression *decompression)
{
    bool is_there = decompression->decoding_count > 0 || decompression->fetch.under_way > 0;
    for (unsigned i = 0; i < decompression->inputs; i++)
        is_there |= decompression->input[i].state == INPUT_COPYING;
    return is_there;
}

bool decompression_has(const struct decompression *decompression, const struct slot *slot)
{
    const struct decompression_batch *batch = decompression->batch;
    return batch && slot >= &batch[0].slot &&
           slot <= &batch[decompression->decoding.batches - 1].slot;
}

bool decompression_is_hashing(const struct decompression *decompression)
{
    bool waits = false;
    for (unsigned i = 0; i < decompression->decoding.batches; i++) {
        const enum decompression_state state = decompression->batch[i].state;
        waits |= state == DECOMPRESSION_HASHING || state == DECOMPRESSION_DECODED;
    }
    return waits && decompression->decoding_count == 0 && decompression->counting == 0;
}

/* --- content that the host needs --- */

/* Copies content, from byte `begin` of a batch's on, to to[0..len). To be called until it is done:
 * 1; 0: not yet; -1: the device is lost. */
static int fetch_content(struct decompression *decompression, const struct slot *slot,
                         int64_t begin, unsigned char *to, size_t len, bool *moved)
{
    struct decompression_fetch *fetch = &decompression->fetch;
    if (!fetch->is_active)
        *fetch = (struct decompression_fetch){
            .is_active = true, .slot = slot->index, .begin = begin, .to = to, .len = len};
    if (fetch->under_way > 0) {
        int arrived = calls_content_read(decompression->calls, DECOMPRESSION_FETCH_READ);
        if (arrived != 1)
            return arrived;
        memcpy(fetch->to + fetch->done, decompression->fetched, fetch->under_way);
        fetch->done += fetch->under_way;
        fetch->under_way = 0;
        *moved = true;
    }
    const size_t left = fetch->len - fetch->done;
    fetch->is_active = left > 0;
    if (left == 0)
        return 1;
    fetch->under_way = left < decompression->fetch_size ? left : decompression->fetch_size;
    return calls_read_content(decompression->calls, fetch->slot,
                              fetch->begin + (int64_t)fetch->done, fetch->under_way,
                              decompression->fetched, DECOMPRESSION_FETCH_READ);
}

int decompression_fetch(struct decompression *decompression, struct slot *slot, bool *moved)
{
    const struct decompression_batch *batch = (struct decompression_batch *)(void *)slot;
    struct chunk *chunk = &slot->chunk;
    if (!decompression->fetch.is_active) {
        const uint64_t left =
            decompression->memory_left ? decompression->memory_left() : UINT64_MAX;
        chunk->data = chunk->len <= left / 2 ? malloc(chunk->len) : NULL;
        if (!chunk->data)
            return 1;
    }
    return fetch_content(decompression, slot, batch->begin, chunk->data, chunk->len, moved);
}

void decompression_count(struct decompression *decompression, struct slot *slot)
{
    struct decompression_batch *batch = (struct decompression_batch *)(void *)slot;
    decompression->counted += slot->chunk.len - batch->shared;
    decompression->fresh += slot->chunk.origin.bytes;
    decompression->counted_index++;
    decompression->counting--;
    free(slot->chunk.data);
    slot->chunk.data = NULL;
    release(decompression, batch);
}

/* --- the end --- */

bool decompression_is_busy(const struct decompression *decompression)
{
    bool is_busy = decompression->oldest || decompression->counting > 0;
    for (unsigned i = 0; i < decompression->inputs; i++)
        is_busy |= decompression->input[i].state == INPUT_COPYING;
    for (unsigned i = 0; i < decompression->decoding.batches; i++)
        is_busy |= decompression->batch[i].state == DECOMPRESSION_HASHING;
    const struct decompression_batch *batch = decompression->laying;
    return is_busy || (batch && batch->plan.blocks > 0 && !decompression->is_refused &&
                       !decompression->is_bad);
}

/* Whether the FILE was decompressed to its end. */
static bool is_done(const struct decompression *decompression, bool is_lost)
{
    const bool has_all = decompression->content >= decompression->skip;
    return decompression->is_whole && !decompression->is_refused && !is_lost && has_all;
}

int decompression_fetch_tail(struct decompression *decompression, bool *moved)
{
    const struct decompression_batch *last = decompression->last;
    const uint32_t tail = decompression->tail;
    if (tail == 0 || !is_done(decompression, false))
        return 1;
    return fetch_content(decompression, &last->slot,
                         (int64_t)last->verdict->content - (int64_t)tail, decompression->tail_bytes,
                         tail, moved);
}

void decompression_settle(struct decompression *decompression, bool is_lost,
                          struct compressed_rest *rest)
{
    const struct decompression_frame *frame =
        &decompression->frames[decompression->frame_count - 1];
    while (frame->content > decompression->counted)
        frame--; /* the first one is not after what was counted */
    *rest = (struct compressed_rest){.is_left = !is_done(decompression, is_lost),
                                     .offset = frame->at,
                                     .skip = decompression->counted - frame->content,
                                     .index = decompression->counted_index,
                                     .bytes = decompression->counted - decompression->skip,
                                     .fresh = decompression->fresh,
                                     .is_wrong = decompression->is_wrong};
    if (!rest->is_left) {
        rest->tail_len = decompression->tail;
        if (rest->tail_len > 0) {
            rest->tail = decompression->tail_bytes;
            decompression->tail_bytes = NULL;
        }
        if (has_pairs(decompression))
            rest->fresh += new_bytes(decompression, decompression->tail);
    }
    decompression_drop_laying(decompression);
    decompression->is_active = false;
}

#include "decompression.h"
#include "src/engine/records.h"

#include <stdlib.h>
#include <string.h>

/* --- the FILE --- */

/* The largest window that is neither beyond the limit, as libzstd counts it, nor what batches have
 * memory for. */
static uint32_t window_max(const struct decompression *decompression, uint64_t memlimit)
{
    uint32_t most = ZSTD_WINDOW_MOST, has = decompression->decoding.capacity.window;
    while (most > memlimit)
        most /= 2;
    return most < has ? most : has;
}

int decompression_begin(struct decompression *decompression, unsigned slots,
                        const struct undecoded_start *start)
{
    if (!decompression->is_open && decompression_open(decompression, slots) != 0)
        return -1;
    if (decompression->is_active || decompression->decoding.batches == 0)
        return 0;
    decompression->is_active = decompression->begins = true;
    decompression->is_over = decompression->is_refused = decompression->is_whole = false;
    decompression->is_wrong = false;
    decompression->walk =
        (struct zstd_walk){.at = start->offset,
                           .frame_at = start->offset,
                           .window_max = window_max(decompression, start->memlimit),
                           .leave_checksums = decompression->verifies && !decompression->check};
    decompression->tail = 0;
    decompression->content = 0;
    decompression->skip = decompression->counted = start->skip;
    decompression->laid_index = decompression->counted_index = start->index;
    decompression->frames[0] = (struct decompression_frame){start->offset, 0};
    decompression->frame_count = 1;
    return 1;
}

/* Batches take turns, as each leaves for the next one what that takes over: content too, so the one
 * after it must be free as well. */
struct chunk *decompression_take(struct decompression *decompression)
{
    const unsigned count = decompression->decoding.batches;
    struct decompression_batch *batch = &decompression->batch[decompression->turn];
    const struct decompression_batch *after =
        &decompression->batch[(decompression->turn + 1) % count];
    if (batch->state != DECOMPRESSION_FREE || after->state != DECOMPRESSION_FREE)
        return NULL;
    batch->state = DECOMPRESSION_FILLING;
    batch->slot.chunk = (struct chunk){.engine = decompression->engine,
                                       .data = batch->bytes,
                                       .cap = decompression->decoding.capacity.in,
                                       .fill = true};
    return &batch->slot.chunk;
}

/* --- laying --- */

/* Lays a batch of what was filled. Whether there is something to decode. Notes if nothing more is
 * to be laid of the FILE. */
static bool lay(struct decompression *decompression, struct decompression_batch *batch)
{
    const struct chunk *chunk = &batch->slot.chunk;
    struct zstd_plan *plan = &batch->plan;
    struct zstd_walk *walk = &decompression->walk;
    enum zstd_laid laid = zstd_lay(walk, plan, chunk->data, chunk->len);
    bool is_last = chunk->origin.end == ENDS_FILE, is_full = chunk->len == chunk->cap;
    bool is_end = is_last && plan->taken >= chunk->len;
    bool is_cut_short = is_end && (walk->in_frame || plan->taken > chunk->len);
    bool is_stuck = laid == ZSTD_NEEDS_MORE && plan->taken == 0 && (is_last || is_full);
    decompression->is_whole = is_end && !is_cut_short;
    decompression->is_over |= laid == ZSTD_LEFT || is_cut_short || is_stuck;
    return laid == ZSTD_LAID;
}

static void append(struct decompression *decompression, struct decompression_batch *batch)
{
    batch->next = NULL;
    if (decompression->newest)
        decompression->newest->next = batch;
    else
        decompression->oldest = batch;
    decompression->newest = batch;
}

static struct decompression_batch *remove_oldest(struct decompression *decompression)
{
    struct decompression_batch *batch = decompression->oldest;
    decompression->oldest = batch->next;
    if (!decompression->oldest)
        decompression->newest = NULL;
    return batch;
}

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

/* What comes after a chunk of the FILE from byte `offset` on, of which was laid what there was. */
static struct undecoded_next next_after(struct decompression *decompression, uint64_t offset,
                                        const struct zstd_plan *plan)
{
    forget_counted_frames(decompression);
    return (struct undecoded_next){
        .is_wanted = !decompression->is_over && !decompression->is_whole,
        .at = offset + plan->taken,
        .need = plan->need,
        .kept = decompression->frames[0].at,
    };
}

int decompression_submit(struct decompression *decompression, struct chunk *chunk, uint64_t offset,
                         struct undecoded_next *next)
{
    struct decompression_batch *batch = (struct decompression_batch *)(void *)chunk;
    const struct zstd_walk *walk = &decompression->walk;
    *next = (struct undecoded_next){.is_wanted = false};
    if (decompression->is_over || !lay(decompression, batch)) {
        batch->state = DECOMPRESSION_FREE;
    } else {
        chunk->origin.at.index = decompression->laid_index++;
        chunk->origin.end = ENDS_NOTHING;
        batch->next_at = walk->in_frame ? walk->frame_at : walk->at;
        batch->goes_on = walk->in_frame && walk->has_checksum;
        batch->state = DECOMPRESSION_DECODING;
        decompression->turn = (decompression->turn + 1) % decompression->decoding.batches;
        append(decompression, batch);
        if (device_decode(decompression->device, batch->slot.index, &batch->plan, batch->bytes,
                          decompression->begins, batch->verdict, batch->frame_ends) != 0)
            return -1;
        decompression->begins = false;
    }
    *next = next_after(decompression, offset, &batch->plan);
    return 0;
}

/* --- verdicts --- */

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

/* Bytes at the end of what was decoded, up to and with a batch, that are not counted with it; more
 * than a record can have: it must not be counted here. A separator of records that was counted
 * before ends nothing of what is left. */
static uint64_t tail_after(const struct decompression *decompression,
                           const struct decompression_batch *batch)
{
    const size_t size = records_size(decompression->histogram);
    const uint32_t own = batch->verdict->content - counted_before(decompression, batch);
    const uint64_t all = (uint64_t)decompression->tail + own;
    if (!records_are_text(size))
        return all % size;
    return batch->verdict->tail >= own ? all : batch->verdict->tail;
}

/* Has a batch that was not refused counted, with what was left of the one before. 0 or -1. */
static int count_batch(struct decompression *decompression, struct decompression_batch *batch,
                       uint32_t tail)
{
    struct chunk *chunk = &batch->slot.chunk;
    const uint32_t before = counted_before(decompression, batch);
    const unsigned index = batch->slot.index;
    chunk->len = chunk->origin.bytes =
        (size_t)decompression->tail + batch->verdict->content - before - tail;
    batch->begin = (int64_t)before - (int64_t)decompression->tail;
    decompression->tail = tail;
    decompression->last = batch;
    decompression->content += batch->verdict->content;
    note_frame(decompression, batch);
    if (chunk->len == 0)
        return 0;
    chunk->data = NULL;
    batch->state = DECOMPRESSION_COUNTING;
    decompression->counting++;
    if (device_count_content(decompression->device, index, batch->begin, chunk->len) != 0)
        return -1;
    return device_snapshot(decompression->device, index, batch->slot.snapshot);
}

/* Whether a batch is to be counted; otherwise the FILE is left from there on. 1, 0, or -1: the
 * device is lost. */
static int judge(struct decompression *decompression, const struct decompression_batch *batch,
                 uint64_t tail)
{
    const size_t size = records_size(decompression->histogram);
    enum content_verdict verdict = CONTENT_GOOD;
    bool is_good = batch->verdict->refused >= batch->plan.blocks && tail <= records_most(size);
    if (decompression->is_refused)
        return 0;
    if (is_good && decompression->check)
        verdict = content_check_batch(decompression->check, batch->slot.index, &batch->plan,
                                      batch->frame_ends, batch->goes_on);
    if (verdict == CONTENT_LOST)
        return -1;
    decompression->is_wrong =
        verdict == CONTENT_WRONG && decompression->content > decompression->skip;
    decompression->is_refused = !is_good || verdict != CONTENT_GOOD;
    decompression->is_over |= decompression->is_refused;
    return !decompression->is_refused;
}

int decompression_look(struct decompression *decompression, struct slot **counted,
                       struct chunk **empty)
{
    struct decompression_batch *batch = decompression->oldest;
    *counted = NULL;
    *empty = NULL;
    int arrived = batch ? device_decoded(decompression->device, batch->slot.index) : 0;
    if (arrived != 1)
        return arrived;
    remove_oldest(decompression);
    batch->state = DECOMPRESSION_FREE;
    uint64_t tail = tail_after(decompression, batch);
    int judged = judge(decompression, batch, tail);
    if (judged != 1)
        return judged == 0 ? 1 : -1;
    if (count_batch(decompression, batch, (uint32_t)tail) != 0)
        return -1;
    if (batch->state == DECOMPRESSION_COUNTING) {
        *counted = &batch->slot;
    } else {
        decompression->counted_index++;
        *empty = &batch->slot.chunk;
    }
    return 1;
}

bool decompression_has(const struct decompression *decompression, const struct slot *slot)
{
    const struct decompression_batch *batch = decompression->batch;
    return batch && slot >= &batch[0].slot &&
           slot <= &batch[decompression->decoding.batches - 1].slot;
}

int decompression_fetch(struct decompression *decompression, struct slot *slot)
{
    struct decompression_batch *batch = (struct decompression_batch *)(void *)slot;
    struct chunk *chunk = &slot->chunk;
    const uint64_t left = decompression->memory_left ? decompression->memory_left() : UINT64_MAX;
    chunk->data = chunk->len <= left / 2 ? malloc(chunk->len) : NULL;
    if (!chunk->data)
        return 0;
    return device_read_content(decompression->device, slot->index, batch->begin, chunk->len,
                               chunk->data);
}

void decompression_count(struct decompression *decompression, struct slot *slot)
{
    struct decompression_batch *batch = (struct decompression_batch *)(void *)slot;
    decompression->counted += slot->chunk.len;
    decompression->counted_index++;
    decompression->counting--;
    free(slot->chunk.data);
    slot->chunk.data = NULL;
    batch->state = DECOMPRESSION_FREE;
}

/* --- the end --- */

bool decompression_is_busy(const struct decompression *decompression)
{
    return decompression->oldest || decompression->counting > 0;
}

/* Gets the tail to the host. 0 or -1. */
static int fetch_tail(struct decompression *decompression)
{
    const struct decompression_batch *last = decompression->last;
    if (decompression->tail == 0)
        return 0;
    return device_read_content(decompression->device, last->slot.index,
                               (int64_t)last->verdict->content - (int64_t)decompression->tail,
                               decompression->tail, decompression->tail_bytes);
}

int decompression_settle(struct decompression *decompression, bool is_lost,
                         struct undecoded_rest *rest)
{
    const struct decompression_frame *frame =
        &decompression->frames[decompression->frame_count - 1];
    bool has_all = decompression->content >= decompression->skip;
    bool is_done = decompression->is_whole && !decompression->is_refused && !is_lost && has_all;
    while (frame->content > decompression->counted)
        frame--; /* the first one is not after what was counted */
    *rest = (struct undecoded_rest){.is_left = !is_done,
                                    .offset = frame->at,
                                    .skip = decompression->counted - frame->content,
                                    .index = decompression->counted_index,
                                    .bytes = decompression->counted - decompression->skip,
                                    .is_wrong = decompression->is_wrong};
    if (is_done && fetch_tail(decompression) != 0)
        return -1;
    if (is_done) {
        rest->tail = decompression->tail_bytes;
        rest->tail_len = decompression->tail;
    }
    decompression->is_active = false;
    return 0;
}

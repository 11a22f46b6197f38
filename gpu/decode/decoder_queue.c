/* SPDX-License-Identifier: MIT */
/* Launches batches, judges them by their verdicts and checksums, has them counted, and frees them,
 * oldest first. */
#include "gpu/engine/gpu_engine_internal.h"
#include "src/input/records.h"

#include <stdlib.h>

/* The blocks for each batch that is being decoded with which the next one is launched: the more
 * there is to do already, the better it is to wait. */
#define BLOCKS_FOR_EACH 256

static struct decoder_batch *batch_of(struct slot *slot)
{
    return (struct decoder_batch *)(void *)slot;
}

/* Returns the oldest batch that is in one of the states, or NULL. Batches are launched in turn, so
 * the search begins with the one whose turn is next. */
static struct decoder_batch *oldest_in(const struct gpu_decoder *decoder, unsigned states)
{
    const struct decoder_memory *memory = &decoder->memory;
    for (unsigned i = 0; i < memory->decoding.batches; i++) {
        struct decoder_batch *batch =
            &memory->batch[(decoder->queue.turn + i) % memory->decoding.batches];
        if (batch->state & states)
            return batch;
    }
    return NULL;
}

unsigned decoder_queue_count_in(const struct gpu_decoder *decoder, unsigned states)
{
    unsigned count = 0;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++)
        count += (decoder->memory.batch[i].state & states) != 0;
    return count;
}

/* --- launching --- */

bool decoder_queue_open_batch(struct gpu_decoder *decoder, const struct origin *origin)
{
    struct decoder_queue *queue = &decoder->queue;
    struct decoder_batch *batch = &decoder->memory.batch[queue->turn];
    if (queue->planned)
        return true;
    if (batch->state != BATCH_FREE)
        return false;
    batch->state = BATCH_PLANNED;
    batch->is_dropped = false;
    batch->slot.chunk = (struct chunk){.engine = &decoder->gpu->engine, .origin = *origin};
    batch->plan.format = decoder->file.walk.planner->format;
    decode_plan_clear(&batch->plan);
    queue->planned = batch;
    queue->turn = (queue->turn + 1) % decoder->memory.decoding.batches;
    return true;
}

/* Launches the batch once the next one is free: it leaves content, and the rest of what the next
 * one goes on with, in the memory of that one. */
int decoder_queue_launch(struct gpu_decoder *decoder)
{
    struct decoder_queue *queue = &decoder->queue;
    struct decoder_file *file = &decoder->file;
    struct decoder_batch *batch = queue->planned;
    const struct decode_ahead ahead = file->walk.planner->peek(&file->walk);
    const bool begins = file->launched == 0;
    if (decoder->memory.batch[queue->turn].state != BATCH_FREE)
        return 0;
    batch->slot.chunk.origin.at.index = file->launched;
    batch->slot.chunk.origin.end = ENDS_NOTHING;
    batch->job = (struct content_job){.slot = batch->slot.index,
                                      .plan = &batch->plan,
                                      .frame_ends = batch->frame_ends,
                                      .goes_on = ahead.is_hashed};
    batch->state = BATCH_DECODING;
    file->launched++;
    queue->planned = NULL;
    const struct device_work work = {
        .kind = WORK_DECODE,
        .slot = batch->slot.index,
        .batch = {batch->plan, begins, batch->verdict, batch->frame_ends},
    };
    return device_thread_post(decoder->gpu->thread, &work) == 0 ? 1 : -1;
}

/* True if there is a batch to be launched, now or later. */
static bool has_planned(const struct gpu_decoder *decoder)
{
    const struct decoder_batch *batch = decoder->queue.planned;
    return batch && batch->plan.in_size > 0 && decoder->file.end != FILE_REFUSED;
}

int decoder_queue_launch_due(struct gpu_decoder *decoder)
{
    if (!has_planned(decoder))
        return 0;
    const unsigned decoding = decoder_queue_count_in(decoder, BATCH_DECODING);
    const struct decode_plan *plan = &decoder->queue.planned->plan;
    bool has_enough = plan->is_complete || plan->blocks >= BLOCKS_FOR_EACH * decoding;
    return has_enough || decoder->file.end != FILE_GOES_ON ? decoder_queue_launch(decoder) : 0;
}

/* --- freeing --- */

/* Releases a batch that is neither decoded nor counted any more. */
static void release(struct gpu_decoder *decoder, struct decoder_batch *batch)
{
    struct content_check *check = decoder->memory.check;
    bool is_hashing = check && !content_check_is_done(check, &batch->job);
    batch->state = is_hashing ? BATCH_HASHING : BATCH_FREE;
}

/* Frees the batches whose content was hashed meanwhile. True if there was one. */
static bool free_hashed(struct gpu_decoder *decoder)
{
    bool freed = false;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++) {
        struct decoder_batch *batch = &decoder->memory.batch[i];
        if (batch->state != BATCH_HASHING)
            continue;
        release(decoder, batch);
        freed |= batch->state == BATCH_FREE;
    }
    return freed;
}

bool decoder_queue_has(const struct gpu_decoder *decoder, const struct slot *slot)
{
    return slot->index >= decoder->gpu->slots.count;
}

void decoder_queue_count(struct gpu_decoder *decoder, struct slot *slot)
{
    struct decoder_batch *batch = batch_of(slot);
    decoder_file_count(&decoder->file, batch);
    free(slot->chunk.data);
    slot->chunk.data = NULL;
    release(decoder, batch);
}

/* --- verdicts --- */

/* True if a smaller batch may not be refused, and is worth it. */
static bool is_too_large(const struct gpu_decoder *decoder, const struct decoder_batch *refused)
{
    const uint32_t why = refused->verdict->refusal;
    const bool is_pipe = decoder->file.start.size == 0; /* nobody else could go on with it */
    return why == DECODE_NO_ROOM || (why == DECODE_TOO_MANY && is_pipe);
}

/* Plans a batch anew that was too large, and all that follow, which were decoded in vain. The state
 * that the batch goes on from is still in its memory. False: it must be left. */
static bool go_back(struct gpu_decoder *decoder, struct decoder_batch *refused)
{
    struct decoder_file *file = &decoder->file;
    const struct decode_planner *planner = file->walk.planner;
    if (!is_too_large(decoder, refused) || !planner->plan_again || file->end == FILE_REFUSED ||
        !planner->plan_again(&file->walk, &refused->plan))
        return false;
    decoder_queue_drain(decoder);
    refused->state = BATCH_FREE;
    file->launched--;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++) {
        struct decoder_batch *batch = &decoder->memory.batch[i];
        if (batch->state != BATCH_DECODING || batch->is_dropped)
            continue;
        batch->is_dropped = true;
        file->launched--;
    }
    decoder->queue.turn = (unsigned)(refused - decoder->memory.batch);
    file->end = FILE_GOES_ON;
    file->goes_back = true;
    return true;
}

/* Goes on with a batch that was decoded. If it is good, hashing begins. */
static void take_verdict(struct gpu_decoder *decoder, struct decoder_batch *batch)
{
    struct decoder_file *file = &decoder->file;
    const struct decode_planner *planner = file->walk.planner;
    const bool is_good = batch->verdict->refused == DECODE_NONE;
    batch->state = batch->is_dropped ? BATCH_FREE : BATCH_DECODED;
    if (batch->is_dropped || (!is_good && go_back(decoder, batch)))
        return;
    if (is_good && planner->learn)
        planner->learn(&file->walk, &batch->plan, batch->verdict->content);
    if (!is_good)
        file->end = FILE_REFUSED;
    else if (decoder->memory.check && file->end != FILE_REFUSED)
        content_check_begin(decoder->memory.check, &batch->job);
}

/* Looks whether the next verdict has arrived. */
static int poll_verdict(struct gpu_decoder *decoder)
{
    struct decoder_batch *batch = oldest_in(decoder, BATCH_DECODING);
    int arrived =
        batch ? device_thread_arrived(decoder->gpu->thread, WORK_DECODE, batch->slot.index) : 0;
    if (arrived != 1)
        return arrived;
    take_verdict(decoder, batch);
    return 1;
}

/* Judges the oldest batch, which has such a tail. From the first that is not good on, nothing is
 * counted. */
static enum content_verdict judge(struct gpu_decoder *decoder, const struct decoder_batch *batch,
                                  uint64_t tail)
{
    struct decoder_file *file = &decoder->file;
    enum content_verdict verdict = CONTENT_GOOD;
    if (file->is_cut_off)
        return CONTENT_CORRUPT;
    if (batch->verdict->refused != DECODE_NONE)
        verdict = CONTENT_CORRUPT;
    else if (tail > file->kind.max)
        verdict = CONTENT_CORRUPT;
    else if (decoder->memory.check)
        verdict = content_check_verdict(decoder->memory.check, &batch->job);
    if (verdict == CONTENT_CORRUPT) {
        file->is_cut_off = true;
        file->end = FILE_REFUSED;
    }
    return verdict;
}

/* Sends a good batch to be counted, unless it is empty. 0 or -1. */
static int count(struct gpu_decoder *decoder, struct decoder_batch *batch, uint32_t tail)
{
    decoder_file_advance(&decoder->file, batch, tail);
    if (batch->slot.chunk.len == 0) {
        decoder->file.judged++;
        release(decoder, batch);
        return 0;
    }
    batch->state = BATCH_COUNTING;
    const struct device_work work = {
        .kind = WORK_COUNT_CONTENT,
        .slot = batch->slot.index,
        .content = {.begin = batch->begin, .len = batch->slot.chunk.len},
    };
    return device_thread_post(decoder->gpu->thread, &work);
}

/* Sends the oldest batch to be counted, or drops it, once it is known which. */
static int poll_oldest(struct gpu_decoder *decoder, struct slot **good)
{
    struct decoder_batch *batch = oldest_in(decoder, BATCH_DECODING | BATCH_DECODED);
    if (!batch || batch->state != BATCH_DECODED)
        return 0;
    const uint64_t tail = decoder_file_tail(&decoder->file, batch->verdict);
    switch (judge(decoder, batch, tail)) {
    case CONTENT_LOST:
        return -1;
    case CONTENT_PENDING:
        return 0;
    case CONTENT_CORRUPT:
        release(decoder, batch);
        return 1;
    case CONTENT_GOOD:
        break;
    }
    /* An empty batch has its position at once, so the bytes before it must have been counted. */
    if (decoder_file_is_empty(&decoder->file, batch->verdict, tail) &&
        decoder_queue_count_in(decoder, BATCH_COUNTING) > 0)
        return 0;
    if (count(decoder, batch, (uint32_t)tail) != 0)
        return -1;
    *good = &batch->slot;
    return 1;
}

int decoder_queue_poll(struct gpu_decoder *decoder, struct slot **good)
{
    *good = NULL;
    bool freed = free_hashed(decoder);
    int arrived = poll_verdict(decoder);
    int judged = arrived < 0 ? -1 : poll_oldest(decoder, good);
    return judged < 0 ? -1 : freed || arrived || judged;
}

/* --- the state of all --- */

bool decoder_queue_is_hashing(const struct gpu_decoder *decoder)
{
    return decoder_queue_count_in(decoder, BATCH_HASHING | BATCH_DECODED) > 0 &&
           decoder_queue_count_in(decoder, BATCH_DECODING | BATCH_COUNTING) == 0;
}

bool decoder_queue_is_busy(const struct gpu_decoder *decoder)
{
    return has_planned(decoder) ||
           decoder_queue_count_in(decoder, BATCH_DECODING | BATCH_DECODED | BATCH_COUNTING |
                                               BATCH_HASHING) > 0;
}

bool decoder_queue_may_go_back(const struct gpu_decoder *decoder)
{
    return decoder->file.walk.planner->plan_again && decoder->file.end != FILE_REFUSED &&
           (has_planned(decoder) || decoder_queue_count_in(decoder, BATCH_DECODING) > 0);
}

uint64_t decoder_queue_again(const struct gpu_decoder *decoder)
{
    const struct decode_walk *walk = &decoder->file.walk;
    uint64_t again = walk->planner->peek(walk).at;
    for (unsigned i = 0; walk->planner->plan_again && i < decoder->memory.decoding.batches; i++) {
        const struct decoder_batch *batch = &decoder->memory.batch[i];
        const bool is_open = batch->state & (BATCH_PLANNED | BATCH_DECODING);
        if (is_open && batch->plan.in_size > 0 && batch->plan.at < again)
            again = batch->plan.at;
    }
    return again;
}

void decoder_queue_drain(struct gpu_decoder *decoder)
{
    struct decoder_queue *queue = &decoder->queue;
    struct decoder_batch *batch = queue->planned;
    if (!batch)
        return;
    batch->state = BATCH_FREE;
    queue->turn = (unsigned)(batch - decoder->memory.batch);
    queue->planned = NULL;
}

/* SPDX-License-Identifier: MIT */
#include "decoder_internal.h"

#include <stdlib.h>
#include <string.h>

/* --- planning and launching --- */

/* The blocks for each batch that is being decoded with which the next one is launched: the more
 * there is to do already, the better it is to wait. */
#define BLOCKS_FOR_EACH 256

/* Batches are launched in turn, so the search begins with the one whose turn is next. */
struct decoder_batch *decoder_queue_oldest(const struct gpu_decoder *decoder, unsigned states)
{
    const struct decoder_memory *memory = &decoder->memory;
    for (unsigned i = 0; i < memory->decoding.batches; i++) {
        struct decoder_batch *batch =
            &memory->batch[(decoder->turn + i) % memory->decoding.batches];
        if (batch->state & states)
            return batch;
    }
    return NULL;
}

/* Begins to plan a batch of that origin, unless one is planned. False if no batch is free. */
static bool open_batch(struct gpu_decoder *decoder, const struct origin *origin)
{
    struct decoder_batch *batch = &decoder->memory.batch[decoder->turn];
    if (decoder->planned)
        return true;
    if (batch->state != BATCH_FREE)
        return false;
    batch->state = BATCH_PLANNED;
    batch->is_dropped = batch->is_corrupt = false;
    batch->left = batch->ending = 0;
    batch->slot.chunk = (struct chunk){.engine = &decoder->gpu->engine, .origin = *origin};
    decode_plan_clear(&batch->work.plan);
    decoder->planned = batch;
    decoder->turn = (decoder->turn + 1) % decoder->memory.decoding.batches;
    return true;
}

void decoder_queue_drop_planned(struct gpu_decoder *decoder)
{
    struct decoder_batch *batch = decoder->planned;
    if (!batch)
        return;
    batch->state = BATCH_FREE;
    decoder->turn = (unsigned)(batch - decoder->memory.batch);
    decoder->planned = NULL;
}

/* Launches the batch that is planned, once the next one is free: a batch leaves content, and the
 * rest of what that goes on with, in its memory. True if it was launched. */
static bool launch(struct gpu_decoder *decoder)
{
    struct decoder_file *file = &decoder->file;
    struct decoder_batch *batch = decoder->planned;
    if (decoder->memory.batch[decoder->turn].state != BATCH_FREE)
        return false;
    batch->slot.chunk.origin.at.index = file->launched;
    batch->slot.chunk.origin.end = ENDS_NOTHING;
    batch->goes_on = decode_walk_in_frame(&file->walk) && file->walk.parts.header.has_checksum;
    batch->has_hash = false; /* the next one, which is free, has read it */
    batch->state = BATCH_DECODING;
    batch->work.begins = file->launched++ == 0;
    decoder->planned = NULL;
    gpu_post(decoder->gpu, &(struct device_work){.kind = WORK_DECODE,
                                                 .slot = batch->slot.index,
                                                 .batch = &batch->work});
    return true;
}

bool decoder_queue_has_planned(const struct gpu_decoder *decoder)
{
    const struct decoder_batch *batch = decoder->planned;
    return batch && batch->work.plan.in_size > 0 && decoder->file.end != FILE_REFUSED;
}

bool decoder_queue_launch_due(struct gpu_decoder *decoder)
{
    if (!decoder_queue_has_planned(decoder))
        return false;
    const struct decode_plan *plan = &decoder->planned->work.plan;
    unsigned decoding = 0;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++)
        decoding += decoder->memory.batch[i].state == BATCH_DECODING;
    return (plan->is_complete || plan->blocks >= BLOCKS_FOR_EACH * decoding ||
            decoder->file.end != FILE_GOES_ON) &&
           launch(decoder);
}

/* Returns whether more of the file is to be planned after an input. */
static enum file_end end_after(const struct decoder_file *file, const struct decoder_input *input,
                               enum decode_planned planned)
{
    const struct chunk *chunk = &input->chunk;
    const bool is_last = chunk->origin.end == ENDS_FILE, is_full = chunk->len == chunk->cap;
    const bool is_stuck =
        planned == DECODE_NEEDS_MORE && input->planned == 0 && (is_last || is_full);
    if (is_last && input->planned >= chunk->len)
        return decode_walk_in_frame(&file->walk) || input->planned > chunk->len
                   ? FILE_REFUSED /* it is cut short */
                   : FILE_WHOLE;
    return planned == DECODE_LEFT || is_stuck ? FILE_REFUSED : FILE_GOES_ON;
}

/* Plans the bytes of an input, and copies them. False: it must wait for a batch. */
static bool plan_input(struct gpu_decoder *decoder, struct decoder_input *input)
{
    struct decoder_file *file = &decoder->file;
    const struct chunk *chunk = &input->chunk;
    enum decode_planned planned;
    do {
        if (!open_batch(decoder, &chunk->origin))
            return false;
        struct decode_plan *plan = &decoder->planned->work.plan;
        const size_t done = input->planned < chunk->len ? (size_t)input->planned : chunk->len;
        planned = decode_walk_plan(&file->walk, plan, chunk->data + done, chunk->len - done,
                                   chunk->origin.end == ENDS_FILE);
        input->planned += plan->taken;
        file->need = plan->need;
        if (planned == DECODE_PLANNED) {
            const struct device_work work = {.kind = WORK_COPY_BLOCKS,
                                             .slot = decoder->planned->slot.index,
                                             .copy = (unsigned)(input - decoder->memory.input),
                                             .chunk = {.data = chunk->data + done,
                                                       .len = plan->in_size - plan->in_at,
                                                       .at = plan->in_at}};
            gpu_post(decoder->gpu, &work);
        } else if (planned == DECODE_FULL && !launch(decoder)) {
            return false;
        }
    } while (planned == DECODE_PLANNED || planned == DECODE_FULL);
    file->end = end_after(file, input, planned);
    return true;
}

bool decoder_queue_take(struct gpu_decoder *decoder, struct decoder_input *input, uint64_t offset)
{
    const struct decoder_file *file = &decoder->file;
    const bool is_next = offset + input->planned == file->walk.at;
    /* Otherwise it has gone back meanwhile. */
    if (file->end == FILE_GOES_ON && is_next && !plan_input(decoder, input))
        return false;
    input->state = INPUT_COPYING;
    decoder_queue_launch_due(decoder);
    return true;
}

/* Of gzip, batches that are not decoded yet may have to be planned again. */
struct compressed_next decoder_queue_next(struct gpu_decoder *decoder)
{
    struct decoder_file *file = &decoder->file;
    uint64_t again = file->walk.at;
    for (unsigned i = 0; file->walk.format == DECODE_GZIP && i < decoder->memory.decoding.batches;
         i++) {
        const struct decoder_batch *batch = &decoder->memory.batch[i];
        const struct decode_plan *plan = &batch->work.plan;
        if (batch->state & (BATCH_PLANNED | BATCH_DECODING) && plan->in_size > 0 &&
            plan->at < again)
            again = plan->at;
    }
    file->goes_back = false;
    return (struct compressed_next){.is_wanted = file->end == FILE_GOES_ON,
                                    .at = file->walk.at,
                                    .need = file->need,
                                    .again = again};
}

/* --- verdicts --- */

void decoder_queue_release(struct decoder_batch *batch)
{
    batch->state = batch->left > 0 ? BATCH_HASHING : BATCH_FREE;
}

/* Plans a batch anew that was too large, and all that follow, which were decoded in vain. The state
 * that the batch goes on from is still in its memory. False: it must be left, or a smaller batch
 * would be refused, too; or it is not worth it, as the cores can begin the file anew. */
static bool go_back(struct gpu_decoder *decoder, struct decoder_batch *refused)
{
    struct decoder_file *file = &decoder->file;
    const uint32_t why = refused->work.verdict->refusal;
    const bool is_pipe = file->start.size == 0;
    if ((why != DECODE_NO_ROOM && (why != DECODE_TOO_MANY || !is_pipe)) ||
        file->walk.format != DECODE_GZIP || file->end == FILE_REFUSED ||
        !gzip_plan_again(&file->walk, &refused->work.plan))
        return false;
    decoder_queue_drop_planned(decoder);
    refused->state = BATCH_FREE;
    file->launched--;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++) {
        struct decoder_batch *batch = &decoder->memory.batch[i];
        if (batch->state != BATCH_DECODING || batch->is_dropped)
            continue;
        batch->is_dropped = true;
        file->launched--;
    }
    decoder->turn = (unsigned)(refused - decoder->memory.batch);
    file->end = FILE_GOES_ON;
    file->goes_back = true;
    return true;
}

/* Looks whether the next verdict has arrived. If it is good, hashing begins. True if it has. */
static bool poll_verdict(struct gpu_decoder *decoder)
{
    struct decoder_file *file = &decoder->file;
    struct decoder_batch *batch = decoder_queue_oldest(decoder, BATCH_DECODING);
    if (!batch || gpu_poll(decoder->gpu, WORK_DECODE, batch->slot.index, false) != 1)
        return false;
    const bool is_good = batch->work.verdict->refused == DECODE_NONE;
    batch->state = batch->is_dropped ? BATCH_FREE : BATCH_DECODED;
    if (batch->is_dropped || (!is_good && go_back(decoder, batch)))
        return true;
    if (!is_good)
        file->end = FILE_REFUSED;
    else if (file->walk.format == DECODE_GZIP)
        gzip_plan_learn(&file->walk, &batch->work.plan, batch->work.verdict->content);
    else if (decoder->check.count > 0 && file->end != FILE_REFUSED)
        content_check_begin(decoder, batch);
    return true;
}

/* --- the content of a file, batch by batch --- */

/* Gets the last bytes of the content up to and with a batch, of which `own` are to be counted: at
 * least as many as a character can be cut off after. Returns how many. */
static size_t last_bytes(const struct decoder_file *file, const struct decode_verdict *verdict,
                         unsigned char bytes[2 * CHARACTER_SIZE_MAX])
{
    const size_t cut = file->tail.len, new = verdict->content < 4 ? verdict->content : 4;
    memcpy(bytes, file->tail.cut, cut);
    for (size_t i = 0; i < new; i++)
        bytes[cut + i] = (unsigned char)(verdict->last >> (32 - 8 * (new - i)));
    return cut + new;
}

/* Returns the bytes at the end of the next batch to be judged that are not counted with it. If they
 * are more than a record can have, the batch must not be counted. */
static uint64_t tail_of(const struct decoder_file *file, const struct decode_verdict *verdict)
{
    const struct record_kind *kind = &file->kind;
    const uint64_t all = (uint64_t)file->tail.len + verdict->content;
    unsigned char last[2 * CHARACTER_SIZE_MAX];
    if (kind->type == RECORD_PAIRS)
        return all > 0;
    if (kind->type == RECORD_CHARACTERS)
        return characters_tail(last, last_bytes(file, verdict, last));
    if (!record_is_text(kind))
        return all % kind->size;
    return verdict->tail >= verdict->content ? all : verdict->tail;
}

/* Sends a good batch to be counted that has such a tail, with the tail of the one before. An empty
 * one has its position at once. The last byte of pairs is in two of them, so it comes again. */
static void count(struct gpu_decoder *decoder, struct decoder_batch *batch, uint32_t tail)
{
    struct gpu_engine *gpu = decoder->gpu;
    struct decoder_file *file = &decoder->file;
    const struct decode_verdict *verdict = batch->work.verdict;
    struct chunk *chunk = &batch->slot.chunk;
    const size_t own = (size_t)file->tail.len + verdict->content - tail;
    chunk->len = own + (file->kind.type == RECORD_PAIRS && own > 0 ? tail : 0);
    chunk->origin.bytes = own;
    batch->begin = -(int64_t)file->tail.len;
    if (file->kind.type == RECORD_CHARACTERS) {
        unsigned char last[2 * CHARACTER_SIZE_MAX];
        const size_t len = last_bytes(file, verdict, last);
        memcpy(file->tail.cut, last + len - tail, tail);
    }
    file->tail.len = tail;
    file->tail.last = batch;
    file->counted += own;
    if (own == 0) {
        snapshots_add_empty(&gpu->snapshots, chunk, gpu->engine.locator);
        decoder_queue_release(batch);
        return;
    }
    batch->state = BATCH_COUNTING;
    gpu_post(gpu, &(struct device_work){.kind = WORK_COUNT_CONTENT,
                                        .slot = batch->slot.index,
                                        .content = {.begin = batch->begin, .len = chunk->len}});
    gpu_queue_snapshot(gpu, &batch->slot, true);
    gpu_put_in_flight(gpu, &batch->slot);
}

/* Sends the oldest batch to be counted, or drops it, once it is known which. True if it was. */
static bool poll_oldest(struct gpu_decoder *decoder)
{
    struct decoder_file *file = &decoder->file;
    struct decoder_batch *batch = decoder_queue_oldest(decoder, BATCH_DECODING | BATCH_DECODED);
    if (!batch || batch->state != BATCH_DECODED)
        return false;
    const uint64_t tail = file->end == FILE_REFUSED ? 0 : tail_of(file, batch->work.verdict);
    if (tail > file->kind.max || (batch->is_corrupt && batch->ending == 0))
        file->end = FILE_REFUSED;
    if (file->end == FILE_REFUSED) {
        decoder_queue_release(batch);
        return true;
    }
    /* An empty batch has its position at once, so the bytes before it must have been counted. */
    if (batch->ending > 0 || (tail == (uint64_t)file->tail.len + batch->work.verdict->content &&
                              decoder_queue_oldest(decoder, BATCH_COUNTING)))
        return false;
    count(decoder, batch, (uint32_t)tail);
    return true;
}

bool decoder_queue_poll(struct gpu_decoder *decoder)
{
    bool moved = false;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++) {
        struct decoder_batch *batch = &decoder->memory.batch[i];
        if (batch->state == BATCH_HASHING && batch->left == 0) {
            batch->state = BATCH_FREE;
            moved = true;
        }
    }
    moved |= poll_verdict(decoder);
    return poll_oldest(decoder) || moved;
}

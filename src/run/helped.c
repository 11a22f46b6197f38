/* SPDX-License-Identifier: MIT */
#include "runner.h"
#include "src/policy/policy.h"

/* Of content to compressed bytes, where a frame does not state its size. */
#define CONTENT_RATIO 3

static struct block_options options_of(const struct extent *extent)
{
    const struct sink *sink = extent->worker->sink;
    return (struct block_options){.format = block_format_find(extent->file->input.frames.codec),
                                  .decoding = &extent->worker->source->options.decoding,
                                  .workers = sink->workers ? sink->workers(sink->arg) : 1,
                                  .again = UINT64_MAX};
}

/* Returns how many bytes the file, or the batch if others may have what follows it, goes on with.
 */
static uint64_t bytes_left(const struct extent *extent)
{
    const struct frame_batch *batch = &extent->worker->batch;
    const uint64_t at = batch->offset + batch->pos, size = extent->file->input.bytes.opened_size;
    if (!decode_is_in_order(extent))
        return batch->len - batch->pos;
    return size > at ? size - at : 0;
}

/* False: what comes next is wrong, whatever it looks like. */
static bool may_begin(const struct decoder *decoder)
{
    return !decoder->codec->may_begin || decoder->codec->may_begin(decoder);
}

/* True if the frame at in[0..len) can be decoded again from its beginning, and is worth the help of
 * others, who have nothing better to do. */
static bool pays(const struct extent *extent, const unsigned char *in, size_t len)
{
    const struct block_options options = options_of(extent);
    const bool is_in_order = decode_is_in_order(extent);
    struct codec_frame frame = {.content = FRAME_UNSIZED};
    if (!options.format || extent->is_alone || !may_begin(extent->worker->decoder) ||
        (is_in_order ? !extent->file->input.bytes.regular : !extent->is_rest))
        return false;
    struct frame_offer offer = {.compressed = (double)bytes_left(extent),
                                .workers_most = options.workers};
    offer.content = offer.compressed * CONTENT_RATIO;
    if (extent->waits > 0 || extent->skip > 0 || !policy_helps(&offer)) /* at best */
        return false;
    (void)extent->file->input.frames.codec->look(in, len, &frame);
    if (frame.content != FRAME_UNSIZED)
        offer.content = (double)frame.content;
    offer.taken = source_taken(extent->worker->source, extent->file);
    return policy_helps(&offer);
}

/* Reserves the memory for the frame at in[0..len). False: there is too little. */
static bool reserve(struct extent *extent, const unsigned char *in, size_t len)
{
    const struct block_options options = options_of(extent);
    const size_t size = block_decoder_memory(&options, in, len);
    if (size == 0)
        return false;
    if (size <= extent->blocks_size)
        return true;
    if (!budget_extend(extent->worker, size - extent->blocks_size))
        return false;
    extent->blocks_size = size;
    return true;
}

/* Waits until some of what is lent is not needed any more, and counts what nobody else does. */
static void await_some(struct extent *extent)
{
    const struct sink *sink = extent->worker->sink;
    struct chunk *chunk = idle_take(&extent->worker->source->idle);
    if (chunk)
        (void)sink->count(sink->arg, chunk, FLOW_DECODED); /* a failure is met with the next one */
    else
        block_decoder_await(extent->blocks);
}

static void await_all(struct extent *extent)
{
    while (extent->blocks && block_decoder_is_lent(extent->blocks))
        await_some(extent);
}

void helped_begin(struct extent *extent)
{
    const struct frame_batch *batch = &extent->worker->batch;
    const unsigned char *in = batch->data + batch->pos;
    const size_t len = batch->len - batch->pos;
    const struct block_options options = options_of(extent);
    struct idle *idle = &extent->worker->source->idle;
    if (!pays(extent, in, len) || !reserve(extent, in, len))
        return;
    await_all(extent);
    extent->in_blocks = block_decoder_begin(&extent->blocks, idle, &options, in, len) == 0;
    if (extent->in_blocks)
        source_add_helped(extent->worker->source, 1);
}

/* The frame has ended, or nobody helps with it any more. */
static void leave(struct extent *extent)
{
    extent->in_blocks = false;
    source_add_helped(extent->worker->source, -1);
}

void helped_stop(struct extent *extent)
{
    extent->is_again = false;
    if (!extent->in_blocks)
        return;
    block_decoder_stop(extent->blocks);
    leave(extent);
}

/* True if the frame goes on as it is. */
static bool goes_on(struct extent *extent, struct decode_step *step, enum block_step is)
{
    if (is == BLOCKS_END)
        leave(extent);
    if (is == BLOCKS_DOUBTFUL) {
        step->used = 0;
        helped_give_up(extent);
    }
    return is == BLOCKS_SOME;
}

void helped_step(struct extent *extent, struct decode_step *step, struct chunk *chunk)
{
    struct block_decoder *blocks = extent->blocks;
    enum block_step is;
    step->used = step->made = 0;
    while ((is = block_decoder_step(blocks, step)) == BLOCKS_LATER)
        await_some(extent);
    if (!goes_on(extent, step, is))
        return;
    if (chunk && block_decoder_lend(blocks, step, chunk))
        chunk->give = true; /* whoever executes has no time to count */
    else
        block_decoder_give(blocks, step);
}

bool helped_end_input(struct extent *extent)
{
    extent->pending = extent->in_blocks;
    if (extent->in_blocks)
        block_decoder_end_input(extent->blocks);
    return extent->pending;
}

bool helped_must_look_on(struct extent *extent)
{
    struct frame_batch *batch = &extent->worker->batch;
    unsigned char none;
    struct decode_step step = {
        .in = batch->data + batch->pos, .in_len = batch->len - batch->pos, .out = &none};
    if (!extent->in_blocks)
        return false;
    /* If there is no room for content, that follows what is to be looked at. It is not waited for,
     * as what this worker has borrowed itself may be in the way. */
    (void)goes_on(extent, &step, block_decoder_step(extent->blocks, &step));
    batch->pos += step.used;
    return extent->is_again;
}

void helped_give_up(struct extent *extent)
{
    struct current_frame *frame = &extent->frame;
    struct frame_batch *batch = &extent->worker->batch;
    const uint64_t at = batch->offset + batch->pos;
    const struct block_restart restart = block_decoder_restart(extent->blocks);
    helped_stop(extent);
    frame->offset += restart.at;
    left_add_read(extent->worker->source, extent->file, (int64_t)(frame->offset - at), 0);
    if (decode_is_in_order(extent)) {
        frames_seek(&extent->file->input.frames, frame->offset);
        batch->offset = frame->offset;
        batch->pos = batch->len = batch->in_order = 0;
    } else {
        batch->pos = (size_t)(frame->offset - batch->offset);
    }
    extent->pending = false;
    extent->is_again = extent->is_alone = true;
    extent->skip = restart.content;
    extent->segment.content -= restart.content;
    frame->made = 0;
}

void helped_end(struct extent *extent)
{
    helped_stop(extent);
    await_all(extent);
    block_decoder_close(extent->blocks);
    extent->blocks = NULL;
    if (extent->blocks_size > 0)
        budget_reduce(extent->worker, extent->blocks_size);
    extent->blocks_size = 0;
}

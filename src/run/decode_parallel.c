/* SPDX-License-Identifier: MIT */
#include "runner.h"
#include "src/schedule/policy.h"

/* Of content to compressed bytes, where a frame does not state its size. */
#define CONTENT_RATIO 3

/* Bytes of a frame from a stream that must have come at once before others help with it: more do
 * where it does not state that it is worth that. */
#define GATHERED_STATED ((size_t)1 << 20)
#define GATHERED_MAX ((size_t)13 << 19)

/* Bytes of a stream that are kept: of a frame so that it can be begun anew, and of one that is
 * longer as many as are read ahead of what is given, as the next one may begin there. Memory that
 * is touched for the first time takes longer than to copy what is kept. */
#define KEPT_MAX ((uint64_t)32 << 20)
#define KEPT_AHEAD ((uint64_t)16 << 20)

/* Milliseconds to wait for a stream before fewer blocks are parsed at a time than could be. */
#define HURRY_MS 10

static bool is_stream(const struct extent *extent)
{
    return decode_is_in_order(extent) && !extent->file->input.bytes.regular;
}

static struct block_options options_of(const struct extent *extent)
{
    const struct sink *sink = extent->worker->sink;
    return (struct block_options){.format = block_format_find(extent->file->input.frames.codec),
                                  .decoding = &extent->worker->source->options.decoding,
                                  .workers = sink->workers ? sink->workers(sink->arg) : 1,
                                  .again = is_stream(extent) ? KEPT_MAX - KEPT_AHEAD : UINT64_MAX};
}

/* --- whether that pays --- */

/* Returns how many bytes the file, or the batch if others may have what follows it, goes on with;
 * of a stream the most that there may be. */
static uint64_t bytes_left(const struct extent *extent)
{
    const struct frame_batch *batch = &extent->worker->batch;
    const uint64_t at = batch->offset + batch->pos, size = extent->file->input.bytes.opened_size;
    if (!decode_is_in_order(extent))
        return batch->len - batch->pos;
    if (is_stream(extent))
        return BYTES_MAX;
    return size > at ? size - at : 0;
}

/* False: what comes next is wrong, whatever it looks like. */
static bool may_begin(const struct decoder *decoder)
{
    return !decoder->codec->may_begin || decoder->codec->may_begin(decoder);
}

/* True if the next frame can be decoded again from its beginning, and is worth the help of others,
 * who have nothing better to do. *stated: the bytes of content that it states, or FRAME_UNSIZED. */
static bool pays(const struct extent *extent, uint64_t *stated)
{
    const struct frame_batch *batch = &extent->worker->batch;
    const struct block_options options = options_of(extent);
    struct codec_frame frame = {.content = FRAME_UNSIZED};
    if (!options.format || extent->is_alone || !may_begin(extent->worker->decoder) ||
        !(decode_is_in_order(extent) || extent->is_rest))
        return false;
    struct frame_offer offer = {.compressed = (double)bytes_left(extent),
                                .workers_max = options.workers};
    offer.content = offer.compressed * CONTENT_RATIO;
    if (extent->skip > 0 || !policy_helps(&offer)) /* at best */
        return false;
    const struct codec *codec = extent->file->input.frames.codec;
    const enum frame_extent known =
        codec->peek(batch->data + batch->pos, batch->len - batch->pos, &frame);
    *stated = frame.content;
    if (frame.content != FRAME_UNSIZED)
        offer.content = (double)frame.content;
    else if (known == FRAME_WHOLE && !codec->is_chain) /* otherwise those that follow count, too */
        offer.content = (double)frame.size * CONTENT_RATIO;
    offer.rest = (double)source_rest(extent->worker->source);
    offer.taken = source_taken(extent->worker->source, extent->file);
    return policy_helps(&offer);
}

/* Reserves the memory for the next frame. False: there is too little. */
static bool reserve(struct extent *extent)
{
    const struct frame_batch *batch = &extent->worker->batch;
    const struct block_options options = options_of(extent);
    const size_t decoder =
        parallel_decoder_memory(&options, batch->data + batch->pos, batch->len - batch->pos);
    const size_t size = decoder + (is_stream(extent) ? GATHERED_MAX + (size_t)KEPT_MAX : 0);
    if (decoder == 0)
        return false;
    if (size <= extent->blocks_size)
        return true;
    if (!decode_memory_extend(extent->worker, size - extent->blocks_size))
        return false;
    extent->blocks_size = size;
    return true;
}

/* --- what is kept of a stream --- */

/* Reads so much of a frame that it is known whether others are needed for what the stream gives. 1,
 * 0 or -1. Nobody helps with a slow one any more. */
static int gather(struct extent *extent, uint64_t stated)
{
    const size_t min = stated == FRAME_UNSIZED ? GATHERED_MAX : GATHERED_STATED;
    struct error error;
    const int gathered =
        frames_gather(&extent->file->input.frames, &extent->worker->batch, min, &error);
    extent->is_alone = gathered == 0;
    return gathered < 0 ? source_fail(extent->worker, &error) : gathered;
}

/* Keeps a stream from the next frame on. False: there is no memory for it. */
static bool keep(struct extent *extent)
{
    const struct frame_batch *batch = &extent->worker->batch;
    struct bytes *bytes = &extent->file->input.bytes;
    bytes->keeps_freely = bytes_keep(bytes, batch->data + batch->pos, batch->len - batch->pos) == 0;
    return bytes->keeps_freely;
}

static void keep_no_more(struct extent *extent)
{
    struct bytes *bytes = &extent->file->input.bytes;
    if (bytes->keeps_freely)
        bytes_keep_no_more(bytes);
}

/* Drops what is kept before the frame, and all but the end of a frame that is too long: the next
 * one may have begun in that. */
static void limit_kept(struct extent *extent)
{
    struct bytes *bytes = &extent->file->input.bytes;
    struct replay_window *window = &bytes->window;
    const uint64_t begin = extent->frame.offset + parallel_decoder_restart(extent->blocks).at,
                   max = begin < window->begin ? KEPT_AHEAD : KEPT_MAX;
    if (!bytes->keeps_freely)
        return;
    window_drop(window, begin);
    if (bytes->taken - window->begin > max)
        window_drop(window, bytes->taken - KEPT_AHEAD);
}

/* --- decoding --- */

/* Waits until some of what is borrowed is not needed any more, and counts what nobody else does. */
static void await_some(struct extent *extent)
{
    struct worker *worker = extent->worker;
    struct chunk *chunk = work_queue_acquire(&worker->source->queue);
    if (chunk)
        (void)runner_count_handed_off(worker, chunk); /* a failure is met with the next one */
    else
        parallel_decoder_await(extent->blocks);
}

static void await_all(struct extent *extent)
{
    while (extent->blocks && parallel_decoder_is_borrowed(extent->blocks))
        await_some(extent);
}

/* Has others help with the frame, for which memory is reserved. */
static void begin(struct extent *extent)
{
    const struct frame_batch *batch = &extent->worker->batch;
    const struct block_options options = options_of(extent);
    await_all(extent);
    if (parallel_decoder_begin(&extent->blocks, &extent->worker->source->queue, &options,
                               batch->data + batch->pos, batch->len - batch->pos) != 0) {
        keep_no_more(extent);
        return;
    }
    extent->in_blocks = true;
    source_add_parallel(extent->worker->source, 1);
}

int decode_parallel_begin(struct extent *extent)
{
    uint64_t stated;
    int gathered = 1;
    if (!pays(extent, &stated) || !reserve(extent))
        return 0;
    if (is_stream(extent))
        gathered = gather(extent, stated);
    if (gathered > 0 && (!is_stream(extent) || keep(extent)))
        begin(extent);
    return gathered < 0 ? -1 : 0;
}

/* The frame has ended, or nobody helps with it any more. */
static void leave(struct extent *extent)
{
    extent->in_blocks = false;
    source_add_parallel(extent->worker->source, -1);
    keep_no_more(extent);
}

void decode_parallel_stop(struct extent *extent)
{
    extent->is_again = false;
    if (!extent->in_blocks)
        return;
    parallel_decoder_stop(extent->blocks);
    leave(extent);
}

/* Goes on after a step. 0 or -1. */
static int go_on(struct extent *extent, struct decode_step *step, enum block_step is)
{
    if (is == BLOCKS_END)
        leave(extent);
    if (is != BLOCKS_FALLBACK)
        return 0;
    step->used = 0;
    return decode_parallel_give_up(extent);
}

int decode_parallel_step(struct extent *extent, struct decode_step *step, struct chunk *chunk)
{
    struct parallel_decoder *blocks = extent->blocks;
    enum block_step is;
    step->used = step->made = 0;
    while ((is = parallel_decoder_step(blocks, step)) == BLOCKS_LATER)
        await_some(extent);
    if (is != BLOCKS_SOME)
        return go_on(extent, step, is);
    limit_kept(extent);
    if (chunk && parallel_decoder_lend(blocks, step, chunk))
        chunk->give = true; /* whoever executes has no time to count */
    else
        parallel_decoder_give(blocks, step);
    return 0;
}

bool decode_parallel_hurry(struct extent *extent)
{
    extent->pending = extent->in_blocks && !bytes_ready(&extent->file->input.bytes, HURRY_MS) &&
                      parallel_decoder_hurry(extent->blocks);
    return extent->pending;
}

bool decode_parallel_end_input(struct extent *extent)
{
    extent->pending = extent->in_blocks;
    if (extent->in_blocks)
        parallel_decoder_end_input(extent->blocks);
    return extent->pending;
}

enum decoded decode_parallel_peek_on(struct extent *extent)
{
    struct frame_batch *batch = &extent->worker->batch;
    unsigned char none;
    struct decode_step step = {
        .in = batch->data + batch->pos, .in_len = batch->len - batch->pos, .out = &none};
    if (!extent->in_blocks)
        return DECODED_ALL;
    /* If there is no room for content, that follows what is to be looked at. It is not waited for,
     * as what this worker has borrowed itself may be in the way. */
    if (go_on(extent, &step, parallel_decoder_step(extent->blocks, &step)) != 0)
        return DECODED_FAILED;
    batch->pos += step.used;
    return extent->is_again ? DECODED_SOME : DECODED_ALL;
}

/* What needs the fallback is not kept of a pipe, so that nobody else can say what is wrong. -1. */
static int fail(struct extent *extent)
{
    const struct file *file = extent->file;
    struct error error;
    if (parallel_decoder_is_cut(extent->blocks))
        return source_fail_truncated(extent->worker, file, bytes_end(&file->input.bytes));
    error_set(&error,
              "corrupt %s data, at byte %llu; the pipe cannot be read again to find out more, so "
              "use --threads=1",
              file->input.frames.codec->name, (unsigned long long)extent->frame.offset);
    return source_fail_of(extent->worker, file, error.text);
}

/* Goes back to the beginning of the frame. 0 or -1. */
static int go_back(struct extent *extent)
{
    struct input *input = &extent->file->input;
    struct frame_batch *batch = &extent->worker->batch;
    const uint64_t begin = extent->frame.offset;
    if (!decode_is_in_order(extent)) {
        batch->pos = (size_t)(begin - batch->offset);
        return 0;
    }
    if (is_stream(extent) && bytes_rewind(&input->bytes, begin) != 0)
        return fail(extent);
    if (is_stream(extent))
        input->frames.pending.offset = begin;
    else
        frames_seek(&input->frames, begin);
    batch->offset = begin;
    batch->pos = batch->len = batch->in_order = 0;
    return 0;
}

int decode_parallel_give_up(struct extent *extent)
{
    struct current_frame *frame = &extent->frame;
    const struct frame_batch *batch = &extent->worker->batch;
    const uint64_t at = batch->offset + batch->pos;
    const struct block_restart restart = parallel_decoder_restart(extent->blocks);
    frame->offset += restart.at;
    const int rc = go_back(extent);
    decode_parallel_stop(extent);
    if (rc != 0)
        return -1;
    remaining_add_read(extent->worker->source, extent->file, (int64_t)(frame->offset - at), 0);
    extent->pending = false;
    extent->is_again = extent->is_alone = true;
    extent->skip = restart.content;
    extent->segment.content -= restart.content;
    frame->made = 0;
    return 0;
}

void decode_parallel_end(struct extent *extent)
{
    decode_parallel_stop(extent);
    await_all(extent);
    parallel_decoder_close(extent->blocks);
    extent->blocks = NULL;
    if (extent->blocks_size > 0)
        decode_memory_reduce(extent->worker, extent->blocks_size);
    extent->blocks_size = 0;
}

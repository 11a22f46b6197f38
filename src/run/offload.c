/* SPDX-License-Identifier: MIT */
#include "runner.h"
#include "src/base/clock.h"

#include <math.h>
#include <stdlib.h>

/* A rate that was measured for less time, in seconds, does not tell how long the rest takes. */
#define RATE_SECONDS 0.02

bool offload_is_wanted(struct worker *worker, const struct file *file)
{
    return !file->is_refused && file->is_offloadable && gpu_choose(worker, file) != NULL;
}

/* --- the frame that is decoded --- */

/* Returns what is known of it. What several decode may have begun more than one. */
static struct current_frame frame_of(const struct extent *extent)
{
    struct current_frame frame = extent->frame;
    if (extent->in_blocks) {
        const struct block_restart restart = parallel_decoder_restart(extent->blocks);
        frame.offset += restart.at;
        frame.made = restart.content;
    }
    return frame;
}

/* Returns where in the file the decoder stands. */
static uint64_t position_of(const struct extent *extent)
{
    return extent->worker->batch.offset + extent->worker->batch.pos;
}

/* Returns how much of what the frame states is left; if it does not state it, `unstated`. */
static uint64_t frame_left(const struct extent *extent, uint64_t unstated)
{
    const struct current_frame *frame = &extent->frame;
    if (frame->stated == FRAME_UNSIZED)
        return unstated;
    return frame->stated > frame->made ? frame->stated - frame->made : 0;
}

/* --- the frame of a pipe, kept from its beginning --- */

/* Keeps a pipe's bytes from the beginning of the frame on, if they are still there. */
static void keep_frame(struct extent *extent)
{
    struct bytes *bytes = &extent->file->input.bytes;
    const struct frame_batch *batch = &extent->worker->batch;
    if (bytes->keeps_freely)
        window_drop(&bytes->window, frame_of(extent).offset);
    else if (decode_is_complete(extent))
        bytes->keeps_freely =
            bytes_keep(bytes, batch->data + batch->pos, batch->len - batch->pos) == 0;
}

/* Records what is known of a pipe's frame, after a step of a decoder that took `seconds`. */
static void record_frame(struct extent *extent, const struct decode_step *step, double seconds)
{
    struct source *source = extent->worker->source;
    struct stream_content *stream = &source->stream;
    const struct bytes *bytes = &extent->file->input.bytes;
    const uint64_t made = frame_of(extent).made;
    pthread_mutex_lock(&source->lock);
    stream->gpu_rate = extent->file->input.frames.codec->gpu_rate;
    stream->taken += (double)step->used;
    stream->done += (double)step->made;
    stream->seconds += seconds;
    stream->again = stream->left = 0;
    if (extent->may_replay && bytes->keeps_freely && made > 0) {
        stream->again = (double)made;
        stream->left = (double)frame_left(extent, made) + fmax(stream->done - stream->again, 0);
    }
    stream->capacity = (double)remaining_replay_max(source) - (double)window_size(&bytes->window);
    pthread_mutex_unlock(&source->lock);
}

void replay_end(struct extent *extent)
{
    struct bytes *bytes = &extent->file->input.bytes;
    if (!extent->may_replay)
        return;
    extent->may_replay = false;
    if (bytes->keeps_freely && !extent->in_blocks)
        bytes_keep_no_more(bytes);
    record_frame(extent, &(struct decode_step){.used = 0}, 0);
}

/* Keeps frames of a pipe from now on, if a GPU may take them. */
static void replay_consider(struct extent *extent)
{
    const struct sink *sink = extent->worker->sink;
    const struct file *file = extent->file;
    if (file->is_refused || file->input.bytes.regular || segment_is_stream(extent) ||
        !source_is_offloadable(&file->input) || !sink->may_offload ||
        !sink->may_offload(sink->arg)) {
        replay_end(extent);
        return;
    }
    extent->may_replay = true;
    keep_frame(extent);
}

void replay_begin_frame(struct extent *extent)
{
    const struct codec *codec = extent->file->input.frames.codec;
    const struct frame_batch *batch = &extent->worker->batch;
    struct codec_frame frame = {.content = FRAME_UNSIZED};
    if (decode_is_in_order(extent) &&
        codec->peek(batch->data + batch->pos, batch->len - batch->pos, &frame) != FRAME_UNKNOWN)
        extent->frame.stated = frame.content;
    if (extent->may_replay)
        keep_frame(extent);
}

void replay_add_step(struct extent *extent, const struct decode_step *step,
                     const struct timespec *begin)
{
    struct bytes *bytes = &extent->file->input.bytes;
    if (!extent->may_replay)
        return;
    /* What has become too much is dropped: the next frame is kept again. */
    if (bytes->keeps_freely &&
        window_size(&bytes->window) > remaining_replay_max(extent->worker->source))
        bytes_keep_no_more(bytes);
    record_frame(extent, step, clock_seconds_since(begin));
}

/* --- where, and what is offered --- */

/* Sets where a GPU can begin in a file that this worker decodes in order. False: it cannot now. */
static bool find_start(const struct extent *extent, struct compressed_start *start)
{
    const struct records *records = extent->segment.records;
    const struct span *span = extent->segment.span;
    const struct bytes *bytes = &extent->file->input.bytes;
    const struct current_frame frame = frame_of(extent);
    *start = (struct compressed_start){
        .offset = frame.offset,
        .skip = frame.made - records->cut_len,
        .repeated = records_repeated(records, records->cut_len),
        .index = extent->segment.at.index,
    };
    return frame.made >= records->cut_len && !records->too_long && extent->skip == 0 &&
           (!span || span->has_boundary) && start->offset < bytes_end(bytes) &&
           (bytes->regular || (bytes->keeps_freely && start->offset >= bytes->window.begin));
}

/* Returns what is left of a regular file, and of the frame. */
static struct offload_offer offer_of_file(const struct extent *extent)
{
    const uint64_t at = position_of(extent), size = extent->file->input.bytes.opened_size;
    const double seconds = clock_seconds_since(&extent->began);
    struct offload_offer offer = {.gpu_rate = extent->file->input.frames.codec->gpu_rate,
                                  .again = (double)frame_of(extent).made};
    if (seconds >= RATE_SECONDS)
        offer.rate = (double)extent->segment.content / seconds;
    if (at < size)
        offer.left = (double)(size - at) * remaining_content_ratio(extent->worker->source);
    if (!decode_is_complete(extent))
        offer.frame_left = fmin((double)frame_left(extent, UINT64_MAX), offer.left);
    return offer;
}

/* The same of a pipe. Its rate is the decoder's alone: a GPU would wait for the producer, too. */
static struct offload_offer offer_of_stream(const struct extent *extent)
{
    const struct stream_content stream = source_stream_content(extent->worker->source);
    struct offload_offer offer = {.gpu_rate = extent->file->input.frames.codec->gpu_rate,
                                  .again = (double)frame_of(extent).made};
    if (stream.seconds >= RATE_SECONDS)
        offer.rate = stream.done / stream.seconds;
    if (!decode_is_complete(extent))
        offer.frame_left = (double)frame_left(extent, extent->frame.made);
    offer.left = offer.frame_left + fmax(stream.done - offer.again, 0);
    return offer;
}

/* Returns whether a GPU may have what this worker decodes, and one is free. */
static bool is_possible(const struct extent *extent)
{
    const struct file *file = extent->file;
    const struct sink *sink = extent->worker->sink;
    bool is_suitable =
        file->is_offloadable || (extent->may_replay && file->input.bytes.keeps_freely);
    return is_suitable && !file->is_refused && sink->offload && sink->offload(sink->arg, NULL);
}

/* True if a GPU has begun, as that pays. */
static bool begin(struct extent *extent)
{
    const struct sink *sink = extent->worker->sink;
    struct compressed_start start;
    if (!find_start(extent, &start))
        return false;
    const struct offload_offer offer =
        extent->file->input.bytes.regular ? offer_of_file(extent) : offer_of_stream(extent);
    struct engine *gpu = sink->offload(sink->arg, &offer);
    return gpu && gpu_begin(extent, gpu, start);
}

/* --- and back --- */

/* Makes the decoder go on with what the GPU left of the file, before which `counted` bytes of the
 * segment were counted. 0 or -1. */
static int decode_rest(struct extent *extent, const struct compressed_rest *rest, uint64_t counted)
{
    struct worker *worker = extent->worker;
    struct source *source = worker->source;
    struct file *file = extent->file;
    struct records *records = extent->segment.records;
    struct frame_batch *batch = &worker->batch;
    /* If the GPU has counted nothing, what was cut still waits for what follows it. */
    const bool is_as_before = rest->is_left && rest->bytes == 0;
    /* Of a pipe the GPU may keep only what it needs itself, from where it names on. */
    if (is_as_before && file->input.bytes.regular) {
        remaining_add_read(source, file, (int64_t)(position_of(extent) - extent->next.at), 0);
        return 0;
    }
    if (gpu_go_back(extent, rest) != 0)
        return -1;
    /* A pipe, or a chain, is decoded to its end by this worker. */
    bool is_last = !file->input.bytes.regular || file->input.frames.codec->is_chain ||
                   rest->offset >= bytes_end(&file->input.bytes);
    decode_parallel_stop(extent);
    batch->pos = batch->len = 0;
    batch->offset = rest->offset;
    batch->kind = is_last ? FRAMES_TO_END : FRAMES_OPEN;
    extent->pending = false;
    extent->frame = (struct current_frame){.offset = rest->offset, .stated = FRAME_UNSIZED};
    extent->skip = rest->skip;
    extent->segment.content = counted + rest->bytes + rest->tail_len - rest->skip;
    if (is_as_before)
        extent->skip += records->cut_len;
    else if (records_begin_with(records, rest->tail, rest->tail_len) != 0)
        return source_fail_for_memory(worker, file);
    if (worker->decoder->codec->reserve(worker->decoder, batch->data, 0,
                                        rest->offset == file->input.bytes.begin) != 0)
        return source_fail_for_memory(worker, file);
    return 0;
}

/* Lets the GPU have the file from where it has begun, until it takes no more. 0 or -1. */
static int offload(struct extent *extent)
{
    struct file *file = extent->file;
    struct segment *segment = &extent->segment;
    const uint64_t counted = segment->content - segment->records->cut_len;
    struct compressed_rest rest;
    file->input.bytes.keeps_freely = false; /* the GPU relies on it */
    replay_end(extent);
    remaining_add_read(extent->worker->source, file,
                       (int64_t)(extent->next.at - position_of(extent)), 0);
    int rc = gpu_feed(extent, &rest);
    if (rc == 0) {
        segment->at.index = rest.index;
        file->is_refused = true;
        if (rest.is_wrong && rest.bytes > 0)
            file->wrong = WRONG_ON_GPU;
        rc = decode_rest(extent, &rest, counted);
    }
    free(rest.tail);
    return rc;
}

int offload_consider(struct extent *extent)
{
    replay_consider(extent);
    const bool is_possible_now = is_possible(extent);
    if (is_possible_now && begin(extent)) {
        extent->waits = 0;
        return offload(extent);
    }
    if (!is_possible_now)
        extent->waits = 0;
    else if (extent->waits > 0 && --extent->waits == 0)
        extent->file->is_refused = true;
    return 0;
}

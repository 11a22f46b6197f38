/* SPDX-License-Identifier: MIT */
#include "offload.h"
#include "gpu.h"
#include "src/base/clock.h"

#include <math.h>
#include <stdlib.h>

/* Bytes of a frame that tell how much it holds. */
#define HEADER_SIZE 18

/* A rate that was measured for less time, in seconds, does not tell how long the rest takes. */
#define RATE_SECONDS 0.02

bool offload_is_wanted(struct worker *worker, const struct file *file)
{
    return !file->is_refused && source_is_offloadable(&file->input) &&
           gpu_choose(worker, file) != NULL;
}

/* --- the frame of a pipe, kept from its beginning --- */

/* True if nothing but its bytes need be known of a pipe. */
static bool is_replayable(const struct input *input)
{
    return input->frames.codec && input->frames.codec->on_gpu && !input->bytes.regular &&
           !input_is_serial(input) && !content_is_partial(&input->plan.range) && !input->has_header;
}

/* Returns where the next frame begins, or the one that was begun. */
static uint64_t replay_frame_begin(const struct decoding *decoding)
{
    const struct frame_batch *batch = &decoding->worker->batch;
    return decode_is_complete(decoding) ? batch->offset + batch->pos : decoding->frame.offset;
}

/* Keeps a pipe's bytes from the next one to be decoded on. */
static void keep_from_here(struct decoding *decoding)
{
    struct input *input = &decoding->segment.file->input;
    const struct frame_batch *batch = &decoding->worker->batch;
    input->bytes.keeps_freely = bytes_keep(&input->bytes, batch->offset + batch->pos,
                                           batch->data + batch->pos, batch->len - batch->pos) == 0;
}

void replay_end(struct decoding *decoding)
{
    struct input *input = &decoding->segment.file->input;
    struct streamed *streamed = &decoding->worker->source->left.streamed;
    if (!decoding->may_replay)
        return;
    decoding->may_replay = false;
    if (input->bytes.keeps_freely)
        bytes_keep_no_more(&input->bytes);
    atomic_store(&streamed->again, 0);
    atomic_store(&streamed->left, 0);
}

void replay_consider(struct decoding *decoding)
{
    const struct sink *sink = decoding->worker->sink;
    struct file *file = decoding->segment.file;
    if (file->is_refused || segment_is_stream(&decoding->segment) || !is_replayable(&file->input) ||
        !sink->may_offload || !sink->may_offload(sink->arg)) {
        replay_end(decoding);
        return;
    }
    decoding->may_replay = true;
    if (file->input.bytes.keeps_freely)
        window_drop(&file->input.bytes.window, replay_frame_begin(decoding));
    else if (decode_is_complete(decoding))
        keep_from_here(decoding);
}

void replay_begin_frame(struct decoding *decoding)
{
    struct input *input = &decoding->segment.file->input;
    const struct frame_batch *batch = &decoding->worker->batch;
    struct codec_frame frame = {.content = FRAME_UNSIZED};
    if (!decoding->may_replay)
        return;
    if (input->frames.codec->look(batch->data + batch->pos, batch->len - batch->pos, &frame) !=
        FRAME_UNKNOWN)
        decoding->frame.stated = frame.content;
    if (input->bytes.keeps_freely)
        window_drop(&input->bytes.window, batch->offset + batch->pos);
    else
        keep_from_here(decoding);
}

/* Returns how much of the frame is left: what it states, or as much as has gone by. */
static uint64_t replay_frame_left(const struct decoding *decoding)
{
    const struct current_frame *frame = &decoding->frame;
    if (frame->stated == FRAME_UNSIZED)
        return frame->made;
    return frame->stated > frame->made ? frame->stated - frame->made : 0;
}

void replay_add_step(struct decoding *decoding, const struct decode_step *step,
                     const struct timespec *begin)
{
    struct source *source = decoding->worker->source;
    struct streamed *streamed = &source->left.streamed;
    struct input *input = &decoding->segment.file->input;
    if (!decoding->may_replay)
        return;
    /* What has become too much is dropped: the next frame is kept again. */
    if (input->bytes.keeps_freely && window_size(&input->bytes.window) > left_replay_most(source))
        bytes_keep_no_more(&input->bytes);
    atomic_fetch_add(&streamed->in, step->used);
    atomic_fetch_add(&streamed->out, step->made);
    atomic_fetch_add(&streamed->ns, (uint64_t)(clock_seconds_since(begin) * 1e9));
    atomic_store(&streamed->kept, window_size(&input->bytes.window));
    atomic_store(&streamed->again, input->bytes.keeps_freely ? decoding->frame.made : 0);
    atomic_store(&streamed->left, input->bytes.keeps_freely ? replay_frame_left(decoding) : 0);
}

/* --- where, and what is offered --- */

/* Where a GPU can begin in a file that this worker decodes in order. */
struct restart {
    uint64_t offset; /* where a frame begins, bytes into the file */
    uint64_t made;   /* bytes of content that it has given */
    uint64_t skip;   /* bytes of content after that which were counted */
    bool is_within;  /* the frame was begun */
};

/* Returns whether a GPU can begin now. */
static bool find_restart(const struct decoding *decoding, struct restart *restart)
{
    const struct records *records = decoding->segment.records;
    const struct span *span = decoding->segment.span;
    const struct input *input = &decoding->segment.file->input;
    const uint64_t end = input->bytes.regular ? input->bytes.opened_size : input->bytes.window.end;
    bool is_within = !decode_is_complete(decoding);
    *restart = (struct restart){.offset = replay_frame_begin(decoding), .is_within = is_within};
    if (is_within)
        restart->made = decoding->frame.made;
    restart->skip = restart->made - records->cut_len;
    return restart->made >= records->cut_len && !records->too_long && decoding->skip == 0 &&
           (!span || span->has_boundary) && restart->offset < end &&
           (input->bytes.regular ||
            (input->bytes.keeps_freely && restart->offset >= input->bytes.window.begin));
}

/* Returns how many bytes of content the frame at an offset says it holds, or FRAME_UNSIZED. */
static uint64_t stated_content(const struct input *input, uint64_t offset)
{
    unsigned char header[HEADER_SIZE];
    struct codec_frame frame;
    if (offset + HEADER_SIZE > input->bytes.opened_size ||
        !bytes_has(&input->bytes, header, HEADER_SIZE, offset) ||
        input->frames.codec->look(header, HEADER_SIZE, &frame) == FRAME_UNKNOWN)
        return FRAME_UNSIZED;
    return frame.content;
}

/* Sets what is left of a regular file, and of the frame. */
static void set_left_of_file(const struct decoding *decoding, const struct restart *restart,
                             struct offload_offer *offer)
{
    const struct input *input = &decoding->segment.file->input;
    const struct frame_batch *batch = &decoding->worker->batch;
    const uint64_t at = batch->offset + batch->pos;
    const double seconds = clock_seconds_since(&decoding->began);
    if (seconds >= RATE_SECONDS)
        offer->rate = (double)decoding->segment.content / seconds;
    if (at < input->bytes.opened_size)
        offer->left =
            (double)(input->bytes.opened_size - at) * left_content_ratio(decoding->worker->source);
    if (!restart->is_within)
        return;
    double stated = (double)stated_content(input, restart->offset);
    offer->frame_left = stated > offer->again ? stated - offer->again : 0;
    if (offer->frame_left > offer->left)
        offer->frame_left = offer->left;
}

/* The same of a pipe. Its rate is the decoder's alone: a GPU would wait for the producer, too. */
static void set_left_of_stream(const struct decoding *decoding, const struct restart *restart,
                               struct offload_offer *offer)
{
    const struct streamed *streamed = &decoding->worker->source->left.streamed;
    const double out = (double)atomic_load(&streamed->out), before = out - offer->again,
                 seconds = (double)atomic_load(&streamed->ns) / 1e9;
    if (seconds >= RATE_SECONDS)
        offer->rate = out / seconds;
    if (restart->is_within)
        offer->frame_left = (double)replay_frame_left(decoding);
    offer->left = offer->frame_left + (before > 0 ? before : 0);
}

/* --- the way there --- */

/* Returns a GPU that has begun there, if there is one that pays; otherwise NULL. */
static struct gpu_decoder *begin_at(const struct decoding *decoding, const struct restart *restart)
{
    const struct worker *worker = decoding->worker;
    const struct input *input = &decoding->segment.file->input;
    const struct records *records = decoding->segment.records;
    struct offload_offer offer = {.again = (double)restart->made};
    if (input->bytes.regular)
        set_left_of_file(decoding, restart, &offer);
    else
        set_left_of_stream(decoding, restart, &offer);
    struct engine *gpu = worker->sink->offload(worker->sink->arg, &offer);
    const struct compressed_start start = {
        .offset = restart->offset,
        .skip = restart->skip,
        .repeated = records_repeated(records, records->cut_len),
        .index = decoding->segment.at.index,
        .size = input->bytes.regular ? input->bytes.opened_size - restart->offset : 0,
        .memlimit = worker->source->options.decoding.memlimit};
    return gpu ? gpu_decoder_begin(gpu, &start) : NULL;
}

/* Returns whether a GPU may have what this worker decodes, and one is free. */
static bool is_possible(const struct decoding *decoding)
{
    const struct file *file = decoding->segment.file;
    const struct input *input = &file->input;
    const struct sink *sink = decoding->worker->sink;
    bool is_suitable = input->bytes.regular ? file->is_offloadable && source_is_offloadable(input)
                                            : decoding->may_replay && input->bytes.keeps_freely;
    return is_suitable && !file->is_refused && sink->offload && sink->offload(sink->arg, NULL);
}

/* --- and back --- */

/* True if the GPU has counted nothing, so that what was cut still waits for what follows it. */
static bool is_as_before(const struct compressed_rest *rest)
{
    return rest->is_left && rest->bytes == 0;
}

/* Makes the decoder begin anew with what the GPU left of the file, before which `counted` bytes of
 * the segment were counted. 0 or -1. */
static int decode_rest(struct decoding *decoding, struct feed *feed,
                       const struct compressed_rest *rest, uint64_t counted)
{
    struct worker *worker = decoding->worker;
    struct input *input = &decoding->segment.file->input;
    struct records *records = decoding->segment.records;
    struct frame_batch *batch = &worker->batch;
    const uint64_t end = input->bytes.regular ? input->bytes.opened_size : input->bytes.window.end;
    const uint64_t at = rest->is_left ? rest->offset : end;
    bool is_last =
        !input->bytes.regular || at >= end; /* a pipe is decoded to its end by this worker */
    if (input->bytes.regular)
        frames_seek(&input->frames, at);
    else if (gpu_replay_from(feed, at) != 0)
        return -1;
    batch->pos = batch->len = 0;
    batch->offset = at;
    batch->kind = is_last ? FRAMES_TO_END : FRAMES_OPEN;
    decoding->pending = false;
    decoding->skip = rest->is_left ? rest->skip : 0;
    decoding->segment.content = counted + rest->bytes + rest->tail_len - decoding->skip;
    if (is_as_before(rest))
        decoding->skip += records->cut_len;
    else if (records_begin_with(records, rest->tail, rest->tail_len) != 0)
        return source_fail_for_memory(worker->source, input->bytes.name);
    if (worker->decoder->codec->reserve(worker->decoder, batch->data, 0) != 0)
        return source_fail_for_memory(worker->source, input->bytes.name);
    return 0;
}

/* Lets the GPU have the file from there on, until it takes no more. 0 or -1. */
static int offload(struct decoding *decoding, const struct restart *restart,
                   struct gpu_decoder *gpu)
{
    struct worker *worker = decoding->worker;
    struct file *file = decoding->segment.file;
    struct segment *segment = &decoding->segment;
    const struct frame_batch *batch = &worker->batch;
    const uint64_t counted = segment->content - segment->records->cut_len;
    struct compressed_rest rest;
    struct feed feed;
    file->input.bytes.keeps_freely = false; /* the GPU relies on it */
    replay_end(decoding);
    left_add_read(worker->source, file, (int64_t)(restart->offset - batch->offset - batch->pos), 0);
    gpu_feed_begin(&feed, worker, file, gpu, restart->offset);
    feed.at = segment->at;
    if (gpu_feed(&feed, &rest) != 0)
        return -1;
    segment->at.index = rest.index;
    file->is_refused = true;
    file->is_wrong |= rest.is_wrong && rest.bytes > 0;
    /* Of a pipe the GPU may keep only what it needs itself, from where it names on. */
    bool is_begun_anew = !file->input.bytes.regular || !is_as_before(&rest);
    int rc = is_begun_anew ? decode_rest(decoding, &feed, &rest, counted) : 0;
    free(rest.tail);
    left_add_read(worker->source, file, (int64_t)(batch->offset + batch->pos - feed.read), 0);
    return rc;
}

int offload_consider(struct decoding *decoding)
{
    struct restart restart;
    struct gpu_decoder *gpu = NULL;
    if (!is_possible(decoding)) {
        decoding->waits = 0;
        return 0;
    }
    if (find_restart(decoding, &restart))
        gpu = begin_at(decoding, &restart);
    if (gpu) {
        decoding->waits = 0;
        return offload(decoding, &restart, gpu);
    }
    if (decoding->waits > 0 && --decoding->waits == 0)
        decoding->segment.file->is_refused = true;
    return 0;
}

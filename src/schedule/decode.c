/* SPDX-License-Identifier: MIT */
#include "runner.h"

static int fail_of(struct extent *extent, const char *fault)
{
    return source_fail_of(extent->worker, extent->file, fault);
}

/* The same of the frame that is being decoded. */
static int fail_at(struct extent *extent, const char *fault)
{
    struct error error;
    error_set(&error, "%s, at byte %llu", fault, (unsigned long long)extent->frame.offset);
    return fail_of(extent, error.text);
}

/* A frame goes on after its batch, where others decode already: the run fails. -1. */
static int fail_past_end(struct extent *extent)
{
    struct error error;
    error_set(&error, "corrupt %s data " FRAME_MISSTATED, extent->worker->decoder->codec->name);
    return fail_at(extent, error.text);
}

/* Feeds a decoder that has taken all there was. Unless `patient`, a stream is not waited for. */
static enum decoded feed(struct extent *extent, bool patient)
{
    struct input *input = &extent->file->input;
    struct frame_batch *batch = &extent->worker->batch;
    struct error error;
    if (!decode_is_in_order(extent))
        return fail_past_end(extent);
    if (!patient && !bytes_ready(&input->bytes, 0))
        return DECODED_DRY;
    const ssize_t got = frames_feed(&input->frames, batch, &error);
    if (got > 0)
        return DECODED_SOME;
    if (got < 0)
        return source_fail(extent->worker, &error);
    if (batch->kind == FRAMES_TO_END && decode_is_complete(extent))
        return DECODED_ALL;
    return source_fail_truncated(extent->worker, extent->file, batch->offset + batch->len);
}

/* True if the batch has ended where a frame has, with the last `made` bytes of content. */
static bool has_ended(struct extent *extent, size_t made)
{
    struct frame_batch *batch = &extent->worker->batch;
    if (batch->kind == FRAMES_WHOLE)
        return batch->pos == batch->len;
    if (extent->skip > made)
        return false;
    if (batch->kind != FRAMES_OPEN)
        return false;
    const struct codec *codec = extent->worker->decoder->codec;
    struct codec_frame frame;
    if (!codec->is_chain &&
        codec->peek(batch->data + batch->pos, batch->len - batch->pos, &frame) != FRAME_WHOLE)
        return true; /* the next one is large: perhaps it is decoded in pieces */
    return !frames_resume(&extent->file->input.frames, batch);
}

/* Has the decoder take a step. 0, or -1: the run has failed. */
static int decode(struct extent *extent, struct decode_step *step)
{
    struct decoder *decoder = extent->worker->decoder;
    const struct frame_batch *batch = &extent->worker->batch;
    struct error error;
    step->in = batch->data + batch->pos;
    step->in_len = batch->len - batch->pos;
    switch (decoder->codec->decode(decoder, step, &error)) {
    case DECODE_NO_MEMORY:
        return fail_of(extent, "out of memory");
    case DECODE_FAULT:
        return fail_at(extent, error.text);
    default:
        return 0;
    }
}

/* True if somebody else decodes what follows the batch: a worker, or another shard. */
static bool is_followed(const struct extent *extent)
{
    const struct shard_edges *edges = &extent->file->input.plan.edges;
    return !decode_is_in_order(extent) || edges->next < edges->file_end;
}

/* Takes one step of decoding, to out[0..cap). Sets *made to the bytes of content. */
static enum decoded step(struct extent *extent, unsigned char *out, size_t cap, size_t *made)
{
    struct frame_batch *batch = &extent->worker->batch;
    struct decode_step step = {.out = out, .cap = cap, .is_followed = is_followed(extent)};
    *made = 0;
    if (decode(extent, &step) != 0)
        return DECODED_FAILED;
    *made = step.made;
    batch->pos += step.used;
    extent->frame.made += step.made;
    extent->segment.content += step.made;
    remaining_add_read(extent->worker->source, extent->file, (int64_t)step.used, step.made);
    bool is_complete = decode_is_complete(extent);
    extent->pending = !is_complete && step.made == cap;
    if (is_complete && extent->is_again && extent->skip > step.made)
        return fail_of(extent, WRONG_IN_BLOCKS);
    extent->is_again &= !is_complete;
    if (is_complete)
        extent->frame = (struct current_frame){.offset = batch->offset + batch->pos};
    return is_complete && has_ended(extent, step.made) ? DECODED_ALL : DECODED_SOME;
}

/* Takes a step, up to limit. Drops bytes before the range; the batch ends where the range does. */
static enum decoded step_in_range(struct extent *extent, struct chunk *chunk, size_t limit)
{
    const struct content_range *range = &extent->file->input.plan.range;
    uint64_t position = extent->segment.begin + extent->segment.content;
    unsigned char *out = chunk->data + chunk->len;
    size_t cap = limit - chunk->len, made;
    struct error fault;
    cap = content_left(range, position, cap);
    if (cap == 0)
        return DECODED_ALL;
    if (extent->skip > 0 && cap > extent->skip)
        cap = (size_t)extent->skip;
    enum decoded state = step(extent, out, cap, &made);
    if (extent->skip > 0) {
        extent->skip -= made;
        return state;
    }
    if (content_check(range, position + made, false, &fault) != 0)
        return fail_of(extent, fault.text);
    chunk->len += content_keep(range, position, out, made);
    bool is_all = content_left(range, position + made, 1) == 0;
    return state == DECODED_SOME && is_all ? DECODED_ALL : state;
}

/* Drops what the chunk has, after `begin` bytes, of a frame that is wrong: it may be anything. */
static void drop_frame(struct extent *extent, struct chunk *chunk, size_t begin)
{
    const size_t len = chunk->len - begin,
                 dropped = extent->frame.made < len ? (size_t)extent->frame.made : len;
    chunk->len -= dropped;
    extent->segment.content -= dropped;
}

enum decoded decode_chunk(struct extent *extent, struct chunk *chunk, size_t limit)
{
    const struct frame_batch *batch = &extent->worker->batch;
    size_t begin = chunk->len;
    enum decoded state = DECODED_SOME;
    while (state == DECODED_SOME && chunk->len < limit) {
        if (batch->pos == batch->len && !extent->pending)
            state =
                feed(extent, chunk->fill || (chunk->len == begin && extent->segment.content == 0));
        else
            state = step_in_range(extent, chunk, limit);
    }
    if (state == DECODED_FAILED)
        drop_frame(extent, chunk, begin);
    return state;
}

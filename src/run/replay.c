/* SPDX-License-Identifier: MIT */
#include "replay.h"
#include "src/base/clock.h"

/* True if nothing but its bytes need be known of a pipe. */
static bool suits(const struct input *input)
{
    return input->frames.codec && input->frames.codec->on_gpu && !input->bytes.regular &&
           !input_is_serial(input) && !content_is_partial(&input->plan.range) && !input->has_header;
}

uint64_t replay_frame_begin(const struct decoding *decoding)
{
    const struct frame_batch *batch = &decoding->worker->batch;
    return decode_is_complete(decoding) ? batch->offset + batch->pos : decoding->frame.offset;
}

/* Keeps a pipe's bytes from the next one to be decoded on. */
static void keep_from_here(struct decoding *decoding)
{
    struct input *input = &decoding->file->input;
    const struct frame_batch *batch = &decoding->worker->batch;
    input->bytes.keeps_freely = bytes_keep(&input->bytes, batch->offset + batch->pos,
                                           batch->data + batch->pos, batch->len - batch->pos) == 0;
}

void replay_end(struct decoding *decoding)
{
    struct input *input = &decoding->file->input;
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
    struct file *file = decoding->file;
    if (file->is_refused || segment_is_stream(&decoding->segment) || !suits(&file->input) ||
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
    struct input *input = &decoding->file->input;
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

uint64_t replay_frame_left(const struct decoding *decoding)
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
    struct input *input = &decoding->file->input;
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

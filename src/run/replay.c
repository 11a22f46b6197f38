/* SPDX-License-Identifier: MIT */
#include "replay.h"
#include "src/base/clock.h"

/* True if nothing but its bytes need be known of a pipe. */
static bool suits(const struct input *input)
{
    return input->codec && input->codec->on_gpu && !input->regular && !input_is_serial(input) &&
           !content_is_partial(&input->range) && !input->has_header;
}

uint64_t replay_frame_begin(const struct decoding *decoding)
{
    const struct units *units = &decoding->worker->units;
    return decode_is_complete(decoding) ? units->offset + units->pos : decoding->frame.offset;
}

/* Keeps a pipe's bytes from the next one to be decoded on. */
static void keep_from_here(struct decoding *decoding)
{
    struct input *input = &decoding->file->input;
    const struct units *units = &decoding->worker->units;
    input->keeps_freely = bytes_keep(&input->bytes, units->offset + units->pos,
                                     units->data + units->pos, units->len - units->pos) == 0;
}

void replay_end(struct decoding *decoding)
{
    struct input *input = &decoding->file->input;
    struct streamed *streamed = &decoding->worker->source->left.streamed;
    if (!decoding->may_replay)
        return;
    decoding->may_replay = false;
    if (input->keeps_freely)
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
    if (file->input.keeps_freely)
        kept_drop(&file->input.kept, replay_frame_begin(decoding));
    else if (decode_is_complete(decoding))
        keep_from_here(decoding);
}

void replay_begin_frame(struct decoding *decoding)
{
    struct input *input = &decoding->file->input;
    const struct units *units = &decoding->worker->units;
    struct codec_unit frame = {.content = UNIT_UNSIZED};
    if (!decoding->may_replay)
        return;
    if (input->codec->look(units->data + units->pos, units->len - units->pos, &frame) !=
        UNIT_UNKNOWN)
        decoding->frame.stated = frame.content;
    if (input->keeps_freely)
        kept_drop(&input->kept, units->offset + units->pos);
    else
        keep_from_here(decoding);
}

uint64_t replay_frame_left(const struct decoding *decoding)
{
    const struct current_frame *frame = &decoding->frame;
    if (frame->stated == UNIT_UNSIZED)
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
    if (input->keeps_freely && kept_size(&input->kept) > left_replay_most(source))
        bytes_keep_no_more(&input->bytes);
    atomic_fetch_add(&streamed->in, step->used);
    atomic_fetch_add(&streamed->out, step->made);
    atomic_fetch_add(&streamed->ns, (uint64_t)(clock_seconds_since(begin) * 1e9));
    atomic_store(&streamed->kept, kept_size(&input->kept));
    atomic_store(&streamed->again, input->keeps_freely ? decoding->frame.made : 0);
    atomic_store(&streamed->left, input->keeps_freely ? replay_frame_left(decoding) : 0);
}

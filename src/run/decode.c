/* SPDX-License-Identifier: MIT */
#include "decode.h"
#include "offload.h"
#include "src/base/clock.h"

#include <string.h>

/* --- faults --- */

static enum decoded fail_of(struct decoding *decoding, const char *fault)
{
    source_fail_of(decoding->worker->source, decoding->segment.file->input.bytes.name, fault);
    return DECODED_FAILED;
}

static enum decoded fail_at(struct decoding *decoding, uint64_t offset, const char *fault)
{
    struct reason why;
    reason_set(&why, "%s, at byte %llu", fault, (unsigned long long)offset);
    return fail_of(decoding, why.text);
}

static enum decoded fail_truncated(struct decoding *decoding)
{
    const struct frame_batch *batch = &decoding->worker->batch;
    struct reason fault;
    reason_set(&fault, "truncated %s data", decoding->segment.file->input.frames.codec->name);
    return fail_at(decoding, batch->offset + batch->len, fault.text);
}

/* --- steps of the decoder --- */

/* Feeds a decoder that has taken all there was. Unless `patient`, a stream is not waited for. */
static enum decoded feed(struct decoding *decoding, bool patient)
{
    struct input *input = &decoding->segment.file->input;
    struct frame_batch *batch = &decoding->worker->batch;
    struct reason why;
    if (!decoding->in_order) /* the file is not this worker's */
        return fail_truncated(decoding);
    if (!patient && !bytes_ready(&input->bytes, 0))
        return DECODED_DRY;
    ssize_t got = frames_feed(&input->frames, batch, &why);
    if (got > 0)
        return DECODED_SOME;
    if (got < 0) {
        source_fail(decoding->worker->source, &why);
        return DECODED_FAILED;
    }
    const bool is_complete = decode_is_complete(decoding);
    if (decoding->skip > 0 && is_complete)
        return fail_of(decoding, WRONG_ON_GPU);
    return batch->kind == FRAMES_TO_END && is_complete ? DECODED_ALL : fail_truncated(decoding);
}

/* True if the batch has ended where a frame has, with the last `made` bytes of content. */
static bool has_ended(struct decoding *decoding, size_t made)
{
    struct frame_batch *batch = &decoding->worker->batch;
    if (batch->kind == FRAMES_WHOLE)
        return batch->pos == batch->len;
    if (decoding->skip > made || (decoding->waits > 0 && batch->pos < batch->len))
        return false;
    return batch->kind == FRAMES_OPEN &&
           !frames_go_on(&decoding->segment.file->input.frames, batch);
}

/* Takes one step of decoding, to out[0..cap). Sets *made to the bytes written there. */
static enum decoded step(struct decoding *decoding, unsigned char *out, size_t cap, size_t *made)
{
    struct worker *worker = decoding->worker;
    struct frame_batch *batch = &worker->batch;
    struct reason why;
    struct decode_step step = {
        .in = batch->data + batch->pos, .in_len = batch->len - batch->pos, .out = out, .cap = cap};
    *made = 0;
    if (decode_is_complete(decoding)) {
        decoding->frame = (struct current_frame){batch->offset + batch->pos, 0, FRAME_UNSIZED};
        replay_begin_frame(decoding);
    }
    struct timespec begin = {0};
    if (decoding->may_replay)
        begin = clock_now();
    enum decode_status status = worker->decoder->codec->decode(worker->decoder, &step, &why);
    if (status == DECODE_NO_MEMORY)
        return fail_of(decoding, "out of memory");
    if (status == DECODE_FAULT)
        return fail_at(decoding, decoding->frame.offset, why.text);
    *made = step.made;
    batch->pos += step.used;
    decoding->frame.made += step.made;
    replay_add_step(decoding, &step, &begin);
    left_add_read(worker->source, decoding->segment.file, (int64_t)step.used, step.made);
    bool is_complete = decode_is_complete(decoding);
    decoding->segment.content += step.made;
    decoding->pending = !is_complete && step.made == cap;
    return is_complete && has_ended(decoding, step.made) ? DECODED_ALL : DECODED_SOME;
}

/* Drops what comes again of out[0..made). Returns how many bytes there are left. */
static size_t keep_new(struct decoding *decoding, unsigned char *out, size_t made)
{
    size_t again = decoding->skip < made ? (size_t)decoding->skip : made;
    decoding->skip -= again;
    memmove(out, out + again, made - again);
    return made - again;
}

/* Takes a step, up to limit. Drops bytes before the range; the batch ends where the range does. */
static enum decoded step_in_range(struct decoding *decoding, struct chunk *chunk, size_t limit)
{
    const struct content_range *range = &decoding->segment.file->input.plan.range;
    uint64_t position = decoding->segment.begin + decoding->segment.content;
    unsigned char *out = chunk->data + chunk->len;
    size_t cap = limit - chunk->len, made;
    if (!range->is_whole && position >= range->end)
        return DECODED_ALL;
    if (!range->is_whole)
        cap = content_room(range, position, cap);
    enum decoded state = step(decoding, out, cap, &made);
    if (decoding->skip > 0) { /* there is no range then */
        chunk->len += keep_new(decoding, out, made);
        return state;
    }
    if (range->is_whole && made > 0 && position + made > range->end) {
        struct reason fault;
        content_goes_on(range, &fault);
        return fail_of(decoding, fault.text);
    }
    chunk->len += content_keep(range, position, out, made);
    bool is_all = !range->is_whole && position + made == range->end;
    return state == DECODED_SOME && is_all ? DECODED_ALL : state;
}

enum decoded decode_chunk(struct decoding *decoding, struct chunk *chunk, size_t limit)
{
    const struct frame_batch *batch = &decoding->worker->batch;
    size_t begin = chunk->len;
    enum decoded state = DECODED_SOME;
    while (state == DECODED_SOME && chunk->len < limit) {
        if (batch->pos == batch->len && !decoding->pending)
            state = feed(decoding,
                         chunk->fill || (chunk->len == begin && decoding->segment.content == 0));
        else
            state = step_in_range(decoding, chunk, limit);
    }
    return state;
}

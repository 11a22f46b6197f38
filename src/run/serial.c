/* SPDX-License-Identifier: MIT */
/* Compressed bytes, one decoder: a worker takes a batch of frames in its turn, and decodes it
 * without. A batch that has to be decoded in order takes the file along. */
#include "decode.h"
#include "offload.h"
#include "runner.h"
#include "src/base/clock.h"

/* What a decoder takes beside what it must keep at hand, and beside compressed bytes. */
#define DECODER_SIZE ((size_t)256 << 10)

/* Bytes of a chunk while a GPU is to go on with the file: enough to find the end of a record. */
#define AWAITING_SIZE ((size_t)64 << 10)

/* --- looking at what is ahead, and taking it --- */

/* As frames_look, for what the range still needs. Drops frames that end before it. */
static enum frames_result look_on(struct source *source, struct file *file,
                                  struct frames_ahead *ahead, struct reason *why)
{
    const struct content_range *range = &file->input.plan.range;
    while (file->content < range->end || range->is_whole) {
        enum frames_result result = frames_look(&file->input.frames, ahead, why);
        if (result != FRAMES_AHEAD || ahead->kind != FRAMES_WHOLE)
            return result;
        uint64_t end = content_add(file->content, ahead->content);
        if (range->begin == 0 || end > range->begin)
            return result;
        frames_drop(&file->input.frames, ahead);
        atomic_fetch_add(&source->left.read, ahead->whole);
        file->content = end;
    }
    return FRAMES_END;
}

/* Makes all that is left one batch, which one worker decodes as a stream. */
static void take_all(struct file *file, struct frames_ahead *ahead)
{
    file->in_stream = true;
    ahead->kind = FRAMES_TO_END;
    if (ahead->memory < FRAMES_MEMORY_MAX)
        ahead->memory = FRAMES_MEMORY_MAX; /* other frames may need more than the first one */
}

/* Looks at what the file goes on with. */
static enum frames_result look(struct worker *worker, struct file *file, struct frames_ahead *ahead,
                               struct reason *why)
{
    struct frame_batch *pending = &file->input.frames.pending;
    enum frames_result result = FRAMES_AHEAD;
    *ahead = (struct frames_ahead){.kind = FRAMES_TO_END};
    if (!file->in_stream || pending->len > 0) /* not what a GPU has left */
        result = look_on(worker->source, file, ahead, why);
    else if (frame_batch_reserve(pending, FRAMES_SIZE_FIRST) != 0)
        result = FRAMES_NO_MEMORY;
    if (result == FRAMES_AHEAD && (file->in_stream || input_is_serial(&file->input)))
        take_all(file, ahead);
    return result;
}

/* Makes the worker's decoder one of the file's codec, with the memory for the largest of the frames
 * ahead. 0, or -1: out of memory. */
static int prepare_decoder(struct worker *worker, const struct input *input,
                           const struct frames_ahead *ahead)
{
    const struct frame_batch *batch = &input->frames.pending;
    if (worker->decoder && worker->decoder->codec != input->frames.codec) {
        decoder_close(worker->decoder);
        worker->decoder = NULL;
    }
    if (!worker->decoder)
        worker->decoder = input->frames.codec->open(&worker->source->options.decoding);
    if (!worker->decoder)
        return -1;
    return input->frames.codec->reserve(worker->decoder, batch->data + ahead->largest,
                                        batch->len - ahead->largest);
}

/* Moves a batch from the file to the worker. 0, or -1: out of memory, and nothing has moved. */
static int move_batch(struct worker *worker, struct extent *extent,
                      const struct frames_ahead *ahead)
{
    struct file *file = extent->file;
    struct segment *segment = &extent->segment;
    if (prepare_decoder(worker, &file->input, ahead) != 0)
        return -1;
    if (segment_begin(segment, worker, file) != 0)
        return -1;
    if (frames_take(&file->input.frames, ahead, &worker->batch) == 0)
        return 0;
    file->at.segment -= !segment_is_stream(segment);
    segment_close(segment);
    return -1;
}

/* Takes a batch, and all memory for it before: what another worker takes meanwhile cannot stop this
 * one. */
static enum taken take_batch(struct worker *worker, struct extent *extent,
                             const struct frames_ahead *ahead)
{
    struct source *source = worker->source;
    struct file *file = extent->file;
    uint64_t limit = source->options.decoding.memlimit; /* beyond it the decoder refuses */
    size_t memory = (size_t)(ahead->memory < limit ? ahead->memory : limit);
    size_t size = DECODER_SIZE + file->input.frames.pending.cap + memory;
    if (!budget_reserve(worker, size))
        return TAKEN_NOTHING;
    if (move_batch(worker, extent, ahead) != 0) {
        if (budget_refuse(worker, size))
            return TAKEN_NOTHING;
        source_fail_for_memory(source, file->input.bytes.name);
        return TAKEN_FAILED;
    }
    if (ahead->kind == FRAMES_WHOLE && input_needs_positions(&file->input))
        file->content = content_add(file->content, worker->batch.content);
    return TAKEN;
}

/* --- decoding a batch --- */

/* Decodes a chunk of whole records. It begins with what the last one was cut from. */
static enum decoded decode_records(struct decoding *decoding, struct chunk *chunk)
{
    struct segment *segment = &decoding->segment;
    const bool is_stream = segment_is_stream(segment);
    size_t waited = segment_begin_chunk(segment, chunk);
    size_t limit = source_fill_limit(&decoding->segment.file->input, chunk, waited);
    if (decoding->waits > 0 && limit - waited > AWAITING_SIZE)
        limit = waited + AWAITING_SIZE;
    enum decoded state = decode_chunk(decoding, chunk, limit);
    if (state == DECODED_FAILED)
        return state;
    bool is_end = is_stream && state == DECODED_ALL;
    if (segment_cut(segment, decoding->worker->source, chunk, waited, is_end) != 0)
        return DECODED_FAILED;
    if (is_end)
        chunk->origin.end = ENDS_FILE;
    else if (!is_stream && state != DECODED_SOME)
        chunk->origin.end = ENDS_SEGMENT;
    return state;
}

/* Before a stream is waited for: has all that there is counted, and begins another segment. 0 or
 * -1. */
static int pause(struct decoding *decoding)
{
    struct worker *worker = decoding->worker;
    struct file *file = decoding->segment.file;
    struct segment *segment = &decoding->segment;
    const struct position at = segment->at;
    const bool is_stream = segment_is_stream(segment);
    idle_hurry(&worker->source->idle);
    if (segment_end(segment, worker) != 0)
        return -1;
    file->content += segment->content;
    if (segment_begin(segment, worker, file) != 0)
        return source_fail_for_memory(worker->source, file->input.bytes.name);
    if (is_stream)
        segment->at = at;
    return 0;
}

/* Decodes the batch, and pushes its chunks. 0 or -1. */
static int decode_batch(struct decoding *decoding)
{
    struct worker *worker = decoding->worker;
    enum decoded state = DECODED_SOME;
    while (state != DECODED_ALL) {
        if (source_has_failed(worker->source))
            return -1;
        if (decoding->in_order)
            replay_consider(decoding);
        if (decoding->in_order && offload_consider(decoding) != 0)
            return -1;
        struct chunk *chunk = runner_choose(worker, FLOW_DECODED);
        if (!chunk)
            return -1;
        state = decode_records(decoding, chunk);
        if (state == DECODED_FAILED)
            chunk->len = chunk->begin = chunk->origin.bytes = 0;
        chunk->give &= state != DECODED_DRY && state != DECODED_FAILED;
        if (runner_push(worker, chunk, FLOW_DECODED) != 0 || state == DECODED_FAILED)
            return -1;
        if (state == DECODED_DRY && pause(decoding) != 0)
            return -1;
    }
    return segment_end(&decoding->segment, worker);
}

/* --- ending it --- */

/* Lets go of a file whose end was decoded; other workers may still have batches. 0 or -1. */
static int end_file(struct worker *worker, struct file *file)
{
    struct source *source = worker->source;
    const char *name = file->input.bytes.name;
    const struct content_range *range = &file->input.plan.range;
    struct reason fault;
    int rc = 0;
    if (file->is_wrong) {
        rc = source_fail_of(source, name, WRONG_ON_GPU);
    } else if (range->stated && file->content < range->end) {
        content_ends_before(range, &fault);
        rc = source_fail_of(source, name, fault.text);
    } else {
        rc = segment_end_file(worker, file);
    }
    if (rc == 0)
        return source_retire(source, file);
    source_leave(source, file);
    return -1;
}

/* Begins to decode the batch that the worker has taken. */
static struct decoding begin_decoding(struct worker *worker, struct extent *extent)
{
    struct file *file = extent->file;
    struct decoding decoding = {.worker = worker,
                                .segment = extent->segment,
                                .frame = {.stated = FRAME_UNSIZED},
                                .in_order = worker->batch.kind != FRAMES_WHOLE,
                                .waits = extent->waits};
    extent->waits = 0;
    if (decoding.in_order) {
        decoding.began = clock_now();
        decoding.skip = file->skip;
        file->skip = 0;
    }
    return decoding;
}

/* Takes the next batch of a file that this worker has to itself, if that must be decoded in order.
 * If not, or of a stream, which may have to be waited for, parks the file. 1: taken; 0; or -1. */
static int take_next(struct worker *worker, struct extent *extent)
{
    struct file *file = extent->file;
    struct frames_ahead ahead;
    struct reason why;
    enum frames_result result =
        file->input.bytes.regular ? look_on(worker->source, file, &ahead, &why) : FRAMES_NO_MEMORY;
    enum taken taken = TAKEN_NOTHING;
    if (result == FRAMES_END)
        return end_file(worker, file);
    if (result == FRAMES_FAILED) {
        source_fail(worker->source, &why);
        taken = TAKEN_FAILED;
    } else if (result == FRAMES_AHEAD && ahead.kind != FRAMES_WHOLE) {
        taken = take_batch(worker, extent, &ahead);
    }
    if (taken == TAKEN)
        return 1;
    source_park(worker->source, file);
    return taken == TAKEN_FAILED ? -1 : 0;
}

/* Ends a batch. 1: the worker has taken the next one; 0: it has done with the file; or -1. */
static int end_batch(struct decoding *decoding, struct extent *extent)
{
    struct worker *worker = decoding->worker;
    struct file *file = decoding->segment.file;
    if (!decoding->in_order) {
        source_leave(worker->source, file);
        return 0;
    }
    replay_end(decoding);
    file->content += decoding->segment.content;
    if (worker->batch.kind == FRAMES_TO_END)
        return end_file(worker, file);
    frames_return(&file->input.frames, &worker->batch);
    return take_next(worker, extent);
}

/* --- the runner --- */

static int serial_run(struct worker *worker, struct extent *extent)
{
    const bool in_order = worker->batch.kind != FRAMES_WHOLE;
    int more = 1;
    while (more > 0) {
        struct decoding decoding = begin_decoding(worker, extent);
        if (decode_batch(&decoding) == 0) {
            more = end_batch(&decoding, extent);
        } else {
            segment_close(&decoding.segment);
            source_leave(worker->source, extent->file);
            more = -1;
        }
    }
    budget_end(worker);
    if (in_order)
        budget_release(worker, DECODER_KEPT);
    return more == 0 ? 1 : -1;
}

/* The end of a file of which all batches were taken. */
static int end_run(struct worker *worker, struct extent *extent)
{
    return end_file(worker, extent->file) == 0 ? 1 : -1;
}

static enum taken take_ahead(struct worker *worker, struct extent *extent,
                             struct frames_ahead *ahead)
{
    struct file *file = extent->file;
    const bool awaits = ahead->kind == FRAMES_WHOLE && offload_is_wanted(worker, file);
    if (awaits)
        ahead->kind = FRAMES_OPEN;
    enum taken taken = take_batch(worker, extent, ahead);
    if (taken != TAKEN)
        return taken;
    budget_begin(worker);
    if (worker->batch.kind == FRAMES_WHOLE)
        source_use(worker->source, file);
    else
        source_set_current(worker->source, NULL);
    extent->run = serial_run;
    extent->waits = awaits ? OFFLOAD_WAITS_MAX : 0;
    return TAKEN;
}

enum taken serial_take(struct worker *worker, struct extent *extent)
{
    struct source *source = worker->source;
    struct file *file = extent->file;
    struct frames_ahead ahead;
    struct reason why;
    if (idle_is_pending(&source->idle))
        return TAKEN_NOTHING;
    switch (look(worker, file, &ahead, &why)) {
    case FRAMES_AHEAD:
        return take_ahead(worker, extent, &ahead);
    case FRAMES_END:
        source_set_current(source, NULL);
        extent->run = end_run;
        return TAKEN;
    case FRAMES_NO_MEMORY:
        if (budget_refuse(worker, FRAMES_SIZE_FIRST))
            return TAKEN_NOTHING;
        source_fail_for_memory(source, file->input.bytes.name);
        return TAKEN_FAILED;
    default:
        source_fail(source, &why);
        return TAKEN_FAILED;
    }
}

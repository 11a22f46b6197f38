/* SPDX-License-Identifier: MIT */
/* Compressed bytes, one decoder: a worker takes a batch of frames under the read lock, and decodes
 * it without. A batch that has to be decoded in order takes the file along. */
#include "pieces.h"

#include <inttypes.h>

/* What a decoder takes beside what it must keep at hand, and beside compressed bytes. */
#define DECODER_SIZE ((size_t)384 << 10)

/* Compressed bytes of a file for which workers for others are started when it is opened, and not
 * only once some of it was counted. */
#define HELP_MIN ((uint64_t)1 << 20)

/* --- looking at what is ahead, and taking it --- */

/* As frames_peek, after frames that end before the range; FRAMES_FAILED has failed the run. */
static enum frames_result look_on(struct extent *extent, struct frames_ahead *ahead)
{
    struct source *source = extent->worker->source;
    struct file *file = extent->file;
    const struct content_range *range = &file->input.plan.range;
    struct error error;
    while (content_left(range, file->content, 1) > 0) {
        enum frames_result result = frames_peek(&file->input.frames, ahead, &error);
        if (result == FRAMES_FAILED)
            source_fail(extent->worker, &error);
        if (result != FRAMES_AHEAD || ahead->kind != FRAMES_WHOLE)
            return result;
        uint64_t end = content_add(file->content, ahead->content);
        if (range->begin == 0 || end > range->begin)
            return result;
        frames_drop(&file->input.frames, ahead);
        atomic_fetch_add(&source->remaining.read, ahead->whole);
        file->content = end;
    }
    return FRAMES_END;
}

/* Looks at what the file goes on with. What is decoded as one stream is taken in order; at its end,
 * and of what a GPU has left, an empty batch ends the file with its last record. */
static enum frames_result peek(struct extent *extent, struct frames_ahead *ahead)
{
    struct file *file = extent->file;
    struct frame_batch *pending = &file->input.frames.pending;
    enum frames_result result = FRAMES_END;
    *ahead = (struct frames_ahead){.kind = FRAMES_TO_END};
    if (!file->is_rest)
        result = look_on(extent, ahead);
    file->in_stream |= result == FRAMES_AHEAD && input_is_serial(&file->input);
    if (!file->in_stream)
        return result;
    if (result == FRAMES_END) {
        result =
            frame_batch_reserve(pending, FRAMES_SIZE_FIRST) == 0 ? FRAMES_AHEAD : FRAMES_NO_MEMORY;
    } else if (ahead->kind == FRAMES_WHOLE) {
        ahead->kind = file->input.frames.codec->is_chain ? FRAMES_TO_END : FRAMES_OPEN;
    }
    if (ahead->memory < FRAMES_MEMORY_MAX)
        ahead->memory = FRAMES_MEMORY_MAX; /* other frames may need more than the first one */
    return result;
}

/* Makes the worker's decoder one of the file's codec, with the memory for the largest of the frames
 * ahead, and moves these from the file to the worker. 0, or -1: out of memory, and nothing has
 * moved. */
static int move_batch(struct extent *extent, const struct frames_ahead *ahead)
{
    struct worker *worker = extent->worker;
    struct file *file = extent->file;
    struct frames *frames = &file->input.frames;
    const struct codec *codec = frames->codec;
    const struct frame_batch *batch = &frames->pending;
    if (worker->decoder && worker->decoder->codec != codec) {
        decoder_close(worker->decoder);
        worker->decoder = NULL;
    }
    if (!worker->decoder)
        worker->decoder = codec->open(&worker->source->options.decoding);
    if (!worker->decoder ||
        codec->reserve(worker->decoder, batch->data + ahead->largest, batch->len - ahead->largest,
                       batch->offset == file->input.bytes.begin) != 0 ||
        segment_begin(&extent->segment, worker, file, file->at.segment, file->content,
                      file->skip) != 0)
        return -1;
    if (frames_acquire(frames, ahead, &worker->batch) != 0) {
        segment_close(&extent->segment);
        return -1;
    }
    file->at.segment += !file->in_stream;
    return 0;
}

/* Takes a batch, and all memory for it before: what another worker takes meanwhile cannot stop this
 * one. 1, 0 or -1, as serial_acquire. */
static int acquire_batch(struct extent *extent, const struct frames_ahead *ahead)
{
    struct worker *worker = extent->worker;
    struct file *file = extent->file;
    uint64_t limit = worker->source->options.decoding.memlimit; /* beyond it the decoder refuses */
    size_t memory = (size_t)(ahead->memory < limit ? ahead->memory : limit);
    size_t size = DECODER_SIZE + file->input.frames.pending.cap + memory;
    if (!decode_memory_reserve(worker, size))
        return 0;
    if (move_batch(extent, ahead) != 0)
        return decode_memory_refuse(worker, file, size);
    if (ahead->kind == FRAMES_WHOLE && file->input.frames.needs_sizes)
        file->content = content_add(file->content, worker->batch.content);
    extent->frame = worker->batch.offset;
    extent->made = 0;
    extent->pending = false;
    extent->is_again = file->is_alone;
    file->is_alone = false;
    extent->skip = file->skip;
    file->skip = 0;
    return 1;
}

/* --- decoding a batch: it is in worker->batch, and its decoder is the worker's --- */

#define WRONG_IN_BLOCKS "many threads decompressed it incorrectly; use --threads=1"

/* What came of decoding. */
enum decoded {
    DECODED_FAILED = -1, /* what source_fail returns */
    DECODED_SOME,        /* the batch goes on */
    DECODED_DRY,         /* it goes on, but there is nothing to read now */
    DECODED_ALL,         /* the batch has ended */
};

/* True if the batch is decoded in order, by a worker that has the file to itself. */
static bool is_in_order(const struct extent *extent)
{
    return extent->worker->batch.kind != FRAMES_WHOLE;
}

/* Feeds a decoder that has taken all there was. Unless `patient`, a stream is not waited for. */
static enum decoded feed(struct extent *extent, bool patient)
{
    struct input *input = &extent->file->input;
    struct frame_batch *batch = &extent->worker->batch;
    const struct decoder *decoder = extent->worker->decoder;
    struct error error;
    if (!is_in_order(extent)) /* others decode already what follows */
        return source_fail_of(extent->worker, extent->file,
                              "corrupt %s data " FRAME_MISSTATED ", at byte %" PRIu64,
                              input->frames.codec->name, extent->frame);
    if (!patient && !bytes_ready(&input->bytes, 0))
        return DECODED_DRY;
    const ssize_t got = frames_feed(&input->frames, batch, &error);
    if (got > 0)
        return DECODED_SOME;
    if (got < 0)
        return source_fail(extent->worker, &error);
    if (batch->kind == FRAMES_TO_END && decoder->codec->complete(decoder))
        return DECODED_ALL;
    return source_fail_truncated(extent->worker, extent->file, batch->offset + batch->len);
}

/* True if the batch has ended where a frame has. */
static bool has_ended(struct extent *extent)
{
    struct frame_batch *batch = &extent->worker->batch;
    if (batch->kind == FRAMES_WHOLE)
        return batch->pos == batch->len;
    if (batch->kind != FRAMES_OPEN)
        return false;
    const struct codec *codec = extent->worker->decoder->codec;
    struct codec_frame frame;
    if (!codec->is_chain &&
        codec->peek(batch->data + batch->pos, batch->len - batch->pos, &frame) != FRAME_WHOLE)
        return true; /* the next one is large: perhaps it is decoded in pieces */
    if (extent->file->in_stream)
        return frame.memory > batch->memory;
    return !frames_resume(&extent->file->input.frames, batch);
}

/* Takes one step of decoding, to out[0..cap). Sets *made to the bytes of content. */
static enum decoded step(struct extent *extent, unsigned char *out, size_t cap, size_t *made)
{
    struct worker *worker = extent->worker;
    struct decoder *decoder = worker->decoder;
    struct frame_batch *batch = &worker->batch;
    const struct shard_edges *edges = &extent->file->input.plan.edges;
    struct decode_step step = {.in = batch->data + batch->pos,
                               .in_len = batch->len - batch->pos,
                               .out = out,
                               .cap = cap,
                               /* by a worker, or another shard */
                               .is_followed =
                                   !is_in_order(extent) || edges->next < edges->file_end};
    struct error error;
    *made = 0;
    switch (decoder->codec->decode(decoder, &step, &error)) {
    case DECODE_NO_MEMORY:
        return source_fail_for_memory(worker, extent->file);
    case DECODE_FAULT:
        return source_fail_of(worker, extent->file, "%s, at byte %" PRIu64, error.text,
                              extent->frame);
    default:
        break;
    }
    *made = step.made;
    batch->pos += step.used;
    extent->made += step.made;
    extent->segment.content += step.made;
    remaining_add_read(worker->source, extent->file, (int64_t)step.used, step.made);
    const bool is_at_end = decoder->codec->complete(decoder);
    extent->pending = !is_at_end && step.made == cap;
    if (!is_at_end)
        return DECODED_SOME;
    if (extent->is_again && extent->skip > step.made)
        return source_fail_of(worker, extent->file, WRONG_IN_BLOCKS);
    extent->is_again = false;
    extent->frame = batch->offset + batch->pos;
    extent->made = 0;
    return has_ended(extent) ? DECODED_ALL : DECODED_SOME;
}

/* Takes a step, up to limit. Drops bytes before the range; the batch ends where the range does. */
static enum decoded step_in_range(struct extent *extent, struct chunk *chunk, size_t limit)
{
    const struct content_range *range = &extent->file->input.plan.range;
    uint64_t position = extent->segment.begin + extent->segment.content;
    const uint64_t before = position < range->begin ? range->begin - position : 0;
    unsigned char *out = chunk->data + chunk->len;
    size_t cap = limit - chunk->len, made;
    struct error fault;
    cap = content_left(range, position, cap);
    if (before > 0 && cap > before)
        cap = (size_t)before;
    if (extent->skip > 0 && cap > extent->skip)
        cap = (size_t)extent->skip;
    enum decoded state = step(extent, out, cap, &made);
    if (extent->skip > 0) {
        extent->skip -= made;
        return state;
    }
    if (content_check(range, position + made, false, &fault) != 0)
        return source_fail_of(extent->worker, extent->file, "%s", fault.text);
    chunk->len += before > 0 ? 0 : made;
    bool is_all = content_left(range, position + made, 1) == 0;
    return state == DECODED_SOME && is_all ? DECODED_ALL : state;
}

/* Decodes on, after what is in the chunk, up to limit. Waits for a stream if the segment is empty
 * or the chunk is worth filling. After a failure the chunk has what comes before the frame that is
 * wrong. */
static enum decoded decode_chunk(struct extent *extent, struct chunk *chunk, size_t limit)
{
    const struct frame_batch *batch = &extent->worker->batch;
    const struct content_range *range = &extent->file->input.plan.range;
    const struct segment *segment = &extent->segment;
    size_t begin = chunk->len;
    enum decoded state = DECODED_SOME;
    while (state == DECODED_SOME && chunk->len < limit) {
        if (content_left(range, segment->begin + segment->content, 1) == 0)
            state = DECODED_ALL;
        else if (batch->pos == batch->len && !extent->pending)
            state =
                feed(extent, chunk->fill || (chunk->len == begin && extent->segment.content == 0));
        else
            state = step_in_range(extent, chunk, limit);
    }
    if (state == DECODED_FAILED) { /* what the frame has given may be anything */
        const size_t len = chunk->len - begin,
                     dropped = extent->made < len ? (size_t)extent->made : len;
        chunk->len -= dropped;
        extent->segment.content -= dropped;
    }
    return state;
}

/* Decodes a chunk of whole records. It begins with what the last one was cut from. After a failure
 * it has what comes before that, as that may be wrong as well. */
static enum decoded decode_records(struct extent *extent, struct chunk *chunk)
{
    const bool is_stream = segment_is_stream(&extent->segment);
    size_t waited = segment_begin_chunk(&extent->segment, chunk);
    size_t limit = source_fill_limit(&extent->file->input, chunk, waited);
    enum decoded state = decode_chunk(extent, chunk, limit);
    const bool is_all = state == DECODED_ALL,
               is_end = is_stream && is_all && extent->worker->batch.kind == FRAMES_TO_END;
    if (segment_cut(&extent->segment, chunk, waited, is_end) != 0) {
        chunk->len = chunk->begin = chunk->origin.bytes = 0;
        return DECODED_FAILED;
    }
    if (is_end)
        chunk->origin.end = ENDS_FILE;
    else if (!is_stream && (is_all || state == DECODED_DRY))
        chunk->origin.end = ENDS_SEGMENT;
    return state;
}

/* Before a stream is waited for: has all of it counted, and begins another segment. 0 or -1. */
static int pause(struct extent *extent)
{
    struct file *file = extent->file;
    work_queue_hurry(extent->worker->source);
    if (segment_end(&extent->segment) != 0)
        return -1;
    file->content += extent->segment.content;
    if (segment_begin(&extent->segment, extent->worker, file, file->at.segment, file->content,
                      file->skip) != 0)
        return source_fail_for_memory(extent->worker, file);
    file->at.segment += !file->in_stream;
    return 0;
}

/* Decodes the batch, and pushes its chunks. 0 or -1. */
static int decode_batch(struct extent *extent)
{
    struct worker *worker = extent->worker;
    enum decoded state = DECODED_SOME;
    while (state != DECODED_ALL) {
        if (source_has_failed(worker))
            return -1;
        struct chunk *chunk = runner_choose(worker, FLOW_DECODED);
        if (!chunk)
            return -1;
        state = decode_records(extent, chunk);
        chunk->give &= state != DECODED_DRY && state != DECODED_FAILED;
        if (!(chunk->give && work_queue_hand_off(worker->source, chunk)) &&
            worker->sink->count(worker->sink->arg, chunk, FLOW_DECODED) != 0)
            return -1; /* nobody else counts it */
        if (state == DECODED_FAILED) {
            (void)segment_end(
                &extent->segment); /* with the record that it begins in the middle of */
            return -1;
        }
        if (state == DECODED_DRY && pause(extent) != 0)
            return -1;
    }
    return segment_end(&extent->segment);
}

/* --- ending it --- */

/* Lets go of a file whose end was decoded; other workers may still have batches. 0 or -1. */
static int end_file(struct extent *extent)
{
    struct source *source = extent->worker->source;
    struct file *file = extent->file;
    const struct content_range *range = &file->input.plan.range;
    struct error fault;
    int rc;
    if (file->is_wrong) {
        rc = source_fail_of(extent->worker, file, WRONG_IN_BLOCKS);
    } else if (content_check(range, file->content, true, &fault) != 0) {
        rc = source_fail_of(extent->worker, file, "%s", fault.text);
    } else {
        rc = segment_end_file(extent->worker, file);
    }
    if (rc == 0)
        return source_retire(extent->worker, file);
    source_leave(source, file);
    return -1;
}

/* Returns the format of pieces; NULL: there is none. */
static const struct piece_format *piece_format_of(const struct codec *codec)
{
#if HAVE_ISAL
    if (codec == &codec_gzip)
        return &piece_format_gzip;
#endif
    return codec == &codec_zstd ? &piece_format_zstd : NULL;
}

/* Takes the next batch of a file that this worker has to itself, if that must be decoded in order,
 * unless it is decoded in pieces. If not, or of a stream, which may have to be waited for, parks
 * the file. 1: taken; 0: it has done with the file; or -1. */
static int acquire_next(struct extent *extent)
{
    struct frames_ahead ahead;
    enum frames_result result = FRAMES_NO_MEMORY;
    int taken = 0;
    if (extent->file->input.bytes.regular)
        result = peek(extent, &ahead);
    if (result == FRAMES_END)
        return end_file(extent);
    if (result == FRAMES_FAILED)
        taken = -1;
    else if (result == FRAMES_AHEAD && ahead.kind != FRAMES_WHOLE)
        taken = pieces_acquire(extent, piece_format_of(extent->file->input.frames.codec), false);
    if (taken > 0)
        return 0;
    if (taken == 0 && result == FRAMES_AHEAD && ahead.kind != FRAMES_WHOLE)
        taken = acquire_batch(extent, &ahead);
    if (taken <= 0)
        source_park(extent->worker->source, extent->file);
    return taken;
}

/* Ends a batch. 1, 0 or -1, as acquire_next. */
static int end_batch(struct extent *extent)
{
    struct worker *worker = extent->worker;
    struct file *file = extent->file;
    if (!is_in_order(extent)) {
        source_leave(worker->source, file);
        return 0;
    }
    file->content += extent->segment.content;
    if (worker->batch.kind == FRAMES_TO_END)
        return end_file(extent);
    frames_return(&file->input.frames, &worker->batch);
    return acquire_next(extent);
}

/* --- the runner --- */

static int serial_run(struct extent *extent)
{
    struct worker *worker = extent->worker;
    const bool in_order = is_in_order(extent);
    int more;
    do {
        more = decode_batch(extent);
        if (more == 0) {
            more = end_batch(extent);
        } else {
            segment_close(&extent->segment);
            source_leave(worker->source, extent->file);
        }
    } while (more > 0);
    decode_memory_end(worker);
    if (in_order)
        decode_memory_release(worker, DECODER_KEPT);
    return more;
}

static int acquire_ahead(struct extent *extent, struct frames_ahead *ahead)
{
    struct worker *worker = extent->worker;
    const struct input *input = &extent->file->input;
    const struct bytes *bytes = &input->bytes;
    /* as far as is known without waiting, or another read */
    const bool is_over =
        bytes_are_over(bytes) || (bytes->regular && bytes->taken >= bytes->opened_size);
    const bool is_rest = ahead->whole == input->frames.pending.len && is_over;
    const bool is_large = input->frames.pending.offset == bytes->begin &&
                          bytes->opened_size >= bytes->begin + HELP_MIN;
    int taken = 0;
    if (ahead->kind != FRAMES_WHOLE || is_rest || worker->source->options.piece_size > 0)
        taken = pieces_acquire(extent, piece_format_of(input->frames.codec), true);
    if (taken > 0)
        return 0; /* there is a job */
    if (taken == 0)
        taken = acquire_batch(extent, ahead);
    if (taken <= 0)
        return taken;
    decode_memory_begin(worker);
    if (is_in_order(extent))
        source_set_current(worker->source, NULL);
    else
        source_use(worker->source, extent->file);
    if (is_large && worker->sink->call_for_help)
        worker->sink->call_for_help(worker->sink->arg);
    extent->run = serial_run;
    return 1;
}

int serial_acquire(struct extent *extent)
{
    struct source *source = extent->worker->source;
    struct frames_ahead ahead;
    if (work_queue_is_pending(source))
        return 0;
    switch (peek(extent, &ahead)) {
    case FRAMES_AHEAD:
        return acquire_ahead(extent, &ahead);
    case FRAMES_END:
        source_set_current(source, NULL);
        extent->run = end_file;
        return 1;
    case FRAMES_NO_MEMORY:
        return decode_memory_refuse(extent->worker, extent->file, FRAMES_SIZE_FIRST);
    default:
        return -1;
    }
}

/* SPDX-License-Identifier: MIT */
#include "worker.h"
#include "src/input/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* How long to wait for a stream before the GPU, which is busy, is looked at again. */
#define POLL_MS 1

/* Compressed bytes of a file for which a GPU may pay, so that it is worth decoding the first ones
 * to know how much content it has. */
#define SAMPLED_MIN ((uint64_t)32 << 20)
#define SAMPLE ((size_t)64 << 10)

/* Bytes of a stream that are kept. */
#define REPLAY_SIZE ((uint64_t)32 << 20)

/* --- which files --- */

/* True if a GPU may have the file: nothing was decoded of it, and no record is cut at its edges,
 * which no GPU completes. What one refused is not given to one again. */
static bool is_suitable(const struct file *file)
{
    const struct input *input = &file->input;
    const struct frame_batch *pending = &input->frames.pending;
    const struct shard_edges *edges = &input->plan.edges;
    const uint64_t taken = input->bytes.taken;
    const bool is_all = taken == 0 && edges->next == edges->file_end;
    if (!source_is_offloadable(input) || file->in_stream || file->is_refused)
        return false;
    if (!input->bytes.regular)
        return taken == pending->len && pending->offset == 0;
    return taken == edges->first && taken < input->bytes.opened_size &&
           (is_all || record_is_byte(&input->records.kind));
}

/* Sets what the first frame of a regular file states: its content, and whether that has a checksum,
 * which takes a GPU longer. */
static void see_stated(struct extent *extent)
{
    struct input *input = &extent->file->input;
    const struct codec *codec = input->frames.codec;
    unsigned char head[STATED_WITHIN];
    struct codec_frame frame;
    struct error error;
    const ssize_t len = bytes_peek(&input->bytes, head, sizeof head, input->bytes.taken, &error);
    if (len <= 0 || codec->peek(head, (size_t)len, &frame) == FRAME_UNKNOWN)
        return;
    extent->stated = frame.content == FRAME_UNSIZED ? 0 : (double)frame.content;
    extent->gpu_rate = source_gpu_rate(extent->worker->source, codec, &frame);
}

/* Decodes the first bytes of a regular file. Returns how many bytes of content each of them has; 0:
 * that is not known, or the file is small. */
static double sampled_ratio(const struct extent *extent)
{
    struct input *input = &extent->file->input;
    const struct codec *codec = input->frames.codec;
    const uint64_t offset = input->bytes.taken;
    if (input->bytes.opened_size - offset < SAMPLED_MIN)
        return 0;
    struct decoder *decoder = codec->open(&extent->worker->source->options.decoding);
    unsigned char *memory = malloc(2 * SAMPLE);
    struct decode_step step = {.in = memory, .cap = SAMPLE};
    struct error unused;
    ssize_t len = 0;
    if (decoder && memory)
        len = bytes_peek(&input->bytes, memory, SAMPLE, offset, &unused);
    if (len > 0) {
        step.in_len = (size_t)len;
        step.out = memory + SAMPLE;
    }
    double used = 0, made = 0;
    while (made < (double)len * STATED_RATIO &&
           codec->decode(decoder, &step, &unused) == DECODE_OK && step.used + step.made > 0) {
        used += (double)step.used;
        made += (double)step.made;
        step.in += step.used;
        step.in_len -= step.used;
    }
    decoder_close(decoder);
    free(memory);
    return used > 0 ? made / used : 0;
}

/* Returns a GPU that is idle and should decompress the file, or NULL. *waits: it should, once it is
 * idle. */
static struct engine *choose(const struct extent *extent, bool *waits)
{
    const struct input *input = &extent->file->input;
    const struct sink *sink = extent->worker->sink;
    struct offload_offer offer = {.gpu_rate = extent->gpu_rate,
                                  .together = input->frames.codec->together,
                                  .content = HUGE_VAL,
                                  .has_waited = extent->file->is_on_gpu};
    *waits = false;
    if (input->bytes.regular) {
        const double size = (double)(input->bytes.opened_size - input->frames.pending.offset);
        offer.counted = size * remaining_content_ratio(extent->worker->source);
        offer.content = fmax(extent->ratio > 0 ? size * extent->ratio : offer.counted,
                             fmin(extent->stated, size * STATED_RATIO));
    }
    return sink->offload(sink->arg, &offer, waits);
}

static int gpu_run(struct extent *extent);

int gpu_acquire(struct extent *extent)
{
    struct source *source = extent->worker->source;
    struct file *file = extent->file;
    struct bytes *bytes = &file->input.bytes;
    const struct frame_batch *pending = &file->input.frames.pending;
    bool waits;
    if (!extent->worker->sink->offload || !is_suitable(file) || work_queue_is_pending(source))
        return 0;
    extent->gpu_rate = file->input.frames.codec->gpu_rate;
    if (bytes->regular) {
        see_stated(extent);
        extent->ratio = sampled_ratio(extent);
    }
    if (!choose(extent, &waits) && !waits)
        return 0;
    if (!bytes->regular) { /* a socket reports an error only once, so it is told here */
        unsigned char byte;
        struct error error;
        if (bytes_keep(bytes, pending->data, pending->len, true) != 0)
            return 0;
        const ssize_t got = bytes_peek(bytes, &byte, 1, pending->offset, &error);
        if (got <= 0) {
            bytes_keep_no_more(bytes);
            return got < 0 ? source_fail(extent->worker, &error) : 0;
        }
    }
    source_set_current(source, NULL);
    decode_memory_begin(extent->worker);
    remaining_assign(source, file, true);
    extent->run = gpu_run;
    extent->segment.at = file->at;
    return 1;
}

/* --- beginning --- */

/* True if the run has failed or ended, so that the GPU need not be fed. */
static bool has_ended(struct worker *worker)
{
    const struct sink *sink = worker->sink;
    return source_has_failed(worker) || (sink->has_ended && sink->has_ended(sink->arg));
}

/* Helps others for a moment. */
static void help(struct worker *worker, const struct file *file)
{
    struct chunk *chunk = work_queue_acquire(worker->source);
    struct job *job = chunk ? NULL : work_queue_take(worker);
    if (chunk)
        (void)worker_count_handed_off(worker, chunk); /* a failure is met with the next one */
    else if (job)
        (void)job->run(job, worker); /* the same */
    (void)source_begin_work_at(worker, file->order, file->input.frames.pending.offset);
    if (!chunk && !job)
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000}, NULL);
}

/* Waits for a GPU that begins the file. 1; 0: it is the workers' after all; or -1. */
static int await_gpu(struct extent *extent)
{
    const struct input *input = &extent->file->input;
    const uint64_t offset = input->frames.pending.offset;
    const struct compressed_start start = {
        .codec = input->frames.codec,
        .number = extent->file->at.file,
        .offset = offset,
        .size = input->bytes.regular ? input->bytes.opened_size - offset : 0,
        .memlimit = extent->worker->source->options.decoding.memlimit};
    bool waits;
    extent->next = (struct compressed_next){.is_wanted = true, .at = offset, .need = 1};
    while (!has_ended(extent->worker)) {
        struct engine *gpu = choose(extent, &waits);
        extent->gpu = gpu ? gpu_decoder_begin(gpu, &start) : NULL;
        if (extent->gpu)
            return 1;
        if (!gpu && !waits)
            return 0;
        if (!gpu)
            help(extent->worker, extent->file);
    }
    return -1;
}

/* --- chunks --- */

/* Fills the chunk from byte `at` of a regular file. 0 or -1. */
static int fill_from_file(struct extent *extent, struct chunk *chunk, uint64_t at)
{
    const struct input *input = &extent->file->input;
    uint64_t left = input->bytes.opened_size - at;
    size_t len = left < chunk->cap ? (size_t)left : chunk->cap;
    struct error error;
    ssize_t got = parallel_read(extent->parallel, &input->bytes, chunk->data, len, at, &error);
    chunk->len = got > 0 ? (size_t)got : 0;
    chunk->origin.end = len == left ? ENDS_FILE : ENDS_NOTHING;
    return got < 0 ? source_fail(extent->worker, &error) : 0;
}

/* Returns whether to read more of a stream: what has arrived, or what comes while the GPU is busy
 * or has too few bytes to go on, and does not go back. */
static bool is_read_on(const struct extent *extent, bool is_enough)
{
    const struct bytes *bytes = &extent->file->input.bytes;
    for (int wait_ms = 0; !bytes_ready(bytes, wait_ms); wait_ms = POLL_MS) {
        const int busy = gpu_decoder_poll(extent->gpu);
        if (busy <= 0)
            return busy == 0 && !is_enough;
    }
    return true;
}

/* Reads on in a stream, as bytes_read. The bytes, or -1: the run has failed. */
static ssize_t read_stream(struct extent *extent, unsigned char *out, size_t cap)
{
    struct error error;
    ssize_t got = bytes_read(&extent->file->input.bytes, out, cap, &error);
    return got < 0 ? source_fail(extent->worker, &error) : got;
}

/* Returns the most bytes of a pipe that are kept, so that it can be begun anew. */
static uint64_t replay_max(const struct source *source)
{
    return source->options.replay_max > 0 ? source->options.replay_max : REPLAY_SIZE;
}

/* Drops what the GPU will not want again, once more has come than is kept: from then on the file
 * cannot be begun anew. */
static void limit_window(struct extent *extent)
{
    struct replay_window *window = &extent->file->input.bytes.window;
    if (window->end - extent->file->input.frames.pending.offset >
        replay_max(extent->worker->source))
        window_drop(window, extent->next.again);
}

/* Fills the chunk from byte `at` of a stream: with what was kept, and what has arrived. 0 or -1. */
static int fill_from_stream(struct extent *extent, struct chunk *chunk, uint64_t at)
{
    struct bytes *bytes = &extent->file->input.bytes;
    struct replay_window *window = &bytes->window;
    while (window->end < at && !bytes->ended) { /* what is left out */
        size_t max = at - window->end < chunk->cap ? (size_t)(at - window->end) : chunk->cap;
        (void)is_read_on(extent, false); /* sees through what came before */
        if (read_stream(extent, chunk->data, max) < 0)
            return -1;
        limit_window(extent);
    }
    chunk->len = window_copy(window, at, chunk->data, chunk->cap);
    while (chunk->len < chunk->cap && !bytes->ended &&
           is_read_on(extent, chunk->len >= extent->next.need)) {
        ssize_t got = read_stream(extent, chunk->data + chunk->len, chunk->cap - chunk->len);
        if (got < 0)
            return -1;
        chunk->len += (size_t)got;
    }
    bool is_end = bytes->ended && at + chunk->len == window->end;
    chunk->origin.end = is_end ? ENDS_FILE : ENDS_NOTHING;
    return 0;
}

/* --- feeding --- */

/* Fills a chunk, and has the GPU take it. 1: it wants more, and the file has not ended before that;
 * 0; or -1. */
static int feed(struct extent *extent, struct chunk *chunk)
{
    const uint64_t at = extent->next.at;
    struct bytes *bytes = &extent->file->input.bytes;
    source_locate_chunk(extent->file, &extent->segment.at, chunk);
    int rc =
        bytes->regular ? fill_from_file(extent, chunk, at) : fill_from_stream(extent, chunk, at);
    gpu_decoder_submit(extent->gpu, chunk, at, &extent->next);
    if (!extent->next.is_wanted)
        extent->next.at = at; /* it says nothing of that */
    remaining_add_read(extent->worker->source, extent->file, (int64_t)(extent->next.at - at), 0);
    if (rc != 0)
        return -1;
    if (!extent->next.is_wanted)
        return 0;
    if (bytes->regular)
        return extent->next.at <= bytes->opened_size;
    limit_window(extent);
    return !bytes->ended || extent->next.at <= bytes->window.end;
}

/* Feeds the GPU until it wants no more. Sets *rest, whose tail the caller frees. 0 or -1. */
static int feed_all(struct extent *extent, struct compressed_rest *rest)
{
    struct bytes *bytes = &extent->file->input.bytes;
    struct chunk *chunk;
    int more = 1;
    extent->parallel = bytes->regular ? parallel_read_open() : NULL;
    if (!bytes->regular)
        bytes->taken = bytes->window.end; /* the GPU has all that was seen */
    while (more > 0 && (chunk = gpu_decoder_acquire(extent->gpu)) != NULL)
        more = has_ended(extent->worker) ? -1 : feed(extent, chunk);
    parallel_read_close(extent->parallel);
    if (gpu_decoder_finish(extent->gpu, rest) != 0)
        return source_fail(extent->worker, &(struct error){""});
    return more < 0 ? -1 : 0;
}

/* --- what comes after it --- */

/* Leaves the file to the workers, as if it had not been begun; `loss`: why the GPU was lost, or
 * NULL. 0 or -1. */
static int begin_anew(struct extent *extent, const char *loss)
{
    struct source *source = extent->worker->source;
    struct file *file = extent->file;
    struct input *input = &file->input;
    const uint64_t begin = input->frames.pending.offset;
    if (input->bytes.regular) {
        frames_seek(&input->frames, begin);
    } else if (bytes_rewind(&input->bytes, begin) != 0) {
        return source_fail_of(
            extent->worker, file,
            "the GPU cannot decompress it (%s), and more than %.0f MiB came through the pipe, "
            "which cannot be read again; use --device=cpu",
            loss ? loss : "the data may be corrupt", (double)replay_max(source) / 0x1p20);
    }
    remaining_add_read(source, file, (int64_t)(begin - extent->next.at), 0);
    remaining_assign(source, file, false);
    file->is_refused = true;
    return 0;
}

/* Leaves what follows a file that the GPU has decompressed: the last record, and what was added to
 * the file since. 0 or -1. */
static int leave_rest(struct extent *extent, const struct compressed_rest *rest)
{
    struct file *file = extent->file;
    struct input *input = &file->input;
    const uint64_t end = bytes_end(&input->bytes);
    if (records_begin_with(&input->records, rest->tail, rest->tail_len) != 0)
        return source_fail_for_memory(extent->worker, file);
    if (input->bytes.regular)
        frames_seek(&input->frames, end);
    else
        (void)bytes_rewind(&input->bytes, end);
    input->frames.pending.offset = end;
    input->is_begun |= rest->bytes > 0;
    remaining_add_read(extent->worker->source, file, (int64_t)(end - extent->next.at), 0);
    file->in_stream = file->is_rest = true;
    file->at.index = rest->index;
    return 0;
}

/* So many more workers, or fewer, wait for a GPU. */
static void add_waiting(struct source *source, int workers)
{
    pthread_mutex_lock(&source->lock);
    source->memory.waiting += (unsigned)workers;
    pthread_mutex_unlock(&source->lock);
}

static int gpu_run(struct extent *extent)
{
    struct source *source = extent->worker->source;
    struct file *file = extent->file;
    add_waiting(source, 1);
    int rc = await_gpu(extent);
    add_waiting(source, -1);
    if (rc > 0) {
        struct compressed_rest rest;
        file->input.frames.pending.len = 0;
        rc = feed_all(extent, &rest);
        if (rc == 0)
            rc = rest.is_refused ? begin_anew(extent, rest.loss) : leave_rest(extent, &rest);
        free(rest.tail);
    } else if (rc == 0) {
        bytes_keep_no_more(&file->input.bytes);
        remaining_assign(source, file, false);
    }
    if (rc == 0)
        source_park(source, file);
    else
        source_leave(source, file);
    decode_memory_end(extent->worker);
    return rc;
}

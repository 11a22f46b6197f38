/* SPDX-License-Identifier: MIT */
#include "runner.h"
#include "src/bytes/parallel_read.h"

#include <math.h>
#include <stdlib.h>

/* How long to wait for a stream before the GPU, which is busy, is looked at again. */
#define POLL_MS 1

/* --- which files --- */

/* True if nothing was decoded of a file, and no record is cut at its edges, which no GPU completes.
 */
static bool is_suitable_file(const struct input *input)
{
    const struct shard_edges *edges = &input->plan.edges;
    const uint64_t taken = input->bytes.taken;
    bool is_all = taken == 0 && edges->next == edges->file_end;
    return taken == edges->first && taken < input->bytes.opened_size &&
           (is_all || record_is_byte(&input->records.kind));
}

/* True if a stream can be given from here on: where it begins, or where no record can be cut. */
static bool is_suitable_stream(const struct input *input)
{
    const struct frame_batch *pending = &input->frames.pending;
    return (input->bytes.taken == pending->len && pending->offset == 0) ||
           record_is_byte(&input->records.kind);
}

/* True if a GPU may have the file; what one left is not given to one again. */
static bool is_suitable(const struct file *file)
{
    const struct input *input = &file->input;
    return source_is_offloadable(input) && !file->in_stream && !file->is_refused &&
           (input->bytes.regular ? is_suitable_file(input) : is_suitable_stream(input));
}

struct engine *gpu_choose(struct worker *worker, const struct file *file)
{
    const struct input *input = &file->input;
    const struct source *source = worker->source;
    const struct sink *sink = worker->sink;
    struct offload_offer offer = {.gpu_rate = input->frames.codec->gpu_rate,
                                  .left = HUGE_VAL,
                                  .is_last = source->opened == source->count};
    if (input->bytes.regular)
        offer.left = (double)(input->bytes.opened_size - input->frames.pending.offset) *
                     remaining_content_ratio(worker->source);
    return sink->offload ? sink->offload(sink->arg, &offer) : NULL;
}

bool gpu_begin(struct extent *extent, struct engine *gpu, struct compressed_start start)
{
    const struct bytes *bytes = &extent->file->input.bytes;
    start.codec = extent->file->input.frames.codec;
    start.size = bytes->regular ? bytes->opened_size - start.offset : 0;
    start.memlimit = extent->worker->source->options.decoding.memlimit;
    extent->next = (struct compressed_next){.is_wanted = true, .at = start.offset, .need = 1};
    extent->gpu = gpu_decoder_begin(gpu, &start);
    return extent->gpu != NULL;
}

/* Begins to keep a file, if it is a stream, with what was not handed out, or waits for its next
 * bytes. 1; 0: there are none, or no memory for them; or -1. A socket reports an error only once,
 * so it is told here. */
static int keep(struct worker *worker, struct input *input)
{
    const struct frame_batch *first = &input->frames.pending;
    unsigned char byte;
    struct error error;
    if (input->bytes.regular)
        return 1;
    if (bytes_keep(&input->bytes, first->data, first->len) != 0)
        return 0;
    ssize_t got = bytes_peek(&input->bytes, &byte, 1, first->offset, &error);
    if (got <= 0)
        bytes_keep_no_more(&input->bytes);
    return got < 0 ? source_fail(worker, &error) : got > 0;
}

static int gpu_run(struct extent *extent);

int gpu_acquire(struct extent *extent)
{
    struct worker *worker = extent->worker;
    struct source *source = worker->source;
    struct input *input = &extent->file->input;
    struct engine *gpu;
    if (!is_suitable(extent->file) || work_queue_is_pending(&source->queue) ||
        !(gpu = gpu_choose(worker, extent->file)))
        return 0;
    int kept = keep(worker, input);
    if (kept <= 0)
        return kept;
    const struct compressed_start start = {.offset = input->frames.pending.offset};
    if (!gpu_begin(extent, gpu, start)) {
        bytes_keep_no_more(&input->bytes);
        return 0;
    }
    input->frames.pending.len = 0;
    source_set_current(source, NULL);
    decode_memory_begin(worker);
    extent->run = gpu_run;
    extent->segment.at = extent->file->at;
    return 1;
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
    for (int wait_ms = 0; !bytes_ready(bytes, wait_ms); wait_ms = POLL_MS)
        if (!gpu_decoder_poll(extent->gpu))
            return !is_enough && !gpu_decoder_loss(extent->gpu) &&
                   !gpu_decoder_goes_back(extent->gpu);
    return true;
}

/* Reads on in a stream, as bytes_read. The bytes, or -1: the run has failed. */
static ssize_t read_stream(struct extent *extent, unsigned char *out, size_t cap)
{
    struct error error;
    ssize_t got = bytes_read(&extent->file->input.bytes, out, cap, &error);
    return got < 0 ? source_fail(extent->worker, &error) : got;
}

/* Drops bytes before `at` of what is kept of a stream, if that became too much: what the GPU may
 * leave, too. */
static void limit_window(struct extent *extent, uint64_t at)
{
    struct replay_window *window = &extent->file->input.bytes.window;
    if (window_size(window) <= remaining_replay_max(extent->worker->source))
        return;
    window_drop(window, at);
    if (at > extent->next.kept)
        gpu_decoder_insist(extent->gpu);
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
        limit_window(extent, window->end);
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

/* True if the file ends before what comes next. Drops what a stream need not or cannot keep. */
static bool is_cut_short(struct extent *extent)
{
    struct bytes *bytes = &extent->file->input.bytes;
    if (bytes->regular)
        return extent->next.at > bytes->opened_size;
    window_drop(&bytes->window, extent->next.kept);
    limit_window(extent, extent->next.again);
    return bytes->ended && extent->next.at > bytes->window.end;
}

/* --- feeding --- */

/* Fills a chunk, and has the GPU take it. 1: it wants more; 0; or -1. */
static int feed(struct extent *extent, struct chunk *chunk)
{
    const uint64_t at = extent->next.at;
    source_locate_chunk(extent->file, &extent->segment.at, chunk);
    int rc = extent->file->input.bytes.regular ? fill_from_file(extent, chunk, at)
                                               : fill_from_stream(extent, chunk, at);
    gpu_decoder_submit(extent->gpu, chunk, at, &extent->next);
    if (!extent->next.is_wanted)
        extent->next.at = at; /* it says nothing of that */
    remaining_add_read(extent->worker->source, extent->file, (int64_t)(extent->next.at - at), 0);
    if (rc != 0)
        return -1;
    return extent->next.is_wanted && !is_cut_short(extent);
}

/* Checks that the file has what is left. The GPU skips frames without looking, so it may stand
 * where a stream was not read yet, or where a file ends that has grown meanwhile. 0 or -1. */
static int check_rest(struct extent *extent, const struct compressed_rest *rest)
{
    struct worker *worker = extent->worker;
    struct bytes *bytes = &extent->file->input.bytes;
    struct error error;
    if (!bytes->regular && bytes_skip_to(bytes, rest->offset, &error) != 0)
        return source_fail(worker, &error);
    uint64_t end = bytes_end(bytes);
    if (rest->offset > end && bytes->regular && bytes_find_end(bytes, &end, &error) != 0)
        return source_fail(worker, &error);
    return rest->offset <= end ? 0 : source_fail_truncated(worker, extent->file, end);
}

/* True if the run has failed or ended, so that the GPU need not be fed. */
static bool has_ended(struct worker *worker)
{
    const struct sink *sink = worker->sink;
    return source_has_failed(worker) || (sink->has_ended && sink->has_ended(sink->arg));
}

int gpu_feed(struct extent *extent, struct compressed_rest *rest)
{
    struct bytes *bytes = &extent->file->input.bytes;
    struct chunk *chunk;
    int more = 1;
    *rest = (struct compressed_rest){.tail = NULL};
    extent->parallel = bytes->regular ? parallel_read_open() : NULL;
    if (!bytes->regular)
        bytes->taken = bytes->window.end; /* the GPU has all that was seen */
    while (more > 0 && (chunk = gpu_decoder_acquire(extent->gpu)) != NULL)
        more = has_ended(extent->worker) ? -1 : feed(extent, chunk);
    parallel_read_close(extent->parallel);
    if (more < 0)
        return -1;
    if (gpu_decoder_finish(extent->gpu, rest) != 0)
        return source_fail(extent->worker, &(struct error){""});
    if (rest->is_left)
        return check_rest(extent, rest);
    rest->offset = bytes_end(bytes);
    rest->skip = 0;
    return 0;
}

/* --- what is left --- */

int gpu_go_back(struct extent *extent, const struct compressed_rest *rest)
{
    struct source *source = extent->worker->source;
    struct input *input = &extent->file->input;
    struct error error;
    if (!input->bytes.regular && bytes_rewind(&input->bytes, rest->offset) != 0) {
        const char *loss = gpu_decoder_loss(extent->gpu);
        error_of(&error, input->bytes.name,
                 "the GPU failed (%s), and the CPU cannot start again: more than %.0f MiB of a "
                 "frame came through a pipe; use --device=cpu",
                 loss ? loss : "it refuses the data",
                 (double)remaining_replay_max(source) / 0x1p20);
        return source_fail(extent->worker, &error);
    }
    if (input->bytes.regular)
        frames_seek(&input->frames, rest->offset);
    else
        input->frames.pending.offset = rest->offset;
    input->is_begun |= rest->bytes > 0;
    remaining_add_read(source, extent->file, (int64_t)(rest->offset - extent->next.at), 0);
    return 0;
}

/* Leaves the file to be decoded as one stream from where the GPU left it. 0 or -1. */
static int leave_rest(struct extent *extent, const struct compressed_rest *rest)
{
    struct source *source = extent->worker->source;
    struct file *file = extent->file;
    if (records_begin_with(&file->input.records, rest->tail, rest->tail_len) != 0)
        return source_fail_for_memory(extent->worker, file);
    if (gpu_go_back(extent, rest) != 0)
        return -1;
    file->is_refused = file->in_stream = true;
    file->wrong = rest->is_wrong ? WRONG_ON_GPU : NULL;
    file->at.index = rest->index;
    file->content = 0; /* it is counted from what is left, as skip is */
    file->skip = rest->skip;
    source_park(source, file);
    return 0;
}

static int gpu_run(struct extent *extent)
{
    struct compressed_rest rest;
    int rc = gpu_feed(extent, &rest);
    if (rc == 0)
        rc = leave_rest(extent, &rest);
    free(rest.tail);
    if (rc != 0)
        source_leave(extent->worker->source, extent->file);
    decode_memory_end(extent->worker);
    return rc;
}

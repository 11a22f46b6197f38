/* SPDX-License-Identifier: MIT */
#include "gpu.h"
#include "src/bytes/parallel_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* How long to wait for a stream before the GPU, which is busy, is looked at again. */
#define POLL_MS 1

/* --- which files --- */

/* True if no record is cut at the edges of a shard: the GPU could not complete it. */
static bool has_whole_records(const struct input *input)
{
    const struct shard_edges *edges = &input->plan.edges;
    bool is_all = input->bytes.taken == 0 && edges->next == edges->file_end;
    return record_is_byte(&input->records.kind) || is_all;
}

/* True if a regular file of which nothing was decoded can be given from its first byte on. */
static bool is_suitable_file(const struct input *input)
{
    bool is_untouched = input->bytes.taken == input->plan.edges.first;
    return source_is_offloadable(input) && is_untouched &&
           input->bytes.taken < input->bytes.opened_size && has_whole_records(input);
}

/* True if a stream can be given from here on: where it begins, or where no record can be cut. */
static bool is_suitable_stream(const struct input *input)
{
    bool is_untouched =
        input->bytes.taken == input->frames.pending.len && input->frames.pending.offset == 0;
    return !input->bytes.regular && !input_is_serial(input) &&
           !content_is_partial(&input->plan.range) && !input->has_header &&
           (is_untouched || record_is_byte(&input->records.kind));
}

/* True if a GPU may have the file; what one left is not given to one again. */
static bool is_suitable(const struct file *file)
{
    const struct input *input = &file->input;
    return input->frames.codec->on_gpu && !file->in_stream && !file->is_refused &&
           (is_suitable_file(input) || is_suitable_stream(input));
}

struct engine *gpu_choose(struct worker *worker, const struct file *file)
{
    const struct input *input = &file->input;
    const struct source *source = worker->source;
    const struct sink *sink = worker->sink;
    struct offload_offer offer = {.left = HUGE_VAL, .is_last = source->opened == source->count};
    if (input->bytes.regular)
        offer.left = (double)(input->bytes.opened_size - input->frames.pending.offset) *
                     left_content_ratio(worker->source);
    return sink->offload ? sink->offload(sink->arg, &offer) : NULL;
}

/* Begins to keep a stream with what was not handed out, or waits for its next bytes. TAKEN_NOTHING:
 * there are none, or no memory for them. A socket reports an error only once, so it is told here.
 */
static enum taken keep_stream(struct source *source, struct input *input)
{
    const struct frame_batch *first = &input->frames.pending;
    unsigned char byte;
    struct reason why;
    if (bytes_keep(&input->bytes, first->offset, first->data, first->len) != 0)
        return TAKEN_NOTHING;
    ssize_t got = bytes_see(&input->bytes, &byte, 1, first->offset, &why);
    if (got > 0)
        return TAKEN;
    bytes_keep_no_more(&input->bytes);
    if (got == 0)
        return TAKEN_NOTHING;
    source_fail(source, &why);
    return TAKEN_FAILED;
}

static int gpu_run(struct worker *worker, struct extent *extent);

enum taken gpu_take(struct worker *worker, struct extent *extent)
{
    struct source *source = worker->source;
    struct file *file = extent->file;
    struct input *input = &file->input;
    if (!is_suitable(file) || idle_is_pending(&source->idle))
        return TAKEN_NOTHING;
    struct engine *gpu = gpu_choose(worker, file);
    if (!gpu)
        return TAKEN_NOTHING;
    enum taken taken = input->bytes.regular ? TAKEN : keep_stream(source, input);
    if (taken != TAKEN)
        return taken;
    const uint64_t begin = input->bytes.regular ? input->bytes.taken : input->frames.pending.offset;
    const struct compressed_start start = {
        .offset = begin,
        .size = input->bytes.regular ? input->bytes.opened_size - begin : 0,
        .memlimit = source->options.decoding.memlimit};
    struct gpu_decoder *decoder = gpu_decoder_begin(gpu, &start);
    if (!decoder) {
        bytes_keep_no_more(&input->bytes);
        return TAKEN_NOTHING;
    }
    input->frames.pending.len = 0;
    source_set_current(source, NULL);
    budget_begin(worker);
    extent->run = gpu_run;
    extent->gpu = decoder;
    extent->offset = begin;
    return TAKEN;
}

/* --- chunks --- */

/* Fills the chunk from byte `at` of a regular file. 0 or -1. */
static int fill_from_file(struct feed *feed, struct chunk *chunk, uint64_t at)
{
    const struct input *input = &feed->file->input;
    uint64_t left = input->bytes.opened_size - at;
    size_t len = left < chunk->cap ? (size_t)left : chunk->cap;
    struct reason why;
    ssize_t got = parallel_read(feed->parallel, &input->bytes, chunk->data, len, at, &why);
    chunk->len = got > 0 ? (size_t)got : 0;
    chunk->origin.end = len == left ? ENDS_FILE : ENDS_NOTHING;
    return got < 0 ? source_fail(feed->worker->source, &why) : 0;
}

/* Returns whether to read more of a stream: what has arrived, or what comes while the GPU is busy
 * or has too few bytes to go on. */
static bool is_read_on(const struct feed *feed, bool is_enough)
{
    const struct input *input = &feed->file->input;
    while (!bytes_ready(&input->bytes, 0)) {
        if (!gpu_decoder_poll(feed->gpu))
            return !is_enough && !gpu_decoder_loss(feed->gpu);
        if (bytes_ready(&input->bytes, POLL_MS))
            break;
    }
    return true;
}

/* Reads on in a stream, to out[0..cap). 0 or -1. */
static int read_stream(struct feed *feed, unsigned char *out, size_t cap, size_t *len)
{
    struct reason why;
    ssize_t got = bytes_take(&feed->file->input.bytes, out, cap, &why);
    *len = got > 0 ? (size_t)got : 0;
    return got < 0 ? source_fail(feed->worker->source, &why) : 0;
}

/* Fills the chunk from byte `at` of a stream: with what was kept, and what has arrived. 0 or -1. */
static int fill_from_stream(struct feed *feed, struct chunk *chunk, uint64_t at)
{
    struct input *input = &feed->file->input;
    struct replay_window *window = &input->bytes.window;
    size_t len;
    while (window->end < at && !input->bytes.ended) { /* what is left out */
        size_t most = at - window->end < chunk->cap ? (size_t)(at - window->end) : chunk->cap;
        (void)is_read_on(feed, false); /* sees through what came before */
        if (read_stream(feed, chunk->data, most, &len) != 0)
            return -1;
        if (window_size(window) > left_replay_most(feed->worker->source))
            window_drop(window, window->end);
    }
    chunk->len = window_copy(window, at, chunk->data, chunk->cap);
    while (chunk->len < chunk->cap && !input->bytes.ended &&
           is_read_on(feed, chunk->len >= feed->next.need)) {
        if (read_stream(feed, chunk->data + chunk->len, chunk->cap - chunk->len, &len) != 0)
            return -1;
        chunk->len += len;
    }
    chunk->origin.end = input->bytes.ended && window->end >= at ? ENDS_FILE : ENDS_NOTHING;
    return 0;
}

/* True if the file ends before what comes next. Drops what a stream need not or cannot keep. */
static bool is_cut_short(struct feed *feed)
{
    struct input *input = &feed->file->input;
    if (input->bytes.regular)
        return feed->next.at > input->bytes.opened_size;
    window_drop(&input->bytes.window, feed->next.kept);
    if (window_size(&input->bytes.window) > left_replay_most(feed->worker->source))
        window_drop(&input->bytes.window, feed->next.at);
    return input->bytes.ended && feed->next.at > input->bytes.window.end;
}

/* --- feeding --- */

void gpu_feed_begin(struct feed *feed, struct worker *worker, struct file *file,
                    struct gpu_decoder *gpu, uint64_t offset)
{
    struct input *input = &file->input;
    if (!input->bytes.regular)
        input->bytes.taken = input->bytes.window.end; /* the GPU has all that was seen */
    *feed = (struct feed){.worker = worker,
                          .file = file,
                          .gpu = gpu,
                          .parallel = input->bytes.regular ? parallel_read_open() : NULL,
                          .at = file->at,
                          .next = {.is_wanted = true, .at = offset, .need = 1},
                          .read = offset};
}

/* Fills a chunk, and has the GPU take it. 1: it wants more; 0; or -1. */
static int feed_chunk(struct feed *feed, struct chunk *chunk)
{
    const uint64_t at = feed->next.at;
    source_place_chunk(feed->file, &feed->at, chunk);
    int rc = feed->file->input.bytes.regular ? fill_from_file(feed, chunk, at)
                                             : fill_from_stream(feed, chunk, at);
    gpu_decoder_submit(feed->gpu, chunk, at, &feed->next);
    if (rc != 0)
        return -1;
    if (!feed->next.is_wanted || is_cut_short(feed))
        return 0;
    left_add_read(feed->worker->source, feed->file, (int64_t)(feed->next.at - at), 0);
    feed->read = feed->next.at;
    return 1;
}

/* Reads a stream on to a byte of it. 0 or -1. */
static int read_on_to(struct feed *feed, uint64_t at)
{
    struct bytes *bytes = &feed->file->input.bytes;
    unsigned char byte;
    struct reason why;
    while (bytes->window.end < at && !bytes->ended) {
        if (bytes_see(bytes, &byte, 1, bytes->window.end, &why) < 0)
            return source_fail(feed->worker->source, &why);
        window_drop(&bytes->window, at);
    }
    return 0;
}

/* Checks that the file has what is left. The GPU skips frames without looking, so it may stand
 * where a stream was not read yet, or where a file ends that has grown meanwhile. 0 or -1. */
static int check_rest(struct feed *feed, const struct compressed_rest *rest)
{
    const struct input *input = &feed->file->input;
    struct reason why;
    if (!rest->is_left)
        return 0;
    if (!input->bytes.regular && read_on_to(feed, rest->offset) != 0)
        return -1;
    uint64_t end = input->bytes.regular ? input->bytes.opened_size : input->bytes.window.end;
    if (rest->offset <= end)
        return 0;
    if (input->bytes.regular && bytes_find_end(&input->bytes, &end, &why) != 0)
        return source_fail(feed->worker->source, &why);
    if (rest->offset <= end)
        return 0;
    reason_of(&why, input->bytes.name, "truncated %s data, at byte %" PRIu64,
              input->frames.codec->name, end);
    return source_fail(feed->worker->source, &why);
}

/* True if the run has failed or ended, so that the GPU need not be fed. */
static bool has_ended(const struct worker *worker)
{
    const struct sink *sink = worker->sink;
    return source_has_failed(worker->source) || (sink->has_ended && sink->has_ended(sink->arg));
}

int gpu_feed(struct feed *feed, struct compressed_rest *rest)
{
    struct source *source = feed->worker->source;
    struct chunk *chunk;
    int more = 1;
    while (more > 0 && (chunk = gpu_decoder_acquire(feed->gpu)) != NULL)
        more = has_ended(feed->worker) ? -1 : feed_chunk(feed, chunk);
    parallel_read_close(feed->parallel);
    if (more < 0)
        return -1;
    if (gpu_decoder_finish(feed->gpu, rest) != 0)
        return source_fail(source, &(struct reason){""});
    if (check_rest(feed, rest) == 0)
        return 0;
    free(rest->tail);
    return -1;
}

/* --- what is left --- */

int gpu_replay_from(struct feed *feed, uint64_t at)
{
    struct source *source = feed->worker->source;
    struct input *input = &feed->file->input;
    if (bytes_rewind(&input->bytes, at) == 0)
        return 0;
    const char *loss = gpu_decoder_loss(feed->gpu);
    struct reason why;
    reason_of(&why, input->bytes.name,
              "the GPU failed (%s), and the CPU cannot start again: more than %.0f MiB of a frame "
              "came through a pipe; use --device=cpu",
              loss ? loss : "it refuses the data", (double)left_replay_most(source) / 0x1p20);
    return source_fail(source, &why);
}

/* Makes the input go on with what is left. 0 or -1. */
static int go_back(struct feed *feed, const struct compressed_rest *rest)
{
    struct input *input = &feed->file->input;
    if (input->bytes.regular) {
        frames_seek(&input->frames, rest->is_left ? rest->offset : input->bytes.opened_size);
        left_add_read(feed->worker->source, feed->file, (int64_t)(input->bytes.taken - feed->read),
                      0);
        return 0;
    }
    if (gpu_replay_from(feed, rest->is_left ? rest->offset : input->bytes.window.end) != 0)
        return -1;
    input->frames.pending.offset = input->bytes.taken;
    return 0;
}

/* Leaves the file to be decoded as one stream from where the GPU left it. 0 or -1. */
static int leave_rest(struct feed *feed, const struct compressed_rest *rest)
{
    struct source *source = feed->worker->source;
    struct file *file = feed->file;
    if (records_begin_with(&file->input.records, rest->tail, rest->tail_len) != 0)
        return source_fail_for_memory(source, file->input.bytes.name);
    if (go_back(feed, rest) != 0)
        return -1;
    file->is_refused = file->in_stream = true;
    file->is_wrong = rest->is_wrong;
    file->at.index = rest->index;
    file->content = 0; /* it is counted from what is left, as skip is */
    file->skip = rest->is_left ? rest->skip : 0;
    source_park(source, file);
    return 0;
}

static int gpu_run(struct worker *worker, struct extent *extent)
{
    struct compressed_rest rest;
    struct feed feed;
    gpu_feed_begin(&feed, worker, extent->file, extent->gpu, extent->offset);
    int rc = gpu_feed(&feed, &rest);
    if (rc == 0) {
        rc = leave_rest(&feed, &rest);
        free(rest.tail);
    }
    if (rc != 0)
        source_leave(worker->source, extent->file);
    budget_end(worker);
    return rc == 0 ? 1 : -1;
}

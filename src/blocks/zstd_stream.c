/* SPDX-License-Identifier: MIT */
/* Decodes one zstd frame in runs of blocks. The content is what libzstd would give: its size and
 * its checksum are compared before the end. */
#include "block_format.h"
#include "src/hash/xxh64.h"
#include "window.h"
#include "zstd_blocks.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(RUN_CONTENT_MAX <= WINDOW_RUN_MAX, "a window has no room for a run");

struct zstd_stream {
    struct zstd_frame_header header;
    struct zstd_walk walk;
    size_t header_left; /* bytes of the header to be passed */
    unsigned char checksum[ZSTD_CHECKSUM_SIZE];
    size_t checksum_left;      /* bytes of it to come */
    bool verifies;             /* the checksum */
    const unsigned char *kept; /* what the run before has of the next block, which was cut */
    size_t kept_len;
    bool is_cut;      /* the input has ended before the frame */
    bool is_executed; /* the run that is at hand was, */
    uint64_t content; /* bytes that all so far have given */
    struct xxh64 hash;
};

/* True if libzstd takes a window: it counts them in powers of two. */
static bool is_within(uint64_t window, uint64_t limit)
{
    uint64_t max = 1;
    while (max <= limit / 2)
        max *= 2;
    return window <= max;
}

static uint64_t zstd_window(const struct codec_options *options, const unsigned char *in,
                            size_t len)
{
    struct zstd_frame_header header;
    struct zstd_walk walk;
    const bool is_parsed =
        zstd_parse_frame(in, len, &header) == ZSTD_PARSED && zstd_walk_begin(&walk, &header);
    return is_parsed && is_within(header.window, options->memlimit) ? header.window : 0;
}

static int open_run(void *run, const struct block_loops *loops)
{
    (void)loops;
    return zstd_run_open(run);
}

static void close_run(void *run)
{
    zstd_run_close(run);
}

static void parse_run(void *run, const struct block_loops *loops)
{
    zstd_parse(run, loops);
}

static void *open_stream(const struct block_loops *loops)
{
    (void)loops;
    return calloc(1, sizeof(struct zstd_stream));
}

static void begin(void *arg, const struct codec_options *options, uint64_t again,
                  const unsigned char *in, size_t len)
{
    struct zstd_stream *stream = arg;
    (void)again;
    *stream = (struct zstd_stream){.content = 0};
    (void)zstd_parse_frame(in, len, &stream->header);
    (void)zstd_walk_begin(&stream->walk, &stream->header);
    stream->header_left = stream->header.size;
    stream->checksum_left = stream->header.has_checksum ? ZSTD_CHECKSUM_SIZE : 0;
    stream->verifies = stream->header.has_checksum && !options->no_check;
    xxh64_begin(&stream->hash);
}

static size_t left_in(const struct decode_step *step)
{
    return step->in_len - step->used;
}

static void pass_header(struct zstd_stream *stream, struct decode_step *step)
{
    const size_t len = left_in(step), some = len < stream->header_left ? len : stream->header_left;
    stream->header_left -= some;
    step->used += some;
}

/* Takes the checksum, with which the last run is complete. */
static enum filled read_checksum(struct zstd_stream *stream, struct decode_step *step)
{
    const size_t len = left_in(step),
                 some = len < stream->checksum_left ? len : stream->checksum_left;
    if (some > 0)
        memcpy(stream->checksum + ZSTD_CHECKSUM_SIZE - stream->checksum_left, step->in + step->used,
               some);
    stream->checksum_left -= some;
    step->used += some;
    return stream->checksum_left > 0 ? FILLED_PART : FILLED_LAST;
}

/* Begins a run. One that was cut is not filled again before this one. */
static void begin_run(struct zstd_stream *stream, struct zstd_run *run)
{
    size_t used = 0;
    zstd_walk_begin_run(&stream->walk, run);
    if (stream->kept_len > 0)
        (void)zstd_walk_fill(&stream->walk, run, stream->kept, stream->kept_len, &used);
    stream->kept_len = 0;
}

static enum filled fill(void *arg, void *run_arg, bool is_new, struct decode_step *step)
{
    struct zstd_stream *stream = arg;
    struct zstd_run *run = run_arg;
    enum walked walked = WALKED_RUN;
    pass_header(stream, step);
    if (is_new)
        begin_run(stream, run);
    if (!run->is_last || stream->walk.in_block)
        walked =
            zstd_walk_fill(&stream->walk, run, step->in + step->used, left_in(step), &step->used);
    if (walked == WALKED_RUN)
        return run->is_last ? read_checksum(stream, step) : FILLED_RUN;
    return walked == WALKED_WRONG ? FILLED_WRONG : FILLED_PART;
}

static bool cut(void *arg, void *run_arg, bool is_new, bool is_end)
{
    struct zstd_stream *stream = arg;
    struct zstd_run *run = run_arg;
    stream->is_cut = is_end;
    if (is_new)
        return false;
    if (run->is_last && !stream->walk.in_block) /* nothing but its checksum is missing */
        return is_end;
    if (!zstd_walk_cut(&stream->walk, run, &stream->kept_len))
        return false;
    stream->kept = run->in + run->len;
    return true;
}

static enum chained next(void *arg, const void *run_arg, const struct parsed_run **parsed)
{
    struct zstd_stream *stream = arg;
    const struct zstd_run *run = run_arg;
    *parsed = &run->parsed;
    stream->is_executed = !stream->is_executed;
    if (run->parsed.needs_fallback)
        return DOUBTED;
    return stream->is_executed ? CHAINED : PASSED;
}

static void add(void *arg, size_t len)
{
    struct zstd_stream *stream = arg;
    stream->content += len;
}

static bool hashes(const void *arg)
{
    return ((const struct zstd_stream *)arg)->verifies;
}

static bool awaits_hash(const void *arg)
{
    (void)arg;
    return false;
}

static void hash(void *arg, const unsigned char *content, size_t len)
{
    struct zstd_stream *stream = arg;
    xxh64_add(&stream->hash, content, len);
}

static bool is_as_stated(const void *arg)
{
    const struct zstd_stream *stream = arg;
    const uint64_t hash = stream->verifies ? xxh64_value(&stream->hash) : 0,
                   stated = stream->header.content;
    if (stream->is_cut || (stated != ZSTD_SIZE_UNKNOWN && stated != stream->content))
        return false;
    for (int i = 0; stream->verifies && i < ZSTD_CHECKSUM_SIZE; i++)
        if (stream->checksum[i] != (unsigned char)(hash >> 8 * i))
            return false;
    return true;
}

static bool is_cut(const void *arg)
{
    return ((const struct zstd_stream *)arg)->is_cut;
}

static struct block_restart restart(const void *arg)
{
    const struct zstd_stream *stream = arg;
    return (struct block_restart){.content = stream->content};
}

const struct block_format block_format_zstd = {
    .codec = "zstd",
    .content_max = RUN_LITERALS_MAX, /* more is rare, and a window has room for it */
    .window = zstd_window,
    .run_size = sizeof(struct zstd_run),
    .run_memory = zstd_run_memory,
    .run_open = open_run,
    .run_close = close_run,
    .run_parse = parse_run,
    .open = open_stream,
    .close = free,
    .begin = begin,
    .fill = fill,
    .cut = cut,
    .next = next,
    .add = add,
    .is_as_stated = is_as_stated,
    .is_cut = is_cut,
    .restart = restart,
    .hashes = hashes,
    .awaits_hash = awaits_hash,
    .hash = hash,
};

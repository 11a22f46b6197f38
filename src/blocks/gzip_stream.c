/* SPDX-License-Identifier: MIT */
/* The members of a gzip file, from one of them to the end of the file, in runs of blocks. If
 * anything in a member needs the fallback, ISA-L begins it anew. */
#include "block_format.h"
#include "gzip_chain.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of content that the chain may parse itself, more than others have parsed for it. In small
 * members, stored blocks and fixed ones, no beginnings are found, and ISA-L is faster alone. */
#define ALONE_MAX (8 << 20)

/* Two things count as so many of these bytes: a member that ends, as passing on and verifying its
 * content, however little, takes as long; and a piece that was given up before any run was of use.
 */
#define ALONE_MEMBER (16 << 10)
#define ALONE_WRONG (4 << 20)

/* Bytes of content for each compressed one at which ISA-L alone is as fast as executing. The ratio
 * is checked once a member has given so much. */
#define RATIO_MAX 16
#define RATIO_MIN (4 << 20)

/* A member that has given more than this is not begun anew for either reason. */
#define AGAIN_MAX (64 << 20)

struct gzip_stream {
    struct gzip_cutter cutter;
    struct gzip_chain chain;
    uint64_t again; /* as in struct block_format */
    int64_t alone;  /* what the chain has parsed itself, less what runs have; at least 0 */
    bool uses_run;  /* the run at hand was of use; */
    bool has_used;  /* one was so far */
};

static uint64_t gzip_window(const struct codec_options *options, const unsigned char *in,
                            size_t len)
{
    (void)options;
    const bool is_member = len >= GZIP_MAGIC_SIZE && memcmp(in, gzip_magic, GZIP_MAGIC_SIZE) == 0;
    return is_member ? DEFLATE_WINDOW : 0;
}

static int open_run(void *run, const struct block_loops *loops)
{
    return gzip_run_open(run, loops);
}

static void close_run(void *run)
{
    gzip_run_close(run);
}

static void parse_run(void *run, const struct block_loops *loops)
{
    (void)loops;
    gzip_run_parse(run);
}

static void *open_stream(const struct block_loops *loops)
{
    struct gzip_stream *stream = malloc(sizeof *stream);
    if (stream && gzip_chain_open(&stream->chain, loops) == 0)
        return stream;
    free(stream);
    return NULL;
}

static void close_stream(void *arg)
{
    struct gzip_stream *stream = arg;
    if (stream)
        gzip_chain_close(&stream->chain);
    free(stream);
}

static void begin(void *arg, const struct codec_options *options, uint64_t again,
                  const unsigned char *in, size_t len)
{
    struct gzip_stream *stream = arg;
    (void)options;
    (void)in;
    (void)len;
    gzip_chain_begin(&stream->chain);
    stream->alone = 0;
    stream->uses_run = stream->has_used = false;
    stream->again = again;
    stream->cutter.piece = GZIP_PIECE;
    stream->cutter.at = stream->cutter.kept_len = 0;
    atomic_store(&stream->cutter.vain, 0);
}

static enum filled fill(void *arg, void *run_arg, bool is_new, struct decode_step *step)
{
    struct gzip_stream *stream = arg;
    struct gzip_run *run = run_arg;
    if (is_new)
        gzip_cutter_begin(&stream->cutter, run);
    step->used += gzip_run_fill(run, step->in + step->used, step->in_len - step->used);
    if (run->len < run->len_max)
        return FILLED_PART;
    (void)gzip_cutter_end(&stream->cutter, run);
    return FILLED_RUN;
}

static bool cut(void *arg, void *run, bool is_new, bool is_end)
{
    struct gzip_stream *stream = arg;
    if (!is_end)
        return !is_new && gzip_cutter_cut(&stream->cutter, run);
    if (is_new)
        gzip_cutter_begin(&stream->cutter, run);
    (void)gzip_cutter_end(&stream->cutter, run);
    return true;
}

static void add_alone(struct gzip_stream *stream, int64_t len)
{
    const int64_t alone = stream->alone + len;
    stream->alone = alone < 0 ? 0 : alone <= ALONE_MAX ? alone : ALONE_MAX + 1;
}

/* Records whether chained blocks were those of a run, or parsed by the chain itself. */
static void record_chained(struct gzip_stream *stream, bool is_of_run, int64_t len)
{
    const bool is_end = stream->chain.members.next == GZIP_AT_TRAILER;
    stream->uses_run |= is_of_run;
    stream->has_used |= is_of_run;
    add_alone(stream, is_of_run ? -len : len + (is_end ? ALONE_MEMBER : 0));
}

/* Records that a run was passed. */
static void record_passed(struct gzip_stream *stream, const struct gzip_run *run)
{
    if (!stream->has_used && run->is_given_up)
        add_alone(stream, ALONE_WRONG);
    gzip_cutter_learn(&stream->cutter, run, stream->uses_run);
    stream->uses_run = false;
}

/* True if decoding in blocks is worth it; false: ISA-L alone is faster. */
static bool is_worth_it(const struct gzip_stream *stream)
{
    const struct gzip_chain *chain = &stream->chain;
    const uint64_t compressed = chain->position.bit / 8 - chain->member;
    if (chain->content > AGAIN_MAX || compressed > stream->again)
        return true;
    return stream->alone <= ALONE_MAX &&
           (chain->members.next != GZIP_AT_BLOCKS || chain->content < RATIO_MIN ||
            chain->content / RATIO_MAX < compressed);
}

static enum chained next(void *arg, const void *run_arg, const struct parsed_run **parsed)
{
    struct gzip_stream *stream = arg;
    const struct gzip_run *run = run_arg;
    const char *unused; /* ISA-L says what is wrong */
    const enum gzip_chained chained = gzip_chain_next(&stream->chain, run, parsed, &unused);
    if (chained == GZIP_WRONG)
        return DOUBTED;
    if (chained == GZIP_CHAINED)
        record_chained(stream, *parsed == &run->parsed, (*parsed)->content);
    else
        record_passed(stream, run);
    if (!is_worth_it(stream))
        return DOUBTED;
    return chained == GZIP_CHAINED ? CHAINED : PASSED;
}

static void add(void *arg, size_t len)
{
    struct gzip_stream *stream = arg;
    gzip_chain_add(&stream->chain, len);
}

static bool hashes(const void *arg)
{
    (void)arg;
    return true;
}

static bool awaits_hash(const void *arg)
{
    const struct gzip_stream *stream = arg;
    return stream->chain.members.next == GZIP_AT_TRAILER;
}

static void hash(void *arg, const unsigned char *content, size_t len)
{
    struct gzip_stream *stream = arg;
    stream->chain.crc = gzip_checksum(stream->chain.crc, content, len);
}

static bool is_as_stated(const void *arg)
{
    const struct gzip_stream *stream = arg;
    return gzip_chain_is_complete(&stream->chain);
}

static bool is_cut(const void *arg)
{
    return !is_as_stated(arg);
}

static struct block_restart restart(const void *arg)
{
    const struct gzip_stream *stream = arg;
    return (struct block_restart){stream->chain.member, stream->chain.content};
}

const struct block_format block_format_gzip = {
    .codec = "gzip",
    .content_max = DEFLATE_RUN_CONTENT_MAX,
    .window = gzip_window,
    .run_size = sizeof(struct gzip_run),
    .run_memory = gzip_run_memory,
    .run_open = open_run,
    .run_close = close_run,
    .run_parse = parse_run,
    .open = open_stream,
    .close = close_stream,
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

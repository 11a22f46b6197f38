/* SPDX-License-Identifier: MIT */
/* The members of a gzip file, from one of them to the end of the file, in runs of blocks. If
 * anything in a member needs the fallback, ISA-L begins it anew. */
#include "block_format.h"
#include "gzip_chain.h"

#include <stdlib.h>
#include <string.h>

struct gzip_stream {
    struct gzip_cutter cutter;
    struct gzip_chain chain;
    uint64_t again; /* as in struct block_format */
    uint32_t crc;   /* of the member's content so far */
    size_t chained; /* bytes of content that were not executed yet */
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
    stream->crc = 0;
    stream->chained = 0;
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

static enum chained next(void *arg, const void *run_arg, const struct parsed_run **parsed)
{
    struct gzip_stream *stream = arg;
    const struct gzip_run *run = run_arg;
    const char *unused; /* ISA-L says what is wrong */
    enum gzip_chained chained;
    while ((chained = gzip_chain_next(&stream->chain, run, parsed, &unused)) == GZIP_ENDED) {
        if (stream->chain.members.trailer != gzip_trailer(stream->chain.content, stream->crc))
            return DOUBTED;
        stream->crc = 0;
    }
    if (chained == GZIP_CHAINED)
        stream->chained = (*parsed)->content;
    if (chained == GZIP_PASSED)
        gzip_cutter_learn(&stream->cutter, run, &stream->chain.uses_run);
    if (chained == GZIP_WRONG || !gzip_chain_is_worth_it(&stream->chain, stream->again))
        return DOUBTED;
    return chained == GZIP_CHAINED ? CHAINED : PASSED;
}

static void add(void *arg, size_t len)
{
    struct gzip_stream *stream = arg;
    stream->chained -= len;
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
    stream->crc = gzip_checksum(stream->crc, content, len);
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
    return (struct block_restart){stream->chain.member, stream->chain.content - stream->chained};
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

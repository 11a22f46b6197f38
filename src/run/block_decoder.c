/* SPDX-License-Identifier: MIT */
#include "block_decoder.h"
#include "parse_queue.h"
#include "src/blocks/window.h"
#include "src/hash/xxh64.h"

#include <stdlib.h>
#include <string.h>

/* Runs that may wait, beside two for each worker; with more in all nobody gains. */
#define RUNS_MORE 4
#define RUNS_MOST 24

struct block_decoder {
    struct parse_queue queue;
    struct window window;

    /* What is taken of the frame. */
    struct zstd_frame_header header;
    struct zstd_walk walk;
    struct zstd_run *filling; /* the run that blocks go to; NULL: none */
    size_t header_left;       /* bytes of the header */
    bool is_walked;           /* all blocks were taken */
    unsigned char checksum[ZSTD_CHECKSUM_SIZE];
    size_t checksum_left;

    /* What is given. */
    const unsigned char *content; /* of the run that was executed last, */
    size_t content_len;           /* what was not given yet */
    bool is_executed;             /* that was the frame's last run */
    bool verifies;                /* the checksum */
    struct xxh64 hash;
};

static unsigned runs_of(const struct block_options *options)
{
    const unsigned runs = 2 * options->workers + RUNS_MORE;
    return runs < RUNS_MOST ? runs : RUNS_MOST;
}

/* True if libzstd takes a window: it counts them in powers of two. */
static bool is_within(uint64_t window, uint64_t limit)
{
    uint64_t most = 1;
    while (most <= limit / 2)
        most *= 2;
    return window <= most;
}

/* True if the frame whose header is at in[0..len) is parsed. */
static bool read_header(const struct block_options *options, const unsigned char *in, size_t len,
                        struct zstd_frame_header *header, struct zstd_walk *walk)
{
    return zstd_parse_frame(in, len, header) == ZSTD_PARSED && zstd_walk_begin(walk, header) &&
           is_within(header->window, options->decoding->memlimit);
}

size_t block_decoder_memory(const struct block_options *options, const unsigned char *in,
                            size_t len)
{
    struct zstd_frame_header header;
    struct zstd_walk walk;
    if (!read_header(options, in, len, &header, &walk))
        return 0;
    return window_memory(header.window) + runs_of(options) * zstd_run_memory();
}

static struct block_decoder *open_decoder(struct idle *idle, const struct block_options *options)
{
    struct block_decoder *decoder = calloc(1, sizeof *decoder);
    const struct block_loops *loops = block_loops_find(options->decoding->instructions);
    if (!decoder || parse_queue_open(&decoder->queue, idle, loops, runs_of(options)) == 0)
        return decoder;
    free(decoder);
    return NULL;
}

int block_decoder_begin(struct block_decoder **decoder, struct idle *idle,
                        const struct block_options *options, const unsigned char *in, size_t len)
{
    if (!*decoder)
        *decoder = open_decoder(idle, options);
    struct block_decoder *own = *decoder;
    if (!own || !read_header(options, in, len, &own->header, &own->walk))
        return -1;
    own->filling = NULL;
    own->header_left = own->header.size;
    own->checksum_left = own->header.has_checksum ? ZSTD_CHECKSUM_SIZE : 0;
    own->verifies = own->header.has_checksum && !options->decoding->no_check;
    own->content_len = 0;
    own->is_walked = own->is_executed = false;
    xxh64_begin(&own->hash);
    return window_begin(&own->window, own->header.window);
}

/* --- taking --- */

/* Drops what is left of the header. */
static size_t take_header(struct block_decoder *decoder, size_t len)
{
    const size_t some = len < decoder->header_left ? len : decoder->header_left;
    decoder->header_left -= some;
    return some;
}

static size_t take_checksum(struct block_decoder *decoder, const unsigned char *in, size_t len)
{
    const size_t some = len < decoder->checksum_left ? len : decoder->checksum_left;
    if (some > 0)
        memcpy(decoder->checksum + ZSTD_CHECKSUM_SIZE - decoder->checksum_left, in, some);
    decoder->checksum_left -= some;
    return some;
}

/* Fills the next run. */
static enum walked fill(struct block_decoder *decoder, struct decode_step *step)
{
    struct zstd_run *run = decoder->filling;
    if (!run) {
        run = decoder->filling = parse_queue_next(&decoder->queue);
        zstd_walk_begin_run(&decoder->walk, run);
    }
    enum walked walked = zstd_walk_fill(&decoder->walk, run, step->in + step->used,
                                        step->in_len - step->used, &step->used);
    if (walked != WALKED_RUN)
        return walked;
    decoder->is_walked = run->is_last;
    decoder->filling = NULL;
    parse_queue_push(&decoder->queue);
    return walked;
}

/* Takes compressed bytes until all runs are used, or the frame ends. False: doubtful. */
static bool take(struct block_decoder *decoder, struct decode_step *step)
{
    enum walked walked = WALKED_RUN;
    step->used += take_header(decoder, step->in_len);
    while (walked == WALKED_RUN && !decoder->is_walked && parse_queue_next(&decoder->queue))
        walked = fill(decoder, step);
    if (decoder->is_walked)
        step->used += take_checksum(decoder, step->in + step->used, step->in_len - step->used);
    return walked != WALKED_WRONG;
}

/* True if there is no more to be taken now. */
static bool is_sated(const struct block_decoder *decoder)
{
    return decoder->is_walked ? decoder->checksum_left == 0 : !parse_queue_next(&decoder->queue);
}

/* --- giving --- */

/* Executes the next run. False: doubtful. */
static bool execute(struct block_decoder *decoder)
{
    const struct zstd_run *run = parse_queue_first(&decoder->queue);
    if (run->parsed.is_doubtful)
        return false;
    decoder->content = window_append(&decoder->window, decoder->queue.loops, &run->parsed);
    if (!decoder->content)
        return false;
    decoder->content_len = run->parsed.content;
    decoder->is_executed = run->is_last;
    parse_queue_pop(&decoder->queue);
    if (decoder->verifies)
        xxh64_add(&decoder->hash, decoder->content, decoder->content_len);
    return true;
}

/* True if the content is what the frame states. */
static bool is_as_stated(const struct block_decoder *decoder)
{
    const struct zstd_frame_header *header = &decoder->header;
    const uint64_t hash = decoder->verifies ? xxh64_value(&decoder->hash) : 0;
    if (header->content != ZSTD_SIZE_UNKNOWN && header->content != decoder->window.content)
        return false;
    for (int i = 0; decoder->verifies && i < ZSTD_CHECKSUM_SIZE; i++)
        if (decoder->checksum[i] != (unsigned char)(hash >> 8 * i))
            return false;
    return true;
}

static void give(struct block_decoder *decoder, struct decode_step *step)
{
    const size_t room = step->cap - step->made,
                 some = decoder->content_len < room ? decoder->content_len : room;
    memcpy(step->out + step->made, decoder->content, some);
    decoder->content += some;
    decoder->content_len -= some;
    step->made += some;
}

enum block_step block_decoder_step(struct block_decoder *decoder, struct decode_step *step)
{
    step->used = step->made = 0;
    for (;;) {
        bool is_right = take(decoder, step);
        if (is_right && !is_sated(decoder))
            return BLOCKS_SOME;
        if (is_right && decoder->content_len == 0 && !decoder->is_executed)
            is_right = execute(decoder);
        if (is_right && decoder->is_executed) /* libzstd looks before a caller has the end */
            is_right = is_as_stated(decoder);
        if (!is_right) /* what was given before counts first */
            return step->made > 0 ? BLOCKS_SOME : BLOCKS_DOUBTFUL;
        give(decoder, step);
        if (decoder->is_executed && decoder->content_len == 0)
            return BLOCKS_END;
        if (step->made == step->cap)
            return BLOCKS_SOME;
    }
}

void block_decoder_stop(struct block_decoder *decoder)
{
    parse_queue_clear(&decoder->queue);
}

void block_decoder_close(struct block_decoder *decoder)
{
    if (!decoder)
        return;
    parse_queue_clear(&decoder->queue);
    parse_queue_close(&decoder->queue);
    window_close(&decoder->window);
    free(decoder);
}

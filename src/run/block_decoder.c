/* SPDX-License-Identifier: MIT */
#include "block_decoder.h"
#include "parse_queue.h"
#include "src/blocks/window.h"

#include <stdlib.h>
#include <string.h>

/* Runs that may wait, beside two for each worker; with more in all nobody gains. */
#define RUNS_MORE 4
#define RUNS_MOST 24

struct block_decoder {
    const struct block_format *format;
    void *stream; /* of the format */
    struct parse_queue queue;
    struct window window;

    /* What is taken. */
    bool is_filling; /* the queue's next run has bytes */
    bool is_taken;   /* all runs were filled */

    /* What is given. */
    const unsigned char *content; /* of what was executed last, */
    size_t content_len;           /* what was not given yet */
    bool is_executed;             /* there is no more */
    bool is_doubtful;
};

static unsigned runs_of(const struct block_options *options)
{
    const unsigned runs = 2 * options->workers + RUNS_MORE;
    return runs < RUNS_MOST ? runs : RUNS_MOST;
}

size_t block_decoder_memory(const struct block_options *options, const unsigned char *in,
                            size_t len)
{
    const struct block_format *format = options->format;
    const uint64_t window = format->window(options->decoding, in, len);
    if (window == 0)
        return 0;
    return window_memory(window, format->content_max) + runs_of(options) * format->run_memory();
}

static struct block_decoder *open_decoder(struct idle *idle, const struct block_options *options)
{
    const struct block_format *format = options->format;
    const struct block_loops *loops = block_loops_find(options->decoding->instructions);
    struct block_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->format = format;
    decoder->stream = format->open(loops);
    decoder->queue = (struct parse_queue){.idle = idle, .format = format, .loops = loops};
    if (decoder->stream && parse_queue_open(&decoder->queue, runs_of(options)) == 0)
        return decoder;
    format->close(decoder->stream);
    free(decoder);
    return NULL;
}

int block_decoder_begin(struct block_decoder **decoder, struct idle *idle,
                        const struct block_options *options, const unsigned char *in, size_t len)
{
    const struct block_format *format = options->format;
    const uint64_t window = format->window(options->decoding, in, len);
    if (!*decoder)
        *decoder = open_decoder(idle, options);
    struct block_decoder *own = *decoder;
    if (!own)
        return -1;
    format->begin(own->stream, options->decoding, in, len);
    own->content_len = 0;
    own->is_filling = own->is_taken = own->is_executed = own->is_doubtful = false;
    return window_begin(&own->window, window, format->content_max);
}

/* --- taking --- */

/* Takes compressed bytes until all runs are used, or the last one is complete. False: doubtful. */
static bool take(struct block_decoder *decoder, struct decode_step *step)
{
    enum filled filled = FILLED_RUN;
    void *run;
    while (filled == FILLED_RUN && !decoder->is_taken &&
           (run = parse_queue_next(&decoder->queue)) != NULL) {
        filled = decoder->format->fill(decoder->stream, run, !decoder->is_filling, step);
        decoder->is_filling = filled == FILLED_PART;
        decoder->is_taken = filled == FILLED_LAST;
        if (filled == FILLED_RUN || filled == FILLED_LAST)
            parse_queue_push(&decoder->queue);
    }
    return filled != FILLED_WRONG;
}

/* True if more should be taken before something is executed. Where there is no more room, that is
 * only looked at, in what there is. */
static bool is_hungry(const struct block_decoder *decoder, bool has_room)
{
    const bool is_sated = decoder->is_taken || !parse_queue_next(&decoder->queue);
    return !is_sated && (has_room || decoder->queue.used == 0);
}

bool block_decoder_end_input(struct block_decoder *decoder)
{
    void *run = parse_queue_next(&decoder->queue); /* NULL only if something is doubtful */
    if (decoder->is_taken || !run ||
        !decoder->format->end_input(decoder->stream, run, !decoder->is_filling))
        return false;
    decoder->is_taken = true;
    parse_queue_push(&decoder->queue);
    return true;
}

/* --- giving --- */

/* Executes what comes next. False: doubtful. */
static bool execute(struct block_decoder *decoder)
{
    const struct block_format *format = decoder->format;
    const struct parsed_run *parsed;
    const void *run;
    enum chained chained = PASSED;
    while (chained == PASSED && (run = parse_queue_first(&decoder->queue)) != NULL) {
        chained = format->next(decoder->stream, run, &parsed);
        if (chained == PASSED)
            parse_queue_pop(&decoder->queue);
    }
    if (chained == DOUBTED)
        return false;
    if (chained == PASSED) {
        decoder->is_executed = decoder->is_taken;
        return !decoder->is_taken || format->is_as_stated(decoder->stream);
    }
    decoder->content = window_append(&decoder->window, decoder->queue.loops, parsed);
    if (!decoder->content)
        return false;
    decoder->content_len = parsed->content;
    format->add(decoder->stream, decoder->content, decoder->content_len);
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
        decoder->is_doubtful |= !take(decoder, step);
        if (!decoder->is_doubtful && is_hungry(decoder, step->made < step->cap))
            return BLOCKS_SOME;
        if (!decoder->is_doubtful && decoder->content_len == 0)
            decoder->is_doubtful = !execute(decoder);
        if (decoder->is_doubtful) /* what was given before counts first */
            return step->made > 0 ? BLOCKS_SOME : BLOCKS_DOUBTFUL;
        if (decoder->is_executed)
            return BLOCKS_END;
        give(decoder, step);
        if (decoder->content_len > 0)
            return BLOCKS_SOME;
    }
}

struct block_restart block_decoder_restart(const struct block_decoder *decoder)
{
    struct block_restart restart = decoder->format->restart(decoder->stream);
    restart.content -= decoder->content_len;
    return restart;
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
    decoder->format->close(decoder->stream);
    free(decoder);
}

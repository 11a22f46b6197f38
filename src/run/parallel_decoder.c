/* SPDX-License-Identifier: MIT */
#include "parallel_decoder.h"
#include "output_window.h"
#include "parse_queue.h"

#include <stdlib.h>
#include <string.h>

/* Runs that may wait, beside two for each worker; more runs gain nothing. */
#define RUNS_MORE 4
#define RUNS_MAX 24

/* The fewest bytes of content of a run that are worth borrowing, as a chunk with borrowed bytes has
 * no others. */
#define BORROWED_MIN ((size_t)32 << 10)

struct parallel_decoder {
    const struct block_format *format;
    void *stream; /* of the format */
    struct parse_queue queue;
    struct output_window output;

    /* The state of taking. */
    bool is_filling; /* the queue's next run has bytes */
    bool is_taken;   /* all runs were filled */
    bool is_hurried; /* no bytes came since it was asked to give what it has */

    /* The state of giving. */
    const struct parsed_run *chained; /* what is to be executed next; NULL: that is not known */
    const unsigned char *given;       /* of what was executed last, */
    size_t left;                      /* what was not given yet */
    bool may_be_borrowed;             /* it is long enough */
    bool is_executed;                 /* there is no more */
    bool needs_fallback;
};

static unsigned runs_of(const struct block_options *options)
{
    const unsigned runs = 2 * options->workers + RUNS_MORE;
    return runs < RUNS_MAX ? runs : RUNS_MAX;
}

size_t parallel_decoder_memory(const struct block_options *options, const unsigned char *in,
                               size_t len)
{
    const struct block_format *format = options->format;
    const uint64_t window = format->window(options->decoding, in, len);
    if (window == 0)
        return 0;
    return window_memory(window, format->content_max) + runs_of(options) * format->run_memory();
}

static struct parallel_decoder *open_decoder(struct work_queue *queue,
                                             const struct block_options *options)
{
    const struct block_format *format = options->format;
    const struct block_loops *loops = block_loops_find(options->decoding->instructions);
    struct parallel_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->format = format;
    decoder->stream = format->open(loops);
    decoder->queue = (struct parse_queue){.queue = queue, .format = format, .loops = loops};
    decoder->output =
        (struct output_window){.queue = queue, .format = format, .stream = decoder->stream};
    if (decoder->stream && parse_queue_open(&decoder->queue, runs_of(options)) == 0) {
        output_window_open(&decoder->output);
        return decoder;
    }
    format->close(decoder->stream);
    free(decoder);
    return NULL;
}

int parallel_decoder_begin(struct parallel_decoder **decoder, struct work_queue *queue,
                           const struct block_options *options, const unsigned char *in, size_t len)
{
    const struct block_format *format = options->format;
    const uint64_t window = format->window(options->decoding, in, len);
    if (!*decoder)
        *decoder = open_decoder(queue, options);
    struct parallel_decoder *own = *decoder;
    if (!own)
        return -1;
    format->begin(own->stream, options->decoding, options->again, in, len);
    own->chained = NULL;
    own->left = 0;
    own->is_filling = own->is_taken = own->is_hurried = false;
    own->is_executed = own->needs_fallback = false;
    return window_begin(&own->output.window, window, format->content_max);
}

/* --- taking --- */

/* Takes compressed bytes until all runs are used, or the last one is complete. False: doubtful. */
static bool take(struct parallel_decoder *decoder, struct decode_step *step)
{
    enum filled filled = FILLED_RUN;
    void *run;
    decoder->is_hurried &= step->used == step->in_len;
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

/* True if more should be taken before something is executed. If there is no more room, the bytes
 * that are there are only looked at. */
static bool is_hungry(const struct parallel_decoder *decoder, bool has_room)
{
    const bool is_sated = decoder->is_taken || !parse_queue_next(&decoder->queue);
    return !is_sated && ((has_room && !decoder->is_hurried) || decoder->queue.used == 0);
}

/* Completes the run that is being filled, with the bytes that it has. */
static void cut(struct parallel_decoder *decoder, bool is_end)
{
    void *run = parse_queue_next(&decoder->queue);
    if (!decoder->format->cut(decoder->stream, run, !decoder->is_filling, is_end))
        return;
    decoder->is_filling = false;
    parse_queue_push(&decoder->queue);
}

void parallel_decoder_end_input(struct parallel_decoder *decoder)
{
    if (!decoder->is_taken)
        cut(decoder, true);
    decoder->is_taken = true;
}

bool parallel_decoder_hurry(struct parallel_decoder *decoder)
{
    if (!decoder->is_taken)
        cut(decoder, false);
    decoder->is_hurried = decoder->queue.used > 0;
    return decoder->is_hurried;
}

/* --- giving --- */

/* Finds the run to be executed next, or that there is none. False: doubtful. */
static bool chain(struct parallel_decoder *decoder)
{
    const struct block_format *format = decoder->format;
    enum chained chained = PASSED;
    const void *run;
    while (chained == PASSED && (run = parse_queue_first(&decoder->queue)) != NULL) {
        if (format->awaits_hash(decoder->stream))
            output_window_await_hash(&decoder->output);
        chained = format->next(decoder->stream, run, &decoder->chained);
        if (chained == PASSED)
            parse_queue_pop(&decoder->queue);
    }
    if (chained == CHAINED)
        return true;
    decoder->chained = NULL;
    if (chained == DOUBTED)
        return false;
    decoder->is_executed = decoder->is_taken;
    if (decoder->is_executed)
        output_window_await_hash(&decoder->output);
    return !decoder->is_executed || format->is_as_stated(decoder->stream);
}

static enum appended execute(struct parallel_decoder *decoder)
{
    const struct parsed_run *chained = decoder->chained;
    const enum appended appended =
        output_window_append(&decoder->output, decoder->queue.loops, chained, &decoder->given);
    if (appended != APPENDED)
        return appended;
    decoder->chained = NULL;
    decoder->left = chained->content;
    decoder->may_be_borrowed = chained->content >= BORROWED_MIN;
    decoder->format->add(decoder->stream, chained->content);
    return APPENDED;
}

/* Prepares content to be given, if there is more. */
static enum block_step go_on(struct parallel_decoder *decoder)
{
    enum appended appended = APPENDED;
    if (!decoder->chained)
        decoder->needs_fallback = !chain(decoder);
    if (!decoder->needs_fallback && decoder->chained)
        appended = execute(decoder);
    decoder->needs_fallback |= appended == APPEND_WRONG;
    return decoder->needs_fallback    ? BLOCKS_FALLBACK
           : appended == APPEND_LATER ? BLOCKS_LATER
           : decoder->is_executed     ? BLOCKS_END
                                      : BLOCKS_SOME;
}

enum block_step parallel_decoder_step(struct parallel_decoder *decoder, struct decode_step *step)
{
    enum block_step is = BLOCKS_SOME;
    while (is == BLOCKS_SOME && decoder->left == 0) {
        decoder->needs_fallback |= !take(decoder, step);
        if (decoder->needs_fallback)
            return BLOCKS_FALLBACK;
        if (is_hungry(decoder, step->cap > 0))
            return BLOCKS_SOME;
        is = go_on(decoder);
    }
    return is;
}

void parallel_decoder_give(struct parallel_decoder *decoder, struct decode_step *step)
{
    const size_t some = decoder->left < step->cap ? decoder->left : step->cap;
    step->made = some;
    if (some == 0)
        return;
    memcpy(step->out, decoder->given, some);
    decoder->given += some;
    decoder->left -= some;
}

/* Lends content only if the bytes before it are those that the chunk begins with, which were cut
 * from the chunk before. */
bool parallel_decoder_lend(struct parallel_decoder *decoder, struct decode_step *step,
                           struct chunk *chunk)
{
    const size_t some = decoder->left < step->cap ? decoder->left : step->cap, kept = chunk->len;
    if (!chunk->may_borrow || !decoder->may_be_borrowed || some == 0 ||
        window_before(&decoder->output.window, decoder->given) < kept ||
        (kept > 0 && memcmp(decoder->given - kept, chunk->data, kept) != 0))
        return false;
    chunk->borrowed = output_window_lend(&decoder->output, decoder->given - kept, kept + some);
    if (!chunk->borrowed)
        return false;
    chunk->data = (unsigned char *)decoder->given - kept;
    decoder->given += some;
    decoder->left -= some;
    step->made = some;
    return true;
}

bool parallel_decoder_is_borrowed(struct parallel_decoder *decoder)
{
    return output_window_is_borrowed(&decoder->output);
}

void parallel_decoder_await(struct parallel_decoder *decoder)
{
    output_window_await(&decoder->output);
}

bool parallel_decoder_is_cut(const struct parallel_decoder *decoder)
{
    return decoder->is_executed && decoder->format->is_cut(decoder->stream);
}

struct block_restart parallel_decoder_restart(const struct parallel_decoder *decoder)
{
    struct block_restart restart = decoder->format->restart(decoder->stream);
    restart.content -= decoder->left;
    return restart;
}

void parallel_decoder_stop(struct parallel_decoder *decoder)
{
    parse_queue_clear(&decoder->queue);
    output_window_await_hash(&decoder->output);
}

void parallel_decoder_close(struct parallel_decoder *decoder)
{
    if (!decoder)
        return;
    parallel_decoder_stop(decoder);
    parse_queue_close(&decoder->queue);
    output_window_close(&decoder->output);
    decoder->format->close(decoder->stream);
    free(decoder);
}

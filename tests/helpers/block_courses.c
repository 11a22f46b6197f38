/* SPDX-License-Identifier: MIT */
#include "block_courses.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

static void *help(void *arg)
{
    struct helpers *helpers = arg;
    struct waiter waiter;
    waiter_open(&waiter);
    for (;;) {
        const uint64_t ticket = work_queue_news(&helpers->queue);
        if (atomic_load(&helpers->is_over))
            break;
        if (work_queue_wait(&helpers->queue, &waiter, ticket))
            abort(); /* nobody hands off chunks */
        for (struct job *job; (job = work_queue_take(&helpers->queue, NULL)) != NULL;)
            (void)job->run(job, NULL);
    }
    work_queue_leave(&helpers->queue, &waiter);
    waiter_close(&waiter);
    return NULL;
}

void helpers_start(struct helpers *helpers, unsigned count)
{
    work_queue_open(&helpers->queue);
    atomic_store(&helpers->is_over, false);
    helpers->count = count;
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&helpers->threads[i], NULL, help, helpers) != 0)
            abort();
}

void helpers_end(struct helpers *helpers)
{
    atomic_store(&helpers->is_over, true);
    work_queue_wake_all(&helpers->queue);
    for (unsigned i = 0; i < helpers->count; i++)
        pthread_join(helpers->threads[i], NULL);
    work_queue_close(&helpers->queue);
}

struct course course_random(size_t out_max)
{
    const bool is_large = random_below(3);
    return (struct course){.in_max = is_large ? 600000 : 1 + random_below(3000),
                           .out_max = is_large ? out_max : 1 + random_below(100000),
                           .stop = SIZE_MAX,
                           .hurries = random_below(2),
                           .no_check = random_below(2)};
}

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --- what is borrowed --- */

#define LOANS_MAX 4

/* Content that is borrowed, and must stay as it is, and a copy of it. */
struct loan {
    struct chunk chunk;
    const unsigned char *copy;
};

struct loans {
    struct loan loans[LOANS_MAX];
    unsigned count;
};

/* Gives back all but the first `kept` ones. */
static void give_back(struct loans *loans, unsigned kept)
{
    while (loans->count > kept) {
        const struct loan *loan = &loans->loans[--loans->count];
        if (memcmp(loan->chunk.data, loan->copy, loan->chunk.len) != 0)
            abort();
        loan->chunk.borrowed->give_back(loan->chunk.borrowed);
    }
}

/* Takes what there is, by a copy or as a loan that begins with bytes that were given before.
 * content[0..made) were. */
static void take_content(struct parallel_decoder *decoder, struct decode_step *step,
                         struct loans *loans, size_t made)
{
    const size_t kept = min_of(random_below(40), made);
    struct loan loan = {{.data = step->out - kept, .len = kept, .may_borrow = true},
                        step->out - kept};
    if (loans->count == LOANS_MAX)
        give_back(loans, 1); /* the first one, until it stands in the way */
    if (random_below(3) == 0 || !parallel_decoder_lend(decoder, step, &loan.chunk)) {
        parallel_decoder_give(decoder, step);
        return;
    }
    loan.chunk.len += step->made;
    memcpy(step->out, loan.chunk.data + kept, step->made);
    loans->loans[loans->count++] = loan;
}

/* --- decoding --- */

static enum block_step take_step(struct parallel_decoder *decoder, struct decode_step *step,
                                 struct loans *loans)
{
    enum block_step is;
    step->used = step->made = 0;
    while ((is = parallel_decoder_step(decoder, step)) == BLOCKS_LATER)
        if (loans->count > 0)
            give_back(loans, 0);
        else
            parallel_decoder_await(decoder);
    return is;
}

/* There is no more room. */
static enum outcome look_on(struct parallel_decoder *decoder, struct loans *loans)
{
    unsigned char none;
    struct decode_step step = {.in = &none, .out = &none};
    return take_step(decoder, &step, loans) == BLOCKS_FALLBACK ? FALLBACK : FULL;
}

static bool must_hurry(const struct course *course, bool is_end)
{
    return (course->stalls && is_end) || (course->hurries && random_below(4) == 0);
}

/* Takes steps until something has come of it. */
static enum outcome take_steps(struct parallel_decoder *decoder, const struct course *course,
                               const unsigned char *in, size_t len, unsigned char *content,
                               size_t cap, size_t *made, struct loans *loans)
{
    bool has_ended = false, is_hurried = false;
    size_t at = 0;
    for (*made = 0; *made < cap;) {
        const size_t some = min_of(1 + random_below((unsigned)course->in_max), len - at),
                     in_len = is_hurried ? 0 : some,
                     space = min_of(1 + random_below((unsigned)course->out_max), cap - *made);
        struct decode_step step = {
            .in = in + at, .in_len = in_len, .out = content + *made, .cap = space};
        const enum block_step is = take_step(decoder, &step, loans);
        at += step.used;
        if (is == BLOCKS_SOME)
            take_content(decoder, &step, loans, *made);
        *made += step.made;
        if (is == BLOCKS_END)
            return at == len ? DECODED : HUNGRY;
        if (is == BLOCKS_FALLBACK)
            return parallel_decoder_is_cut(decoder) ? CUT : FALLBACK;
        if (*made > course->stop)
            return STOPPED;
        if (step.used < step.in_len || step.made > 0)
            continue;
        is_hurried = !has_ended && must_hurry(course, at == len) && parallel_decoder_hurry(decoder);
        if (is_hurried || has_ended || at < len)
            continue;
        if (course->stalls)
            return STALLED;
        has_ended = true;
        parallel_decoder_end_input(decoder);
    }
    return look_on(decoder, loans);
}

struct block_result course_decode(struct parallel_decoder **decoder, struct helpers *helpers,
                                  const struct block_format *format, const struct course *course,
                                  const unsigned char *in, size_t len, unsigned char *content,
                                  size_t cap)
{
    const struct codec_options decoding = {.memlimit = (uint64_t)1 << 27,
                                           .no_check = course->no_check};
    const struct block_options options = {format, &decoding, helpers->count + 1, UINT64_MAX};
    struct block_result result = {.outcome = FALLBACK};
    struct loans loans = {.count = 0};
    if (parallel_decoder_memory(&options, in, len) == 0)
        return result;
    if (parallel_decoder_begin(decoder, &helpers->queue, &options, in, len) != 0)
        abort();
    result.outcome = take_steps(*decoder, course, in, len, content, cap, &result.made, &loans);
    result.restart = parallel_decoder_restart(*decoder);
    parallel_decoder_stop(*decoder);
    give_back(&loans, 0);
    return result;
}

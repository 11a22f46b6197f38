/* SPDX-License-Identifier: MIT */
#include "tests/helpers/readers.h"
#include "src/engine/engine.h"
#include "src/work/source_internal.h"
#include "tests/helpers/random.h"

#include <setjmp.h>
#include <stdlib.h>

/* Turns without any progress, of which every reader has had many. */
#define WAITS_MAX 10000

/* A reader, the memory of its one chunk, and that chunk while it waits to be counted. */
struct turn_taker {
    struct reading *reading;
    struct reader *reader;
    struct chunk memory, *filled;
    bool done;
};

static struct chunk *choose_own(void *arg, enum flow flow)
{
    struct turn_taker *taker = arg;
    (void)flow;
    taker->memory.len = taker->memory.begin = 0;
    taker->memory.fill = taker->reading->fill;
    taker->memory.give = random_below(2);
    return &taker->memory;
}

/* Where a reader's turn ends that would wait for others; NULL: it may wait. The program is linked
 * so that calls of helpers_wait come here (--wrap): no lock is held there, nor any memory. */
static _Thread_local jmp_buf *out_of_turn;

struct chunk *__real_helpers_wait(struct helpers *helpers, struct helper *helper, uint64_t ticket);
struct chunk *__wrap_helpers_wait(struct helpers *helpers, struct helper *helper, uint64_t ticket);

struct chunk *__wrap_helpers_wait(struct helpers *helpers, struct helper *helper, uint64_t ticket)
{
    if (out_of_turn && !helpers_pending(helpers) && helpers_news(helpers) == ticket)
        longjmp(*out_of_turn, 1);
    return __real_helpers_wait(helpers, helper, ticket);
}

/* As source_read; 2: it would have waited. */
static int read_in_turn(struct turn_taker *taker)
{
    jmp_buf here;
    enum flow flow;
    const struct source_sink sink = {.arg = taker, .choose = choose_own};
    if (setjmp(here) == 0) {
        out_of_turn = &here;
        int more = source_read(taker->reader, &sink, &taker->filled, &flow);
        out_of_turn = NULL;
        return more;
    }
    out_of_turn = NULL;
    taker->reader->shortage = SHORT_OF_NOTHING;
    taker->filled = NULL;
    return 2;
}

static void count_filled(struct turn_taker *taker)
{
    struct reading *reading = taker->reading;
    const struct chunk *chunk = taker->filled;
    const struct histogram *histogram = reading->plan->histogram;
    struct tally *tally = &reading->tally;
    size_t invalid_row = reading->lines ? ROW_INVALID(&histogram->binning) : 0;
    uint64_t newlines = tally->newlines, invalid = tally->counts[invalid_row];
    taker->filled = NULL;
    count_chunk(reading->plan, chunk, tally, NULL);
    if (reading->lines)
        lines_add(reading->lines, chunk, tally->newlines - newlines,
                  tally->counts[invalid_row] > invalid);
}

/* 1, or what read_in_turn gave if it is not that. */
static int take_turn(struct turn_taker *taker)
{
    if (taker->filled) {
        count_filled(taker);
        return 1;
    }
    int more = read_in_turn(taker);
    taker->done = more <= 0;
    if (taker->filled && more <= 0)
        count_filled(taker);
    return more;
}

static void open_taker(struct turn_taker *taker, struct reading *reading, struct source *source)
{
    size_t room = records_room(records_size(reading->plan->histogram));
    taker->reading = reading;
    taker->reader = reader_open(source);
    taker->memory =
        (struct chunk){.data = malloc(reading->chunk_size + room), .cap = reading->chunk_size};
    if (!taker->reader || !taker->memory.data)
        abort();
}

int readers_read(struct source *source, struct reading *reading)
{
    struct turn_taker takers[READERS_MAX] = {{.done = false}};
    unsigned left = reading->readers;
    unsigned waits = 0;
    int rc = 0;
    for (unsigned i = 0; i < reading->readers; i++)
        open_taker(&takers[i], reading, source);
    while (left > 0) {
        struct turn_taker *taker = &takers[random_below(reading->readers)];
        if (taker->done)
            continue;
        int more = take_turn(taker);
        waits = more == 2 ? waits + 1 : 0;
        if (waits == WAITS_MAX) /* each of them waits for another one */
            abort();
        rc = more < 0 ? -1 : rc;
        left -= taker->done;
    }
    for (unsigned i = 0; i < reading->readers; i++) {
        reader_close(takers[i].reader);
        free(takers[i].memory.data);
    }
    return rc;
}

/* SPDX-License-Identifier: MIT */
#include "tests/helpers/readers.h"
#include "src/schedule/schedule.h"
#include "src/schedule/worker.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "src/tally/histogram_spec.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Workers in a row that could only wait, of which each has been asked many times. */
#define WAITS_MAX 10000

/* Chunks of a turn, on average: to go on in another thread takes longer than most chunks. */
#define TURN_CHUNKS 4

/* The ways in which a worker's turn ends. */
enum turn_end {
    TURN_FILLED, /* with a chunk that waits to be counted */
    TURN_WAITS,  /* where it would wait for others */
    TURN_DONE,   /* the worker has ended */
};

/* A worker in a thread of its own, which runs only in its turn, and the memory of its one chunk.
 * The threads stay for the next reading: starting them takes longer than most. */
struct turn_taker {
    struct reading *reading;
    struct source *source;
    bool is_started;
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t changed;
    bool is_on; /* it is its turn */
    enum turn_end end;
    const struct worker *worker; /* TURN_WAITS: what would wait */
    struct chunk memory;
    atomic_uint workers; /* that there may be */
    int rc;
};

static _Thread_local struct turn_taker *own; /* of the thread of a worker */

/* Ends the turn; returns when the next one begins. */
static void end_turn(struct turn_taker *taker, enum turn_end end)
{
    pthread_mutex_lock(&taker->lock);
    taker->end = end;
    taker->is_on = false;
    pthread_cond_signal(&taker->changed);
    while (!taker->is_on)
        pthread_cond_wait(&taker->changed, &taker->lock);
    pthread_mutex_unlock(&taker->lock);
}

/* Gives a worker its turn. */
static enum turn_end give_turn(struct turn_taker *taker)
{
    pthread_mutex_lock(&taker->lock);
    taker->is_on = true;
    pthread_cond_signal(&taker->changed);
    while (taker->is_on)
        pthread_cond_wait(&taker->changed, &taker->lock);
    pthread_mutex_unlock(&taker->lock);
    return taker->end;
}

/* A worker's turn ends where it would wait for others. The program is linked so that calls of
 * worker_wait come here (--wrap). */
struct chunk *__real_worker_wait(struct worker *worker, bool *is_short);
struct chunk *__wrap_worker_wait(struct worker *worker, bool *is_short);

struct chunk *__wrap_worker_wait(struct worker *worker, bool *is_short)
{
    if (own) {
        own->worker = worker;
        end_turn(own, TURN_WAITS);
    }
    return __real_worker_wait(worker, is_short);
}

/* True if a worker would only wait on: it has no memory to give back first. */
static bool waits_on(const struct turn_taker *taker)
{
    return taker->end == TURN_WAITS && taker->worker->reserved == 0 &&
           !work_queue_is_pending(taker->source) && worker_is_short(taker->worker);
}

static struct chunk *choose_own(void *arg, enum flow flow)
{
    struct turn_taker *taker = arg;
    (void)flow;
    taker->memory.len = taker->memory.begin = 0;
    taker->memory.fill = taker->reading->fill;
    taker->memory.give = random_below(2);
    return &taker->memory;
}

static int count_own(void *arg, struct chunk *chunk, enum flow flow)
{
    struct turn_taker *taker = arg;
    struct reading *reading = taker->reading;
    const struct histogram_spec *spec = reading->plan->spec;
    struct tally *tally = &reading->tally;
    (void)flow;
    if (random_below(TURN_CHUNKS) == 0)
        end_turn(taker, TURN_FILLED);
    size_t invalid_row = reading->locator ? ROW_INVALID(&spec->binning) : 0;
    uint64_t newlines = tally->newlines, invalid = tally->counts[invalid_row];
    count_chunk(reading->plan, chunk, tally, NULL, NULL);
    if (reading->locator)
        error_locator_add(reading->locator, chunk, tally->newlines - newlines,
                          tally->counts[invalid_row] > invalid);
    return 0;
}

static void *run_in_turns(void *arg)
{
    struct turn_taker *taker = arg;
    const struct sink sink = {
        .arg = taker, .choose = choose_own, .count = count_own, .workers = &taker->workers};
    own = taker;
    for (;;) {
        end_turn(taker, TURN_DONE);
        taker->rc = run_worker(taker->source, &sink);
    }
    return NULL;
}

/* Keeps this thread, and those that it starts, on one processor: only one of them runs at a time,
 * and waking one on another processor takes ten times as long. */
static void stay_on_one_processor(void)
{
    cpu_set_t own_only;
    const int processor = sched_getcpu();
    CPU_ZERO(&own_only);
    CPU_SET((size_t)(processor < 0 ? 0 : processor), &own_only);
    (void)sched_setaffinity(0, sizeof own_only, &own_only); /* only faster: may fail */
}

/* Starts the thread of a worker, if it has none yet. */
static void start_taker(struct turn_taker *taker)
{
    pthread_t thread;
    if (taker->is_started)
        return;
    stay_on_one_processor();
    taker->is_started = taker->is_on = true;
    pthread_mutex_init(&taker->lock, NULL);
    pthread_cond_init(&taker->changed, NULL);
    if (pthread_create(&thread, NULL, run_in_turns, taker) != 0)
        abort();
    pthread_detach(thread);
    pthread_mutex_lock(&taker->lock);
    while (taker->is_on)
        pthread_cond_wait(&taker->changed, &taker->lock);
    pthread_mutex_unlock(&taker->lock);
}

static void begin_taker(struct turn_taker *taker, struct reading *reading, struct source *source)
{
    const struct record_kind kind = record_kind_of_all(reading->plan->spec);
    const size_t capacity = record_slack(&kind);
    start_taker(taker);
    taker->reading = reading;
    taker->source = source;
    taker->workers = reading->readers;
    taker->end = TURN_FILLED;
    taker->memory = (struct chunk){.data = need(malloc(reading->chunk_size + capacity)),
                                   .cap = reading->chunk_size};
}

int readers_read(struct source *source, struct reading *reading)
{
    static struct turn_taker takers[READERS_MAX];
    unsigned left = reading->readers, waits = 0;
    int rc = 0;
    for (unsigned i = 0; i < reading->readers; i++)
        begin_taker(&takers[i], reading, source);
    while (left > 0) {
        struct turn_taker *taker = &takers[random_below(reading->readers)];
        if (taker->end == TURN_DONE)
            continue;
        if (waits_on(taker)) {
            if (++waits == WAITS_MAX) /* each of them waits for another one */
                abort();
            continue;
        }
        waits = 0;
        left -= give_turn(taker) == TURN_DONE;
    }
    for (unsigned i = 0; i < reading->readers; i++) {
        free(takers[i].memory.data);
        rc |= takers[i].rc;
    }
    return rc;
}

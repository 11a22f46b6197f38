#include "pool.h"
#include "cost.h"
#include "src/cpu/cpu_engine.h"
#include "gpu/gpu_engine.h"
#include "src/engine/lines.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB ((uint64_t)1 << 20)

const struct pool_tuning pool_tuning = {
    /* A thread costs what a core counts in the meantime, some 100 KB, and an input that ends soon
     * is done before it runs. */
    .short_input = 4 * MIB,
    /* Measured on an H200: CUDA needs 0.20 to 0.30 s to be ready, and 0.08 to 0.10 s to be torn
     * down, which the waiting shell pays even after _exit. */
    .gpu_start = 0.25,
    .break_even = 0.15,
    /* A pipe gives its 4 GB/s to either engine: there the GPU only spares the CPU its work, and its
     * tear-down should be no more than 5 % of the whole, however soon the pipe ends afterwards. */
    .stream_break_even = 2.0,
    /* To count elsewhere costs, too: a pipe's second reader costs wake-ups; decompressed bytes that
     * go to another core, a tenth of decompressing them. And a GPU took 8.4 CPU seconds instead of
     * 7.2 for 16 GiB of letters, whose share is 5 %, but 9.7 instead of 10.2 for bytes. */
    .stream_share = 0.1,
};

/* Before this there is no rate to go by; and so often it is asked whether the GPU would pay: a
 * hundred thousand chunks a second must not all ask. */
#define ASK_SECONDS 0.02

/* Slots: two do for a pipe, whose readers take turns. Side by side, every reader fills one while
 * another of its is on its way, within what may be pinned. */
#define SERIAL_BUFFERS 2
#define PARALLEL_BUFFERS_BYTES (192 * MIB)

/* A device that finishes no chunk for so long has hung: even the slowest strategy counts the
 * largest chunk, 1 GiB, in a second. */
#define DEADLINE_MS 20000

/* Between calls of options.look. */
#define LOOK_NS 100000000

struct pool {
    struct pool_options options;
    const struct histogram *histogram;
    struct source *source;
    struct timespec begin;
    struct engine *cpu;
    struct lines *lines;          /* NULL: nobody asks where a token is no number */
    _Atomic(struct engine *) gpu; /* NULL until its slots are there */
    double gpu_ready;             /* when that was; written before */
    _Atomic uint64_t bytes;       /* read so far */
    struct costs costs;
    atomic_uint feeders; /* workers with a piece of a file that goes to the GPU */

    atomic_bool opening;     /* the GPU was asked for */
    _Atomic double next_ask; /* seconds, when to ask again whether it pays */
    _Atomic uint64_t
        rate_base; /* `bytes`, and the seconds gone by, when there were workers enough: */
    _Atomic double rate_begin; /* what one alone did before tells nothing of what many do */

    pthread_mutex_t lock; /* all that follows */
    pthread_cond_t changed;
    atomic_uint started; /* workers; read without the lock too */
    unsigned running;
    bool failed;
    struct reason why;
    struct reason gpu_refused;
};

static double seconds_since(const struct timespec *then)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)(time.tv_sec - then->tv_sec) + (double)(time.tv_nsec - then->tv_nsec) / 1e9;
}

static unsigned processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

static void fail(struct pool *pool, const char *why)
{
    pthread_mutex_lock(&pool->lock);
    if (!pool->failed)
        reason_set(&pool->why, "%s", why);
    pool->failed = true;
    pthread_cond_signal(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

/* --- the GPU --- */

static unsigned buffers(struct pool *pool, bool side_by_side)
{
    if (pool->options.buffers)
        return pool->options.buffers;
    if (!side_by_side)
        return SERIAL_BUFFERS;
    uint64_t fit =
        PARALLEL_BUFFERS_BYTES / gpu_engine_slot_size(pool->histogram, pool->options.chunk_size);
    uint64_t wanted = 2 * (uint64_t)pool->options.threads;
    uint64_t count = wanted < fit ? wanted : fit;
    return count > SERIAL_BUFFERS ? (unsigned)count : SERIAL_BUFFERS;
}

/* Opens the GPU engine; its slots then simply appear to the workers. */
static void open_gpu(struct pool *pool, unsigned slots)
{
    struct gpu_options options = {
        .ordinal = pool->options.ordinal,
        .strategy = pool->options.strategy,
        .chunk_size = pool->options.chunk_size,
        .buffers = slots,
        .deadline_ms = DEADLINE_MS,
        .timing = pool->options.timing,
        .fallback = pool->options.device == DEVICE_GPU ? NULL : pool->cpu,
    };
    struct reason why = {""};
    struct engine *gpu = gpu_engine_open(pool->histogram, &options, &why);
    if (gpu)
        gpu->lines = pool->lines;
    pthread_mutex_lock(&pool->lock);
    pool->gpu_refused = why;
    pthread_mutex_unlock(&pool->lock);
    if (gpu)
        pool->gpu_ready = seconds_since(&pool->begin);
    atomic_store(&pool->gpu, gpu);
}

struct opener {
    struct pool *pool;
    unsigned slots;
};

static void *open_gpu_thread(void *arg)
{
    struct opener opener = *(struct opener *)arg;
    free(arg);
    open_gpu(opener.pool, opener.slots);
    return NULL;
}

static int start_thread(void *(*run)(void *), void *arg)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, arg) != 0)
        return -1;
    pthread_detach(thread); /* nobody may wait for one that hangs in a read, or in CUDA */
    return 0;
}

/* Tests whose GPU need save nothing do not wait either. */
static double ask_seconds(const struct pool *pool)
{
    double break_even = pool->options.tuning.break_even;
    return break_even < ASK_SECONDS ? break_even : ASK_SECONDS;
}

/* Whether a stream's readers had better leave the counting to others. */
static bool counting_is_dear(struct pool *pool)
{
    return costs_counting_share(&pool->costs) > pool->options.tuning.stream_share;
}

/* Whether the GPU is worth its start; `flow` tells the kind of input that was just read. */
static bool gpu_pays(struct pool *pool, enum flow flow)
{
    const struct pool_tuning *tuning = &pool->options.tuning;
    double now = seconds_since(&pool->begin), begin = atomic_load(&pool->rate_begin);
    if (now - begin < ask_seconds(pool))
        return false;
    uint64_t bytes = atomic_load(&pool->bytes) - atomic_load(&pool->rate_base);
    double rate = (double)bytes / (now - begin);
    if (flow != FLOW_FILE)
        return now >= tuning->stream_break_even && counting_is_dear(pool);
    double saved = costs_gpu_saves(&pool->costs, (double)source_left(pool->source), rate,
                                   atomic_load(&pool->started), tuning->gpu_start);
    return saved >= tuning->break_even;
}

static void consider_gpu(struct pool *pool, enum flow flow)
{
    double now = seconds_since(&pool->begin);
    if (pool->options.device != DEVICE_AUTO || atomic_load(&pool->opening) ||
        now < atomic_load(&pool->next_ask))
        return;
    atomic_store(&pool->next_ask, now + ask_seconds(pool));
    if (!gpu_pays(pool, flow) || atomic_exchange(&pool->opening, true))
        return;
    struct opener *opener = malloc(sizeof *opener);
    if (!opener)
        return; /* then without */
    *opener = (struct opener){pool, buffers(pool, flow != FLOW_PIPE)};
    if (start_thread(open_gpu_thread, opener) != 0)
        free(opener);
}

/* --- the workers --- */

/* Whether the next piece of a file is for the GPU. The last bytes, less than a slot for each
 * worker, are shared out in the CPU's smaller pieces, so that all are done at the same time. */
static bool feeds_gpu(struct pool *pool)
{
    return source_left(pool->source) >=
               (uint64_t)pool->options.threads * pool->options.chunk_size &&
           costs_prefer_gpu(&pool->costs, atomic_load(&pool->feeders));
}

/* Where the next chunk goes: to a GPU slot if there is one for it and that is the better place,
 * else to the CPU. What comes through a pipe goes wholly to the GPU once there is one, and so does
 * zstd data: the cores have enough to do with decompressing it. */
static struct chunk *choose_memory(void *arg, enum flow flow)
{
    struct pool *pool = arg;
    bool only_gpu = pool->options.device == DEVICE_GPU;
    struct engine *gpu = atomic_load(&pool->gpu);
    bool wait = only_gpu || flow != FLOW_FILE;
    struct chunk *chunk = NULL;
    if (gpu && (wait || feeds_gpu(pool)))
        chunk = engine_acquire(gpu, wait);
    if (chunk && flow == FLOW_FILE)
        atomic_fetch_add(&pool->feeders, 1);
    if (chunk || only_gpu || (gpu && gpu_engine_failed(gpu)))
        return chunk;
    chunk = engine_acquire(pool->cpu, true);
    chunk->give = flow == FLOW_ZSTD && counting_is_dear(pool);
    return chunk;
}

static void *work(void *arg);

/* Workers that take turns at a pipe: while one reads, the others count what they have read. Those
 * that are too many wait, and waiting counts as reading, so that no more are asked for. */
static unsigned pipe_workers(struct pool *pool)
{
    double share = costs_counting_share(&pool->costs), most = pool->options.threads;
    double wanted = share < 1 ? 2 + share / (1 - share) : most;
    if (!counting_is_dear(pool))
        return 1;
    return (unsigned)(wanted < most ? wanted : most);
}

static void start_workers(struct pool *pool, enum flow flow)
{
    unsigned wanted = pool->options.threads;
    if (flow == FLOW_PIPE && wanted > 1)
        wanted = pipe_workers(pool);
    if (atomic_load(&pool->started) >= wanted)
        return;
    pthread_mutex_lock(&pool->lock);
    unsigned before = pool->started;
    while (pool->started < wanted && !pool->failed && start_thread(work, pool) == 0) {
        pool->started++;
        pool->running++;
    }
    if (pool->started > before) {
        atomic_store(&pool->rate_base, atomic_load(&pool->bytes));
        atomic_store(&pool->rate_begin, seconds_since(&pool->begin));
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Without its GPU, a run that wants no other ends. */
static void fail_for_loss(struct pool *pool)
{
    struct reason why;
    reason_set(&why, "GPU lost: %s", engine_loss(atomic_load(&pool->gpu)));
    fail(pool, why.text);
}

/* Ends a run that wants numbers alone, once the first token that is none is known. Whether it is.
 */
static bool found_invalid(struct pool *pool)
{
    struct reason what;
    if (pool->options.invalid != INVALID_ERROR || !pool->lines || !lines_first(pool->lines, &what))
        return false;
    fail(pool, what.text);
    return true;
}

/* Has the chunk counted, and notes what it cost from `begin` on. 0, or -1: without its GPU. */
static int submit(struct pool *pool, struct chunk *chunk, enum flow flow, double begin)
{
    bool on_gpu = chunk->engine != pool->cpu, given = chunk->give;
    size_t len = chunk->origin.bytes;
    double was_read = seconds_since(&pool->begin);
    int rc = engine_submit(chunk);
    double counted = seconds_since(&pool->begin);
    if (on_gpu && flow == FLOW_FILE)
        atomic_fetch_sub(&pool->feeders, 1);
    if (flow != FLOW_FILE && !given)
        costs_learn_stream(&pool->costs, was_read - begin, counted - was_read);
    else if (flow == FLOW_FILE && len > 0)
        costs_learn_file(&pool->costs, on_gpu, len, was_read - begin, counted - was_read);
    return rc;
}

static void *work(void *arg)
{
    struct pool *pool = arg;
    struct reader reader;
    reader_open(&reader, pool->source);
    for (;;) {
        struct chunk *chunk;
        enum flow flow;
        double begin = seconds_since(&pool->begin);
        int more = source_read(&reader, choose_memory, pool, &chunk, &flow);
        size_t len = chunk ? chunk->origin.bytes : 0;
        if (chunk && submit(pool, chunk, flow, begin) != 0) {
            fail_for_loss(pool);
            break;
        }
        if (found_invalid(pool))
            break;
        if (more < 0) {
            const char *error = source_error(pool->source);
            if (error)
                fail(pool, error);
            else
                fail_for_loss(pool);
        }
        if (more <= 0)
            break;
        uint64_t bytes = atomic_fetch_add(&pool->bytes, len) + len;
        if (len > 0 && bytes >= pool->options.tuning.short_input) {
            start_workers(pool, flow);
            consider_gpu(pool, flow);
        }
    }
    reader_close(&reader);
    pthread_mutex_lock(&pool->lock);
    pool->running--;
    pthread_cond_signal(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* --- the run --- */

/* 0, or -1: memory is short. */
static int open_lines(struct pool *pool)
{
    if (!pool->histogram->mode->is_text || pool->options.invalid == INVALID_SKIP)
        return 0;
    size_t on_gpu = pool->options.buffers + 2 * (size_t)pool->options.threads;
    pool->lines = lines_open(pool->options.threads + SOURCE_GIVEN_MAX + on_gpu);
    pool->cpu->lines = pool->lines;
    return pool->lines ? 0 : -1;
}

static struct pool *open_pool(const struct pool_options *options, const struct histogram *histogram,
                              struct source *source)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->options = *options;
    if (!pool->options.threads)
        pool->options.threads = processors();
    pool->histogram = histogram;
    pool->source = source;
    clock_gettime(CLOCK_MONOTONIC, &pool->begin);
    pool->cpu = cpu_engine_open(histogram, options->counter, options->chunk_size,
                                pool->options.threads + SOURCE_GIVEN_MAX);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    if (pool->cpu && open_lines(pool) == 0)
        return pool;
    free(pool);
    return NULL;
}

/* Waits for a change, but not for long, and has a look. Under the lock, without it meanwhile. */
static void wait_and_look(struct pool *pool)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    if (pthread_cond_timedwait(&pool->changed, &pool->lock, &until) == 0)
        return;
    pthread_mutex_unlock(&pool->lock);
    pool->options.look(pool->options.look_arg, atomic_load(&pool->bytes));
    pthread_mutex_lock(&pool->lock);
}

/* Waits until every worker has found the end, or one has failed. 0 or -1. */
static int wait_for_workers(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->running > 0 && !pool->failed)
        if (pool->options.look)
            wait_and_look(pool);
        else
            pthread_cond_wait(&pool->changed, &pool->lock);
    int rc = pool->failed ? -1 : 0;
    pthread_mutex_unlock(&pool->lock);
    return rc;
}

/* Adds up what each engine counted. The GPU comes first: what it lost goes to the CPU. */
static int gather(struct pool *pool, struct engine *gpu, struct tally *tally,
                  struct pool_outcome *outcome)
{
    uint64_t before = tally->bytes;
    if (gpu && engine_finish(gpu, tally) != 0) {
        reason_set(&pool->why, "GPU lost: %s", engine_loss(gpu));
        return -1;
    }
    outcome->gpu_bytes = tally->bytes - before;
    engine_finish(pool->cpu, tally);
    uint64_t bytes = tally->bytes - before;
    if (bytes != atomic_load(&pool->bytes)) {
        reason_set(&pool->why, "internal error: the counts do not add up to what was read");
        return -1;
    }
    outcome->cpu_bytes = bytes - outcome->gpu_bytes;
    return 0;
}

static void describe_gpu(struct pool *pool, struct engine *gpu, struct pool_outcome *outcome)
{
    const char *loss = engine_loss(gpu);
    struct gpu_times times = gpu_engine_times(gpu);
    snprintf(outcome->gpu_name, sizeof outcome->gpu_name, "%s, %s", gpu_engine_device(gpu),
             gpu_engine_strategy(gpu));
    if (loss)
        reason_set(&outcome->gpu_lost, "%s", loss);
    outcome->gpu_ready = pool->gpu_ready;
    outcome->gpu_chunks = times.chunks;
    outcome->copy_seconds = times.copy_seconds;
    outcome->kernel_seconds = times.kernel_seconds;
    outcome->overlap_seconds = times.overlap_seconds;
}

/* --device=gpu: the GPU comes first, and nothing is read without it. */
static int begin_on_gpu(struct pool *pool)
{
    atomic_store(&pool->opening, true);
    open_gpu(pool, buffers(pool, source_left(pool->source) > 0));
    if (atomic_load(&pool->gpu))
        return 0;
    reason_set(&pool->why, "no GPU: %s", pool->gpu_refused.text);
    return -1;
}

static int run(struct pool *pool, struct tally *tally, struct pool_outcome *outcome)
{
    if (pool->options.device == DEVICE_GPU && begin_on_gpu(pool) != 0)
        return -1;
    pthread_mutex_lock(&pool->lock);
    int rc = start_thread(work, pool);
    pool->started = pool->running = rc == 0;
    pthread_mutex_unlock(&pool->lock);
    if (rc != 0) {
        reason_set(&pool->why, "cannot start a thread");
        return -1;
    }
    if (wait_for_workers(pool) != 0)
        return -1;
    struct engine *gpu = atomic_load(&pool->gpu); /* one that comes later comes too late */
    rc = gather(pool, gpu, tally, outcome);
    if (rc == 0 && pool->lines && lines_first(pool->lines, &outcome->invalid) &&
        pool->options.invalid == INVALID_ERROR) {
        pool->why = outcome->invalid;
        rc = -1;
    }
    if (gpu)
        describe_gpu(pool, gpu, outcome);
    return rc;
}

int pool_run(const struct pool_options *options, const struct histogram *histogram,
             struct source *source, struct tally *tally, struct pool_outcome *outcome,
             struct reason *why)
{
    *outcome = (struct pool_outcome){0};
    struct pool *pool = open_pool(options, histogram, source);
    if (!pool) {
        reason_set(why, "out of memory");
        return -1;
    }
    int rc = run(pool, tally, outcome);
    pthread_mutex_lock(&pool->lock);
    outcome->seconds = seconds_since(&pool->begin);
    outcome->workers = pool->started;
    outcome->cpu_name = cpu_engine_counter(pool->cpu);
    outcome->gpu_opened = atomic_load(&pool->opening);
    outcome->gpu_refused = pool->gpu_refused;
    *why = pool->why;
    pthread_mutex_unlock(&pool->lock);
    /* Workers that have left, and a GPU that was never asked for: then nobody else is here. */
    if (rc == 0 && !outcome->gpu_opened) {
        engine_close(pool->cpu);
        lines_close(pool->lines);
        pthread_cond_destroy(&pool->changed);
        pthread_mutex_destroy(&pool->lock);
        free(pool);
    }
    return rc;
}

/* SPDX-License-Identifier: MIT */
/* A run: opens the CPU's engine, starts workers, waits for them, and adds up what was counted. */
#include "pool_state.h"
#include "gpu/engine/gpu_engine.h"
#include "src/base/system.h"
#include "src/tally/file_tallies.h"
#include "src/tally/key_tallies.h"
#include "src/cpu/count.h"
#include "src/input/engine.h"
#include "src/tally/histogram_spec.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)

/* Bytes of counts that are taken to fit. */
#define COUNTS_UNCHECKED (32 * MIB)

/* Between calls of options.tick. */
#define TICK_NS 100000000
#define TICK_SECONDS (TICK_NS / 1e9)

/* --- opening and closing --- */

/* Returns the bytes of the tally, and of one table of the CPU's engine. */
static uint64_t counts_size(const struct histogram_spec *spec)
{
    size_t bins = 0;
    for (; spec; spec = spec->also)
        bins += spec->bins;
    return 2 * (uint64_t)bins * sizeof(uint64_t);
}

bool pool_looks_for_memory(const struct histogram_spec *spec)
{
    return counts_size(spec) > COUNTS_UNCHECKED;
}

/* Refuses counts for which there is no memory. Few bins are not checked, as that takes time. 0, or
 * -1 with the error set. */
static int check_memory(const struct histogram_spec *spec, struct error *error)
{
    uint64_t wanted = counts_size(spec), available;
    if (!pool_looks_for_memory(spec) || wanted <= (available = system_limits_memory("")))
        return 0;
    return error_set(error,
                     "out of memory: %" PRIu64 " bins need %.0f MiB, but %.0f MiB are available",
                     wanted / (2 * sizeof(uint64_t)), (double)wanted / (double)MIB,
                     (double)available / (double)MIB);
}

static void pool_close(struct pool *pool)
{
    if (pool->cpu)
        engine_close(pool->cpu);
    error_locator_close(pool->locator);
    error_locator_close(pool->undecided);
    pthread_cond_destroy(&pool->workers.changed);
    pthread_mutex_destroy(&pool->workers.lock);
    free(pool);
}

/* Opens the locators of errors, if lines are looked for. False if memory is short. */
static bool open_locators(struct pool *pool, size_t chunks)
{
    const size_t files = source_files(pool->source), readers = pool->workers.max;
    if (pool->spec->mode->is_text && pool->options.invalid != INVALID_SKIP &&
        !(pool->locator = error_locator_open(pool->spec, files, chunks, readers)))
        return false;
    if (pool->spec->lines.filter.failure) {
        pool->undecided = error_locator_open(pool->spec, files, chunks, readers);
        if (!pool->undecided)
            return false;
        error_locator_seek_undecided(pool->undecided);
    }
    pool->cpu->locator = pool->locator;
    pool->cpu->undecided = pool->undecided;
    return true;
}

/* Opens a pool with the CPU's engine and the locators. NULL: memory is short. */
static struct pool *pool_open(const struct pool_options *options, const struct pool_task *task)
{
    const struct gpu_list *gpus = &options->gpus;
    const unsigned processors = system_limits_processors(sched_getaffinity),
                   threads = options->threads ? options->threads : processors;
    const struct cpu_engine_options cpu = {.kernels = options->kernels,
                                           .chunk_size = options->chunk_size,
                                           .chunks = threads + HANDED_OFF_MAX,
                                           .threads = threads,
                                           .files = options->files,
                                           .keys = options->keys};
    struct pool *pool = calloc(1, sizeof *pool);
    pthread_condattr_t attributes;
    if (!pool)
        return NULL;
    pool->options = *options;
    pool->spec = task->spec;
    pool->source = task->source;
    pool->processors = processors;
    pool->startup.may_open = options->device == DEVICE_AUTO && !device_missing();
    pool->startup.gpus = *gpus;
    pool->workers.max = threads;
    pthread_mutex_init(&pool->workers.lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->workers.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pool->cpu = cpu_engine_open(pool->spec, &cpu);
    const size_t gpus_max = gpus->count > 0 ? gpus->count : GPUS_MAX,
                 of_each = options->buffers + 2 * (size_t)threads + GPU_ENGINE_BATCHES_MAX;
    if (!pool->cpu || !open_locators(pool, cpu.chunks + gpus_max * of_each)) {
        pool_close(pool);
        return NULL;
    }
    pool->begin = clock_now();
    return pool;
}

/* --- what ends a run early --- */

/* Ends the run with an error, unless it failed for another one. */
static void fail(struct pool *pool, const char *why)
{
    struct workers *workers = &pool->workers;
    pthread_mutex_lock(&workers->lock);
    if (!workers->failed)
        error_set(&workers->error, "%s", why);
    workers->failed = true;
    pthread_cond_signal(&workers->changed);
    pthread_mutex_unlock(&workers->lock);
}

/* A run that wants a GPU only ends when it is lost. */
static void fail_for_loss(struct pool *pool)
{
    struct engine *gpu = pool_gpu(pool);
    const char *loss = gpu ? engine_loss(gpu) : NULL;
    struct error error;
    error_set(&error, "GPU lost: %s", loss ? loss : "no reason is known");
    fail(pool, error.text);
}

/* True if a GPU that the run wants could not be opened, with the error set. */
static bool is_refused(const struct pool *pool, struct error *error)
{
    const struct engine *gpu = pool_gpu(pool);
    struct error why;
    if (pool->options.device != DEVICE_GPU || !gpu || !gpu_group_refused(gpu, &why))
        return false;
    error_set(error, "cannot use the GPU: %s", why.text);
    return true;
}

/* Ends a run with --invalid=error once the first invalid token is known. True if it did. */
static bool has_invalid(struct pool *pool)
{
    struct error what;
    if (pool->options.invalid != INVALID_ERROR || !pool->locator ||
        !error_locator_first(pool->locator, &what))
        return false;
    fail(pool, what.text);
    return true;
}

/* 0; or -1 with the error set if weights do not add up, or an expression of a histogram could not
 * be matched, and of the first one the line is known, or never will be, as the run is at its end.
 * Where one names the parts of lines, what takes too much backtracking is invalid, but lack of
 * memory is an error. */
static int check_lines(const struct pool *pool, bool is_end, struct error *error)
{
    if (cpu_engine_check(pool->cpu, error) != 0)
        return -1;
    for (const struct histogram_spec *spec = pool->spec; spec; spec = spec->also) {
        if (line_filter_check(&spec->lines.filter, error) != 0 &&
            (spec != pool->spec || error_locator_first(pool->undecided, error) || is_end))
            return -1;
        const struct field *const field = &spec->lines.field;
        if (field->kind == FIELD_LINE && field->part.format->regex &&
            regex_lacked_memory(field->part.format->regex))
            return error_set(error, "out of memory");
    }
    return 0;
}

/* The same, and ends a run that cannot keep its counts, or cannot match its lines. */
static bool has_ended(struct pool *pool)
{
    struct error what;
    if (has_invalid(pool))
        return true;
    if (key_tallies_check(pool->options.keys, &what) == 0 &&
        file_tallies_check(pool->options.files, &what) == 0 && check_lines(pool, false, &what) == 0)
        return false;
    fail(pool, what.text);
    return true;
}

/* --- starting workers --- */

/* Bytes of a worker's stack: small, as `ulimit -v` may leave little address space, but enough for
 * CUDA's calls. Sanitizers need far more: 0 is the system's default. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define WORKER_STACK 0
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define WORKER_STACK 0
#endif
#endif
#ifndef WORKER_STACK
#define WORKER_STACK ((size_t)512 << 10)
#endif

static void *worker_thread(void *arg);

static bool start_thread(struct pool *pool)
{
    return start_detached_thread(worker_thread, pool, WORKER_STACK) == 0;
}

/* Starts workers until there are as many as wanted. */
static void start(struct pool *pool, unsigned wanted)
{
    struct workers *workers = &pool->workers;
    if (workers->started >= wanted || workers->exhausted)
        return;
    pthread_mutex_lock(&workers->lock);
    unsigned before = workers->started;
    while (workers->started < wanted && !workers->failed && !workers->exhausted) {
        /* The limit that is met will hardly go away in this run. */
        workers->exhausted = !start_thread(pool);
        workers->started += !workers->exhausted;
        workers->running += !workers->exhausted;
    }
    if (workers->started > before)
        engines_restart_rate(pool);
    pthread_mutex_unlock(&workers->lock);
}

/* Starts as many workers as the input is worth. */
static void start_more(struct pool *pool, enum flow flow)
{
    if (pool->workers.started < pool->workers.max)
        engines_limit_workers(pool);
    struct policy_input now = engines_policy_input(pool, flow);
    now.has_work = flow == FLOW_DECODED && source_has_work(pool->source);
    start(pool, policy_workers(&now, &pool->options.tuning));
}

/* When the input proves long, starts as many workers as it is worth, and a GPU; `len` bytes more
 * were read. */
static void call_for_help(struct pool *pool, enum flow flow, size_t len)
{
    const uint64_t bytes = atomic_fetch_add(&pool->workers.bytes, len) + len;
    if (len == 0 || bytes < pool->options.tuning.short_input)
        return;
    start_more(pool, flow);
    engines_consider(pool, flow, bytes);
}

/* --- what a worker does --- */

/* Calls options.tick, if there is one. The lock is not held. */
static void tick(struct pool *pool, bool has_failed)
{
    const struct pool_view view = {.bytes = pool->workers.bytes,
                                   .has_failed = has_failed,
                                   .cpu = pool->cpu,
                                   .gpu = pool_gpu(pool)};
    if (pool->options.tick)
        pool->options.tick(pool->options.tick_arg, &view);
}

/* The sink of one worker. */
struct worker_sink {
    struct pool *pool;
    double began;  /* to read what is counted next, in seconds since the run began */
    bool looks;    /* this is the thread that would wait, so it calls look now and then: */
    double looked; /* when it did */
};

static struct pool *pool_of(void *arg)
{
    return ((struct worker_sink *)arg)->pool;
}

static struct chunk *worker_choose(void *arg, enum flow flow)
{
    return engines_choose(pool_of(arg), flow);
}

static int worker_count(void *arg, struct chunk *chunk, enum flow flow)
{
    struct worker_sink *sink = arg;
    struct pool *pool = sink->pool;
    const size_t len = chunk->origin.bytes; /* submit takes the chunk back */
    const bool was_handed_off = flow == FLOW_DECODED && chunk->give;
    struct engine *engine = chunk->engine;
    const double was_read = pool_seconds(pool);
    const int rc = engine->ops->submit(engine, chunk);
    if (!was_handed_off)
        engines_record(pool, engine, flow, len, was_read - sink->began,
                       pool_seconds(pool) - was_read);
    if (rc != 0) {
        fail_for_loss(pool);
        return -1;
    }
    if (has_ended(pool))
        return -1;
    call_for_help(pool, flow, len);
    if (sink->looks && pool_seconds(pool) - sink->looked >= TICK_SECONDS) {
        tick(pool, false);
        sink->looked = pool_seconds(pool);
    }
    sink->began = pool_seconds(pool); /* to look, or to open a GPU, is not reading */
    return 0;
}

/* Starts workers for the other files, as one that feeds a GPU stays with it for a whole file. The
 * caller may have the source's read lock, which nothing here takes. */
static struct engine *worker_offload(void *arg, const struct offload_offer *offer, bool *waits)
{
    struct pool *pool = pool_of(arg);
    struct engine *gpu = engines_offload(pool, offer, waits);
    if (!gpu && !*waits)
        return NULL;
    engines_limit_workers(pool);
    const struct policy_input now = engines_policy_input(pool, FLOW_DECODED);
    const size_t files = source_files(pool->source);
    const unsigned wanted = policy_workers_beside_gpus(&now);
    start(pool, files < wanted ? (unsigned)files : wanted);
    return gpu;
}

/* True if the worker is one too many of those that decompress: it then no longer counts as started,
 * so that another one may be when it is needed. One that calls look is replaced: to decompress may
 * take long without counting. */
static bool worker_is_surplus(void *arg)
{
    const struct worker_sink *sink = arg;
    struct pool *pool = sink->pool;
    struct workers *workers = &pool->workers;
    const struct policy_input now = engines_policy_input(pool, FLOW_DECODED);
    const unsigned wanted = policy_workers_beside_gpus(&now);
    if (!sink->looks && now.workers <= wanted)
        return false;
    pthread_mutex_lock(&workers->lock);
    bool is_surplus = workers->started > wanted;
    if (sink->looks) {
        is_surplus = start_thread(pool);
        workers->running += is_surplus;
    } else if (is_surplus) {
        workers->started--;
        workers->exhausted = false; /* a thread can be started again */
    }
    pthread_mutex_unlock(&workers->lock);
    return is_surplus;
}

static void worker_call_for_help(void *arg)
{
    start_more(pool_of(arg), FLOW_DECODED);
}

static bool worker_has_ended(void *arg)
{
    return has_ended(pool_of(arg));
}

/* Runs one worker to its end. */
static void run(struct pool *pool, bool looks)
{
    struct workers *workers = &pool->workers;
    struct worker_sink own = {.pool = pool, .began = pool_seconds(pool), .looks = looks};
    const bool has_gpu = pool->startup.may_open || pool->options.device == DEVICE_GPU;
    const struct sink sink = {.arg = &own,
                              .choose = worker_choose,
                              .count = worker_count,
                              .offload = has_gpu ? worker_offload : NULL,
                              .is_surplus = worker_is_surplus,
                              .workers = &workers->max,
                              .has_ended = worker_has_ended,
                              .call_for_help = worker_call_for_help};
    (void)run_worker(pool->source, &sink);
    /* Others may have failed, and this one has read what comes before that. */
    const char *error = source_error(pool->source);
    if (error && !has_invalid(pool)) { /* which comes first */
        if (*error)
            fail(pool, error);
        else
            fail_for_loss(pool);
    }
    pthread_mutex_lock(&workers->lock);
    workers->running--;
    pthread_cond_signal(&workers->changed);
    pthread_mutex_unlock(&workers->lock);
}

static void *worker_thread(void *arg)
{
    run(arg, false);
    return NULL;
}

/* --- the run --- */

/* Starts the first worker, which starts others when the input is long. A short plain input is read
 * by this thread, until its end. 0, or -1 with the error set. */
static int begin(struct pool *pool, struct error *error)
{
    const uint64_t size = source_size(pool->source);
    /* A pipe would keep this thread from looking. */
    const bool may_be_here = size > 0 && pool->options.device != DEVICE_GPU;
    /* To start a thread takes longer than to count a short input. */
    const bool is_here = may_be_here && size <= pool->options.tuning.short_input;
    pool->workers.started = pool->workers.running = 1;
    if (!is_here && start_thread(pool))
        return 0;
    if (!may_be_here)
        return error_set(error, "cannot start a thread");
    run(pool, true);
    return 0;
}

/* Waits until every worker has reached the end of the source, or until one has failed; meanwhile
 * calls options.tick. 0, or -1 with the error set: workers may then still be running. */
static int await(struct pool *pool, struct error *error)
{
    struct workers *workers = &pool->workers;
    struct error refused;
    pthread_mutex_lock(&workers->lock);
    while (workers->running > 0 && !workers->failed) {
        struct timespec until = clock_now(); /* the condition's clock, too, which cannot be set */
        until.tv_nsec += TICK_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        if (pthread_cond_timedwait(&workers->changed, &workers->lock, &until) == 0)
            continue;
        pthread_mutex_unlock(&workers->lock);
        tick(pool, false);
        if (is_refused(pool, &refused))
            fail(pool, refused.text);
        pthread_mutex_lock(&workers->lock);
    }
    const bool failed = workers->failed;
    if (failed)
        *error = workers->error;
    pthread_mutex_unlock(&workers->lock);
    if (failed)
        tick(pool, true);
    return failed ? -1 : 0;
}

/* Adds up the counts of each engine. The GPU comes first, as chunks that it lost go to the CPU. */
static int gather(struct pool *pool, struct engine *gpu, struct tally *tally,
                  struct pool_outcome *outcome, struct error *error)
{
    const struct pool_options *options = &pool->options;
    const uint64_t before = tally->bytes;
    if (gpu)
        tally->blocks = NULL; /* it marks none */
    const int rc = gpu ? engine_finish(gpu, tally) : 0;
    if (gpu)
        outcome->gpu_count = gpu_group_report(gpu, outcome->gpus);
    if (rc != 0)
        return error_set(error, "GPU lost: %s", engine_loss(gpu));
    outcome->gpu_bytes = tally->bytes - before;
    engine_finish(pool->cpu, tally);
    const uint64_t bytes = tally->bytes - before;
    uint64_t read = pool->workers.bytes;
    for (unsigned i = 0; i < outcome->gpu_count; i++)
        read += outcome->gpus[i].times.decompressed;
    if (bytes != read)
        return error_set(error, "internal error: the counts do not add up to what was read");
    outcome->cpu_bytes = bytes - outcome->gpu_bytes;
    if (options->files)
        file_tallies_end(options->files);
    if (file_tallies_check(options->files, error) != 0 ||
        key_tallies_check(options->keys, error) != 0 || check_lines(pool, true, error) != 0)
        return -1;
    if (!pool->locator || !error_locator_first(pool->locator, &outcome->invalid) ||
        options->invalid != INVALID_ERROR)
        return 0;
    *error = outcome->invalid;
    return -1;
}

/* Counts all of the source. With --device=gpu nothing is read before the GPU is there. */
static int count(struct pool *pool, struct tally *tally, struct pool_outcome *outcome,
                 struct error *error)
{
    if (pool->options.device == DEVICE_GPU) {
        engines_limit_workers(pool); /* the number of slots follows from it */
        if (engines_open_gpus(pool) != 0)
            return error_set(error, "cannot use the GPU: %s", pool->startup.error.text);
    }
    engines_begin(pool);
    if (begin(pool, error) != 0 || await(pool, error) != 0)
        return -1;
    struct engine *gpus = pool_gpu(pool); /* those that are ready only later are too late */
    const int rc = gather(pool, gpus, tally, outcome, error);
    if (!gpus)
        return rc;
    outcome->gpu_ready = pool->startup.ready;
    if (rc == 0 && is_refused(pool, error))
        return -1;
    (void)gpu_group_refused(gpus, &outcome->gpu_refused);
    return rc;
}

int pool_run(const struct pool_options *options, const struct pool_task *task,
             struct pool_outcome *outcome, struct error *error)
{
    *outcome = (struct pool_outcome){0};
    if (check_memory(task->spec, error) != 0)
        return -1;
    struct pool *pool = pool_open(options, task);
    if (!pool)
        return error_set(error, "out of memory");
    const int rc = count(pool, task->tally, outcome, error);
    outcome->seconds = pool_seconds(pool);
    outcome->workers = pool->workers.started;
    outcome->cpu_name = cpu_engine_kernels(pool->cpu);
    outcome->gpu_opened = pool->startup.is_asked;
    if (outcome->gpu_count == 0 && atomic_load(&pool->startup.is_refused))
        outcome->gpu_refused = pool->startup.error;
    /* If all workers have ended and a GPU was never asked for, no other thread is left. */
    if (rc == 0 && !outcome->gpu_opened)
        pool_close(pool);
    return rc;
}

int pool_so_far(const struct pool_view *view, struct tally *tally)
{
    struct error unused; /* the run ends by it soon */
    engine_peek(view->cpu, tally);
    if (cpu_engine_check(view->cpu, &unused) != 0)
        return -1;
    return view->gpu ? engine_peek(view->gpu, tally) : 0;
}

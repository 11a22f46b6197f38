/* SPDX-License-Identifier: MIT */
#include "workers.h"
#include "machine.h"
#include "thread.h"
#include "gpu/gpu_group.h"
#include "src/base/clock.h"
#include "src/run/run.h"

/* Between calls of options->look. */
#define LOOK_NS 100000000
#define LOOK_SECONDS (LOOK_NS / 1e9)

void workers_init(struct workers *workers, const struct pool_options *options,
                  struct source *source, struct handover *handover, struct lines *lines)
{
    *workers = (struct workers){
        .options = options, .source = source, .handover = handover, .lines = lines};
    pthread_mutex_init(&workers->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&workers->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void workers_destroy(struct workers *workers)
{
    pthread_cond_destroy(&workers->changed);
    pthread_mutex_destroy(&workers->lock);
}

static void workers_fail(struct workers *workers, const char *why)
{
    pthread_mutex_lock(&workers->lock);
    if (!workers->failed)
        reason_set(&workers->why, "%s", why);
    workers->failed = true;
    pthread_cond_signal(&workers->changed);
    pthread_mutex_unlock(&workers->lock);
}

/* A run that wants a GPU only ends when it is lost. */
static void workers_fail_for_loss(struct workers *workers)
{
    struct engine *gpu = handover_gpu(workers->handover);
    struct reason why;
    if (!gpu)
        return; /* it failed for another reason, which is known */
    reason_set(&why, "GPU lost: %s", engine_loss(gpu));
    workers_fail(workers, why.text);
}

/* --- starting them --- */

/* Bytes of a worker's stack: small, as each takes address space, of which `ulimit -v` may leave
 * little. Counting takes up to 80 KiB of it, and CUDA's calls must do with the rest: with 512 KiB
 * they did on macOS, where that is the default. Sanitizers need far more: 0 is the system's
 * default. */
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

/* How many workers one stream keeps busy: while one reads or decompresses it, the others count what
 * was read. Those that are too many wait, and waiting counts as reading, so that no more are asked
 * for. */
static unsigned workers_for_stream(struct workers *workers)
{
    const struct handover *handover = workers->handover;
    double fraction = costs_counting_share(&handover->costs);
    double most = atomic_load(&handover->threads);
    double wanted = fraction < 1 ? 2 + fraction / (1 - fraction) : most;
    if (!handover_counting_is_dear(handover))
        return 1;
    return (unsigned)(wanted < most ? wanted : most);
}

void workers_limit(struct workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    bool done = workers->limited;
    workers->limited = true;
    if (!done && workers->options->threads == 0) {
        unsigned quota = machine_quota("");
        if (quota < atomic_load(&workers->handover->threads))
            atomic_store(&workers->handover->threads, quota);
    }
    pthread_mutex_unlock(&workers->lock);
}

/* Starts workers until there are so many. */
static void workers_start(struct workers *workers, unsigned wanted)
{
    if (atomic_load(&workers->started) >= wanted || atomic_load(&workers->exhausted))
        return;
    pthread_mutex_lock(&workers->lock);
    unsigned before = workers->started;
    while (workers->started < wanted && !workers->failed && !workers->exhausted) {
        if (thread_start(worker_thread, workers, WORKER_STACK) != 0) {
            workers->exhausted = true; /* the limit that was met will hardly go away in this run */
        } else {
            workers->started++;
            workers->running++;
        }
    }
    if (workers->started > before)
        handover_restart_rate(workers->handover, atomic_load(&workers->bytes));
    pthread_mutex_unlock(&workers->lock);
}

/* Starts as many workers as the input is worth. */
static void workers_start_more(struct workers *workers, enum flow flow)
{
    if (atomic_load(&workers->started) < atomic_load(&workers->handover->threads))
        workers_limit(workers);
    unsigned wanted = handover_workers(workers->handover, flow);
    bool is_stream =
        flow == FLOW_PIPE || (flow == FLOW_DECODED && !source_has_work(workers->source));
    if (is_stream && wanted > 1)
        wanted = workers_for_stream(workers);
    workers_start(workers, wanted);
}

/* Starts a worker for each GPU that finds a FILE: one that feeds a GPU compressed bytes stays with
 * it for the whole FILE, and hands out nothing that would call for help. Whoever calls this may
 * have the source's turn, which nothing here takes. */
static void workers_start_for_gpus(struct workers *workers, const struct engine *gpus)
{
    const size_t files = source_files(workers->source);
    unsigned wanted = gpu_group_count(gpus);
    if (wanted > files)
        wanted = (unsigned)files;
    if (atomic_load(&workers->started) >= wanted)
        return;
    workers_limit(workers);
    const unsigned most = atomic_load(&workers->handover->threads);
    workers_start(workers, wanted < most ? wanted : most);
}

/* --- what one does --- */

/* Ends a run with --invalid=error once the first token that is not a number is known. Whether it
 * did. */
static bool worker_found_invalid(struct workers *workers)
{
    struct reason what;
    if (workers->options->invalid != INVALID_ERROR || !workers->lines ||
        !lines_first(workers->lines, &what))
        return false;
    workers_fail(workers, what.text);
    return true;
}

/* Calls for help when the input proves long; `len` bytes more were read. */
static void worker_call_for_help(struct workers *workers, enum flow flow, size_t len)
{
    uint64_t bytes = atomic_fetch_add(&workers->bytes, len) + len;
    if (len == 0 || bytes < workers->options->tuning.short_input)
        return;
    workers_start_more(workers, flow);
    handover_consider(workers->handover, flow, bytes, atomic_load(&workers->started));
}

/* Calls look. The lock is not held. */
static void workers_look(struct workers *workers, bool has_failed)
{
    const struct pool_view view = {.bytes = atomic_load(&workers->bytes),
                                   .has_failed = has_failed,
                                   .cpu = workers->handover->cpu,
                                   .gpu = handover_gpu(workers->handover)};
    workers->options->look(workers->options->look_arg, &view);
}

/* The sink of one worker. */
struct worker_sink {
    struct workers *workers;
    double began;  /* to read what is counted next, in seconds since handover->begin */
    bool looks;    /* this is the thread that would wait, so it calls look now and then: */
    double looked; /* when it did */
};

static struct chunk *worker_choose(void *arg, enum flow flow)
{
    struct worker_sink *sink = arg;
    return handover_choose(sink->workers->handover, flow);
}

static int worker_count(void *arg, struct chunk *chunk, enum flow flow)
{
    struct worker_sink *sink = arg;
    struct workers *workers = sink->workers;
    struct handover *handover = workers->handover;
    const size_t len = chunk->origin.bytes; /* submit takes the chunk back */
    int rc = handover_submit(handover, chunk, flow, sink->began);
    sink->began = clock_seconds_since(&handover->begin);
    if (rc != 0) {
        workers_fail_for_loss(workers);
        return -1;
    }
    if (worker_found_invalid(workers))
        return -1;
    worker_call_for_help(workers, flow, len);
    if (sink->looks && workers->options->look && sink->began - sink->looked >= LOOK_SECONDS) {
        workers_look(workers, false);
        sink->looked = sink->began;
    }
    return 0;
}

static struct engine *worker_offload(void *arg, const struct offload_offer *offer)
{
    struct workers *workers = ((struct worker_sink *)arg)->workers;
    struct engine *gpu = handover_undecoder(workers->handover, offer);
    if (gpu && offer)
        workers_start_for_gpus(workers, handover_gpu(workers->handover));
    return gpu;
}

static bool worker_may_offload(void *arg)
{
    return handover_may_undecode(((struct worker_sink *)arg)->workers->handover);
}

/* True if the worker is one too many of those that decompress: it then no longer counts as started,
 * so that another one may be when it is needed. */
static bool worker_is_surplus(void *arg)
{
    struct workers *workers = ((struct worker_sink *)arg)->workers;
    const unsigned wanted = handover_workers(workers->handover, FLOW_DECODED);
    if (atomic_load(&workers->started) <= wanted)
        return false;
    pthread_mutex_lock(&workers->lock);
    bool is_surplus = workers->started > wanted;
    if (is_surplus) {
        workers->started--;
        workers->exhausted = false; /* a thread can be started again */
    }
    pthread_mutex_unlock(&workers->lock);
    return is_surplus;
}

static bool worker_has_ended(void *arg)
{
    return worker_found_invalid(((struct worker_sink *)arg)->workers);
}

/* Runs one worker to its end. */
static void worker_run(struct workers *workers, bool looks)
{
    struct worker_sink own = {.workers = workers,
                              .began = clock_seconds_since(&workers->handover->begin),
                              .looks = looks};
    const struct sink sink = {.arg = &own,
                              .choose = worker_choose,
                              .count = worker_count,
                              .offload = worker_offload,
                              .may_offload = worker_may_offload,
                              .is_surplus = worker_is_surplus,
                              .has_ended = worker_has_ended};
    if (run_worker(workers->source, &sink) != 0) {
        const char *error = source_error(workers->source);
        if (error)
            workers_fail(workers, error);
        else
            workers_fail_for_loss(workers);
    }
    pthread_mutex_lock(&workers->lock);
    workers->running--;
    pthread_cond_signal(&workers->changed);
    pthread_mutex_unlock(&workers->lock);
}

static void *worker_thread(void *arg)
{
    worker_run(arg, false);
    return NULL;
}

/* --- the first one --- */

/* True if starting a thread would take longer than the input, as far as its size tells. */
static bool is_short(const struct workers *workers)
{
    const uint64_t size = source_size(workers->source);
    return size > 0 && size <= workers->options->tuning.short_input;
}

int workers_begin(struct workers *workers, struct reason *why)
{
    const bool may_be_here = workers->options->begins_here;
    workers->started = workers->running = 1;
    if (!(may_be_here && is_short(workers)) &&
        thread_start(worker_thread, workers, WORKER_STACK) == 0)
        return 0;
    if (!may_be_here) {
        reason_set(why, "cannot start a thread");
        return -1;
    }
    worker_run(workers, true);
    return 0;
}

/* --- waiting for them --- */

/* Waits for a change, and calls look if there is none for a while. The lock is held on entry and on
 * return, but not while look runs. */
static void workers_wait_and_look(struct workers *workers)
{
    struct timespec until = clock_now(); /* the condition's clock, too, which cannot be set */
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    if (pthread_cond_timedwait(&workers->changed, &workers->lock, &until) == 0)
        return;
    pthread_mutex_unlock(&workers->lock);
    workers_look(workers, false);
    pthread_mutex_lock(&workers->lock);
}

int workers_wait(struct workers *workers, struct reason *why)
{
    pthread_mutex_lock(&workers->lock);
    while (workers->running > 0 && !workers->failed)
        if (workers->options->look)
            workers_wait_and_look(workers);
        else
            pthread_cond_wait(&workers->changed, &workers->lock);
    int rc = workers->failed ? -1 : 0;
    if (rc != 0)
        *why = workers->why;
    pthread_mutex_unlock(&workers->lock);
    if (rc != 0 && workers->options->look)
        workers_look(workers, true);
    return rc;
}

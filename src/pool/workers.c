/* SPDX-License-Identifier: MIT */
#include "workers.h"
#include "machine.h"
#include "thread.h"
#include "gpu/gpu_group.h"
#include "src/run/run.h"

/* Between calls of options->look. */
#define LOOK_NS 100000000
#define LOOK_SECONDS (LOOK_NS / 1e9)

void workers_init(struct workers *workers, struct engines *engines)
{
    *workers = (struct workers){.engines = engines, .job = engines->job};
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
    struct engine *gpu = engines_gpu(workers->engines);
    const char *loss = gpu ? engine_loss(gpu) : NULL;
    struct reason why;
    reason_set(&why, "GPU lost: %s", loss ? loss : "no reason is known");
    workers_fail(workers, why.text); /* unless it failed for another reason */
}

/* --- starting them --- */

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

void workers_limit(struct workers *workers)
{
    struct job *job = workers->job;
    pthread_mutex_lock(&workers->lock);
    bool done = workers->limited;
    workers->limited = true;
    if (!done && job->options->threads == 0) {
        unsigned quota = machine_quota("");
        if (quota < atomic_load(&job->workers_most))
            atomic_store(&job->workers_most, quota);
    }
    pthread_mutex_unlock(&workers->lock);
}

/* Starts workers until there are as many as wanted. */
static void workers_start(struct workers *workers, unsigned wanted)
{
    atomic_uint *started = &workers->job->workers;
    if (atomic_load(started) >= wanted || atomic_load(&workers->exhausted))
        return;
    pthread_mutex_lock(&workers->lock);
    unsigned before = *started;
    while (*started < wanted && !workers->failed && !workers->exhausted) {
        if (thread_start(worker_thread, workers, WORKER_STACK) != 0) {
            workers->exhausted = true; /* the limit that was met will hardly go away in this run */
        } else {
            (*started)++;
            workers->running++;
        }
    }
    if (*started > before)
        engines_restart_rate(workers->engines, atomic_load(&workers->bytes));
    pthread_mutex_unlock(&workers->lock);
}

/* Starts as many workers as the input is worth. */
static void workers_start_more(struct workers *workers, enum flow flow)
{
    struct job *job = workers->job;
    if (atomic_load(&job->workers) < atomic_load(&job->workers_most))
        workers_limit(workers);
    struct situation now = engines_situation(workers->engines, flow);
    now.has_work = flow == FLOW_DECODED && source_has_work(job->source);
    workers_start(workers, policy_workers(&now, &job->options->tuning));
}

/* Starts a worker for each GPU that finds a file: one that feeds a GPU stays with it for the whole
 * file. The caller may have the source's turn, which nothing here takes. */
static void workers_start_for_gpus(struct workers *workers, const struct engine *gpus)
{
    struct job *job = workers->job;
    const size_t files = source_files(job->source);
    unsigned wanted = gpu_group_count(gpus);
    if (wanted > files)
        wanted = (unsigned)files;
    if (atomic_load(&job->workers) >= wanted)
        return;
    workers_limit(workers);
    const unsigned most = atomic_load(&job->workers_most);
    workers_start(workers, wanted < most ? wanted : most);
}

/* --- what one does --- */

/* Ends a run with --invalid=error once the first invalid token is known. True if it did. */
static bool worker_found_invalid(struct workers *workers)
{
    struct reason what;
    if (workers->job->options->invalid != INVALID_ERROR || !workers->job->lines ||
        !lines_first(workers->job->lines, &what))
        return false;
    workers_fail(workers, what.text);
    return true;
}

/* Calls for help when the input proves long; `len` bytes more were read. */
static void worker_call_for_help(struct workers *workers, enum flow flow, size_t len)
{
    uint64_t bytes = atomic_fetch_add(&workers->bytes, len) + len;
    if (len == 0 || bytes < workers->job->options->tuning.short_input)
        return;
    workers_start_more(workers, flow);
    engines_consider(workers->engines, flow, bytes);
}

/* Calls options->look. The lock is not held. */
static void workers_look(struct workers *workers, bool has_failed)
{
    const struct pool_options *options = workers->job->options;
    const struct pool_view view = {.bytes = atomic_load(&workers->bytes),
                                   .has_failed = has_failed,
                                   .cpu = workers->job->cpu,
                                   .gpu = engines_gpu(workers->engines)};
    options->look(options->look_arg, &view);
}

/* The sink of one worker. */
struct worker_sink {
    struct workers *workers;
    double began;  /* to read what is counted next, in seconds since the run began */
    bool looks;    /* this is the thread that would wait, so it calls look now and then: */
    double looked; /* when it did */
};

static struct chunk *worker_choose(void *arg, enum flow flow)
{
    struct worker_sink *sink = arg;
    return engines_choose(sink->workers->engines, flow);
}

static int worker_count(void *arg, struct chunk *chunk, enum flow flow)
{
    struct worker_sink *sink = arg;
    struct workers *workers = sink->workers;
    const struct job *job = workers->job;
    const size_t len = chunk->origin.bytes; /* submit takes the chunk back */
    int rc = engines_submit(workers->engines, chunk, flow, sink->began);
    if (rc != 0) {
        workers_fail_for_loss(workers);
        return -1;
    }
    if (worker_found_invalid(workers))
        return -1;
    worker_call_for_help(workers, flow, len);
    if (sink->looks && job->options->look && job_seconds(job) - sink->looked >= LOOK_SECONDS) {
        workers_look(workers, false);
        sink->looked = job_seconds(job);
    }
    sink->began = job_seconds(job); /* to look, or to open a GPU, is not reading */
    return 0;
}

static struct engine *worker_offload(void *arg, const struct offload_offer *offer)
{
    struct workers *workers = ((struct worker_sink *)arg)->workers;
    struct engine *gpu = engines_offload(workers->engines, offer);
    if (gpu && offer)
        workers_start_for_gpus(workers, gpu);
    return gpu;
}

static bool worker_may_offload(void *arg)
{
    return engines_may_offload(((struct worker_sink *)arg)->workers->engines);
}

/* Starts a worker in place of the thread that calls look: to decode may take long without counting.
 * True if it did. */
static bool workers_replace(struct workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    bool is_replaced = thread_start(worker_thread, workers, WORKER_STACK) == 0;
    workers->running += is_replaced;
    pthread_mutex_unlock(&workers->lock);
    return is_replaced;
}

/* True if the worker was replaced, or is one too many of those that decompress: it then no longer
 * counts as started, so that another one may be when it is needed. */
static bool worker_is_surplus(void *arg)
{
    const struct worker_sink *sink = arg;
    struct workers *workers = sink->workers;
    if (sink->looks)
        return workers_replace(workers);
    const struct situation now = engines_situation(workers->engines, FLOW_DECODED);
    const unsigned wanted = policy_workers_beside_gpus(&now);
    if (now.workers <= wanted)
        return false;
    pthread_mutex_lock(&workers->lock);
    bool is_surplus = workers->job->workers > wanted;
    if (is_surplus) {
        workers->job->workers--;
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
    struct worker_sink own = {
        .workers = workers, .began = job_seconds(workers->job), .looks = looks};
    const struct sink sink = {.arg = &own,
                              .choose = worker_choose,
                              .count = worker_count,
                              .offload = worker_offload,
                              .may_offload = worker_may_offload,
                              .is_surplus = worker_is_surplus,
                              .has_ended = worker_has_ended};
    if (run_worker(workers->job->source, &sink) != 0) {
        const char *error = source_error(workers->job->source);
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

int workers_begin(struct workers *workers, struct reason *why)
{
    const struct pool_options *options = workers->job->options;
    const uint64_t size = source_size(workers->job->source);
    /* A pipe would keep this thread from looking. */
    const bool may_be_here = size > 0 && options->device != DEVICE_GPU;
    /* To start a thread takes longer than to count a short input. */
    const bool is_here = may_be_here && size <= options->tuning.short_input;
    workers->job->workers = workers->running = 1;
    if (!is_here && thread_start(worker_thread, workers, WORKER_STACK) == 0)
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
        if (workers->job->options->look)
            workers_wait_and_look(workers);
        else
            pthread_cond_wait(&workers->changed, &workers->lock);
    int rc = workers->failed ? -1 : 0;
    if (rc != 0)
        *why = workers->why;
    pthread_mutex_unlock(&workers->lock);
    if (rc != 0 && workers->job->options->look)
        workers_look(workers, true);
    return rc;
}

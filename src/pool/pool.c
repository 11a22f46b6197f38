/* SPDX-License-Identifier: MIT */
#include "pool.h"
#include "machine.h"
#include "workers.h"
#include "gpu/decoder.h"
#include "gpu/device.h"
#include "gpu/gpu_group.h"
#include "src/cpu/cpu_engine.h"
#include "src/records/lines.h"
#include "src/count/file_tallies.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)

/* Bytes of counts that are taken to fit. */
#define COUNTS_UNCHECKED (32 * MIB)

/* Freed only after a run in which all threads have ended: those that have not still use it. */
struct pool {
    struct pool_options options;
    struct job job;
    struct engines engines;
    struct workers workers;
};

/* --- opening and closing --- */

/* Bytes of the tally, and of one table of the CPU's engine. */
static uint64_t pool_counts_size(const struct histogram *histogram)
{
    size_t bins = 0;
    for (; histogram; histogram = histogram->also)
        bins += histogram->bins;
    return 2 * (uint64_t)bins * sizeof(uint64_t);
}

bool pool_looks_for_memory(const struct histogram *histogram)
{
    return pool_counts_size(histogram) > COUNTS_UNCHECKED;
}

/* Refuses counts for which there is no memory. Few bins are not checked, as that takes time. 0, or
 * -1 with the reason set. */
static int pool_check_memory(const struct histogram *histogram, struct reason *why)
{
    uint64_t wanted = pool_counts_size(histogram), available;
    if (!pool_looks_for_memory(histogram) || wanted <= (available = machine_memory("")))
        return 0;
    reason_set(why, "out of memory: %" PRIu64 " bins need %.0f MiB, but %.0f MiB are available",
               wanted / (2 * sizeof(uint64_t)), (double)wanted / (double)MIB,
               (double)available / (double)MIB);
    return -1;
}

/* How many GPUs there may be at most. */
static unsigned gpus_most(const struct gpu_list *gpus)
{
    if (gpus->count == 0)
        return GPUS_MAX;
    return gpus->most > gpus->count ? gpus->most : gpus->count;
}

/* 0, or -1: memory is short. */
static int pool_open_lines(struct pool *pool)
{
    struct job *job = &pool->job;
    const size_t threads = job->workers_most;
    if (!job->histogram->mode->is_text || pool->options.invalid == INVALID_SKIP)
        return 0;
    size_t gpus = gpus_most(&pool->options.gpus);
    size_t on_gpu = gpus * (pool->options.buffers + 2 * threads + DEVICE_BATCHES_MAX);
    job->lines = lines_open(&job->histogram->field, source_files(job->source),
                            threads + DONATED_MAX + on_gpu, (unsigned)threads);
    job->cpu->lines = job->lines;
    return job->lines ? 0 : -1;
}

/* 0, or -1: memory is short. */
static int pool_open_cpu(struct pool *pool)
{
    const struct pool_options *options = &pool->options;
    const unsigned threads = pool->job.workers_most;
    pool->job.cpu = cpu_engine_open(pool->job.histogram,
                                    &(struct cpu_engine_options){.counter = options->counter,
                                                                 .chunk_size = options->chunk_size,
                                                                 .chunks = threads + DONATED_MAX,
                                                                 .threads = threads,
                                                                 .files = options->files});
    return pool->job.cpu ? pool_open_lines(pool) : -1;
}

static void pool_close(struct pool *pool)
{
    if (pool->job.cpu)
        engine_close(pool->job.cpu);
    lines_close(pool->job.lines);
    free(pool);
}

static struct pool *pool_open(const struct pool_options *options, const struct pool_task *task)
{
    struct pool *pool = calloc(1, sizeof *pool);
    const unsigned processors = machine_processors(sched_getaffinity);
    if (!pool)
        return NULL;
    pool->options = *options;
    pool->job = (struct job){.options = &pool->options,
                             .histogram = task->histogram,
                             .source = task->source,
                             .processors = processors,
                             .workers_most = options->threads ? options->threads : processors};
    if (pool_open_cpu(pool) != 0) {
        pool_close(pool);
        return NULL;
    }
    pool->job.begin = clock_now();
    engines_init(&pool->engines, &pool->job);
    workers_init(&pool->workers, &pool->engines);
    return pool;
}

/* --- the result --- */

/* Adds up what each engine counted. The GPU comes first: what it lost goes to the CPU. */
static int pool_gather(struct pool *pool, struct engine *gpu, struct tally *tally,
                       struct pool_outcome *outcome, struct reason *why)
{
    uint64_t before = tally->bytes;
    if (gpu && engine_finish(gpu, tally) != 0) {
        reason_set(why, "GPU lost: %s", engine_loss(gpu));
        return -1;
    }
    outcome->gpu_bytes = tally->bytes - before;
    engine_finish(pool->job.cpu, tally);
    uint64_t bytes = tally->bytes - before;
    uint64_t decompressed = gpu ? gpu_decoder_bytes(gpu) : 0;
    if (bytes != atomic_load(&pool->workers.bytes) + decompressed) {
        reason_set(why, "internal error: the counts do not add up to what was read");
        return -1;
    }
    outcome->cpu_bytes = bytes - outcome->gpu_bytes;
    if (pool->options.files && !file_tallies_complete(pool->options.files)) {
        reason_set(why, "out of memory");
        return -1;
    }
    return 0;
}

static void pool_describe_gpu(struct engine *engine, int number, struct pool_gpu *gpu)
{
    const char *loss = engine_loss(engine);
    *gpu = (struct pool_gpu){.number = number, .times = gpu_engine_times(engine)};
    snprintf(gpu->name, sizeof gpu->name, "%s, %s", gpu_engine_device(engine),
             gpu_engine_strategy(engine));
    if (loss)
        reason_set(&gpu->lost, "%s", loss);
}

static void pool_describe_gpus(struct pool *pool, const struct engine *group,
                               struct pool_outcome *outcome)
{
    outcome->gpu_ready = pool->engines.opening.ready;
    outcome->gpu_count = gpu_group_count(group);
    (void)gpu_group_refused(group, &outcome->gpu_refused);
    for (unsigned i = 0; i < outcome->gpu_count; i++)
        pool_describe_gpu(gpu_group_member(group, i), gpu_group_number(group, i),
                          &outcome->gpus[i]);
}

/* --- the run --- */

/* With --device=gpu nothing is read before the GPU is there. */
static int pool_begin_on_gpu(struct pool *pool, struct reason *why)
{
    struct reason refused;
    workers_limit(&pool->workers); /* the number of slots follows from it */
    if (opening_open(&pool->engines.opening) == 0)
        return 0;
    opening_refused(&pool->engines.opening, &refused);
    reason_set(why, "cannot use the GPU: %s", refused.text);
    return -1;
}

static int pool_count(struct pool *pool, struct tally *tally, struct pool_outcome *outcome,
                      struct reason *why)
{
    if (pool->options.device == DEVICE_GPU && pool_begin_on_gpu(pool, why) != 0)
        return -1;
    if (workers_begin(&pool->workers, why) != 0 || workers_wait(&pool->workers, why) != 0)
        return -1;
    struct engine *gpu = engines_gpu(&pool->engines); /* one that is ready only later is too late */
    int rc = pool_gather(pool, gpu, tally, outcome, why);
    if (rc == 0 && pool->job.lines && lines_first(pool->job.lines, &outcome->invalid) &&
        pool->options.invalid == INVALID_ERROR) {
        *why = outcome->invalid;
        rc = -1;
    }
    if (gpu)
        pool_describe_gpus(pool, gpu, outcome);
    return rc;
}

int pool_run(const struct pool_options *options, const struct pool_task *task,
             struct pool_outcome *outcome, struct reason *why)
{
    *outcome = (struct pool_outcome){0};
    if (pool_check_memory(task->histogram, why) != 0)
        return -1;
    struct pool *pool = pool_open(options, task);
    if (!pool) {
        reason_set(why, "out of memory");
        return -1;
    }
    int rc = pool_count(pool, task->tally, outcome, why);
    outcome->seconds = job_seconds(&pool->job);
    outcome->workers = atomic_load(&pool->job.workers);
    outcome->cpu_name = cpu_engine_counter(pool->job.cpu);
    outcome->gpu_opened = atomic_load(&pool->engines.opening.is_asked);
    if (outcome->gpu_count == 0)
        opening_refused(&pool->engines.opening, &outcome->gpu_refused);
    /* No other thread is left if all workers have ended and a GPU was never asked for. */
    if (rc == 0 && !outcome->gpu_opened) {
        workers_destroy(&pool->workers);
        pool_close(pool);
    }
    return rc;
}

int pool_so_far(const struct pool_view *view, struct tally *tally)
{
    engine_peek(view->cpu, tally);
    return view->gpu ? engine_peek(view->gpu, tally) : 0;
}

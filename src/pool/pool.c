/* SPDX-License-Identifier: MIT */
#include "src/base/system_limits.h"
#include "pool_state.h"
#include "gpu/decoder.h"
#include "gpu/device.h"
#include "gpu/gpu_group.h"
#include "src/cpu/cpu_engine.h"
#include "src/records/error_locator.h"
#include "src/count/file_tallies.h"
#include "src/count/key_tallies.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)

/* Bytes of counts that are taken to fit. */
#define COUNTS_UNCHECKED (32 * MIB)

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

/* Returns how many GPUs there may be at most. */
static unsigned gpus_max(const struct gpu_list *gpus)
{
    if (gpus->count == 0)
        return GPUS_MAX;
    return gpus->max > gpus->count ? gpus->max : gpus->count;
}

/* Opens the CPU's engine. 0, or -1: memory is short. */
static int open_cpu(struct pool *pool, unsigned threads)
{
    const struct pool_options *options = &pool->options;
    const struct histogram_spec *spec = pool->spec;
    const struct cpu_engine_options cpu = {.kernels = options->kernels,
                                           .chunk_size = options->chunk_size,
                                           .chunks = threads + HANDED_OFF_MAX,
                                           .threads = threads,
                                           .files = options->files,
                                           .keys = options->keys};
    pool->cpu = cpu_engine_open(spec, &cpu);
    if (!pool->cpu)
        return -1;
    if (!spec->mode->is_text || options->invalid == INVALID_SKIP)
        return 0;
    size_t on_gpu = (size_t)gpus_max(&options->gpus) *
                    (options->buffers + 2 * (size_t)threads + DEVICE_BATCHES_MAX);
    pool->locator =
        error_locator_open(spec, source_files(pool->source), cpu.chunks + on_gpu, threads);
    pool->cpu->locator = pool->locator;
    return pool->locator ? 0 : -1;
}

static void pool_close(struct pool *pool)
{
    if (pool->cpu)
        engine_close(pool->cpu);
    error_locator_close(pool->locator);
    workers_destroy(&pool->workers);
    free(pool);
}

/* Opens a pool. NULL: memory is short. */
static struct pool *pool_open(const struct pool_options *options, const struct pool_task *task)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->options = *options;
    pool->spec = task->spec;
    pool->source = task->source;
    pool->processors = system_limits_processors(sched_getaffinity);
    pool->startup.may_open = options->device == DEVICE_AUTO && !device_missing();
    pool->startup.gpus = options->gpus;
    workers_init(&pool->workers, options->threads ? options->threads : pool->processors);
    if (open_cpu(pool, pool->workers.max) != 0) {
        pool_close(pool);
        return NULL;
    }
    pool->begin = clock_now();
    return pool;
}

/* --- the result --- */

/* Adds up the counts of each engine. The GPU comes first, as chunks that it lost go to the CPU. */
static int gather(struct pool *pool, struct engine *gpu, struct tally *tally,
                  struct pool_outcome *outcome, struct error *error)
{
    uint64_t before = tally->bytes;
    if (gpu && engine_finish(gpu, tally) != 0)
        return error_set(error, "GPU lost: %s", engine_loss(gpu));
    outcome->gpu_bytes = tally->bytes - before;
    engine_finish(pool->cpu, tally);
    uint64_t bytes = tally->bytes - before;
    uint64_t decompressed = gpu ? gpu_decoder_bytes(gpu) : 0;
    if (bytes != pool->workers.bytes + decompressed)
        return error_set(error, "internal error: the counts do not add up to what was read");
    outcome->cpu_bytes = bytes - outcome->gpu_bytes;
    if (pool->options.files)
        file_tallies_end(pool->options.files);
    if (file_tallies_check(pool->options.files, error) != 0)
        return -1;
    return key_tallies_check(pool->options.keys, error);
}

static void describe_gpu(struct engine *engine, int number, struct pool_gpu *gpu)
{
    const char *loss = engine_loss(engine);
    *gpu = (struct pool_gpu){.number = number, .times = gpu_engine_times(engine)};
    snprintf(gpu->name, sizeof gpu->name, "%s, %s", gpu_engine_device(engine),
             gpu_engine_strategy(engine));
    if (loss)
        error_set(&gpu->lost, "%s", loss);
}

static void describe_gpus(struct pool *pool, const struct engine *group,
                          struct pool_outcome *outcome)
{
    outcome->gpu_ready = pool->startup.ready;
    outcome->gpu_count = gpu_group_count(group);
    (void)gpu_group_refused(group, &outcome->gpu_refused);
    for (unsigned i = 0; i < outcome->gpu_count; i++)
        describe_gpu(gpu_group_member(group, i), gpu_group_number(group, i), &outcome->gpus[i]);
}

/* --- the run --- */

/* Begins a run with --device=gpu: nothing is read before the GPU is there. */
static int begin_on_gpu(struct pool *pool, struct error *error)
{
    struct error refused;
    engines_limit_workers(pool); /* the number of slots follows from it */
    if (gpu_startup_wait(pool) == 0)
        return 0;
    gpu_startup_error(pool, &refused);
    return error_set(error, "cannot use the GPU: %s", refused.text);
}

static int count(struct pool *pool, struct tally *tally, struct pool_outcome *outcome,
                 struct error *error)
{
    if (pool->options.device == DEVICE_GPU && begin_on_gpu(pool, error) != 0)
        return -1;
    if (workers_begin(pool, error) != 0 || workers_wait(pool, error) != 0)
        return -1;
    struct engine *gpu = pool_gpu(pool); /* one that is ready only later is too late */
    int rc = gather(pool, gpu, tally, outcome, error);
    if (rc == 0 && pool->locator && error_locator_first(pool->locator, &outcome->invalid) &&
        pool->options.invalid == INVALID_ERROR) {
        *error = outcome->invalid;
        rc = -1;
    }
    if (gpu)
        describe_gpus(pool, gpu, outcome);
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
    int rc = count(pool, task->tally, outcome, error);
    outcome->seconds = pool_seconds(pool);
    outcome->workers = pool->workers.started;
    outcome->cpu_name = cpu_engine_kernels(pool->cpu);
    outcome->gpu_opened = pool->startup.is_asked;
    if (outcome->gpu_count == 0)
        gpu_startup_error(pool, &outcome->gpu_refused);
    /* If all workers have ended and a GPU was never asked for, no other thread is left. */
    if (rc == 0 && !outcome->gpu_opened)
        pool_close(pool);
    return rc;
}

int pool_so_far(const struct pool_view *view, struct tally *tally)
{
    engine_peek(view->cpu, tally);
    return view->gpu ? engine_peek(view->gpu, tally) : 0;
}

/* SPDX-License-Identifier: MIT */
#include "pool_state.h"
#include "src/base/system_limits.h"
#include "gpu/device.h"
#include "gpu/gpu_group.h"

#define MIB ((uint64_t)1 << 20)

/* The slots. Two are enough for a pipe, whose readers take turns. Readers of a file work side by
 * side: each fills one slot while another one of its own is on its way, within what may be
 * pinned. */
#define SERIAL_BUFFERS 2
#define PARALLEL_BUFFERS_BYTES (192 * MIB)

void gpu_startup_error(const struct pool *pool, struct error *error)
{
    const struct gpu_startup *startup = &pool->startup;
    *error = atomic_load(&startup->is_refused) ? startup->error : (struct error){""};
}

static void refuse(struct gpu_startup *startup, const struct error *error)
{
    startup->error = *error;
    atomic_store(&startup->is_refused, true);
}

static unsigned choose_slots(const struct pool *pool, bool side_by_side)
{
    const struct pool_options *options = &pool->options;
    if (options->buffers)
        return options->buffers;
    if (!side_by_side)
        return SERIAL_BUFFERS;
    uint64_t fit = PARALLEL_BUFFERS_BYTES / gpu_engine_slot_size(pool->spec, options->chunk_size);
    uint64_t wanted = 2 * (uint64_t)atomic_load(&pool->workers.max);
    uint64_t slots = wanted < fit ? wanted : fit;
    return slots > SERIAL_BUFFERS ? (unsigned)slots : SERIAL_BUFFERS;
}

/* Refuses slots for which there is no memory. They are touched at once, and pinned, so without
 * memory the out-of-memory killer would end the process. 0, or -1 with the error set. */
static int check_memory(const struct pool *pool, struct error *error)
{
    const struct gpu_startup *startup = &pool->startup;
    const size_t chunk_size = pool->options.chunk_size;
    const size_t slot = gpu_engine_slot_size(pool->spec, chunk_size);
    const uint64_t wanted =
        (uint64_t)startup->gpus.count * gpu_engine_size(pool->spec, chunk_size, startup->slots);
    const uint64_t available = system_limits_memory("");
    if (wanted <= available)
        return 0;
    return error_set(
        error,
        "%u buffers of %.1f MiB need %.0f MiB of memory, but %.0f MiB are available; lower "
        "--buffers or --chunk-size",
        startup->slots * startup->gpus.count, (double)slot / (double)MIB,
        (double)wanted / (double)MIB, (double)available / (double)MIB);
}

static uint64_t memory_left(void)
{
    return system_limits_memory("");
}

/* Opens the GPUs, and returns their engine; NULL with the error set. If there are several, the CPU
 * replaces those that are lost, even if only GPUs were asked for. */
static struct engine *open_group(struct pool *pool, struct error *error)
{
    struct gpu_startup *startup = &pool->startup;
    const struct pool_options *options = &pool->options;
    const bool only_gpu = options->device == DEVICE_GPU;
    if (gpu_group_resolve(&startup->gpus, error) != 0 || check_memory(pool, error) != 0)
        return NULL;
    const struct gpu_options wanted = {
        .strategy = options->strategy,
        .chunk_size = options->chunk_size,
        .buffers = startup->slots,
        .deadline_ms = options->deadline_ms,
        .timing = options->timing,
        .locator = pool->locator,
        .files = options->files,
        .no_check = options->no_check,
        .decodes = startup->decodes,
        .memory_left = memory_left,
        .fallback = only_gpu && startup->gpus.count == 1 ? NULL : pool->cpu,
    };
    return gpu_group_open(pool->spec, &wanted, &startup->gpus, only_gpu || options->opens_at_once,
                          error);
}

static void *open_gpus(void *arg)
{
    struct pool *pool = arg;
    struct error error = {""};
    struct engine *gpu = open_group(pool, &error);
    pool->startup.ready = pool_seconds(pool);
    if (!gpu)
        refuse(&pool->startup, &error);
    atomic_store(&pool->startup.gpu, gpu);
    return NULL;
}

int gpu_startup_wait(struct pool *pool)
{
    atomic_store(&pool->startup.is_asked, true);
    pool->startup.slots = choose_slots(pool, source_remaining(pool->source) > 0);
    open_gpus(pool);
    return pool_gpu(pool) ? 0 : -1;
}

void gpu_startup_begin(struct pool *pool, struct gpu_wish wish, enum flow flow, double expected)
{
    struct gpu_startup *startup = &pool->startup;
    if (atomic_exchange(&startup->is_asked, true))
        return;
    atomic_store(&startup->expected, expected);
    startup->decodes = wish.decodes;
    cuda_devices_extend(&startup->gpus, wish.gpus);
    startup->slots = choose_slots(pool, flow != FLOW_PIPE);
    if (pool->options.opens_at_once)
        open_gpus(pool);
    else if (start_detached_thread(open_gpus, pool, 0) != 0)
        refuse(startup, &(struct error){"cannot start a thread"});
}

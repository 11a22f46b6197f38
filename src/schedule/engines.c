/* SPDX-License-Identifier: MIT */
/* The engines of a run: opens GPUs, chooses the engine of each chunk, and measures what bytes cost
 * each of them. The policy decides; what it is told comes from here. */
#include "pool_state.h"
#include "gpu/decode/decoder.h"
#include "gpu/engine/gpu_engine.h"
#include "src/base/system.h"
#include "src/input/engine.h"

#include <math.h>
#include <sched.h>

#define MIB ((uint64_t)1 << 20)

/* The slots. Two are enough for a pipe, whose readers take turns. Readers of a file work side by
 * side: each fills one slot while another one of its own is on its way, within what may be
 * pinned. */
#define SERIAL_BUFFERS 2
#define PARALLEL_BUFFERS_BYTES (192 * MIB)

#define MEMORY 16 /* chunks, roughly, that a mean is taken over */

/* --- opening GPUs --- */

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

static uint64_t memory_left(void)
{
    return system_limits_memory("");
}

/* Refuses slots for which there is no memory. They are touched at once, and pinned, so without
 * memory the out-of-memory killer would end the process. 0, or -1 with the error set. */
static int check_memory(const struct pool *pool, unsigned gpus, struct error *error)
{
    const unsigned slots = pool->startup.slots;
    const size_t chunk_size = pool->options.chunk_size;
    const size_t slot = gpu_engine_slot_size(pool->spec, chunk_size);
    const uint64_t wanted = (uint64_t)gpus * gpu_engine_size(pool->spec, chunk_size, slots);
    const uint64_t available = memory_left();
    if (wanted <= available)
        return 0;
    return error_set(
        error,
        "%u buffers of %.1f MiB need %.0f MiB of memory, but %.0f MiB are available; lower "
        "--buffers or --chunk-size",
        slots * gpus, (double)slot / (double)MIB, (double)wanted / (double)MIB,
        (double)available / (double)MIB);
}

int pool_choose_gpus(struct pool_options *options, struct source *source, struct error *error)
{
    struct gpu_list *gpus = &options->gpus;
    const unsigned max = cuda_devices_max(gpus);
    unsigned wanted = max;
    if (options->device == DEVICE_CPU || (options->device == DEVICE_AUTO && device_missing()))
        return 0;
    struct gpu_work work = source_gpu_work(source);
    if (options->device == DEVICE_AUTO) {
        work.workers =
            options->threads ? options->threads : system_limits_processors(sched_getaffinity);
        options->begins_on_gpu = policy_begins_on_gpu(&work, &options->tuning);
    }
    if (max > 1 && !options->strategy) { /* a strategy is asked for to be measured */
        if (gpus->grows)                 /* a second one would gain nothing for plain files */
            work.plain = 0;
        wanted = policy_gpus(&work, &options->tuning, max);
    } else if (gpus->grows) {
        wanted = 1;
    }
    return cuda_devices_choose(gpus, wanted, "", error);
}

/* True if the CPU replaces GPUs that are lost, even if only GPUs were asked for: several were. */
static bool cpu_replaces(const struct pool *pool)
{
    const struct gpu_list *gpus = &pool->startup.gpus;
    return pool->options.device != DEVICE_GPU || gpus->count > 1 || gpus->named > 1;
}

/* Opens the GPUs, and sets their engine or why they are refused. */
static void *open_gpus(void *arg)
{
    struct pool *pool = arg;
    struct gpu_startup *startup = &pool->startup;
    const struct pool_options *options = &pool->options;
    const bool only_gpu = options->device == DEVICE_GPU;
    struct gpu_list gpus = startup->gpus;
    struct engine *gpu = NULL;
    if (gpu_group_resolve(&gpus, &startup->error) == 0 &&
        check_memory(pool, gpus.count, &startup->error) == 0) {
        const struct gpu_options wanted = {
            .strategy = options->strategy,
            .chunk_size = options->chunk_size,
            .buffers = startup->slots,
            .deadline_ms = options->deadline_ms,
            .timing = options->timing,
            .locator = pool->locator,
            .files = options->files,
            .no_check = options->no_check,
#ifdef HAVE_GPU_DECODING
            .prepare = startup->decodes ? gpu_decoder_prepare : NULL,
#endif
            .memory_left = memory_left,
            .fallback = cpu_replaces(pool) ? pool->cpu : NULL,
        };
        const enum gpu_group_start start = options->opens_at_once ? GPU_GROUP_WAITS_FOR_ALL
                                           : only_gpu             ? GPU_GROUP_WANTS_ALL
                                                                  : GPU_GROUP_TAKES_SOME;
        gpu = gpu_group_open(pool->spec, &wanted, &gpus, start, &startup->error);
    }
    startup->ready = pool_seconds(pool);
    atomic_store(&startup->is_refused, !gpu);
    atomic_store(&startup->gpu, gpu);
    return NULL;
}

int engines_open_gpus(struct pool *pool)
{
    atomic_store(&pool->startup.is_asked, true);
    pool->startup.slots = choose_slots(pool, source_remaining(pool->source) > 0);
    open_gpus(pool);
    return pool_gpu(pool) ? 0 : -1;
}

/* Opens GPUs in a thread, for chunks of a flow; only the first call does anything. They are
 * expected to be there as late as the policy, which was told `now`, thinks. If that fails, the run
 * goes on without them. */
static void begin_to_open(struct pool *pool, bool decodes, const struct policy_input *now)
{
    struct gpu_startup *startup = &pool->startup;
    const double start = policy_gpu_start(now, &pool->options.tuning);
    if (atomic_exchange(&startup->is_asked, true))
        return;
    atomic_store(&startup->expected, pool_seconds(pool) + start);
    startup->decodes = decodes;
    if (decodes)
        source_share(pool->source);
    startup->slots = choose_slots(pool, now->flow != FLOW_PIPE);
    if (pool->options.opens_at_once)
        open_gpus(pool);
    else if (start_detached_thread(open_gpus, pool, 0) != 0) {
        error_set(&startup->error, "cannot start a thread");
        atomic_store(&startup->is_refused, true);
    }
}

void engines_begin(struct pool *pool)
{
    if (!pool->options.begins_on_gpu || !pool->startup.may_open)
        return;
    const struct policy_input now = engines_policy_input(pool, FLOW_DECODED);
    engines_limit_workers(pool); /* the number of slots follows from it */
    begin_to_open(pool, true, &now);
}

/* --- the situation --- */

struct policy_input engines_policy_input(const struct pool *pool, enum flow flow)
{
    const struct measured_costs *costs = &pool->costs;
    const struct gpu_startup *startup = &pool->startup;
    struct engine *gpu = pool_gpu(pool);
    const struct gpu_state state = gpu ? gpu_group_state(gpu) : (struct gpu_state){0};
    const unsigned max = atomic_load(&pool->workers.max);
    const double reading = (double)atomic_load(&costs->reading_ns);
    const double counting = (double)atomic_load(&costs->counting_ns);
    double gpu_ready = gpu ? 0 : -1;
    if (!gpu && atomic_load(&startup->is_asked)) /* if it is late, it may take as long again */
        gpu_ready = fabs(atomic_load(&startup->expected) - pool_seconds(pool));
    return (struct policy_input){
        .flow = flow,
        .workers = atomic_load(&pool->workers.started),
        .workers_max = max,
        /* Without --threads there may be as many workers as a quota leaves processors. */
        .processors = pool->options.threads ? pool->processors : max,
        .costs = {.read = atomic_load(&costs->read),
                  .cpu = atomic_load(&costs->cpu),
                  .gpu = atomic_load(&costs->gpu),
                  .counting = counting > 0 ? counting / (reading + counting) : 0},
        .rate = atomic_load(&pool->rate.all),
        .worker_rate = atomic_load(&pool->rate.each),
        .plain_remaining = (double)source_remaining(pool->source),
        .gpu_ready = gpu_ready,
        .gpus = gpu                       ? state.ready
                : startup->gpus.count > 0 ? startup->gpus.count
                                          : 1,
        .gpu_decodes = gpu && startup->decodes,
        .begins_on_gpu = pool->options.begins_on_gpu,
        .gpu_files = state.feeding,
        .gpu_feeders = atomic_load(&pool->feeders),
        .chunk_size = pool->options.chunk_size};
}

void engines_limit_workers(struct pool *pool)
{
    struct workers *workers = &pool->workers;
    pthread_mutex_lock(&workers->lock);
    if (!workers->limited && pool->options.threads == 0) {
        unsigned quota = system_limits_quota("");
        if (quota < workers->max)
            workers->max = quota;
    }
    workers->limited = true;
    pthread_mutex_unlock(&workers->lock);
}

/* --- whether a GPU pays --- */

void engines_restart_rate(struct pool *pool)
{
    atomic_store(&pool->rate.base, atomic_load(&pool->workers.bytes));
    atomic_store(&pool->rate.begin, pool_seconds(pool));
    atomic_store(&pool->rate.workers_are_new, true);
}

/* Measures the rate until now. False: too little is known. */
static bool measure_rate(struct measured_rate *rate, const struct policy_tuning *tuning,
                         uint64_t bytes, struct policy_input *now)
{
    const double seconds = now->seconds - atomic_load(&rate->begin);
    const uint64_t base = atomic_load(&rate->base);
    if (seconds < policy_ask_seconds(tuning) || bytes < base) /* another has just begun anew */
        return false;
    if (policy_doubts_rate(now, tuning) && atomic_exchange(&rate->workers_are_new, false)) {
        atomic_store(&rate->base, bytes);
        atomic_store(&rate->begin, now->seconds);
        return false;
    }
    now->rate = (double)(bytes - base) / seconds;
    now->worker_rate = now->rate / now->workers;
    atomic_store(&rate->all, now->rate);
    atomic_store(&rate->each, now->worker_rate);
    return true;
}

void engines_consider(struct pool *pool, enum flow flow, uint64_t bytes)
{
    const struct policy_tuning *tuning = &pool->options.tuning;
    struct source *source = pool->source;
    const double seconds = pool_seconds(pool);
    if (pool->options.device != DEVICE_AUTO || atomic_load(&pool->startup.is_asked) ||
        seconds < atomic_load(&pool->rate.next_ask))
        return;
    atomic_store(&pool->rate.next_ask, seconds + policy_ask_seconds(tuning));
    struct policy_input now = engines_policy_input(pool, flow);
    now.seconds = seconds;
    now.has_work = flow == FLOW_DECODED && source_has_work(source);
    if (!measure_rate(&pool->rate, tuning, bytes, &now))
        return;
    now.content = source_content(source);
    const enum gpu_purpose purpose = policy_purpose(&now, tuning);
    if (purpose != GPU_FOR_NOTHING)
        begin_to_open(pool, purpose == GPU_DECODES, &now);
}

/* --- which engine --- */

/* Looks up the GPU first, so that the situation is no older than it. */
struct chunk *engines_choose(struct pool *pool, enum flow flow)
{
    const bool only_gpu = pool->options.device == DEVICE_GPU;
    struct engine *gpu = pool_gpu(pool);
    const struct policy_input now = engines_policy_input(pool, flow);
    struct chunk *chunk = NULL;
    if (gpu && (only_gpu || policy_counts_on_gpu(&now)))
        chunk = engine_acquire(gpu, only_gpu || flow != FLOW_FILE);
    if (chunk && flow == FLOW_FILE)
        atomic_fetch_add(&pool->feeders, 1);
    if (chunk || (gpu && gpu_group_state(gpu).has_failed) || !cpu_replaces(pool))
        return chunk;
    chunk = engine_acquire(pool->cpu, true);
    chunk->give = flow == FLOW_DECODED && policy_hands_off(&now, &pool->options.tuning);
    return chunk;
}

/* True if a GPU should decompress the file, now or later; it is asked for if it was not. */
static bool is_for_gpu(struct pool *pool, const struct offload_offer *offer)
{
    const struct policy_tuning *tuning = &pool->options.tuning;
    struct gpu_startup *startup = &pool->startup;
    if (!startup->may_open || isinf(offer->content) || atomic_load(&startup->is_refused))
        return false;
    struct policy_input now = engines_policy_input(pool, FLOW_DECODED);
    now.content = source_content(pool->source);
    if (!policy_offloads(&now, tuning, offer))
        return false;
    if (now.gpu_ready >= 0)
        return true;
    engines_limit_workers(pool); /* the number of slots follows from it */
    begin_to_open(pool, true, &now);
    return !atomic_load(&startup->is_refused);
}

struct engine *engines_offload(struct pool *pool, const struct offload_offer *offer, bool *waits)
{
    *waits = false;
    if (pool->options.device != DEVICE_GPU && !is_for_gpu(pool, offer))
        return NULL;
    struct engine *gpu = pool_gpu(pool);
    const struct gpu_state state = gpu ? gpu_group_state(gpu) : (struct gpu_state){0};
    if (gpu && (state.has_failed || state.idle + state.feeding == 0))
        return NULL;
    *waits = state.idle == 0;
    return *waits ? NULL : gpu;
}

/* --- costs --- */

static void add_to_mean(_Atomic double *mean, double sample)
{
    double old = atomic_load(mean);
    atomic_store(mean, old > 0 ? old + (sample - old) / MEMORY : sample);
}

void engines_record(struct pool *pool, const struct engine *engine, enum flow flow, size_t len,
                    double reading, double counting)
{
    struct measured_costs *costs = &pool->costs;
    const bool on_gpu = engine != pool->cpu;
    if (on_gpu && flow == FLOW_FILE)
        atomic_fetch_sub(&pool->feeders, 1);
    if (flow == FLOW_FILE && len > 0) {
        add_to_mean(on_gpu ? &costs->gpu : &costs->cpu, (reading + counting) / (double)len);
        if (!on_gpu)
            add_to_mean(&costs->read, reading / (double)len);
    } else if (flow != FLOW_FILE) {
        atomic_fetch_add(&costs->reading_ns, (uint64_t)(reading * 1e9));
        atomic_fetch_add(&costs->counting_ns, (uint64_t)(counting * 1e9));
    }
}

/* SPDX-License-Identifier: MIT */
#include "pool_state.h"
#include "src/base/system_limits.h"
#include "gpu/decoder.h"
#include "gpu/gpu_group.h"

#include <math.h>

#define MEMORY 16 /* chunks, roughly, that a mean is taken over */

/* --- the situation --- */

static double counting_fraction(const struct measured_costs *costs)
{
    double reading = (double)atomic_load(&costs->reading_ns);
    double counting = (double)atomic_load(&costs->counting_ns);
    return counting > 0 ? counting / (reading + counting) : 0;
}

/* If it takes longer than was thought, it may take as long again. */
static double gpu_ready(const struct pool *pool)
{
    if (pool_gpu(pool))
        return 0;
    if (!atomic_load(&pool->startup.is_asked))
        return -1;
    return fabs(atomic_load(&pool->startup.expected) - pool_seconds(pool));
}

/* Returns how many GPUs could each have a file. */
static unsigned gpus_max(const struct pool *pool)
{
    const size_t files = source_files(pool->source);
    return files < GPUS_MAX ? (unsigned)files : GPUS_MAX;
}

struct policy_input engines_policy_input(const struct pool *pool, enum flow flow)
{
    struct engine *gpu = pool_gpu(pool);
    const unsigned max = atomic_load(&pool->workers.max);
    return (struct policy_input){
        .flow = flow,
        .workers = atomic_load(&pool->workers.started),
        .workers_max = max,
        /* Without --threads there may be as many workers as a quota leaves processors. */
        .processors = pool->options.threads ? pool->processors : max,
        .costs = {.read = atomic_load(&pool->costs.read),
                  .cpu = atomic_load(&pool->costs.cpu),
                  .gpu = atomic_load(&pool->costs.gpu),
                  .counting = counting_fraction(&pool->costs)},
        .rate = atomic_load(&pool->rate.all),
        .worker_rate = atomic_load(&pool->rate.each),
        .plain_remaining = (double)source_remaining(pool->source),
        .gpus_max = gpus_max(pool),
        .gpu_ready = gpu_ready(pool),
        .gpus = gpu ? gpu_group_count(gpu) : 1,
        .gpu_decodes = gpu && pool->startup.decodes,
        .gpu_files = gpu ? gpu_group_feeding(gpu) : 0,
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

static void begin_rate(struct measured_rate *rate, double seconds, uint64_t bytes)
{
    atomic_store(&rate->base, bytes);
    atomic_store(&rate->begin, seconds);
}

void engines_restart_rate(struct pool *pool)
{
    begin_rate(&pool->rate, pool_seconds(pool), atomic_load(&pool->workers.bytes));
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
        begin_rate(rate, now->seconds, bytes);
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
    const struct gpu_wish wish = policy_wish(&now, tuning);
    if (wish.gpus > 0)
        gpu_startup_begin(pool, wish, flow, pool_seconds(pool) + policy_gpu_start(&now, tuning));
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
    if (chunk || only_gpu || (gpu && gpu_group_failed(gpu)))
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
    const double all = now.content.unopened + offer->content;
    const unsigned gpus = policy_gpus(&now, tuning, all, offer->gpu_rate);
    gpu_startup_begin(pool, (struct gpu_wish){.gpus = gpus, .decodes = true}, FLOW_DECODED,
                      pool_seconds(pool) + policy_gpu_start(&now, tuning));
    return !atomic_load(&startup->is_refused);
}

struct engine *engines_offload(struct pool *pool, const struct offload_offer *offer, bool *waits)
{
    const bool is_for_it = pool->options.device == DEVICE_GPU || is_for_gpu(pool, offer);
    struct engine *gpu = pool_gpu(pool);
    *waits = false;
    if (!is_for_it || (gpu && (gpu_group_failed(gpu) || !gpu_decoder_is_usable(gpu))))
        return NULL;
    if (gpu && gpu_decoder_is_idle(gpu))
        return gpu;
    *waits = true;
    return NULL;
}

/* --- costs --- */

static void add_to_mean(_Atomic double *mean, double sample)
{
    double old = atomic_load(mean);
    atomic_store(mean, old > 0 ? old + (sample - old) / MEMORY : sample);
}

/* Adds the cost of `len` bytes of a file that were read, and counted or submitted to the GPU. */
static void add_file(struct measured_costs *costs, bool on_gpu, size_t len, double reading,
                     double counting)
{
    add_to_mean(on_gpu ? &costs->gpu : &costs->cpu, (reading + counting) / (double)len);
    if (!on_gpu)
        add_to_mean(&costs->read, reading / (double)len);
}

int engines_submit(struct pool *pool, struct chunk *chunk, enum flow flow, double begin)
{
    struct measured_costs *costs = &pool->costs;
    const bool on_gpu = chunk->engine != pool->cpu, given = chunk->give;
    const size_t len = chunk->origin.bytes;
    const double was_read = pool_seconds(pool);
    const int rc = engine_submit(chunk);
    const double reading = was_read - begin, counting = pool_seconds(pool) - was_read;
    if (on_gpu && flow == FLOW_FILE)
        atomic_fetch_sub(&pool->feeders, 1);
    if (flow == FLOW_FILE && len > 0)
        add_file(costs, on_gpu, len, reading, counting);
    if (flow == FLOW_FILE || given)
        return rc;
    atomic_fetch_add(&costs->reading_ns, (uint64_t)(reading * 1e9));
    atomic_fetch_add(&costs->counting_ns, (uint64_t)(counting * 1e9));
    return rc;
}

/* SPDX-License-Identifier: MIT */
#include "engines.h"
#include "gpu/decoder.h"
#include "gpu/gpu_group.h"

#define MEMORY 16 /* chunks, roughly, that a mean is taken over */

void engines_init(struct engines *engines, struct job *job)
{
    *engines = (struct engines){.job = job};
    opening_init(&engines->opening, job);
}

struct engine *engines_gpu(const struct engines *engines)
{
    return atomic_load(&engines->opening.gpu);
}

/* --- what is known --- */

static double counting_fraction(const struct measured_costs *costs)
{
    double reading = (double)atomic_load(&costs->reading_ns);
    double counting = (double)atomic_load(&costs->counting_ns);
    return counting > 0 ? counting / (reading + counting) : 0;
}

struct situation engines_situation(const struct engines *engines, enum flow flow)
{
    const struct job *job = engines->job;
    struct engine *gpu = engines_gpu(engines);
    const bool decodes = gpu && engines->opening.decodes;
    const unsigned most = atomic_load(&job->workers_most);
    return (struct situation){
        .flow = flow,
        .workers = atomic_load(&job->workers),
        .workers_most = most,
        /* Without --threads there may be as many workers as a quota leaves processors. */
        .processors = job->options->threads ? job->processors : most,
        .costs = {.read = atomic_load(&engines->costs.read),
                  .cpu = atomic_load(&engines->costs.cpu),
                  .gpu = atomic_load(&engines->costs.gpu),
                  .counting = counting_fraction(&engines->costs)},
        .rate = atomic_load(&engines->rate.all),
        .worker_rate = atomic_load(&engines->rate.each),
        .plain_left = (double)source_left(job->source),
        .gpu_decodes = decodes,
        .gpu_files = decodes ? gpu_group_feeding(gpu) : 0,
        .gpu_feeders = atomic_load(&engines->feeders),
        .chunk_size = job->options->chunk_size};
}

/* --- whether a GPU pays --- */

static void begin_rate(struct measured_rate *rate, double seconds, uint64_t bytes)
{
    atomic_store(&rate->base, bytes);
    atomic_store(&rate->begin, seconds);
}

void engines_restart_rate(struct engines *engines, uint64_t bytes)
{
    begin_rate(&engines->rate, job_seconds(engines->job), bytes);
    atomic_store(&engines->rate.workers_are_new, true);
}

/* Measures the rate until now. False: too little is known. */
static bool measure_rate(struct measured_rate *rate, const struct policy_tuning *tuning,
                         uint64_t bytes, struct situation *now)
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

void engines_consider(struct engines *engines, enum flow flow, uint64_t bytes)
{
    const struct pool_options *options = engines->job->options;
    struct source *source = engines->job->source;
    const double seconds = job_seconds(engines->job);
    if (options->device != DEVICE_AUTO || atomic_load(&engines->opening.is_asked) ||
        seconds < atomic_load(&engines->rate.next_ask))
        return;
    atomic_store(&engines->rate.next_ask, seconds + policy_ask_seconds(&options->tuning));
    struct situation now = engines_situation(engines, flow);
    now.seconds = seconds;
    now.has_work = flow == FLOW_DECODED && source_has_work(source);
    if (!measure_rate(&engines->rate, &options->tuning, bytes, &now))
        return;
    const size_t files = source_files(source);
    now.content = source_content(source);
    now.stream = source_stream_content(source);
    now.gpus_most = files < GPUS_MAX ? (unsigned)files : GPUS_MAX;
    const struct gpu_wish wish = policy_wish(&now, &options->tuning);
    if (wish.gpus > 0)
        opening_start(&engines->opening, wish, flow);
}

/* --- which engine --- */

/* The GPU is looked up first: what the situation says is then no older. */
struct chunk *engines_choose(struct engines *engines, enum flow flow)
{
    const struct pool_options *options = engines->job->options;
    const bool only_gpu = options->device == DEVICE_GPU;
    struct engine *gpu = engines_gpu(engines);
    const struct situation now = engines_situation(engines, flow);
    struct chunk *chunk = NULL;
    if (gpu && (only_gpu || policy_counts_on_gpu(&now)))
        chunk = engine_acquire(gpu, only_gpu || flow != FLOW_FILE);
    if (chunk && flow == FLOW_FILE)
        atomic_fetch_add(&engines->feeders, 1);
    if (chunk || only_gpu || (gpu && gpu_group_failed(gpu)))
        return chunk;
    chunk = engine_acquire(engines->job->cpu, true);
    chunk->give = flow == FLOW_DECODED && policy_donates(&now, &options->tuning);
    return chunk;
}

struct engine *engines_offload(struct engines *engines, const struct offload_offer *offer)
{
    struct engine *gpu = engines_gpu(engines);
    if (!gpu || !gpu_decoder_is_idle(gpu))
        return NULL;
    if (!offer)
        return gpu;
    const struct situation now = engines_situation(engines, FLOW_DECODED);
    return policy_offloads(&now, &engines->job->options->tuning, offer) ? gpu : NULL;
}

bool engines_may_offload(struct engines *engines)
{
    struct engine *gpu = engines_gpu(engines);
    if (gpu)
        return !gpu_group_failed(gpu) && gpu_decoder_is_idle(gpu);
    return engines->opening.may_come && !atomic_load(&engines->opening.is_refused);
}

/* --- what it costs --- */

static void add_to_mean(_Atomic double *mean, double sample)
{
    double old = atomic_load(mean);
    atomic_store(mean, old > 0 ? old + (sample - old) / MEMORY : sample);
}

/* `len` bytes of a file were read, and counted or submitted to the GPU. */
static void add_file(struct measured_costs *costs, bool on_gpu, size_t len, double reading,
                     double counting)
{
    add_to_mean(on_gpu ? &costs->gpu : &costs->cpu, (reading + counting) / (double)len);
    if (!on_gpu)
        add_to_mean(&costs->read, reading / (double)len);
}

int engines_submit(struct engines *engines, struct chunk *chunk, enum flow flow, double begin)
{
    struct measured_costs *costs = &engines->costs;
    const bool on_gpu = chunk->engine != engines->job->cpu, given = chunk->give;
    const size_t len = chunk->origin.bytes;
    const double was_read = job_seconds(engines->job);
    const int rc = engine_submit(chunk);
    const double reading = was_read - begin, counting = job_seconds(engines->job) - was_read;
    if (on_gpu && flow == FLOW_FILE)
        atomic_fetch_sub(&engines->feeders, 1);
    if (flow == FLOW_FILE && len > 0)
        add_file(costs, on_gpu, len, reading, counting);
    if (flow == FLOW_FILE || given)
        return rc;
    atomic_fetch_add(&costs->reading_ns, (uint64_t)(reading * 1e9));
    atomic_fetch_add(&costs->counting_ns, (uint64_t)(counting * 1e9));
    return rc;
}

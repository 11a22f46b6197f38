/* SPDX-License-Identifier: MIT */
/* The way of a chunk through a GPU:
 *
 *     free -> filling -> in flight -> (snapshot seen to arrive) -> free
 *
 * In flight, the copy stream brings the chunk in. The compute stream counts it into the device's
 * histogram and copies that histogram out to the slot: its snapshot. Both streams keep the order of
 * the calls, so the snapshot of chunk k holds chunks 1 to k. With many bins only every few chunks
 * have one, and the others wait for it. */
#include "gpu_engine_internal.h"
#include "gpu/count/strategy.h"
#include "src/base/clock.h"
#include "src/tally/histogram_spec.h"

#include <stdlib.h>

/* --- chunks --- */

/* Frees all slots that can be. */
static void gpu_retire_ready(struct gpu_engine *gpu)
{
    while (!gpu->is_lost && gpu_retire(gpu) == 1)
        ;
}

static struct chunk *gpu_acquire(struct engine *engine, bool wait)
{
    struct gpu_engine *gpu = gpu_of(engine);
    struct slot *slot = NULL;
    pthread_mutex_lock(&gpu->lock);
    while (!gpu->is_lost && (wait || !gpu_engine_is_feeding(engine))) {
        gpu_retire_ready(gpu);
        slot = gpu->is_lost ? NULL : slots_acquire(&gpu->slots);
        if (!slot)
            gpu_request_snapshot(gpu);
        if (slot || gpu->is_lost || !wait)
            break;
        gpu_pause_unlocked(gpu);
    }
    gpu_recount(gpu);
    pthread_mutex_unlock(&gpu->lock);
    if (!slot)
        return NULL;
    slot->chunk.len = slot->chunk.begin = 0;
    return &slot->chunk;
}

/* Returns where the samples of a chunk begin: after what was dropped, and after the header. */
static size_t samples_begin(const struct histogram_spec *spec, const struct chunk *chunk)
{
    const size_t begin = chunk->begin;
    if (!chunk->origin.has_header)
        return begin;
    return begin + field_header_len(&spec->lines.field, chunk->data + begin, chunk->len - begin);
}

/* Puts the slot's three pieces of work on the streams, or loses the device. Where counts are moved
 * to files, they must be known after each file's last chunk. */
static void gpu_enqueue(struct gpu_engine *gpu, struct slot *slot)
{
    const struct chunk *chunk = &slot->chunk;
    const size_t begin = samples_begin(gpu->spec, chunk), len = chunk->len - begin;
    const struct gpu_options *options = &gpu->options;
    const unsigned interval =
        options->files ? 1
                       : snapshot_interval(&gpu->snapshots, options->chunk_size, options->buffers);
    const bool is_due = gpu->proofs == 0 || gpu->unproved + 1 >= interval;
    struct device_work work = {
        .kind = WORK_COPY_IN, .slot = slot->index, .chunk = {chunk->data + begin, len}};
    int rc = device_thread_post(gpu->thread, &work);
    work.kind = WORK_COUNT;
    if (rc != 0 || device_thread_post(gpu->thread, &work) != 0)
        gpu_lose_by_call(gpu);
    else
        gpu_queue_snapshot(gpu, slot, is_due);
}

/* A chunk that was being filled when the device was lost is recounted as those in flight were. One
 * that was being filled when a compressed file was begun waits for the end of that. */
static int gpu_submit(struct engine *engine, struct chunk *chunk)
{
    struct gpu_engine *gpu = gpu_of(engine);
    struct slot *slot = (struct slot *)chunk;
    pthread_mutex_lock(&gpu->lock);
    while (gpu_engine_is_feeding(engine))
        gpu_pause_unlocked(gpu);
    if (chunk->len == samples_begin(gpu->spec, chunk)) {
        snapshots_add_empty(&gpu->snapshots, chunk, gpu->engine.locator);
        slots_release(&gpu->slots, slot);
    } else {
        if (!gpu->is_lost)
            gpu_enqueue(gpu, slot);
        gpu_put_in_flight(gpu, slot);
        gpu_recount(gpu);
    }
    int rc = gpu->has_failed ? -1 : 0;
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

/* Takes the one snapshot there is, when nothing is in flight, and adds it. Lost if that fails. */
static void gpu_add_last_snapshot(struct gpu_engine *gpu, struct tally *tally)
{
    struct tally seen;
    int arrived;
    const struct device_work work = {
        .kind = WORK_SNAPSHOT, .counts = {gpu->snapshots.last, 0, snapshot_words(&gpu->snapshots)}};
    if (device_thread_post(gpu->thread, &work) != 0) {
        gpu_lose_by_call(gpu);
        return;
    }
    while ((arrived = gpu_poll(gpu, &gpu->slots.slot[0])) == 0)
        gpu_pause_unlocked(gpu);
    if (arrived != 1)
        return;
    if (snapshots_read_last(&gpu->snapshots, &seen))
        tally_add(tally, &seen);
    else
        gpu_lose(gpu, "the device's counts do not add up");
}

static int gpu_finish(struct engine *engine, struct tally *tally)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    gpu_drain(gpu);
    /* A device that counted nothing is not asked: its loss would end the run for nothing. */
    if (!gpu->is_lost && gpu->snapshots.last && gpu->times.chunks > 0)
        gpu_add_last_snapshot(gpu, tally);
    gpu_recount(gpu);
    if (!gpu->snapshots.last && !gpu->has_failed) {
        if (gpu->engine.files)
            snapshots_move(&gpu->snapshots, gpu->engine.files);
        snapshots_add_good(&gpu->snapshots, tally);
    }
    int rc = gpu->has_failed ? -1 : 0;
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

static int gpu_peek(struct engine *engine, struct tally *tally)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    gpu_retire_ready(gpu);
    gpu_request_snapshot(gpu); /* for the next time */
    gpu_recount(gpu);
    bool known = !gpu->snapshots.last && !gpu->has_failed;
    if (known)
        snapshots_add_good(&gpu->snapshots, tally);
    pthread_mutex_unlock(&gpu->lock);
    return known ? 0 : -1;
}

/* --- opening and closing --- */

static void gpu_close(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    gpu_decoder_close(&gpu->decoder);
    slots_close(&gpu->slots);
    device_thread_close(gpu->thread);
    snapshots_close(&gpu->snapshots);
    pthread_mutex_destroy(&gpu->lock);
    free(gpu);
}

static const struct engine_ops gpu_ops = {
    .acquire = gpu_acquire,
    .submit = gpu_submit,
    .finish = gpu_finish,
    .peek = gpu_peek,
    .loss = gpu_loss,
    .close = gpu_close,
};

/* Opens the device to count by a strategy. As device_thread_open. */
static struct device_thread *open_thread(struct gpu_engine *gpu, const struct strategy *strategy,
                                         bool *is_stuck, struct error *error)
{
    struct gpu_options *options = &gpu->options;
    options->strategy = strategy;
    const struct device_plan plan = {
        .ordinal = options->ordinal,
        .cuda_device = options->cuda_device,
        .strategy = (enum strategy_id)(strategy - strategies),
        .spec = gpu->spec,
        .slots = options->buffers,
        .slot_size = slots_data_size(gpu->spec, options->chunk_size),
        .timing = options->timing,
    };
    return device_thread_open(&plan, options->deadline_ms, is_stuck, error);
}

/* Opens the device by the strategy of the options, or the fastest for which it has memory. 0 or -1.
 */
static int open_device(struct gpu_engine *gpu, struct error *error)
{
    const struct strategy *wanted = gpu->options.strategy;
    const struct strategy *strategy =
        wanted ? wanted : strategy_best(gpu->spec, gpu->options.chunk_size);
    bool is_stuck;
    if (!strategy) {
        error_set(error, "no GPU kernel can count this");
        return -1;
    }
    gpu->thread = open_thread(gpu, strategy, &is_stuck, error);
    if (!gpu->thread && !is_stuck && !wanted && strategy_has_scratch(strategy))
        gpu->thread = open_thread(gpu, strategy_without_scratch(gpu->spec), &is_stuck, error);
    return gpu->thread ? 0 : -1;
}

/* Stands for the memory that is left, in options without a limit. */
static uint64_t memory_without_limit(void)
{
    return UINT64_MAX;
}

struct engine *gpu_engine_open(const struct histogram_spec *spec, const struct gpu_options *options,
                               struct error *error)
{
    struct gpu_engine *gpu = calloc(1, sizeof *gpu);
    if (!gpu) {
        error_set(error, "out of memory");
        return NULL;
    }
    gpu->engine.ops = &gpu_ops;
    gpu->engine.locator = options->locator;
    gpu->engine.files = options->files;
    gpu->spec = spec;
    gpu->options = *options;
    if (!options->memory_left)
        gpu->options.memory_left = memory_without_limit;
    if (options->sharers == 0)
        gpu->options.sharers = 1;
    if (open_device(gpu, error) != 0) {
        free(gpu);
        return NULL;
    }
    pthread_mutex_init(&gpu->lock, NULL);
    if (slots_open(gpu, error) != 0) {
        gpu_close(&gpu->engine);
        return NULL;
    }
    snapshots_init(&gpu->snapshots, spec, gpu->slots.spare);
    gpu_decoder_init(gpu);
    return &gpu->engine;
}

const char *gpu_engine_device(struct engine *engine)
{
    return device_thread_name(gpu_of(engine)->thread);
}

const char *gpu_engine_strategy(struct engine *engine)
{
    return gpu_of(engine)->options.strategy->name;
}

bool gpu_engine_failed(struct engine *engine)
{
    return atomic_load(&gpu_of(engine)->has_failed);
}

struct gpu_times gpu_engine_times(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    struct gpu_times times = gpu->times;
    gpu_decoder_add_times(&gpu->decoder, &times);
    pthread_mutex_unlock(&gpu->lock);
    return times;
}

/* Compressed FILEs that the device decompresses: decompression.h has what becomes of them. */
#include "gpu_engine_internal.h"
#include "src/base/clock.h"

#include <stdatomic.h>

/* Looks at the oldest batch being decoded. 1: its verdict was there; 0: not yet, or there is none;
 * -1: lost. */
static int gpu_look_decompression(struct gpu_engine *gpu)
{
    struct slot *counted;
    struct chunk *empty;
    bool patient = gpu_is_patient(gpu), waits = gpu->decompression.oldest != NULL;
    int arrived = decompression_look(&gpu->decompression, &counted, &empty);
    if (counted)
        slots_send(&gpu->slots, counted);
    if (empty)
        snapshots_add_empty(&gpu->snapshots, empty, gpu->engine.lines);
    if (arrived < 0)
        gpu_lose_by_call(gpu);
    else if (arrived == 0 && waits && !patient)
        gpu_lose(gpu, "the device does not answer");
    else if (arrived == 1)
        gpu->progress = clock_now();
    return gpu->recovery.lost ? -1 : arrived;
}

/* Sees through what has arrived, in whatever order. */
static void gpu_reap_all(struct gpu_engine *gpu)
{
    bool more = true;
    while (more && !gpu->recovery.lost) {
        more = gpu_look_decompression(gpu) == 1;
        if (!gpu->recovery.lost && gpu->slots.oldest)
            more |= gpu_reap_oldest(gpu) == 1;
    }
}

/* Waits for a batch to be filled. NULL: the device is lost. */
static struct chunk *gpu_take_batch(struct gpu_engine *gpu)
{
    struct chunk *chunk = NULL;
    if (!gpu->recovery.lost)
        gpu_reap_all(gpu);
    while (!gpu->recovery.lost && !(chunk = decompression_take(&gpu->decompression))) {
        gpu_pause_unlocked(gpu);
        gpu_reap_all(gpu);
    }
    if (gpu->recovery.lost)
        gpu_recount(gpu);
    return chunk;
}

static struct chunk *gpu_acquire_undecoded(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    struct chunk *chunk = gpu_take_batch(gpu);
    pthread_mutex_unlock(&gpu->lock);
    return chunk;
}

static void gpu_prepare_undecoded(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    if (!gpu->recovery.lost && decompression_open(&gpu->decompression, gpu->slots.count) != 0) {
        gpu_lose_by_call(gpu);
        gpu_recount(gpu);
    }
    pthread_mutex_unlock(&gpu->lock);
}

/* This is asked often, and must not wait for the lock, which is held while content is hashed. */
static bool gpu_is_free(struct engine *engine)
{
    return !atomic_load(&gpu_of(engine)->is_taken);
}

static struct chunk *gpu_begin_undecoded(struct engine *engine, enum coding coding,
                                         const struct undecoded_start *start)
{
    struct gpu_engine *gpu = gpu_of(engine);
    struct chunk *chunk = NULL;
    if (coding != CODING_ZSTD || atomic_exchange(&gpu->is_taken, true))
        return NULL;
    pthread_mutex_lock(&gpu->lock);
    int began = 0;
    if (!gpu->recovery.lost)
        began = decompression_begin(&gpu->decompression, gpu->slots.count, start);
    if (began < 0)
        gpu_lose_by_call(gpu);
    if (began != 0)
        chunk = gpu_take_batch(gpu);
    pthread_mutex_unlock(&gpu->lock);
    return chunk;
}

static void gpu_submit_undecoded(struct engine *engine, struct chunk *chunk, uint64_t offset,
                                 struct undecoded_next *next)
{
    struct gpu_engine *gpu = gpu_of(engine);
    *next = (struct undecoded_next){.is_wanted = false};
    pthread_mutex_lock(&gpu->lock);
    bool was_idle = !gpu->slots.oldest && !gpu->decompression.oldest;
    if (!gpu->recovery.lost && decompression_submit(&gpu->decompression, chunk, offset, next) != 0)
        gpu_lose_by_call(gpu);
    if (was_idle)
        gpu->progress = clock_now();
    if (gpu->recovery.lost) {
        gpu_recount(gpu);
        next->is_wanted = false;
    }
    pthread_mutex_unlock(&gpu->lock);
}

static bool gpu_is_busy_undecoded(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    if (!gpu->recovery.lost)
        gpu_reap_all(gpu);
    if (gpu->recovery.lost)
        gpu_recount(gpu);
    bool busy = !gpu->recovery.lost && decompression_is_busy(&gpu->decompression);
    pthread_mutex_unlock(&gpu->lock);
    return busy;
}

static int gpu_settle(struct engine *engine, struct undecoded_rest *rest)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    gpu_reap_all(gpu);
    while (!gpu->recovery.lost && decompression_is_busy(&gpu->decompression)) {
        gpu_pause_unlocked(gpu);
        gpu_reap_all(gpu);
    }
    if (!gpu->recovery.lost && decompression_settle(&gpu->decompression, false, rest) != 0)
        gpu_lose_by_call(gpu);
    if (gpu->recovery.lost) {
        gpu_recount(gpu);
        decompression_settle(&gpu->decompression, true, rest);
    }
    if (!gpu->recovery.lost)
        atomic_store(&gpu->is_taken, false);
    int rc = gpu->recovery.failed ? -1 : 0;
    if (rc == 0)
        atomic_fetch_add(&engine->undecoded_bytes, rest->bytes);
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

const struct undecoded_ops gpu_undecoded = {
    .prepare = gpu_prepare_undecoded,
    .is_free = gpu_is_free,
    .begin = gpu_begin_undecoded,
    .acquire = gpu_acquire_undecoded,
    .submit = gpu_submit_undecoded,
    .is_busy = gpu_is_busy_undecoded,
    .settle = gpu_settle,
};

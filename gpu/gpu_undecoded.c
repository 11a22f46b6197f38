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

static struct chunk *gpu_acquire_undecoded(struct engine *engine, enum coding coding, bool begins)
{
    struct gpu_engine *gpu = gpu_of(engine);
    struct chunk *chunk = NULL;
    pthread_mutex_lock(&gpu->lock);
    bool takes = !gpu->recovery.lost && (!begins || coding == CODING_ZSTD);
    if (takes && begins) {
        int began = decompression_begin(&gpu->decompression, gpu->slots.count);
        if (began < 0)
            gpu_lose_by_call(gpu);
        takes = began == 1;
    }
    if (takes)
        gpu_reap_all(gpu);
    while (takes && !gpu->recovery.lost && !(chunk = decompression_take(&gpu->decompression))) {
        gpu_pause_unlocked(gpu);
        gpu_reap_all(gpu);
    }
    if (gpu->recovery.lost)
        gpu_recount(gpu);
    pthread_mutex_unlock(&gpu->lock);
    return chunk;
}

static void gpu_submit_undecoded(struct engine *engine, struct chunk *chunk, uint64_t offset,
                                 uint64_t *next)
{
    struct gpu_engine *gpu = gpu_of(engine);
    *next = 0;
    pthread_mutex_lock(&gpu->lock);
    bool was_idle = !gpu->slots.oldest && !gpu->decompression.oldest;
    if (!gpu->recovery.lost && decompression_submit(&gpu->decompression, chunk, offset, next) != 0)
        gpu_lose_by_call(gpu);
    if (was_idle)
        gpu->progress = clock_now();
    if (gpu->recovery.lost) {
        gpu_recount(gpu);
        *next = 0;
    }
    pthread_mutex_unlock(&gpu->lock);
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
    int rc = gpu->recovery.failed ? -1 : 0;
    if (rc == 0)
        atomic_fetch_add(&engine->undecoded_bytes, rest->bytes);
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

const struct undecoded_ops gpu_undecoded = {
    .acquire = gpu_acquire_undecoded,
    .submit = gpu_submit_undecoded,
    .settle = gpu_settle,
};

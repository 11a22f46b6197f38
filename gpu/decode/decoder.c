/* SPDX-License-Identifier: MIT */
/* Compressed FILEs that the device decompresses: decompression.h has what becomes of them. */
#include "gpu/gpu_engine_internal.h"
#include "src/base/clock.h"

#include <stdatomic.h>

/* --- what is hashed --- */

/* Whether the device has something to do. If not, the time in which it must answer begins with what
 * comes next. */
static bool gpu_is_at_work(const struct gpu_engine *gpu)
{
    return gpu->counting > 0 || gpu->reads > 0 ||
           decompression_is_on_device(&gpu->decoder.decompression);
}

static int gpu_read_content(void *arg, unsigned slot, int64_t begin, size_t len, unsigned char *to,
                            unsigned number)
{
    struct gpu_engine *gpu = arg;
    pthread_mutex_lock(&gpu->lock);
    if (!gpu_is_at_work(gpu))
        patience_renew(&gpu->patience);
    if (!gpu->recovery.lost && calls_read_content(gpu->calls, slot, begin, len, to, number) != 0)
        gpu_lose_by_call(gpu);
    gpu->reads++;
    int rc = gpu->recovery.lost ? -1 : 0;
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

static int gpu_content_arrived(void *arg, unsigned number)
{
    struct gpu_engine *gpu = arg;
    pthread_mutex_lock(&gpu->lock);
    const bool patient = gpu_is_patient(gpu);
    int arrived = gpu->recovery.lost ? -1 : calls_content_read(gpu->calls, number);
    if (arrived < 0 && !gpu->recovery.lost)
        gpu_lose_by_call(gpu);
    else if (arrived == 0 && !patient)
        gpu_lose(gpu, "the device does not answer");
    if (arrived == 1) {
        patience_renew(&gpu->patience);
        gpu->reads--;
    }
    if (gpu->recovery.lost)
        arrived = -1;
    pthread_mutex_unlock(&gpu->lock);
    return arrived;
}

struct content_source gpu_content_source(struct gpu_engine *gpu)
{
    return (struct content_source){
        .arg = gpu, .read = gpu_read_content, .arrived = gpu_content_arrived};
}

/* --- seeing through --- */

/* Looks at what is decoded. 1: something has happened; 0: nothing; -1: lost. */
static int gpu_look_decompression(struct gpu_engine *gpu)
{
    struct slot *counted;
    struct chunk *empty;
    bool patient = gpu_is_patient(gpu), was_at_work = gpu_is_at_work(gpu);
    bool waits = decompression_is_on_device(&gpu->decoder.decompression);
    int arrived = decompression_look(&gpu->decoder.decompression, &counted, &empty);
    if (counted && arrived >= 0)
        gpu_take_snapshot(gpu, counted, true);
    if (counted)
        gpu_put_in_flight(gpu, counted);
    if (empty)
        snapshots_add_empty(&gpu->snapshots, empty, gpu->engine.lines);
    if (arrived < 0 && !gpu->recovery.lost)
        gpu_lose_by_call(gpu);
    else if (arrived == 0 && waits && !patient)
        gpu_lose(gpu, "the device does not answer");
    else if (arrived == 1 || !was_at_work)
        patience_renew(&gpu->patience);
    return gpu->recovery.lost ? -1 : arrived;
}

/* Sees through what has arrived. Counts come first: one that arrived long ago and was not looked at
 * must not make a batch late that has only just been sent. */
static void gpu_reap_all(struct gpu_engine *gpu)
{
    bool more = true;
    while (more && !gpu->recovery.lost) {
        more = gpu_reap(gpu) == 1;
        if (!gpu->recovery.lost)
            more |= gpu_look_decompression(gpu) == 1;
    }
}

/* Waits a moment, and sees through what has arrived meanwhile. */
static void gpu_wait_decompression(struct gpu_engine *gpu)
{
    struct gpu_feeding *feeding = &gpu->times.feeding;
    double *waited = decompression_is_hashing(&gpu->decoder.decompression) ? &feeding->checking
                                                                           : &feeding->device;
    const struct timespec begin = clock_now();
    gpu_ask(gpu);
    gpu_pause_unlocked(gpu);
    if (!gpu->recovery.lost)
        gpu_reap_all(gpu);
    *waited += clock_seconds_since(&begin);
}

/* --- what a reader calls --- */

/* Waits for a chunk to be filled. NULL: the device is lost. */
static struct chunk *gpu_take_input(struct gpu_engine *gpu)
{
    struct chunk *chunk = NULL;
    if (!gpu->recovery.lost)
        gpu_reap_all(gpu);
    while (!gpu->recovery.lost && !chunk) {
        int taken = decompression_take(&gpu->decoder.decompression, &chunk);
        if (taken < 0)
            gpu_lose_by_call(gpu);
        else if (taken == 0)
            gpu_wait_decompression(gpu);
    }
    if (gpu->recovery.lost) {
        gpu_recount(gpu);
        chunk = NULL;
    }
    gpu->filling = clock_now();
    return chunk;
}

struct chunk *gpu_decoder_acquire(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    pthread_mutex_lock(&gpu->lock);
    struct chunk *chunk = gpu_take_input(gpu);
    pthread_mutex_unlock(&gpu->lock);
    return chunk;
}

/* This is asked often, and does not wait for the lock. */
bool gpu_engine_is_idle(struct engine *engine)
{
    return !atomic_load(&gpu_of(engine)->decoder.is_taken);
}

struct gpu_decoder *gpu_engine_begin(struct engine *engine, const struct compressed_start *start)
{
    struct gpu_engine *gpu = gpu_of(engine);
    struct gpu_decoder *decoder = &gpu->decoder;
    const struct timespec begin = clock_now();
    if (atomic_exchange(&decoder->is_taken, true))
        return NULL;
    atomic_store(&decoder->is_feeding, true);
    pthread_mutex_lock(&gpu->lock);
    int began = 0;
    if (!gpu->recovery.lost)
        began = decompression_begin(&decoder->decompression, gpu->slots.count, start);
    if (began < 0) {
        gpu_lose_by_call(gpu);
        gpu_recount(gpu);
    }
    if (began == 1)
        gpu->times.feeding.opening += clock_seconds_since(&begin);
    else
        atomic_store(&decoder->is_feeding, false);
    pthread_mutex_unlock(&gpu->lock);
    return began == 1 ? decoder : NULL;
}

/* Has a chunk laid, for which batches may be waited for. */
static void gpu_lay(struct gpu_engine *gpu, struct chunk *chunk, uint64_t offset,
                    struct compressed_next *next)
{
    int laid = 0;
    while (!gpu->recovery.lost && laid == 0) {
        if (!gpu_is_at_work(gpu))
            patience_renew(&gpu->patience);
        laid = decompression_lay(&gpu->decoder.decompression, chunk, offset, next);
        if (laid < 0)
            gpu_lose_by_call(gpu);
        else if (laid == 0)
            gpu_wait_decompression(gpu);
    }
}

void gpu_decoder_submit(struct gpu_decoder *decoder, struct chunk *chunk, uint64_t offset,
                        struct compressed_next *next)
{
    struct gpu_engine *gpu = decoder->gpu;
    *next = (struct compressed_next){.is_wanted = false};
    pthread_mutex_lock(&gpu->lock);
    gpu->times.feeding.reading += clock_seconds_since(&gpu->filling);
    gpu_lay(gpu, chunk, offset, next);
    if (gpu->recovery.lost) {
        gpu_recount(gpu);
        next->is_wanted = false;
    }
    pthread_mutex_unlock(&gpu->lock);
}

bool gpu_decoder_poll(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    pthread_mutex_lock(&gpu->lock);
    if (!gpu->recovery.lost)
        gpu_reap_all(gpu);
    gpu_ask(gpu); /* for the next time */
    if (gpu->recovery.lost)
        gpu_recount(gpu);
    bool busy = !gpu->recovery.lost && decompression_is_busy(&gpu->decoder.decompression);
    pthread_mutex_unlock(&gpu->lock);
    return busy;
}

/* Gets the tail of the content. Whether it is there. */
static bool gpu_fetch_tail(struct gpu_engine *gpu)
{
    bool patient = gpu_is_patient(gpu), moved = false;
    int fetched = decompression_fetch_tail(&gpu->decoder.decompression, &moved);
    if (moved)
        patience_renew(&gpu->patience);
    if (fetched < 0)
        gpu_lose_by_call(gpu);
    else if (fetched == 0 && !moved && !patient)
        gpu_lose(gpu, "the device does not answer");
    return fetched == 1;
}

/* Waits until all that was submitted is counted, and the tail is there, or the device is lost. */
static void gpu_see_through(struct gpu_engine *gpu)
{
    if (!gpu->recovery.lost)
        gpu_reap_all(gpu);
    while (!gpu->recovery.lost && decompression_is_busy(&gpu->decoder.decompression))
        gpu_wait_decompression(gpu);
    if (!gpu_is_at_work(gpu))
        patience_renew(&gpu->patience);
    while (!gpu->recovery.lost && !gpu_fetch_tail(gpu))
        gpu_wait_decompression(gpu);
}

int gpu_decoder_finish(struct gpu_decoder *decoder, struct compressed_rest *rest)
{
    struct gpu_engine *gpu = decoder->gpu;
    pthread_mutex_lock(&gpu->lock);
    gpu_see_through(gpu);
    if (gpu->recovery.lost)
        gpu_recount(gpu);
    decompression_settle(&decoder->decompression, gpu->recovery.lost, rest);
    atomic_store(&decoder->is_feeding, false);
    if (!gpu->recovery.lost)
        atomic_store(&decoder->is_taken, false);
    int rc = gpu->recovery.failed ? -1 : 0;
    if (rc == 0) {
        atomic_fetch_add(&decoder->bytes, rest->fresh);
        snapshots_add_bytes(&gpu->snapshots, rest->fresh - decoder->decompression.fresh);
    }
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

const char *gpu_decoder_loss(struct gpu_decoder *decoder)
{
    return recovery_reason(&decoder->gpu->recovery);
}

uint64_t gpu_engine_decompressed(struct engine *engine)
{
    return atomic_load(&gpu_of(engine)->decoder.bytes);
}

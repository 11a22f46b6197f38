/* SPDX-License-Identifier: MIT */
/* The way of a compressed file through a GPU, under the engine's lock. */
#include "gpu/engine/gpu_engine_internal.h"
#include "src/base/clock.h"
#include "src/input/records.h"

#include <stdlib.h>

/* --- content that is hashed --- */

static int read_content(void *arg, const struct device_work *work)
{
    struct gpu_engine *gpu = arg;
    pthread_mutex_lock(&gpu->lock);
    if (device_thread_post(gpu->thread, work) != 0)
        gpu_lose_by_call(gpu);
    int rc = gpu->is_lost ? -1 : 0;
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

static int content_arrived(void *arg, unsigned number)
{
    struct gpu_engine *gpu = arg;
    pthread_mutex_lock(&gpu->lock);
    const int arrived =
        gpu_judge_poll(gpu, device_thread_arrived(gpu->thread, WORK_READ_CONTENT, number), true);
    pthread_mutex_unlock(&gpu->lock);
    return arrived;
}

/* --- waiting --- */

/* True while the device is to copy something, or to give a verdict. */
static bool is_decoding(const struct gpu_decoder *decoder)
{
    return decoder_queue_count_in(decoder, BATCH_DECODING) > 0 || decoder->fetch.under_way > 0 ||
           decoder_inputs_are_busy(decoder);
}

/* Goes on with all that the device has done for the decoder. Returns 1 if it has done something, 0
 * if nothing, -1 if it is lost. */
static int poll(struct gpu_engine *gpu)
{
    struct gpu_decoder *decoder = &gpu->decoder;
    struct slot *good = NULL;
    const bool waits = is_decoding(decoder);
    int copied = decoder_inputs_poll(decoder);
    int moved = copied < 0 ? -1 : decoder_queue_poll(decoder, &good);
    int launched = moved < 0 ? -1 : decoder_queue_launch_due(decoder);
    int arrived = launched < 0 ? -1 : copied || moved || launched;
    if (good && good->chunk.len == 0) {
        snapshots_add_empty(&gpu->snapshots, &good->chunk, gpu->engine.locator);
    } else if (good) {
        gpu_queue_snapshot(gpu, good, true);
        gpu_put_in_flight(gpu, good);
    }
    return gpu_judge_poll(gpu, arrived, waits);
}

/* Goes on with all that has arrived. Counts come first: one that arrived long ago and was not
 * polled must not make a batch late that has only just been sent. */
static void poll_all(struct gpu_engine *gpu)
{
    bool more = true;
    while (more && !gpu->is_lost) {
        more = gpu_retire(gpu) == 1;
        if (!gpu->is_lost)
            more |= poll(gpu) == 1;
    }
}

/* Waits a moment, and goes on with what has arrived meanwhile. */
static void wait_a_moment(struct gpu_engine *gpu)
{
    struct gpu_feeding *feeding = &gpu->times.feeding;
    double *waited =
        decoder_queue_is_hashing(&gpu->decoder) ? &feeding->checking : &feeding->device;
    const struct timespec begin = clock_now();
    gpu_request_snapshot(gpu);
    gpu_pause_unlocked(gpu);
    poll_all(gpu);
    *waited += clock_seconds_since(&begin);
}

/* True while any of the file is being copied, decoded, hashed or counted. */
static bool is_busy(const struct gpu_decoder *decoder)
{
    return decoder_inputs_are_busy(decoder) || decoder_queue_is_busy(decoder);
}

/* --- beginning --- */

void gpu_decoder_init(struct gpu_engine *gpu)
{
    struct gpu_decoder *decoder = &gpu->decoder;
    decoder->gpu = gpu;
    decoder->source = (struct content_source){gpu, read_content, content_arrived};
    if (gpu->options.decodes && decoder_memory_open(decoder, DECODER_LARGE) != 0) {
        gpu_lose_by_call(gpu);
        gpu_recount(gpu);
    }
}

/* Answers without waiting for the lock, as this is asked often. */
bool gpu_engine_is_idle(struct engine *engine)
{
    return atomic_load(&gpu_of(engine)->decoder.use) == DECODER_IDLE;
}

bool gpu_engine_is_usable(struct engine *engine)
{
    return atomic_load(&gpu_of(engine)->decoder.use) != DECODER_UNUSABLE;
}

/* Returns the largest window that is neither beyond the limit, which is rounded down to a power of
 * two as libzstd does, nor what batches have memory for. */
static uint32_t window_max(const struct gpu_decoder *decoder, uint64_t memlimit)
{
    uint32_t max = ZSTD_WINDOW_MAX, has = decoder->memory.decoding.capacity.window;
    while (max > memlimit)
        max /= 2;
    return max < has ? max : has;
}

/* Begins a file. Returns 1; 0: the device decompresses nothing, or memory is short; -1: it is
 * lost. */
static int begin(struct gpu_decoder *decoder, const struct compressed_start *start)
{
    struct decoder_memory *memory = &decoder->memory;
    const bool is_small = start->size > 0 && start->size <= DECODER_SMALL_FILE;
    const enum decoder_size size = is_small ? DECODER_SMALL : DECODER_LARGE;
    if (memory->size < size) {
        decoder->queue.turn = 0;
        if (decoder_memory_open(decoder, size) != 0)
            return -1;
    }
    const struct decode_planner *planner = decode_planner_find(start->codec);
    unsigned char *tail =
        planner && memory->decoding.batches > 0 ? malloc(memory->decoding.keep_min) : NULL;
    if (!tail || snapshots_save(&decoder->gpu->snapshots) != 0) {
        free(tail);
        return 0;
    }
    const struct decode_limits limits = {.window_max = window_max(decoder, start->memlimit),
                                         .no_check = decoder->gpu->options.no_check,
                                         .can_hash = memory->check != NULL};
    struct decode_walk walk = {.planner = planner};
    planner->begin(&walk, start->offset, &limits);
    const struct record_kind kind = record_kind_of_all(decoder->gpu->spec);
    decoder->file = decoder_file_begin(start, &kind, &walk);
    decoder->file.tail.bytes = tail;
    const struct device_work work = {.kind = WORK_SAVE};
    return device_thread_post(decoder->gpu->thread, &work) == 0 ? 1 : -1;
}

struct gpu_decoder *gpu_engine_begin(struct engine *engine, const struct compressed_start *start)
{
    struct gpu_engine *gpu = gpu_of(engine);
    struct gpu_decoder *decoder = &gpu->decoder;
    const struct timespec begun = clock_now();
    enum decoder_use idle = DECODER_IDLE;
    if (!atomic_compare_exchange_strong(&decoder->use, &idle, DECODER_FEEDING))
        return NULL;
    pthread_mutex_lock(&gpu->lock);
    gpu_drain(gpu);
    int began = gpu->is_lost ? 0 : begin(decoder, start);
    if (began < 0) {
        gpu_lose_by_call(gpu);
        gpu_recount(gpu);
    }
    if (began == 1)
        gpu->times.feeding.startup += clock_seconds_since(&begun);
    else
        atomic_store(&decoder->use, DECODER_UNUSABLE);
    pthread_mutex_unlock(&gpu->lock);
    return began == 1 ? decoder : NULL;
}

/* --- chunks --- */

struct chunk *gpu_decoder_acquire(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    struct chunk *chunk = NULL;
    pthread_mutex_lock(&gpu->lock);
    poll_all(gpu);
    while (!gpu->is_lost && !(chunk = decoder_inputs_acquire(decoder)))
        wait_a_moment(gpu);
    gpu_recount(gpu);
    decoder->filling = clock_now();
    pthread_mutex_unlock(&gpu->lock);
    return chunk;
}

void gpu_decoder_submit(struct gpu_decoder *decoder, struct chunk *chunk, uint64_t offset,
                        struct compressed_next *next)
{
    struct gpu_engine *gpu = decoder->gpu;
    int planned = 0;
    *next = (struct compressed_next){.is_wanted = false};
    pthread_mutex_lock(&gpu->lock);
    gpu->times.feeding.reading += clock_seconds_since(&decoder->filling);
    while (!gpu->is_lost && planned == 0) {
        planned = decoder_inputs_plan(decoder, chunk, offset, next);
        if (planned < 0)
            gpu_lose_by_call(gpu);
        else if (planned == 0)
            wait_a_moment(gpu); /* for a batch */
    }
    /* At the end of a file it waits until it is known whether some of it must come again. */
    while (!gpu->is_lost && !next->is_wanted && decoder_queue_may_go_back(decoder)) {
        wait_a_moment(gpu);
        *next = decoder_inputs_next(decoder);
    }
    if (gpu_recount(gpu))
        next->is_wanted = false;
    pthread_mutex_unlock(&gpu->lock);
}

bool gpu_decoder_goes_back(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    pthread_mutex_lock(&gpu->lock);
    const bool goes_back = decoder->file.goes_back;
    pthread_mutex_unlock(&gpu->lock);
    return goes_back;
}

bool gpu_decoder_poll(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    pthread_mutex_lock(&gpu->lock);
    poll_all(gpu);
    gpu_request_snapshot(gpu); /* for the next time */
    bool busy = !gpu_recount(gpu) && is_busy(decoder);
    pthread_mutex_unlock(&gpu->lock);
    return busy;
}

/* --- the end --- */

/* Fetches the tail of the content. True if it is there. */
static bool fetch_tail(struct gpu_engine *gpu)
{
    bool moved = false;
    int fetched = decoder_fetch_tail(&gpu->decoder, &moved);
    gpu_judge_poll(gpu, fetched == 0 ? moved : fetched, true);
    return fetched == 1;
}

/* Waits until all that was submitted is counted, and the tail is there, or the device is lost. */
static void wait_for_all(struct gpu_engine *gpu)
{
    poll_all(gpu);
    while (!gpu->is_lost && is_busy(&gpu->decoder))
        wait_a_moment(gpu);
    while (!gpu->is_lost && !fetch_tail(gpu))
        wait_a_moment(gpu);
}

/* Takes back what was counted of the file, as if it had not been begun. */
static void take_back(struct gpu_engine *gpu)
{
    const struct device_work work = {.kind = WORK_SAVE, .goes_back = true};
    snapshots_go_back(&gpu->snapshots);
    error_locator_forget(gpu->engine.locator, gpu->decoder.file.start.number);
    if (!gpu->is_lost && device_thread_post(gpu->thread, &work) != 0)
        gpu_lose_by_call(gpu);
}

int gpu_decoder_finish(struct gpu_decoder *decoder, struct compressed_rest *rest)
{
    struct gpu_engine *gpu = decoder->gpu;
    pthread_mutex_lock(&gpu->lock);
    wait_for_all(gpu);
    const uint64_t counted = decoder->file.counted;
    *rest = decoder_file_end(&decoder->file, gpu_recount(gpu));
    decoder_queue_drain(decoder);
    if (rest->is_refused)
        take_back(gpu);
    else
        snapshots_add_bytes(&gpu->snapshots, rest->bytes - counted);
    atomic_store(&decoder->use, gpu_recount(gpu) ? DECODER_UNUSABLE : DECODER_IDLE);
    atomic_fetch_add(&decoder->bytes, rest->bytes);
    int rc = gpu->has_failed ? -1 : 0;
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

/* --- state --- */

const char *gpu_decoder_loss(struct gpu_decoder *decoder)
{
    return gpu_loss(&decoder->gpu->engine);
}

uint64_t gpu_engine_decompressed(struct engine *engine)
{
    return atomic_load(&gpu_of(engine)->decoder.bytes);
}

bool gpu_engine_is_feeding(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    return atomic_load(&gpu->decoder.use) == DECODER_FEEDING && !atomic_load(&gpu->is_lost);
}

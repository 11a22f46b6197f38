/* SPDX-License-Identifier: MIT */
/* The way of a chunk through a GPU. The copy stream brings it in. The compute stream counts it into
 * the device's histogram and copies that out to the slot: its snapshot (engine_internal.h). One of
 * all counts stands for its own chunk and those before it that have none. Once it has arrived, and
 * can be believed, their slots are free. */
#include "engine_internal.h"
#include "src/input/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- slots --- */

/* Returns the bytes of a slot's data: chunk_size, and for text what a chunk has beyond its cap. */
static size_t slots_data_size(const struct histogram_spec *spec, size_t chunk_size)
{
    const struct record_kind kind = record_kind_of_all(spec);
    return chunk_size + record_slack(&kind);
}

size_t gpu_engine_slot_size(const struct histogram_spec *spec, size_t chunk_size)
{
    size_t data = pinned_round(slots_data_size(spec, chunk_size), PINNED_LINE);
    return pinned_round(data + (snapshot_is_of_chunk(spec) ? snapshot_size(spec) : 0), PINNED_PAGE);
}

size_t gpu_engine_size(const struct histogram_spec *spec, size_t chunk_size, unsigned count)
{
    return gpu_engine_slot_size(spec, chunk_size) * count +
           pinned_round(snapshot_size(spec), PINNED_PAGE) * snapshot_spares(spec);
}

/* Puts a slot on the free list. */
static void slots_release(struct slots *slots, struct slot *slot)
{
    slot->next = slots->free;
    slots->free = slot;
}

/* Allocates the slots of an engine, as many and as large as its options say, all free. 0, or -1
 * with the error set. */
static int slots_open(struct gpu_engine *gpu, struct error *error)
{
    const struct histogram_spec *spec = gpu->spec;
    const size_t chunk_size = gpu->options.chunk_size;
    const unsigned count = gpu->options.buffers;
    struct slots *slots = &gpu->slots;
    size_t data = pinned_round(slots_data_size(spec, chunk_size), PINNED_LINE);
    size_t step = gpu_engine_slot_size(spec, chunk_size);
    size_t spare = pinned_round(snapshot_size(spec), PINNED_PAGE);
    size_t size = gpu_engine_size(spec, chunk_size, count);
    *slots = (struct slots){.count = count, .are_shared = snapshot_spares(spec) > 1};
    slots->slot = calloc(count, sizeof slots->slot[0]);
    if (!slots->slot || pinned_open(&slots->pinned, size, gpu->thread) != 0) {
        error_set(error, "not enough memory for its buffers");
        return -1;
    }
    unsigned char *at = slots->pinned.memory;
    for (unsigned i = 0; i < count; i++, at += step) {
        struct slot *slot = &slots->slot[i];
        slot->chunk =
            (struct chunk){.engine = &gpu->engine, .data = at, .cap = chunk_size, .fill = true};
        slot->index = i;
        slot->snapshot = snapshot_is_of_chunk(spec) ? (uint64_t *)(void *)(at + data) : NULL;
        slots_release(slots, slot);
    }
    slots->spare = (uint64_t *)(void *)at;
    while (slots->shared_count + 1 < snapshot_spares(spec))
        slots->shared[slots->shared_count++] = (uint64_t *)(void *)(at += spare);
    return 0;
}

/* Takes the snapshot's memory back, if slots share it. */
static void slots_release_snapshot(struct slots *slots, struct slot *slot)
{
    if (slots->are_shared && slot->snapshot) {
        slots->shared[slots->shared_count++] = slot->snapshot;
        slot->snapshot = NULL;
    }
}

/* Removes the oldest slot from those in flight. */
static struct slot *slots_arrive(struct slots *slots)
{
    struct slot *slot = slots->oldest;
    slots->oldest = slot->next;
    if (!slots->oldest)
        slots->newest = NULL;
    return slot;
}

void gpu_pause_unlocked(struct gpu_engine *gpu)
{
    pthread_mutex_unlock(&gpu->lock);
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    pthread_mutex_lock(&gpu->lock);
}

/* --- times --- */

/* Adds the slot's times. A copy can only overlap the kernels of chunks before it. Their slots still
 * have their times, or the copy could not have begun. */
static void gpu_add_times(struct gpu_engine *gpu, struct slot *slot)
{
    struct slot_times *times = &slot->times;
    *times = device_thread_times(gpu->thread, slot->index);
    gpu->times.copy_seconds += times->copy_end - times->copy_begin;
    gpu->times.kernel_seconds += times->count_end - times->count_begin;
    for (unsigned i = 0; i < gpu->slots.count; i++) {
        const struct slot_times *other = &gpu->slots.slot[i].times;
        const double begin = fmax(times->copy_begin, other->count_begin);
        const double end = fmin(times->copy_end, other->count_end);
        if (i != slot->index && other->count_begin < times->count_begin && begin < end)
            gpu->times.overlap_seconds += end - begin;
    }
}

/* --- a look at the device --- */

/* True if less time was waited for than the deadline. Call it after each look in vain. */
static bool watchdog_allows(struct watchdog *watchdog, unsigned deadline_ms)
{
    const double max = deadline_ms / 32e3; /* seconds */
    const double since = clock_seconds_since(&watchdog->looked);
    watchdog->waited += since < max ? since : max;
    watchdog->looked = clock_now();
    return watchdog->waited * 1e3 < deadline_ms;
}

int gpu_judge_poll(struct gpu_engine *gpu, int found, bool expected)
{
    if (found > 0)
        gpu->watchdog = (struct watchdog){.looked = clock_now()};
    else if (found < 0)
        gpu_lose(gpu, device_thread_error(gpu->thread));
    else if (expected && !watchdog_allows(&gpu->watchdog, gpu->options.deadline_ms))
        gpu_lose(gpu, "the device does not answer");
    return gpu->is_lost ? -1 : found;
}

int gpu_poll(struct gpu_engine *gpu, enum device_work_kind kind, unsigned number, bool expected)
{
    return gpu_judge_poll(gpu, device_thread_arrived(gpu->thread, kind, number), expected);
}

void gpu_post(struct gpu_engine *gpu, const struct device_work *work)
{
    if (device_thread_post(gpu->thread, work) != 0)
        gpu_lose(gpu, device_thread_error(gpu->thread));
}

void gpu_put_in_flight(struct gpu_engine *gpu, struct slot *slot)
{
    struct slots *slots = &gpu->slots;
    slot->is_counted = false;
    slot->next = NULL;
    if (slots->newest)
        slots->newest->next = slot;
    else
        slots->oldest = slot;
    slots->newest = slot;
    gpu->proofs += slot->has_counts;
    gpu->unproved = slot->has_counts ? 0 : gpu->unproved + 1;
}

void gpu_queue_snapshot(struct gpu_engine *gpu, struct slot *slot, bool is_due)
{
    struct slots *slots = &gpu->slots;
    const struct histogram_spec *spec = gpu->spec;
    if (is_due && slots->are_shared && !slot->snapshot && slots->shared_count > 0)
        slot->snapshot = slots->shared[--slots->shared_count];
    slot->words = snapshot_words(&gpu->snapshots);
    slot->has_counts = gpu->snapshots.last || (is_due && slot->snapshot);
    /* Of text each has the end, from here on. */
    const size_t tail =
        spec->mode->is_text ? ROW_INVALID(&spec->binning) : device_histogram_words(spec);
    const size_t first = slot->has_counts ? 0 : tail;
    const struct device_work work = {
        .kind = WORK_SNAPSHOT, .slot = slot->index, .counts = {slot->snapshot, first, slot->words}};
    gpu_post(gpu, &work);
}

/* Polls the slots in flight, oldest first, up to the first whose snapshot is of all counts. Returns
 * 1 if that has arrived, and *last is the slot; 0 if not yet, or there is none; -1 if lost. */
static int gpu_poll_up_to_proof(struct gpu_engine *gpu, struct slot **last)
{
    for (struct slot *slot = gpu->slots.oldest; slot; slot = slot->next) {
        int arrived = slot->is_counted ? 1 : gpu_poll(gpu, WORK_SNAPSHOT, slot->index, true);
        if (arrived != 1)
            return arrived;
        slot->is_counted = true;
        *last = slot;
        if (slot->has_counts)
            return 1;
    }
    return 0;
}

/* --- what a snapshot stands for --- */

/* Fetches the content of a batch of text in which there may be an invalid sample to be reported.
 * Returns 1 if it is there, or there is none; 0 if not yet; -1 if lost. */
static int gpu_fetch_invalid(struct gpu_engine *gpu, struct slot *slot)
{
    if (!gpu->engine.locator || (slot->text.is_known && slot->text.invalid == 0))
        return 1;
    int fetched = gpu->extension->fetch(gpu, slot);
    if (fetched == 1 && !slot->chunk.data)
        gpu_lose(gpu, "out of memory");
    return gpu->is_lost ? -1 : fetched;
}

/* Reports and frees the slots up to `last`, whose snapshot was believed. */
static void gpu_free_up_to(struct gpu_engine *gpu, struct slot *last)
{
    struct error_locator *locator = gpu->engine.locator;
    struct slot *slot = NULL;
    while (slot != last) {
        slot = slots_arrive(&gpu->slots);
        if (!slot->text.is_known)
            error_locator_add_unseen(locator, &slot->chunk);
        else if (locator && slot->chunk.origin.name)
            error_locator_add(locator, &slot->chunk, slot->text.newlines, slot->text.invalid > 0);
        if (gpu->options.timing)
            gpu_add_times(gpu, slot);
        gpu->times.chunks++;
        gpu->times.bytes += slot->chunk.origin.bytes;
        if (gpu_is_batch(gpu, slot))
            gpu->extension->release(slot);
        else
            slots_release(&gpu->slots, slot);
    }
    gpu->proofs--;
}

/* Makes the snapshot after `last` the last good one, and frees the slots for which it stands.
 * Returns 1 if it did; 0 if content must be fetched first; -1 if lost. */
static int gpu_believe(struct gpu_engine *gpu, struct slot *last)
{
    struct snapshot_growth growth = {0};
    const uint64_t *before = NULL;
    struct tally seen;
    if (!snapshot_is_whole(&gpu->snapshots, last->snapshot, last->words)) {
        slots_release_snapshot(&gpu->slots, last);
        last->has_counts = false; /* its slot waits for a later one */
        gpu->proofs--;
        return 0;
    }
    for (struct slot *slot = gpu->slots.oldest; slot != last->next; slot = slot->next) {
        slot->text = snapshots_grow(&gpu->snapshots, &growth, &slot->chunk, before, slot->snapshot);
        before = slot->snapshot;
    }
    int fetched = gpu_is_batch(gpu, last) ? gpu_fetch_invalid(gpu, last) : 1;
    if (fetched != 1)
        return fetched;
    if (!snapshots_believe(&gpu->snapshots, &growth, last->snapshot, &seen)) {
        gpu_lose(gpu, "the device's counts do not add up");
        return -1;
    }
    snapshots_keep(&gpu->snapshots, &last->snapshot, &seen, last->chunk.origin.at.file,
                   gpu->engine.files);
    slots_release_snapshot(&gpu->slots, last);
    gpu_free_up_to(gpu, last);
    return 1;
}

int gpu_retire(struct gpu_engine *gpu)
{
    struct slot *last = NULL;
    int arrived = gpu_poll_up_to_proof(gpu, &last);
    return arrived == 1 ? gpu_believe(gpu, last) : arrived;
}

void gpu_drain(struct gpu_engine *gpu)
{
    while (!gpu->is_lost && gpu->slots.oldest) {
        gpu_request_snapshot(gpu);
        if (!gpu->is_lost && gpu_retire(gpu) == 0)
            gpu_pause_unlocked(gpu);
    }
}

void gpu_request_snapshot(struct gpu_engine *gpu)
{
    struct slot *newest = gpu->slots.newest;
    if (gpu->is_lost || gpu->proofs > 0 || !newest || !newest->is_counted)
        return;
    gpu_queue_snapshot(gpu, newest, true);
    if (gpu->is_lost)
        return;
    newest->is_counted = false;
    gpu->proofs = newest->has_counts;
    gpu->unproved = 0;
}

/* --- a device that is lost --- */

void gpu_lose(struct gpu_engine *gpu, const char *why)
{
    device_thread_leave(gpu->thread);
    if (gpu->is_lost)
        return;
    error_set(&gpu->error, "%s", why);
    gpu->is_lost = true;
}

static const char *gpu_loss(struct engine *engine)
{
    const struct gpu_engine *gpu = gpu_of(engine);
    if (gpu->has_failed && gpu->why_not_all.text[0])
        return gpu->why_not_all.text;
    return gpu->is_lost ? gpu->error.text : NULL;
}

/* Counts a chunk by the fallback, in memory of the fallback's, which no late copy of the device can
 * reach. 0, or -1: out of memory. */
static int recount_chunk(struct engine *fallback, const struct chunk *chunk,
                         const struct histogram_spec *spec)
{
    struct records records = {.kind = record_kind_of_all(spec), .field = &spec->lines.field};
    struct origin origin = {.bytes = chunk->origin.bytes,
                            .at.file = chunk->origin.at.file,
                            .columns = chunk->origin.columns,
                            .has_header = chunk->origin.has_header};
    int rc = 0;
    for (size_t done = chunk->begin; rc == 0 && done < chunk->len;) {
        struct chunk *fresh = engine_acquire(fallback, true);
        size_t rest = chunk->len - done, len = rest < fresh->cap ? rest : fresh->cap;
        records_resume(&records, fresh); /* only of texts, which have room */
        size_t waited = fresh->len;
        memcpy(fresh->data + waited, chunk->data + done, len);
        fresh->len += len;
        fresh->origin = origin;
        done += len;
        rc = records_cut(&records, fresh, waited, done == chunk->len);
        origin.bytes = 0;
        origin.has_header &= fresh->len == 0; /* it is not whole yet */
        fallback->ops->submit(fallback, fresh);
    }
    records_close(&records);
    return rc;
}

bool gpu_recount(struct gpu_engine *gpu)
{
    struct engine *fallback = gpu->options.fallback;
    if (!gpu->is_lost)
        return false;
    if (!fallback || !snapshot_is_small(gpu->spec))
        gpu->has_failed = true;
    while (gpu->slots.oldest) {
        struct slot *slot = slots_arrive(&gpu->slots);
        struct chunk *chunk = &slot->chunk;
        if (gpu_is_batch(gpu, slot)) { /* it is decoded again, so what was fetched is of no use */
            free(chunk->data);
            chunk->data = NULL;
        } else if (gpu->has_failed) {
            continue;
        } else if (recount_chunk(fallback, chunk, gpu->spec) == 0) {
            error_locator_add_unseen(gpu->engine.locator, chunk);
        } else {
            error_set(&gpu->why_not_all, "out of memory");
            gpu->has_failed = true;
        }
    }
    return true;
}

/* --- chunks --- */

/* True while the device is lent, and not lost. Without the lock. */
static bool gpu_is_lent(const struct gpu_engine *gpu)
{
    return atomic_load(&gpu->loan) == GPU_LENT && !atomic_load(&gpu->is_lost);
}

static struct chunk *gpu_acquire(struct engine *engine, bool wait)
{
    struct gpu_engine *gpu = gpu_of(engine);
    struct slot *slot = NULL;
    pthread_mutex_lock(&gpu->lock);
    while (!gpu->is_lost && (wait || !gpu_is_lent(gpu))) {
        while (!gpu->is_lost && gpu_retire(gpu) == 1)
            continue;
        slot = gpu->is_lost ? NULL : gpu->slots.free;
        if (slot)
            gpu->slots.free = slot->next;
        else
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
    struct device_work work = {.kind = WORK_COPY_IN,
                               .slot = slot->index,
                               .chunk = {.data = chunk->data + begin, .len = len}};
    gpu_post(gpu, &work);
    work.kind = WORK_COUNT;
    gpu_post(gpu, &work);
    gpu_queue_snapshot(gpu, slot, is_due);
}

/* A chunk that was being filled when the device was lost is recounted as those in flight were. One
 * that was being filled when a compressed file was begun waits for the end of that. */
static int gpu_submit(struct engine *engine, struct chunk *chunk)
{
    struct gpu_engine *gpu = gpu_of(engine);
    struct slot *slot = (struct slot *)chunk;
    pthread_mutex_lock(&gpu->lock);
    while (gpu_is_lent(gpu))
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
    gpu_post(gpu, &work);
    while ((arrived = gpu_poll(gpu, WORK_SNAPSHOT, 0, true)) == 0)
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
    while (!gpu->is_lost && gpu_retire(gpu) == 1)
        continue;
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
    if (gpu->extension)
        gpu->extension->close(gpu);
    pinned_close(&gpu->slots.pinned);
    free(gpu->slots.slot);
    device_thread_close(gpu->thread);
    free(gpu->snapshots.moved.counts);
    free(gpu->snapshots.saved.counts);
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

/* Opens the device by the options' strategy, or the fastest for which it has memory. 0 or -1. */
static int open_device(struct gpu_engine *gpu, struct error *error)
{
    struct gpu_options *options = &gpu->options;
    const bool is_wanted = options->strategy != NULL;
    bool is_stuck;
    if (!is_wanted)
        options->strategy = strategy_best(gpu->spec, options->chunk_size);
    while (options->strategy) {
        const struct device_plan plan = {
            .cuda_device = options->cuda_device,
            .strategy = (enum strategy_id)(options->strategy - strategies),
            .spec = gpu->spec,
            .slots = options->buffers,
            .slot_size = slots_data_size(gpu->spec, options->chunk_size),
            .timing = options->timing,
        };
        gpu->thread = device_thread_open(&plan, options->deadline_ms, &is_stuck, error);
        if (gpu->thread)
            return 0;
        if (is_stuck || is_wanted || options->strategy->scratch == SCRATCH_NONE)
            return -1;
        options->strategy = &strategies[STRATEGY_matched]; /* counts the same without */
    }
    return error_set(error, "no GPU kernel can count this");
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
    if (options->prepare)
        options->prepare(&gpu->engine);
    return &gpu->engine;
}

/* SPDX-License-Identifier: MIT */
/* Handles what arrives from the device for chunks in flight.
 *
 * A snapshot of all counts stands for its own chunk and those before it that have none. Once it has
 * arrived, and can be believed, their slots are free. */
#include "gpu_engine_internal.h"

#define POLL_NS 20000 /* between looks at a busy device: a small part of a chunk's copy */

void gpu_pause_unlocked(struct gpu_engine *gpu)
{
    pthread_mutex_unlock(&gpu->lock);
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    pthread_mutex_lock(&gpu->lock);
}

/* --- times --- */

static double shared_time(double begin_a, double end_a, double begin_b, double end_b)
{
    double begin = begin_a > begin_b ? begin_a : begin_b, end = end_a < end_b ? end_a : end_b;
    return end > begin ? end - begin : 0;
}

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
        if (i != slot->index && other->count_begin < times->count_begin)
            gpu->times.overlap_seconds += shared_time(times->copy_begin, times->copy_end,
                                                      other->count_begin, other->count_end);
    }
}

/* --- one slot --- */

int gpu_judge_poll(struct gpu_engine *gpu, int found, bool expected)
{
    if (found > 0)
        watchdog_reset(&gpu->watchdog);
    else if (found < 0)
        gpu_lose_by_call(gpu);
    else if (expected && !watchdog_allows(&gpu->watchdog, gpu->options.deadline_ms))
        gpu_lose(gpu, "the device does not answer");
    return gpu->is_lost ? -1 : found;
}

int gpu_poll(struct gpu_engine *gpu, const struct slot *slot)
{
    return gpu_judge_poll(gpu, device_thread_arrived(gpu->thread, WORK_SNAPSHOT, slot->index),
                          true);
}

void gpu_put_in_flight(struct gpu_engine *gpu, struct slot *slot)
{
    slot->is_counted = false;
    slots_send(&gpu->slots, slot);
    gpu->proofs += slot->has_counts;
    gpu->unproved = slot->has_counts ? 0 : gpu->unproved + 1;
}

void gpu_queue_snapshot(struct gpu_engine *gpu, struct slot *slot, bool is_due)
{
    slot->words = snapshot_words(&gpu->snapshots);
    slot->has_counts = gpu->snapshots.last || (is_due && slots_acquire_snapshot(&gpu->slots, slot));
    const size_t first = slot->has_counts ? 0 : snapshot_tail(gpu->spec);
    const struct device_work work = {
        .kind = WORK_SNAPSHOT, .slot = slot->index, .counts = {slot->snapshot, first, slot->words}};
    if (device_thread_post(gpu->thread, &work) != 0)
        gpu_lose_by_call(gpu);
}

/* Polls the slots in flight, oldest first, up to the first whose snapshot is of all counts. Returns
 * 1 if that has arrived, and *last is the slot; 0 if not yet, or there is none; -1 if lost. */
static int gpu_poll_up_to_proof(struct gpu_engine *gpu, struct slot **last)
{
    for (struct slot *slot = gpu->slots.oldest; slot; slot = slot->next) {
        int arrived = slot->is_counted ? 1 : gpu_poll(gpu, slot);
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
    bool moved = false;
    if (!gpu->engine.locator || (slot->text.is_known && slot->text.invalid == 0))
        return 1;
    int fetched = decoder_fetch_batch(&gpu->decoder, slot, &moved);
    gpu_judge_poll(gpu, fetched == 0 ? moved : fetched, true);
    if (fetched == 1 && !slot->chunk.data)
        gpu_lose(gpu, "out of memory");
    return gpu->is_lost ? -1 : fetched;
}

/* Adds up the chunks for which the snapshot after `last` stands. */
static struct snapshot_growth gpu_growth(struct gpu_engine *gpu, struct slot *last)
{
    struct snapshot_growth growth = {0};
    const uint64_t *before = NULL;
    for (struct slot *slot = gpu->slots.oldest; slot != last->next; slot = slot->next) {
        slot->text = snapshots_grow(&gpu->snapshots, &growth, &slot->chunk, before, slot->snapshot);
        before = slot->snapshot;
    }
    return growth;
}

static void gpu_report(struct gpu_engine *gpu, const struct slot *slot)
{
    const struct chunk *chunk = &slot->chunk;
    if (!slot->text.is_known)
        error_locator_add_unseen(gpu->engine.locator, chunk);
    else if (gpu->engine.locator && chunk->origin.name)
        error_locator_add(gpu->engine.locator, chunk, slot->text.newlines, slot->text.invalid > 0);
}

/* Reports and frees the slots up to `last`, whose snapshot was believed. */
static void gpu_free_up_to(struct gpu_engine *gpu, struct slot *last)
{
    struct slot *slot = NULL;
    while (slot != last) {
        slot = slots_arrive(&gpu->slots);
        gpu_report(gpu, slot);
        if (gpu->options.timing)
            gpu_add_times(gpu, slot);
        gpu->times.chunks++;
        gpu->times.bytes += slot->chunk.origin.bytes;
        if (decoder_queue_has(&gpu->decoder, slot))
            decoder_queue_count(&gpu->decoder, slot);
        else
            slots_release(&gpu->slots, slot);
    }
    gpu->proofs--;
}

/* Makes the snapshot after `last` the last good one, and frees the slots for which it stands.
 * Returns 1 if it did; 0 if content must be fetched first; -1 if lost. */
static int gpu_believe(struct gpu_engine *gpu, struct slot *last)
{
    struct tally seen;
    if (!snapshot_is_whole(&gpu->snapshots, last->snapshot, last->words)) {
        slots_release_snapshot(&gpu->slots, last);
        last->has_counts = false; /* its slot waits for a later one */
        gpu->proofs--;
        return 0;
    }
    const struct snapshot_growth growth = gpu_growth(gpu, last);
    int fetched = decoder_queue_has(&gpu->decoder, last) ? gpu_fetch_invalid(gpu, last) : 1;
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

/* SPDX-License-Identifier: MIT */
/* The GPU's engine, as its files see it: gpu_engine.c (chunks) and decode/decoder.c (compressed
 * files) stand above gpu_completions.c (the results of both) and recovery.c. The engine's lock is
 * held in all functions. */
#ifndef GPUHISTO_GPU_ENGINE_INTERNAL_H
#define GPUHISTO_GPU_ENGINE_INTERNAL_H

#include "gpu_engine.h"
#include "device_thread.h"
#include "gpu/decode/decoder_internal.h"
#include "watchdog.h"
#include "slots.h"
#include "snapshot.h"

#include <pthread.h>
#include <stdatomic.h>

struct gpu_engine {
    struct engine engine;
    const struct histogram_spec *spec;
    struct gpu_options options;
    struct device_thread *thread;
    pthread_mutex_t lock; /* guards the rest, and the device's calls */
    struct slots slots;
    struct snapshots snapshots;
    struct gpu_decoder decoder;
    /* These become true once, after their reasons were written; any thread reads them. */
    atomic_bool is_lost;      /* the device is */
    atomic_bool has_failed;   /* lost for good: counts are missing */
    struct error error;       /* it was lost, */
    struct error why_not_all; /* and was not replaced, if that is another reason */
    unsigned proofs;          /* slots in flight with a snapshot of all counts */
    unsigned unproved;        /* slots in flight after the last of these */
    struct watchdog watchdog; /* since the device last finished something */
    struct gpu_times times;
};

static inline struct gpu_engine *gpu_of(struct engine *engine)
{
    return (struct gpu_engine *)engine;
}

/* --- recovery.c: what happens when the device is lost ---
 *
 * Every chunk after the last good snapshot is still whole in its slot, and another engine counts it
 * again. The device may still read and write the memory of slots in flight, so these are neither
 * used again nor freed, and the chunks are copied before they are counted. */

/* Record that the device is lost, for this reason, or because a call of it failed. Only the first
 * error is kept. */
void gpu_lose(struct gpu_engine *gpu, const char *why);
void gpu_lose_by_call(struct gpu_engine *gpu);

/* Returns why it was lost; or why counts are missing, if that is another reason. NULL: it is not
 * lost. The text lives as long as the engine. Any thread, without the lock. */
const char *gpu_loss(struct engine *gpu);

/* Lets the fallback count what is in flight and has bytes on the host, if the device is lost. If
 * nothing can replace the device, it has failed. Call this after whatever may have lost the device,
 * and after each chunk that is submitted even so. Returns whether it is lost. */
bool gpu_recount(struct gpu_engine *gpu);

/* --- gpu_completions.c --- */

/* Lets time pass without the lock. */
void gpu_pause_unlocked(struct gpu_engine *gpu);

/* Judges what a look at the device found: 1, something has arrived; 0, nothing; -1, a call has
 * failed. The device is lost if a call has failed, or if something is `expected` of it, and it has
 * finished nothing for too long. Returns what was found, or -1: it is lost. */
int gpu_judge_poll(struct gpu_engine *gpu, int found, bool expected);

/* Returns 1 if a slot's snapshot has arrived, 0 if not yet, -1 if the device is lost. */
int gpu_poll(struct gpu_engine *gpu, const struct slot *slot);

/* Posts a snapshot after the slot's count, which was posted: of all counts, if that is due and
 * there is memory for it. May lose the device. */
void gpu_queue_snapshot(struct gpu_engine *gpu, struct slot *slot, bool is_due);

/* Adds a slot to those in flight. Its work was posted, unless the device is lost. */
void gpu_put_in_flight(struct gpu_engine *gpu, struct slot *slot);

/* Frees the oldest slots in flight that one snapshot stands for, if it has arrived and is believed.
 * Returns 1 if so, 0 if not yet or there are none, -1 if the device is lost. */
int gpu_retire(struct gpu_engine *gpu);

/* Waits until all that is in flight is counted, or the device is lost. */
void gpu_drain(struct gpu_engine *gpu);

/* Posts a snapshot if none is under way and all that is in flight is counted. Otherwise no slot
 * would become free unless further chunks came. */
void gpu_request_snapshot(struct gpu_engine *gpu);

/* --- decode/decoder.c --- */

/* Initializes gpu->decoder, and takes its memory if options.decodes. */
void gpu_decoder_init(struct gpu_engine *gpu);

/* --- decode/decoder_memory.c --- */

/* Adds the measurements. */
void gpu_decoder_add_times(const struct gpu_decoder *decoder, struct gpu_times *times);

/* Frees the decoder's memory, except for memory that a lost device may still write to. */
void gpu_decoder_close(struct gpu_decoder *decoder);

#endif

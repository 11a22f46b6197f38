/* SPDX-License-Identifier: MIT */
/* The GPU's engine, as its files see it: gpu_engine.c (chunks) and decode/decoder.c (compressed
 * files) stand above gpu_arrivals.c (what becomes of both) and gpu_loss.c. The engine's lock is
 * held in all functions. */
#ifndef GPUHISTO_GPU_ENGINE_INTERNAL_H
#define GPUHISTO_GPU_ENGINE_INTERNAL_H

#include "gpu_engine.h"
#include "calls.h"
#include "gpu/decode/decoder_state.h"
#include "patience.h"
#include "recovery.h"
#include "slots.h"
#include "snapshot.h"

#include <pthread.h>
#include <stdatomic.h>

struct gpu_engine {
    struct engine engine;
    const struct histogram *histogram;
    struct gpu_options options;
    struct calls *calls;
    pthread_mutex_t lock; /* guards the rest, and the device's calls */
    struct slots slots;
    struct snapshots snapshots;
    struct recovery recovery;
    struct gpu_decoder decoder;
    unsigned counting;        /* slots in flight that were not seen to be counted */
    unsigned proofs;          /* slots in flight with a snapshot of all counts */
    unsigned unproved;        /* slots in flight after the last of these */
    struct patience patience; /* since the device last finished something or was idle */
    struct gpu_times times;
};

static inline struct gpu_engine *gpu_of(struct engine *engine)
{
    return (struct gpu_engine *)engine;
}

/* Notes that the device is lost: because a call of it failed; or for another reason. */
void gpu_lose_by_call(struct gpu_engine *gpu);
void gpu_lose(struct gpu_engine *gpu, const char *why);

/* If the device is lost, has the fallback count what was in flight. Returns whether it is. */
bool gpu_recount(struct gpu_engine *gpu);

/* Whether the device may take longer. To be asked at each look, before it. */
bool gpu_is_patient(struct gpu_engine *gpu);

/* Whether what a slot's snapshot stands for is done: 1 it is, 0 not yet, -1 lost. */
int gpu_look(struct gpu_engine *gpu, const struct slot *slot);

/* Has a snapshot taken after the slot's count, which is on the streams: of all counts, if that is
 * due and there is memory for it. Or loses the device. */
void gpu_take_snapshot(struct gpu_engine *gpu, struct slot *slot, bool is_due);

/* Adds a slot to those in flight, whose work is on the streams unless the device is lost. */
void gpu_put_in_flight(struct gpu_engine *gpu, struct slot *slot);

/* Looks at the oldest slots in flight. 1: those that one snapshot stands for arrived, and are free
 * again; 0: not yet, or there are none; -1: lost. */
int gpu_reap(struct gpu_engine *gpu);

/* Has a snapshot taken of what is in flight, if there is none under way and all of it is counted:
 * otherwise no slot would become free unless further chunks came. */
void gpu_ask(struct gpu_engine *gpu);

/* Takes note of a step of decoder_fetch_batch or decoder_fetch_tail, which returned `fetched` and
 * set `moved`; the device was patient before it. May lose the device. */
void gpu_note_fetch(struct gpu_engine *gpu, int fetched, bool moved, bool patient);

/* Lets time pass without the lock. */
void gpu_pause_unlocked(struct gpu_engine *gpu);

/* --- decode/decoder.c --- */

/* Initializes gpu->decoder, and takes its memory if options.decodes. */
void gpu_decoder_init(struct gpu_engine *gpu);

/* Adds what was measured. */
void gpu_decoder_add_times(const struct gpu_decoder *decoder, struct gpu_times *times);

/* Frees its memory, but not what a lost device may still write to. */
void gpu_decoder_close(struct gpu_decoder *decoder, bool is_lost);

#endif

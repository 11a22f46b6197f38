/* SPDX-License-Identifier: MIT */
/* An engine of several GPUs: chunks go to whichever has a free slot.
 *
 * Each GPU has an engine (gpu_engine.h) with a lock, slots, streams and snapshots of its own, so no
 * GPU waits for another. A chunk that a GPU lends is its engine's: submit goes there directly. */
#ifndef GPUHISTO_GPU_GROUP_H
#define GPUHISTO_GPU_GROUP_H

#include "gpu_engine.h"
#include "cuda_devices.h"

/* Fills a list that stands for all GPUs (count 0) with those that CUDA sees. 0, or -1 with the
 * error set, also if there is none. Any thread. */
int gpu_group_resolve(struct gpu_list *gpus, struct error *error);

/* When a group that is being opened is there. */
enum gpu_group_start {
    GPU_GROUP_TAKES_SOME,    /* with the first GPU; those that cannot be opened are left out */
    GPU_GROUP_WANTS_ALL,     /* with the first GPU, if all exist; none may be refused */
    GPU_GROUP_WAITS_FOR_ALL, /* with the last one */
};

/* Opens the GPUs of a list that is not empty, side by side. The options are those of each, but for
 * `ordinal`, `cuda_device` and `sharers`. Those that are there later join the others then; whether
 * one was refused later gpu_group_refused says.
 *
 * The histogram and what the options point to must live as long as the engine, or as long as the
 * process, if it ends before all are there. NULL with the error set, which names the GPU if there
 * are several: one that is wanted was refused, or all were. Any thread. */
struct engine *gpu_group_open(const struct histogram_spec *spec, const struct gpu_options *options,
                              const struct gpu_list *gpus, enum gpu_group_start start,
                              struct error *error);

/* True if a GPU could not be opened. Sets the error to that of the first one, which it names. */
bool gpu_group_refused(const struct engine *engine, struct error *error);

/* Return how many GPUs the list has; how many are open, perhaps more the next time; and the engine
 * of one in the order of the list, or NULL if it is not open. Engines live as long as the group. */
unsigned gpu_group_count(const struct engine *engine);
unsigned gpu_group_ready(const struct engine *engine);
struct engine *gpu_group_member(const struct engine *engine, unsigned i);

/* Returns the number by which the user knows a GPU of the group. */
int gpu_group_number(const struct engine *engine, unsigned i);

/* Returns how many GPUs of the group have a file now. No lock is waited for. */
unsigned gpu_group_feeding(const struct engine *engine);

/* True if a GPU was lost, and counts with it, so that finish will return -1. */
bool gpu_group_failed(const struct engine *engine);

#endif

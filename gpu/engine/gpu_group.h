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

/* Opens the GPUs of a list that is not empty. The options are those of each, but for `ordinal`,
 * `cuda_device` and `sharers`.
 *
 * With `waits` they are opened side by side, and all must be there. Otherwise the first is opened,
 * and a thread opens the others one after the other, so that the first can begin sooner. Those that
 * cannot be opened are left out, unless none can.
 *
 * The histogram, what the options point to and the user's list must live as long as the engine.
 * NULL with the error set, which names the GPU if there are several. Any thread. */
struct engine *gpu_group_open(const struct histogram_spec *spec, const struct gpu_options *options,
                              const struct gpu_list *gpus, bool waits, struct error *error);

/* True if a GPU could not be opened. Sets the error to that of the first one, which it names. */
bool gpu_group_refused(const struct engine *engine, struct error *error);

/* Return how many GPUs are there, at least one and perhaps more the next time, and their engines in
 * the order of the list. They live as long as the group. */
unsigned gpu_group_count(const struct engine *engine);
struct engine *gpu_group_member(const struct engine *engine, unsigned i);

/* Returns the number by which the user knows a GPU of the group. */
int gpu_group_number(const struct engine *engine, unsigned i);

/* Returns how many GPUs of the group have a file now. No lock is waited for. */
unsigned gpu_group_feeding(const struct engine *engine);

/* True if a GPU was lost, and counts with it, so that finish will return -1. */
bool gpu_group_failed(const struct engine *engine);

#endif

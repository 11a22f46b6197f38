/* SPDX-License-Identifier: MIT */
/* An engine of engines: chunks go to whichever of several GPUs has a free slot.
 *
 * Each GPU has an engine (gpu_engine.h) with a lock, slots, streams and snapshots of its own, so no
 * GPU waits for another. A chunk that a GPU lends is its engine's: submit goes there directly. */
#ifndef GPUHISTO_GPU_GROUP_H
#define GPUHISTO_GPU_GROUP_H

#include "gpu_engine.h"
#include "visible.h"

/* Fills a list that stands for all GPUs (count 0) with those that CUDA sees, of which there is at
 * least one, and leaves other lists as they are. 0, or -1 with the reason set. Any thread. */
int gpu_group_resolve(struct gpu_list *gpus, struct reason *why);

/* Opens the GPUs of a list that is not empty; the options are those of each, but for `ordinal`,
 * `visible` and `sharers`. With `waits` they are opened side by side, and all of them must be
 * there. Otherwise the first is opened, and a thread goes on with the others, one after the other,
 * as that lets the first begin sooner; those that cannot be opened are then left out, unless none
 * can. Any thread. The histogram, what the options point to and the user's list must live as long
 * as the engine. NULL with the reason set, which names the GPU if there are several.
 */
struct engine *gpu_group_open(const struct histogram *histogram, const struct gpu_options *options,
                              const struct gpu_list *gpus, bool waits, struct reason *why);

/* Whether a GPU could not be opened; with the reason for the first such one, which names it. */
bool gpu_group_refused(const struct engine *engine, struct reason *why);

/* The engines of the GPUs that are there, in the order of the list: at least one, and perhaps more
 * the next time. They live as long as the group. */
unsigned gpu_group_count(const struct engine *engine);
struct engine *gpu_group_member(const struct engine *engine, unsigned i);

/* Which GPU one of these is to the user. */
int gpu_group_number(const struct engine *engine, unsigned i);

/* How many of them decompress a FILE now. No lock is waited for. */
unsigned gpu_group_feeding(const struct engine *engine);

/* Whether a GPU was lost, and counts with it, so that finish will return -1. */
bool gpu_group_failed(const struct engine *engine);

#endif

/* SPDX-License-Identifier: MIT */
/* Offload in mid-file: moves a file that a worker decodes in order to a GPU, from the beginning of
 * a frame on. Content that was already counted is skipped. The worker keeps its decoder until the
 * GPU has counted something. Frames that other workers have stay theirs. Of a pipe, the bytes of
 * the frame are kept from its beginning on, so that a GPU can begin it. */
#ifndef GPUHISTO_OFFLOAD_H
#define GPUHISTO_OFFLOAD_H

#include "decode.h"

/* Chunks that are decoded until the GPU can begin: records that are cut, one after the other, may
 * be longer than the frames. */
#define OFFLOAD_WAITS_MAX 4

/* True if the next batch of the current file should be decoded in order, to be offloaded. In turn.
 */
bool offload_is_wanted(struct worker *worker, const struct file *file);

/* Before a chunk is decoded in order: lets a GPU that should have the file decompress it, and has
 * the worker go on with what it left. 0, or -1: the run has failed. */
int offload_consider(struct extent *extent);

/* A frame begins with what is decoded next: sets extent->frame. */
void replay_begin_frame(struct extent *extent);

/* A step was decoded, which began at *begin; that is read only where something may be kept. */
void replay_add_step(struct extent *extent, const struct decode_step *step,
                     const struct timespec *begin);

/* The batch has ended, or a GPU has it: nothing is kept to be begun anew any more. */
void replay_end(struct extent *extent);

#endif

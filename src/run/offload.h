/* SPDX-License-Identifier: MIT */
/* Offload in mid-file: moves a file that a worker decodes in order to a GPU, from the beginning of
 * a frame on. Content that was already counted is skipped. The worker keeps its decoder until the
 * GPU has counted something. Frames that other workers have stay theirs. */
#ifndef GPUHISTO_OFFLOAD_H
#define GPUHISTO_OFFLOAD_H

#include "decode.h"

/* Chunks that are decoded until the GPU can begin: records that are cut, one after the other, may
 * be longer than the frames. */
#define OFFLOAD_WAITS_MAX 4

/* True if the next batch of the current file should be decoded in order, to be offloaded. In turn.
 */
bool offload_is_wanted(struct worker *worker, const struct file *file);

/* Between two chunks of a batch that is decoded in order: lets a GPU that should have the file
 * decompress it, and has the worker go on with what it left. 0, or -1: the run has failed. */
int offload_consider(struct decoding *decoding);

/* --- the frame of a pipe that is decoded in order: its bytes are kept, so that a GPU can begin it
 * --- */

/* Before a chunk is decoded in order: keeps frames of a pipe from now on, if a GPU may take them.
 */
void replay_consider(struct decoding *decoding);

/* A frame begins with what is decoded next. */
void replay_begin_frame(struct decoding *decoding);

/* A step was decoded, which began at *begin; that is read only where something may be kept. */
void replay_add_step(struct decoding *decoding, const struct decode_step *step,
                     const struct timespec *begin);

/* The batch has ended, or a GPU has it: nothing is kept to be begun anew any more. */
void replay_end(struct decoding *decoding);

#endif

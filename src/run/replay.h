/* SPDX-License-Identifier: MIT */
/* The frame of a pipe that is being decoded, kept from its beginning on, so that a GPU can begin it
 * anew; for decoders that have the file to themselves. */
#ifndef GPUHISTO_REPLAY_H
#define GPUHISTO_REPLAY_H

#include "decode.h"

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

/* Returns where the next frame begins, or the one that was begun. */
uint64_t replay_frame_begin(const struct decoding *decoding);

/* Returns how much of the frame is left: what it states, or as much as has gone by. */
uint64_t replay_frame_left(const struct decoding *decoding);

#endif

/* SPDX-License-Identifier: MIT */
/* A decoder's inputs: pinned memory, small beside a batch, in which compressed bytes come. Of each
 * input the host walks the headers of frames and blocks only. The blocks go to the batch that is
 * planned, and their bytes to the device at once, so a batch is there when it is launched.
 *
 * The engine's lock is held in all functions. An int is 1: it was done; 0: not yet; or -1: the
 * device is lost. */
#ifndef GPUHISTO_DECODER_INPUTS_H
#define GPUHISTO_DECODER_INPUTS_H

#include "decoder_state.h"

/* Looks which inputs the device has copied. 1: one more since the last look. */
int decoder_inputs_poll(struct gpu_decoder *decoder);

/* Sets *chunk to memory for the next compressed bytes. 0: all inputs are in use. */
int decoder_inputs_take(struct gpu_decoder *decoder, struct chunk **chunk);

/* Plans what it can of a chunk of the file from byte `offset` on, and has it copied, and decoded
 * when it is due. Sets *next. 0: no batch is free, so it must be called again. */
int decoder_inputs_plan(struct gpu_decoder *decoder, struct chunk *chunk, uint64_t offset,
                        struct compressed_next *next);

/* True while the device is to copy an input. */
bool decoder_inputs_are_busy(const struct gpu_decoder *decoder);

#endif

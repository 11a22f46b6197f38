/* SPDX-License-Identifier: MIT */
/* Content that the host needs: a batch with an invalid sample to be reported, and the tail of the
 * file. It is copied a piece at a time; each function is called until it is done. The engine's lock
 * is held.
 *
 * 1: it is done; 0: not yet; -1: the device is lost. Sets *moved if some bytes have arrived. */
#ifndef GPUHISTO_DECODER_FETCH_H
#define GPUHISTO_DECODER_FETCH_H

#include "decoder_state.h"

/* Copies what was counted with a batch to memory of its chunk, which decoder_queue_count frees. If
 * memory is short, it is done, and the chunk has no data. */
int decoder_fetch_batch(struct gpu_decoder *decoder, struct slot *slot, bool *moved);

/* Copies the tail of a file, all of which was counted, to its file.tail.bytes. */
int decoder_fetch_tail(struct gpu_decoder *decoder, bool *moved);

#endif

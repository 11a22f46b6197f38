/* SPDX-License-Identifier: MIT */
/* The queue of a decoder's batches: planned, launched, judged, counted and freed.
 *
 * A batch is counted once its verdict has arrived and is good, so what the device refuses never
 * reaches the histogram; and after the checksums of all frames that end in it were found right.
 * Then it is a slot in flight as any other, but without bytes on the host: if the device is lost,
 * the reader decompresses what was not counted. Content of a frame that goes on is hashed
 * meanwhile, and the batch is free when that is done, too.
 *
 * The engine's lock is held in all functions. An int is 1: it was done; 0: not yet; or -1: the
 * device is lost. */
#ifndef GPUHISTO_DECODER_QUEUE_H
#define GPUHISTO_DECODER_QUEUE_H

#include "decoder_state.h"

/* Begins to plan the next batch, unless one is being planned, of chunks of such an origin. False if
 * no batch is free. */
bool decoder_queue_open_batch(struct gpu_decoder *decoder, const struct origin *origin);

/* Launches the batch that is planned, once the next one is free. */
int decoder_queue_launch(struct gpu_decoder *decoder);

/* The same if it is due. With nothing to launch, 0. */
int decoder_queue_launch_due(struct gpu_decoder *decoder);

/* Looks whether a verdict has arrived, whether the oldest batch can be counted, and whether one was
 * hashed. Sets *counted to the slot of a batch that was sent to be counted, and *empty to the chunk
 * of one that ends no record, or NULL. */
int decoder_queue_poll(struct gpu_decoder *decoder, struct slot **counted, struct chunk **empty);

/* True if a slot is that of a batch. */
bool decoder_queue_has(const struct gpu_decoder *decoder, const struct slot *slot);

/* Frees a batch whose snapshot was believed. */
void decoder_queue_count(struct gpu_decoder *decoder, struct slot *slot);

/* True while a batch is to be launched, decoded, judged, counted or hashed. */
bool decoder_queue_is_busy(const struct gpu_decoder *decoder);

/* True if all that is waited for is hashing. */
bool decoder_queue_is_hashing(const struct gpu_decoder *decoder);

/* Drops the batch that is planned, as the file has ended. */
void decoder_queue_drain(struct gpu_decoder *decoder);

#endif

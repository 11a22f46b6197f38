/* SPDX-License-Identifier: MIT */
/* A GPU's decoder, as its files see it: decoder.c (waits, under the engine's lock) stands above
 * decoder_inputs.c (compressed bytes, on their way in), decoder_queue.c (batches) and
 * decoder_fetch.c (content, on its way out).
 *
 * The engine's lock is held in all functions. An int is 1: it was done; 0: not yet; or -1: the
 * device is lost. */
#ifndef GPUHISTO_DECODER_INTERNAL_H
#define GPUHISTO_DECODER_INTERNAL_H

#include "decoder_file.h"
#include "decoder_memory.h"

#include <stdatomic.h>
#include <time.h>

struct gpu_engine;

/* Batches, which take turns. Those on their way come right before the next one, in its order. */
struct decoder_queue {
    unsigned turn;                 /* the batch that is planned next */
    struct decoder_batch *planned; /* to which blocks are added; or NULL */
};

/* Content that is copied to memory of the host's, a piece at a time. */
struct decoder_fetch {
    unsigned slot;
    struct device_content left; /* to be copied; of no bytes: there is nothing to fetch */
    size_t under_way;           /* bytes of it */
};

struct gpu_decoder {
    struct gpu_engine *gpu; /* whose it is */
    atomic_bool is_taken;   /* it has a file, or can never have one; not under the lock */
    atomic_bool is_feeding; /* it has a file; not under the lock */
    _Atomic uint64_t bytes; /* of content that was decompressed and counted */
    struct decoder_options options;
    struct decoder_memory memory;
    struct decoder_file file;
    struct decoder_queue queue;
    struct decoder_fetch fetch;
    unsigned reads;          /* of content that is hashed, under way */
    struct timespec filling; /* when the last chunk was given out */
};

/* --- decoder_queue.c: batches are planned, launched, judged, counted and freed ---
 *
 * A batch is counted once its verdict is good and the checksums of all frames that end in it are
 * right. Then it is a slot in flight without bytes on the host: if the device is lost, the reader
 * decompresses what was not counted. Content of a frame that goes on is hashed meanwhile. */

/* Begins to plan a batch of that origin, unless one is planned. False if no batch is free. */
bool decoder_queue_open_batch(struct gpu_decoder *decoder, const struct origin *origin);

/* Launches the batch that is planned, once the next one is free. */
int decoder_queue_launch(struct gpu_decoder *decoder);

/* The same if it is due. With nothing to launch, 0. */
int decoder_queue_launch_due(struct gpu_decoder *decoder);

/* Polls verdicts and hashes, and has the oldest batch counted if it can be. Sets *good to the slot
 * of one that was sent to be counted, or is empty, as it ends no record; or to NULL. */
int decoder_queue_poll(struct gpu_decoder *decoder, struct slot **good);

/* True if a slot is that of a batch. */
bool decoder_queue_has(const struct gpu_decoder *decoder, const struct slot *slot);

/* Frees a batch whose snapshot was believed. */
void decoder_queue_count(struct gpu_decoder *decoder, struct slot *slot);

/* Returns how many batches are in one of these states, a sum of enum batch_state. */
unsigned decoder_queue_count_in(const struct gpu_decoder *decoder, unsigned states);

/* True while a batch is to be launched, decoded, judged, counted or hashed. */
bool decoder_queue_is_busy(const struct gpu_decoder *decoder);

/* True if all that is waited for is hashing. */
bool decoder_queue_is_hashing(const struct gpu_decoder *decoder);

/* Drops the batch that is planned, as the file has ended. */
void decoder_queue_drain(struct gpu_decoder *decoder);

/* --- decoder_inputs.c: pinned memory, small beside a batch, in which compressed bytes come ---
 *
 * Of each input the host walks the headers of frames and blocks only. The blocks go to the batch
 * that is planned, and their bytes to the device at once, so a batch is there when it is launched.
 */

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

/* --- decoder_fetch.c: content that the host needs, copied a piece at a time ---
 *
 * Each function is called until it is done. Sets *moved if some bytes have arrived. */

/* Copies what was counted with a batch to memory of its chunk, which decoder_queue_count frees. If
 * memory is short, it is done, and the chunk has no data. */
int decoder_fetch_batch(struct gpu_decoder *decoder, struct slot *slot, bool *moved);

/* Copies the tail of a file, all of which was counted, to its file.tail.bytes. */
int decoder_fetch_tail(struct gpu_decoder *decoder, bool *moved);

#endif

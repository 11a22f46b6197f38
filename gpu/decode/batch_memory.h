/* SPDX-License-Identifier: MIT */
/* The memory of batches on a device: its size, and how much of it fits. */
#ifndef GPUHISTO_ZSTD_BATCH_MEMORY_H
#define GPUHISTO_ZSTD_BATCH_MEMORY_H

#include "batch.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The amounts that a batch has memory for. A block with its headers and a checksum must fit. */
struct decode_capacity {
    uint32_t in;             /* compressed bytes, with headers; at least 256 KiB */
    uint32_t blocks, frames; /* at least one */
    uint32_t room;           /* bytes of content, at least DECODE_BLOCK_CONTENT */
    uint32_t window;         /* bytes of content before the batch */
};

/* Sets the pointers of a batch to the memory that holds it while it is copied, decoded and counted.
 * `memory` is on the device, aligned to 256 bytes; NULL: sets nothing. Returns the bytes needed. */
size_t decode_own_memory(struct decode_batch *batch, const struct decode_capacity *capacity,
                         unsigned char *memory);

/* Sets the pointers to the memory that only the last stages need, likewise; these work on one batch
 * at a time. */
size_t decode_stage_memory(struct decode_batch *batch, const struct decode_capacity *capacity,
                           unsigned char *memory);

/* Makes batches fewer, down to DECODE_BATCHES_FEW, and then halves what each holds, until all of
 * their memory, and that of the stages, takes at most `max` bytes. The window is at least
 * `keep_min` bytes. Returns the bytes that it takes; 0: batches would be too small to be of use,
 * and *capacity and *batches mean nothing. */
#define DECODE_BATCHES_FEW 6u
uint64_t decode_fit_memory(struct decode_capacity *capacity, unsigned *batches, uint32_t keep_min,
                           uint64_t max);

#ifdef __cplusplus
}
#endif

#endif

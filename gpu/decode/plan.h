/* SPDX-License-Identifier: MIT */
/* The host's part of decompressing zstd on the GPU: it walks the headers of frames and blocks, and
 * lays batches of whole blocks. Blocks themselves are not looked into.
 *
 * Dictionaries, windows beyond a limit, frames of before zstd 1.0 and anything else that is not a
 * frame are left to libzstd, which also says what is wrong with headers that are not valid.
 * Skippable frames are skipped. One thread. */
#ifndef GPUHISTO_ZSTD_PLAN_H
#define GPUHISTO_ZSTD_PLAN_H

#include "batch.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a batch has memory for. A block with its headers and a checksum must fit. */
struct zstd_capacity {
    uint32_t in;             /* compressed bytes, with headers; at least 256 KiB */
    uint32_t blocks, frames; /* at least one */
    uint32_t room;           /* bytes of content, at least ZSTD_BLOCK_CONTENT */
    uint32_t window;         /* bytes of content before the batch */
};

/* What the host keeps of a frame, beside what the device is told. */
struct zstd_frame_end {
    uint64_t at;       /* where the frame begins in the FILE */
    bool has_checksum; /* and the frame ends in this batch */
    uint32_t checksum; /* the lower half of the content's XXH64 */
};

/* A batch as it is laid. The caller provides the arrays, of so many elements as `capacity` says. */
struct zstd_plan {
    struct zstd_capacity capacity;
    struct zstd_block *block;
    struct zstd_frame *frame;
    struct zstd_frame_end *frame_end;
    uint32_t blocks, frames; /* how many there are */
    uint32_t room;           /* the sum of the rooms of all blocks */
    uint32_t frame_room;     /* the most that blocks of one frame have of it */
    uint32_t in_size;        /* compressed bytes, up to the end of the last block; */
    uint32_t in_at;          /* of these, before the last call's */
    uint64_t taken;          /* bytes of the input that the walk went over; may be beyond what was
                              * there, where a skippable frame goes on */
    uint64_t need;           /* with ZSTD_NEEDS_MORE: bytes that must be there after these */
};

/* Where the walk is in a FILE. It begins with all zeros but the first two. */
struct zstd_walk {
    uint32_t window_max;  /* frames of larger windows are left; at most ZSTD_WINDOW_MOST */
    bool leave_checksums; /* frames with a checksum are left, too */
    bool in_frame;        /* what follows is of the frame at frame_at */
    bool has_begun;       /* a block of it was laid */
    bool has_checksum;
    uint64_t at;       /* bytes that were taken */
    uint64_t frame_at; /* where the frame, or the last one, begins */
    uint64_t content;  /* what its header states, or ZSTD_CONTENT_UNKNOWN */
    uint64_t known;    /* bytes of it that are in raw and RLE blocks so far */
    uint32_t window;
    uint32_t block_max; /* bytes of a block, compressed or not */
};

enum zstd_planned {
    ZSTD_PLANNED,    /* at least one block was laid */
    ZSTD_NEEDS_MORE, /* there is no whole block; at the end of a FILE with bytes that were not
                      * taken, or in a frame, it is cut short */
    ZSTD_LEFT,       /* what follows is left to libzstd; in a frame, the frame is */
    ZSTD_FULL        /* the next block does not fit in the batch */
};

/* Lays a batch of as many whole blocks of in[0..len) as there are and fit. A batch of many frames
 * (batch.h) that is full ends with the last one that fits as a whole, if the next one begins in
 * in[0..len).
 * in[0] is what follows in the FILE after all that was taken, and will be in the batch's memory at
 * ZSTD_CARRY. A last block is taken together with the checksum after it. What stops the walk after
 * a block is seen by the next call. The walk goes on from what was taken, also with
 * ZSTD_NEEDS_MORE, where headers and skippable frames may have been. */
enum zstd_planned zstd_plan_batch(struct zstd_walk *walk, struct zstd_plan *plan,
                                  const unsigned char *in, size_t len);

/* Lays further blocks of the same batch, likewise. Those bytes of in[0..len) that belong to blocks
 * laid now, plan->in_size - plan->in_at of them, will be in the batch's memory at ZSTD_CARRY +
 * plan->in_at. */
enum zstd_planned zstd_plan_more(struct zstd_walk *walk, struct zstd_plan *plan,
                                 const unsigned char *in, size_t len);

/* Has a plan be one of nothing, to be laid piece by piece. */
void zstd_plan_clear(struct zstd_plan *plan);

/* Sets the sizes of a batch to those of what was laid. */
void zstd_batch_set_plan(struct zstd_batch *batch, const struct zstd_plan *plan);

/* Bytes right before `out` that the batch after the plan needs: the window of a frame that goes on,
 * or 0. */
uint32_t zstd_window_after(const struct zstd_walk *walk);

/* Sets the pointers of a batch to device memory: what holds a batch while it is copied, decoded and
 * counted, and what only the last stages need, which are one batch's at a time. `memory`
 * is aligned to 256 bytes; NULL: sets nothing. The bytes that it takes. */
size_t zstd_own_memory(struct zstd_batch *batch, const struct zstd_capacity *capacity,
                       unsigned char *memory);
size_t zstd_stage_memory(struct zstd_batch *batch, const struct zstd_capacity *capacity,
                         unsigned char *memory);

/* Makes batches fewer, down to ZSTD_BATCHES_FEW, and then halves what each holds, until all of
 * their memory on the device, and that of the stages, takes at most `most` bytes. The window is at
 * least `keep_least` bytes. The bytes that it takes; 0: batches would be too small to be of use,
 * and *capacity and *batches mean nothing. */
#define ZSTD_BATCHES_FEW 6u
uint64_t zstd_fit(struct zstd_capacity *capacity, unsigned *batches, uint32_t keep_least,
                  uint64_t most);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* The host's part of decompressing zstd on the GPU: it walks the headers of frames and blocks, and
 * plans batches of whole blocks. Blocks themselves are not looked into.
 *
 * Dictionaries, windows beyond a limit, frames from before zstd 1.0 and anything else that is not a
 * frame are left to libzstd, which also says what is wrong with headers that are not valid.
 * Skippable frames are skipped. One thread. */
#ifndef GPUHISTO_ZSTD_PLAN_H
#define GPUHISTO_ZSTD_PLAN_H

#include "batch_memory.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the host keeps of a frame, beside what the device is told. */
struct decode_frame_end {
    uint64_t at;       /* where the frame begins in the file */
    bool has_checksum; /* and the frame ends in this batch */
    uint32_t checksum; /* the lower half of the content's XXH64 */
};

/* A batch that is planned. The caller provides the arrays, of as many elements as `capacity` says.
 */
struct decode_plan {
    struct decode_capacity capacity;
    struct decode_block *block;
    struct decode_frame *frame;
    struct decode_frame_end *frame_end;
    uint32_t blocks, frames; /* how many there are */
    uint32_t room;           /* the sum of the rooms of all blocks */
    uint32_t frame_room;     /* the most that blocks of one frame have of it */
    uint32_t in_size;        /* compressed bytes, up to the end of the last block; */
    uint32_t in_at;          /* of these, before the last call's */
    uint64_t taken;          /* bytes of the last call's that the walk went over; may be more than
                              * were there, where a skippable frame goes on */
    uint64_t need;           /* with DECODE_NEEDS_MORE: bytes that must be there after these */
};

/* Where the walk is in a file. It begins with all zeros but the first two. */
struct zstd_walk {
    uint32_t window_max;  /* frames of larger windows are left; at most ZSTD_WINDOW_MOST */
    bool leave_checksums; /* frames with a checksum are left, too */
    bool in_frame;        /* what follows is of the frame at frame_at */
    bool has_begun;       /* a block of it was planned */
    bool has_checksum;
    uint64_t at;       /* bytes that were taken */
    uint64_t frame_at; /* where the frame, or the last one, begins */
    uint64_t content;  /* what its header states, or DECODE_CONTENT_UNKNOWN */
    uint64_t known;    /* bytes of it that are in raw and RLE blocks so far */
    uint32_t window;
    uint32_t block_max; /* bytes of a block, compressed or not */
};

enum decode_planned {
    DECODE_PLANNED,    /* at least one block was added */
    DECODE_NEEDS_MORE, /* there is no whole block. At the end of a file the frame, or bytes that
                        * were not taken, are cut short */
    DECODE_LEFT,       /* what follows is left to libzstd; in a frame, the frame is */
    DECODE_FULL        /* the next block does not fit in the batch */
};

/* Makes a plan one of nothing. */
void decode_plan_clear(struct decode_plan *plan);

/* Adds to a plan as many whole blocks of in[0..len) as there are and fit. in[0] is what follows in
 * the file after all that was taken. Bytes of blocks that are added now, plan->in_size -
 * plan->in_at of in[0..len), will be in the batch's memory at DECODE_CARRY + plan->in_at.
 *
 * A last block is taken together with the checksum after it. What stops the walk after a block is
 * seen by the next call. The walk goes on from what was taken, also with DECODE_NEEDS_MORE, where
 * headers and skippable frames may have been. A batch of many frames (batch.h) that is full ends
 * with the last one that fits as a whole, if the next one begins in in[0..len). */
enum decode_planned zstd_plan_blocks(struct zstd_walk *walk, struct decode_plan *plan,
                                     const unsigned char *in, size_t len);

/* Sets the sizes of a batch to those of a plan. */
void decode_batch_set_plan(struct decode_batch *batch, const struct decode_plan *plan);

#ifdef __cplusplus
}
#endif

#endif

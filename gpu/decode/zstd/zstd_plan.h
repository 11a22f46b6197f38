/* SPDX-License-Identifier: MIT */
/* The host's part of decompressing zstd on the GPU: it walks the headers of frames and blocks, and
 * plans batches of whole blocks. Blocks themselves are not looked into.
 *
 * Dictionaries, windows beyond a limit, frames from before zstd 1.0 and anything else that is not a
 * frame are left to libzstd, which also says what is wrong with headers that are not valid.
 * Skippable frames are skipped. One thread. */
#ifndef GPUHISTO_ZSTD_PLAN_H
#define GPUHISTO_ZSTD_PLAN_H

#include "gpu/decode/plan.h"
#include "src/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The position of the walk in a file. At first all members but the first two are zero. */
struct zstd_walk {
    uint32_t window_max;     /* frames of larger windows are left; at most ZSTD_WINDOW_MAX */
    bool leave_checksums;    /* frames with a checksum are left, too */
    struct zstd_parts parts; /* never before a checksum */
    bool has_begun;          /* a block of the frame was planned */
    uint64_t at;             /* bytes that were taken */
    uint64_t known; /* bytes of the content of the frame that are in raw and RLE blocks so far */
};

/* Adds to a plan as many whole blocks of in[0..len) as there are and fit. in[0] is the byte that
 * follows in the file after all that was taken. Bytes of blocks that are added now, plan->in_size -
 * plan->in_at of in[0..len), will be in the batch's memory at DECODE_CARRY + plan->in_at.
 *
 * A last block is taken together with the checksum after it. The next call sees what stops the walk
 * after a block. The walk goes on from what was taken, also with DECODE_NEEDS_MORE, where headers
 * and skippable frames may have been. A batch of many frames (batch.h) that is full ends with the
 * last one that fits as a whole, if the next one begins in in[0..len). */
enum decode_planned zstd_plan_blocks(struct zstd_walk *walk, struct decode_plan *plan,
                                     const unsigned char *in, size_t len);

#ifdef __cplusplus
}
#endif

#endif

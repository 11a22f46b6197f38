/* SPDX-License-Identifier: MIT */
/* The host's part of decompressing gzip on the GPU: the file is cut into pieces of which each is a
 * batch. What is in them, the device finds out. One thread. */
#ifndef GPUHISTO_GZIP_PLAN_H
#define GPUHISTO_GZIP_PLAN_H

#include "gpu/decode/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a piece without which nothing is planned, unless the file ends: those that come again
 * in the next one, and as many that do not. */
#define GZIP_PIECE_LEAST (2 * GZIP_MARGIN)

/* Bytes of content for each byte of a piece that a batch has room for. */
#define GZIP_RATIO_MOST 16u

struct gzip_walk {
    uint64_t at;   /* where the next piece begins in the file */
    bool no_check; /* checksums need not be compared */
};

/* Makes a plan of as much of in[0..len) as it has room for, GZIP_MARGIN bytes of which are in the
 * next one, too, and were not taken. in[0] is what follows all that was taken, is_end: the file
 * ends with in[len]. */
enum decode_planned gzip_plan_piece(struct gzip_walk *walk, struct decode_plan *plan, size_t len,
                                    bool is_end);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* The host's part of decompressing gzip on the GPU: it cuts the file into pieces, each of which is
 * a batch. The device finds out what is in them. One thread. */
#ifndef GPUHISTO_GZIP_PLAN_H
#define GPUHISTO_GZIP_PLAN_H

#include "gpu/decode/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fewest bytes of a piece, unless the file ends: those that come again in the next one, and as
 * many that do not. */
#define GZIP_PIECE_MIN (2 * GZIP_MARGIN)

/* Bytes of content for each byte of a piece that a batch has room for, until more is known. */
#define GZIP_RATIO 16u

struct gzip_walk {
    uint64_t at;    /* where the next piece begins in the file */
    uint32_t max;   /* bytes that it may have; 0: as many as there is room for usually, */
    uint32_t limit; /* and how many that may become; 0: the same */
};

/* Plans as much of in[0..len) as there is room for. The last GZIP_MARGIN bytes of that are in the
 * next plan, too, and are not taken. in[0] follows all bytes that were taken; is_end: the file ends
 * with in[len]. */
enum decode_planned gzip_plan_piece(struct gzip_walk *walk, struct decode_plan *plan, size_t len,
                                    bool is_end);

/* Learns how much content a piece has given: the next pieces have a size that leaves room for some
 * more. After a piece for which there was no room, perhaps for another reason, they grow slowly. */
void gzip_plan_learn(struct gzip_walk *walk, const struct decode_plan *plan, uint32_t content);

/* Goes back to a piece for which there was no room, and makes it smaller. False: it cannot be. */
bool gzip_plan_again(struct gzip_walk *walk, const struct decode_plan *plan);

#ifdef __cplusplus
}
#endif

#endif

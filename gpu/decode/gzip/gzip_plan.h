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

/* Bytes of content for each byte of a piece that a batch has room for, until more is known. */
#define GZIP_RATIO 16u

struct gzip_walk {
    uint64_t at;    /* where the next piece begins in the file */
    uint32_t most;  /* bytes that it may have; 0: as many as there is room for usually, */
    uint32_t limit; /* and how many that may become; 0: the same */
};

/* Makes a plan of as much of in[0..len) as it has room for, GZIP_MARGIN bytes of which are in the
 * next one, too, and were not taken. in[0] is what follows all that was taken, is_end: the file
 * ends with in[len]. */
enum decode_planned gzip_plan_piece(struct gzip_walk *walk, struct decode_plan *plan, size_t len,
                                    bool is_end);

/* A piece has given so much content: those that come are as large as leaves room for some more.
 * After one for which there was none, for another reason perhaps, they grow slowly. */
void gzip_plan_learn(struct gzip_walk *walk, const struct decode_plan *plan, uint32_t content);

/* Goes back to a piece for which there was no room, and makes it smaller. False: it cannot be. */
bool gzip_plan_again(struct gzip_walk *walk, const struct decode_plan *plan);

#ifdef __cplusplus
}
#endif

#endif

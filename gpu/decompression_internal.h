/* SPDX-License-Identifier: MIT */
/* What the files share that decompress on the device: decompression.c (a FILE's bytes on their way
 * in), decompression_verdicts.c (what came of them), and decompression_memory.c. */
#ifndef GPUHISTO_DECOMPRESSION_INTERNAL_H
#define GPUHISTO_DECOMPRESSION_INTERNAL_H

#include "decompression.h"

/* FILEs of at most so many bytes do with less memory. */
#define DECOMPRESSION_SMALL ((uint64_t)8 << 20)

/* Copies of content that is fetched go by this number. */
#define DECOMPRESSION_FETCH_READ 0

/* Has the batch that is laid decoded, if it should be now, and can be. 1: so it was; 0 or -1. */
int decompression_launch_due(struct decompression *decompression);

/* Looks which inputs the device has copied. 1: it has copied one since the last look; 0 or -1. */
int decompression_look_at_inputs(struct decompression *decompression);

/* The first byte of the FILE from where it could be left. Forgets earlier ones. */
uint64_t decompression_kept(struct decompression *decompression);

/* Gives up what was laid, and not launched. */
void decompression_drop_laying(struct decompression *decompression);

#endif

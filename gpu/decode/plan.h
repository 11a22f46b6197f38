/* SPDX-License-Identifier: MIT */
/* A batch as the host plans it. Each format has a planner of its own. */
#ifndef GPUHISTO_DECODE_PLAN_H
#define GPUHISTO_DECODE_PLAN_H

#include "batch_memory.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The facts of a frame that the host keeps, beside those that the device is told. */
struct decode_frame_end {
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
    enum decode_format format;
    bool is_end;             /* of gzip: the file ends with the batch, */
    uint64_t at;             /* and where in the file its first byte is */
    uint32_t blocks, frames; /* how many there are; none: stages count them */
    uint32_t room;           /* the sum of the rooms of all blocks */
    uint32_t frame_room;     /* the most that blocks of one frame have of it */
    uint32_t in_size;        /* compressed bytes, up to the end of the last block; */
    uint32_t in_at;          /* of these, before the last call's */
    bool is_complete;        /* nothing more is to be added */
    uint64_t taken;          /* bytes of the last call's that the walk went over; may be more than
                              * were there, where a skippable frame goes on */
    uint64_t need;           /* with DECODE_NEEDS_MORE: bytes that must be there after these */
};

enum decode_planned {
    DECODE_PLANNED,    /* something was added */
    DECODE_NEEDS_MORE, /* there is not enough. At the end of a file the frame, or bytes that
                        * were not taken, are cut short */
    DECODE_LEFT, /* what follows is left to the codec's own decoder; in a frame, the frame is */
    DECODE_FULL  /* what comes next does not fit in the batch */
};

/* Empties a plan, which keeps its format. */
void decode_plan_clear(struct decode_plan *plan);

/* Applies a plan to a batch that has its memory. */
void decode_batch_set_plan(struct decode_batch *batch, const struct decode_plan *plan);

#ifdef __cplusplus
}
#endif

#endif

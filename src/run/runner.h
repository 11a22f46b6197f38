/* SPDX-License-Identifier: MIT */
/* The runners: copy.c (bytes as they are), serial.c (compressed bytes, one decoder) and gpu.c
 * (compressed bytes for a GPU). */
#ifndef GPUHISTO_RUNNER_H
#define GPUHISTO_RUNNER_H

#include "segment.h"

#include <time.h>

/* The frame that is being decoded. */
struct current_frame {
    uint64_t offset; /* where in the file it begins, */
    uint64_t made;   /* how many bytes of content it has given, */
    uint64_t stated; /* of those that it states, or FRAME_UNSIZED */
};

/* A part of a file that one worker runs to its end, or of which several take pieces. */
struct extent {
    /* The runner; NULL: nothing is left for the worker. What it leaves of the file is parked for
     * whoever comes next. 0, or -1: the run has failed. */
    int (*run)(struct extent *extent);
    struct worker *worker;
    struct file *file;

    /* copy */
    uint64_t changes; /* of source.current */

    /* serial: the batch is in worker->batch, and its decoder is the worker's */
    struct current_frame frame;
    bool pending;          /* the decoder may give more without being fed */
    bool may_replay;       /* of a pipe, frames are kept from their beginning on (offload.h) */
    uint64_t skip;         /* bytes of content that come again, and were counted */
    struct timespec began; /* when the batch was */
    unsigned waits;        /* chunks that are decoded until a GPU can go on with them */

    /* gpu */
    struct gpu_decoder *gpu;
    uint64_t offset; /* the GPU has, or need not have, the file from where it began up to here */

    struct segment segment; /* of the last two */
};

/* Takes the next extent of extent->file, the current one, which is compressed; in turn. 1; 0: there
 * is nothing to take now; or -1: the run has failed. */
int serial_take(struct extent *extent);

/* The same of all that is left, for a GPU. 0: there is none, or it cannot be used. */
int gpu_take(struct extent *extent);

/* Copies what is left of a file that is not compressed, beside others. */
int copy_run(struct extent *extent);

/* Chooses the memory for a chunk. NULL: the run has failed. */
static inline struct chunk *runner_choose(struct worker *worker, enum flow flow)
{
    struct chunk *chunk = worker->sink->choose(worker->sink->arg, flow);
    if (!chunk)
        source_fail(worker->source, &(struct reason){""});
    return chunk;
}

/* Has a chunk counted that the sink chose: by an idle worker, if it may be donated. 0 or -1. */
static inline int runner_push(struct worker *worker, struct chunk *chunk, enum flow flow)
{
    if (flow == FLOW_DECODED && chunk->give && idle_donate(&worker->source->idle, chunk))
        return 0;
    return worker->sink->count(worker->sink->arg, chunk, flow);
}

#endif

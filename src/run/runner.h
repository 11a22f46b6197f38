/* SPDX-License-Identifier: MIT */
/* The runners: copy.c (bytes as they are), serial.c (compressed bytes, one decoder) and gpu.c
 * (compressed bytes for a GPU). */
#ifndef GPUHISTO_RUNNER_H
#define GPUHISTO_RUNNER_H

#include "segment.h"
#include "src/work/worker.h"

/* A part of a file that one worker runs to its end, or of which several take pieces. */
struct extent {
    /* The runner. Returns 1 once the extent is done; what it leaves of the file is parked for
     * whoever comes next. Or -1: the run has failed. */
    int (*run)(struct worker *worker, struct extent *extent);
    struct file *file;
    uint64_t changes;        /* copy: of source.current */
    struct segment segment;  /* serial: of the batch in worker->batch */
    unsigned waits;          /* serial: chunks that are decoded until a GPU can go on with them */
    struct gpu_decoder *gpu; /* gpu: which one */
    uint64_t offset;         /* gpu: from this byte of the file on */
};

/* Takes the next extent of extent->file, the current one, which is compressed; in turn. */
enum taken serial_take(struct worker *worker, struct extent *extent);

/* The same of all that is left, for a GPU. TAKEN_NOTHING: there is none, or it cannot be used. */
enum taken gpu_take(struct worker *worker, struct extent *extent);

/* Copies what is left of a file that is not compressed, beside others. */
int copy_run(struct worker *worker, struct extent *extent);

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

/* SPDX-License-Identifier: MIT */
/* The hand-over: whether a GPU is worth opening, opening it, and which engine gets the next chunk.
 */
#ifndef GPUHISTO_HANDOVER_H
#define GPUHISTO_HANDOVER_H

#include "cost.h"
#include "src/pool/pool_options.h"
#include "src/base/reason.h"
#include "src/engine/engine.h"
#include "src/work/source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Lives as long as the process once a GPU was asked for: the thread that opens it is never waited
 * for. */
struct handover {
    const struct pool_options *options;
    const struct histogram *histogram;
    struct source *source;
    struct engine *cpu;
    struct lines *lines; /* for the GPU's engine; NULL: lines are not looked for */
    struct timespec begin;
    unsigned processors; /* that there are; a quota may leave fewer */
    atomic_uint threads; /* workers at most */
    struct costs costs;

    struct gpu_list gpus;         /* those that are opened; written before gpu */
    atomic_bool opening;          /* the GPU was asked for */
    atomic_bool may_come;         /* it is not there, but may be opened, or is being opened */
    _Atomic(struct engine *) gpu; /* of all GPUs (gpu_group.h); NULL until its slots are there */
    double gpu_ready;             /* when that was, in seconds since begin; written before gpu */
    atomic_uint feeders;          /* workers with a piece of a file that goes to the GPU */
    atomic_bool
        gpu_for_decoding; /* it was opened to decompress: cores count what they decompress */

    _Atomic double next_ask;     /* when to ask again whether a GPU pays, in seconds since begin */
    _Atomic uint64_t rate_base;  /* bytes read until rate_begin, when there were enough workers: */
    _Atomic double rate_begin;   /* the rate before does not tell what all of them do */
    atomic_bool workers_are_new; /* that rate has not been looked at since some were started */
    _Atomic double rate;         /* bytes a second that the workers have read, without a GPU, */
    _Atomic double worker_rate;  /* and one of them */

    pthread_mutex_t lock; /* guards refused */
    struct reason refused;
};

/* Initializes *handover. All that is pointed to must live as long; `threads` is the most workers
 * that there may be, on so many processors. */
void handover_init(struct handover *handover, const struct pool_options *options,
                   const struct histogram *histogram, struct source *source, struct engine *cpu,
                   struct lines *lines, unsigned threads, unsigned processors);

/* Frees what it has, if no GPU was ever asked for. */
void handover_destroy(struct handover *handover);

/* Opens the GPU now, as --device=gpu does. 0, or -1: handover_refused says why. */
int handover_open_now(struct handover *handover);

/* Opens the GPU in a thread of its own if it now pays for the rest of the input. `flow` is the kind
 * of input that was just read, `bytes` what was read so far, by `workers` workers. Any thread. */
void handover_consider(struct handover *handover, enum flow flow, uint64_t bytes, unsigned workers);

/* Measures the rate afresh, as there are now more workers. Any thread. */
void handover_restart_rate(struct handover *handover, uint64_t bytes);

/* Chooses the memory for the next chunk, as source.h says of a sink: a GPU slot if there is
 * one and the GPU is the better place, otherwise a chunk of the CPU's. NULL: the run wants a GPU
 * only, and lost it. Takes a struct handover. Any thread. */
struct chunk *handover_choose(void *handover, enum flow flow);

/* The GPU's engine, if it is to decompress by itself, as source.h says of a sink. Any thread. */
struct engine *handover_undecoder(void *handover, const struct offload_offer *offer);

/* Whether there may be an engine that decompresses by itself, as source.h says of a sink. Any
 * thread. */
bool handover_may_undecode(void *handover);

/* How many workers there should be while what they read is of this kind: all, or fewer where a GPU
 * decompresses beside them, whose bytes are read, and hashed, by threads of its own. At least one
 * of them feeds no GPU. Any thread. */
unsigned handover_workers(struct handover *handover, enum flow flow);

/* Has the chunk counted, and learns what that cost; the reader began with it `begin` seconds after
 * handover->begin. 0, or -1 once the GPU is lost and may not be replaced. Any thread. */
int handover_submit(struct handover *handover, struct chunk *chunk, enum flow flow, double begin);

/* Whether a stream's readers should leave the counting to other threads. Any thread. */
bool handover_counting_is_dear(const struct handover *handover);

/* The GPU's engine, or NULL while it is not ready. Any thread. */
struct engine *handover_gpu(struct handover *handover);

/* Copies the reason why the GPU could not be used to *why; empty if there is none. Any thread. */
void handover_refused(struct handover *handover, struct reason *why);

#endif

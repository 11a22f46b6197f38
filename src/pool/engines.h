/* SPDX-License-Identifier: MIT */
/* The CPU's engine and the GPUs': measures what bytes cost, asks the policy what to do, and does
 * it. Any thread may call any function, but for engines_init. */
#ifndef GPUHISTO_ENGINES_H
#define GPUHISTO_ENGINES_H

#include "opening.h"

#include <stdatomic.h>

/* Running means, 0 before anything was measured, and sums. A lost update does not matter. */
struct measured_costs {
    _Atomic double read, cpu, gpu;            /* as in struct costs */
    _Atomic uint64_t reading_ns, counting_ns; /* of readers of streams; waiting is reading */
};

/* What workers read without a GPU; measured anew once there are enough of them. */
struct measured_rate {
    _Atomic double next_ask;     /* when to look at it again, in seconds since the run began */
    _Atomic double begin;        /* when this one began, */
    _Atomic uint64_t base;       /* and how many bytes were read by then */
    atomic_bool workers_are_new; /* it has not been looked at since some were started */
    _Atomic double all, each;    /* bytes a second of all workers, and of one; 0: not measured */
};

struct engines {
    struct job *job;
    struct opening opening;
    struct measured_costs costs;
    struct measured_rate rate;
    atomic_uint feeders; /* workers with a piece of a file that goes to the GPU */
};

/* Prepares *engines; the job must live as long. */
void engines_init(struct engines *engines, struct job *job);

/* Returns the GPUs' engine, or NULL while it is not ready. */
struct engine *engines_gpu(const struct engines *engines);

/* Returns what is known, but for the seconds, has_work, and what is left of compressed files. */
struct situation engines_situation(const struct engines *engines, enum flow flow);

/* Opens the GPU in a thread if it now pays for the rest of the input, of which `bytes` were read.
 */
void engines_consider(struct engines *engines, enum flow flow, uint64_t bytes);

/* Measures the rate anew, as there are now more workers. */
void engines_restart_rate(struct engines *engines, uint64_t bytes);

/* These do what sink.h says of a sink. */
struct chunk *engines_choose(struct engines *engines, enum flow flow);
struct engine *engines_offload(struct engines *engines, const struct offload_offer *offer);
bool engines_may_offload(struct engines *engines);

/* Has the chunk counted, and records what that cost; `begin` is when reading it began, in seconds
 * of the run. 0, or -1 once the GPU is lost and may not be replaced. */
int engines_submit(struct engines *engines, struct chunk *chunk, enum flow flow, double begin);

#endif

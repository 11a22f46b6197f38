/* SPDX-License-Identifier: MIT */
/* Opens the GPUs, once in a run: at its beginning, or in a thread of their own while it goes on. */
#ifndef GPUHISTO_OPENING_H
#define GPUHISTO_OPENING_H

#include "pool_options.h"
#include "src/base/clock.h"
#include "src/base/reason.h"
#include "src/engine/engine.h"
#include "src/policy/policy.h"
#include "src/records/lines.h"
#include "src/work/source.h"

#include <stdatomic.h>

/* What all parts of a run share. Lives as long as the process once a GPU was asked for. */
struct job {
    const struct pool_options *options;
    const struct histogram *histogram;
    struct source *source;
    struct engine *cpu;
    struct lines *lines; /* NULL: lines are not looked for */
    struct timespec begin;
    unsigned processors;      /* that there are; a quota may leave fewer */
    atomic_uint workers_most; /* a quota may lower it */
    atomic_uint workers;      /* that were started, but for those that were too many */
};

/* Returns the seconds since the run began. */
static inline double job_seconds(const struct job *job)
{
    return clock_seconds_since(&job->begin);
}

/* Lives as long as the job: nobody waits for the thread. */
struct opening {
    const struct job *job;
    bool may_come;                /* a GPU may be opened later */
    atomic_bool is_asked;         /* it was asked for */
    _Atomic(struct engine *) gpu; /* all GPUs (gpu_group.h); NULL until their slots are there */
    atomic_bool is_refused;       /* it cannot be used */

    /* Written before one of the last two; by the thread that set is_asked, and its opener. */
    struct gpu_list gpus; /* those that are opened */
    bool decodes;         /* they are to decompress */
    unsigned slots;       /* of each */
    double ready;         /* when they were, in seconds since the run began */
    struct reason why;    /* if refused */
};

/* Prepares *opening; the job must live as long. */
void opening_init(struct opening *opening, const struct job *job);

/* Opens the GPUs now, as --device=gpu does. 0, or -1: opening_refused says why. */
int opening_open(struct opening *opening);

/* Opens GPUs in a thread, for chunks of a flow; only the first call does anything. If that fails,
 * the run goes on without them. Any thread. */
void opening_start(struct opening *opening, struct gpu_wish wish, enum flow flow);

/* Copies the reason why the GPU could not be used; empty if there is none. Any thread. */
void opening_refused(const struct opening *opening, struct reason *why);

#endif

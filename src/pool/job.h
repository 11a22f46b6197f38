/* SPDX-License-Identifier: MIT */
/* What all parts of a run share. */
#ifndef GPUHISTO_JOB_H
#define GPUHISTO_JOB_H

#include "pool_options.h"
#include "src/base/clock.h"
#include "src/engine/engine.h"
#include "src/records/lines.h"
#include "src/work/source.h"

#include <stdatomic.h>

/* Lives as long as the process once a GPU was asked for. */
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

#endif

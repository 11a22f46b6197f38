/* SPDX-License-Identifier: MIT */
/* The state that the files of src/schedule share. Any thread may call a function unless its comment
 * says otherwise. */
#ifndef GPUHISTO_POOL_STATE_H
#define GPUHISTO_POOL_STATE_H

#include "schedule.h"
#include "src/base/system.h"

#include <pthread.h>
#include <stdatomic.h>

struct chunk;
struct engine;

/* The opening of the GPUs, once in a run: at its beginning, or in a thread of their own while it
 * goes on. */
struct gpu_startup {
    bool may_open;                /* a GPU may be opened later */
    atomic_bool is_asked;         /* it was asked for, */
    _Atomic double expected;      /* and ready then, as far as known, in seconds of the run */
    _Atomic(struct engine *) gpu; /* all GPUs (gpu_engine.h); NULL until their slots are there */
    atomic_bool is_refused;       /* it cannot be used */

    /* Written before one of the last two; by the thread that set is_asked, and its opener. */
    struct gpu_list gpus; /* those that are to be opened; not changed */
    bool decodes;         /* they are to decompress */
    unsigned slots;       /* of each */
    double ready;         /* when they were, in seconds since the run began */
    struct error error;   /* if refused */
};

/* Running means, 0 before anything was measured, and sums. A lost update does not matter. */
struct measured_costs {
    _Atomic double read, cpu, gpu;            /* as in struct costs */
    _Atomic uint64_t reading_ns, counting_ns; /* of readers of streams; waiting is reading */
};

/* The rate at which workers read without a GPU, measured anew once there are enough of them. */
struct measured_rate {
    _Atomic double next_ask;     /* when to look at it again, in seconds since the run began */
    _Atomic double begin;        /* when this one began, */
    _Atomic uint64_t base;       /* and how many bytes were read by then */
    atomic_bool workers_are_new; /* it has not been looked at since some were started */
    _Atomic double all, each;    /* bytes a second of all workers, and of one; 0: not measured */
};

/* Threads that read chunks from the source and submit them. */
struct workers {
    atomic_uint max;        /* that there may be; a quota may lower it */
    _Atomic uint64_t bytes; /* read so far */

    pthread_mutex_t lock;  /* guards the rest; others may read the first two */
    atomic_uint started;   /* but for those that were too many */
    atomic_bool exhausted; /* a thread could not be started: no other one is tried */
    pthread_cond_t changed;
    unsigned running;
    bool limited; /* engines_limit_workers was called */
    bool failed;
    struct error error; /* if failed */
};

/* A run. It is not freed once a GPU was asked for: nobody waits for the thread that opens GPUs. */
struct pool {
    struct pool_options options;
    const struct histogram_spec *spec;
    struct source *source;
    struct engine *cpu;
    struct error_locator *locator, *undecided; /* NULL: lines are not looked for */
    struct timespec begin;
    unsigned processors; /* that there are; a quota may leave fewer */
    struct gpu_startup startup;
    struct measured_costs costs;
    struct measured_rate rate;
    atomic_uint feeders; /* workers with a piece of a file that goes to the GPU */
    struct workers workers;
};

/* Returns the seconds since the run began. */
static inline double pool_seconds(const struct pool *pool)
{
    return clock_seconds_since(&pool->begin);
}

/* Returns the GPUs' engine, or NULL while it is not ready. */
static inline struct engine *pool_gpu(const struct pool *pool)
{
    return atomic_load(&pool->startup.gpu);
}

/* --- engines.c: opens GPUs, asks the policy what to do, and does it --- */

/* Opens the GPUs now, as --device=gpu does. 0, or -1: pool->startup.error says why. */
int engines_open_gpus(struct pool *pool);

/* Begins to open GPUs if they should have compressed files from the beginning. */
void engines_begin(struct pool *pool);

/* Returns the situation, all but the seconds, has_work, and what is left of compressed files. */
struct policy_input engines_policy_input(const struct pool *pool, enum flow flow);

/* Lowers the most workers there may be to what CPU quotas allow, unless the user gave a number.
 * Only the first call does anything. */
void engines_limit_workers(struct pool *pool);

/* Opens GPUs in a thread if that pays for the rest of the input, of which `bytes` were read. */
void engines_consider(struct pool *pool, enum flow flow, uint64_t bytes);

/* Measures the rate anew, as there are now more workers. */
void engines_restart_rate(struct pool *pool);

/* These are a sink's functions (struct sink). */
struct chunk *engines_choose(struct pool *pool, enum flow flow);
struct engine *engines_offload(struct pool *pool, const struct offload_offer *offer, bool *waits);

/* Records what a chunk of an engine cost, with `len` bytes of input: seconds to read and to count
 * it. */
void engines_record(struct pool *pool, const struct engine *engine, enum flow flow, size_t len,
                    double reading, double counting);

#endif

/* SPDX-License-Identifier: MIT */
/* The workers: threads that read chunks from the source and submit them. */
#ifndef GPUHISTO_WORKERS_H
#define GPUHISTO_WORKERS_H

#include "engines.h"
#include "src/base/reason.h"

#include <pthread.h>
#include <stdatomic.h>

struct workers {
    struct engines *engines;
    struct job *job;        /* the engines' */
    _Atomic uint64_t bytes; /* read so far */

    pthread_mutex_t lock;  /* guards the rest, and job->workers, which others may read */
    atomic_bool exhausted; /* a thread could not be started: no other one is tried; the same */
    pthread_cond_t changed;
    unsigned running;
    bool limited; /* workers_limit was called */
    bool failed;
    struct reason why; /* if failed */
};

/* Prepares *workers; the engines must live as long. */
void workers_init(struct workers *workers, struct engines *engines);

/* Frees what they have; none may be running. */
void workers_destroy(struct workers *workers);

/* Lowers the most workers there may be to what CPU quotas allow, unless the user gave a number.
 * Only the first call does anything. */
void workers_limit(struct workers *workers);

/* Starts the first worker, which starts others when the input is long. A short plain input is read
 * by this thread, until its end. 0, or -1 with the reason set. */
int workers_begin(struct workers *workers, struct reason *why);

/* Waits until every worker has reached the end of the source, or until one has failed; meanwhile
 * calls options->look. 0, or -1 with the reason set: workers may then still be running. */
int workers_wait(struct workers *workers, struct reason *why);

#endif

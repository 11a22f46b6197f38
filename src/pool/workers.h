/* SPDX-License-Identifier: MIT */
/* The workers: threads that read chunks from the source and submit them. */
#ifndef GPUHISTO_WORKERS_H
#define GPUHISTO_WORKERS_H

#include "src/policy/handover.h"
#include "pool_options.h"
#include "src/base/reason.h"
#include "src/records/lines.h"
#include "src/work/source.h"

#include <pthread.h>
#include <stdatomic.h>

struct workers {
    const struct pool_options *options;
    struct source *source;
    struct handover *handover;
    struct lines *lines;    /* NULL: lines are not looked for */
    _Atomic uint64_t bytes; /* read so far */
    atomic_uint started;    /* but for those that were too many; written under the lock, as the
                             * next one */
    atomic_bool exhausted;  /* a thread could not be started: no other one is tried */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    unsigned running;
    bool limited; /* workers_limit was called */
    bool failed;
    struct reason why; /* if failed */
};

/* Initializes *workers. All that is pointed to must live as long. */
void workers_init(struct workers *workers, const struct pool_options *options,
                  struct source *source, struct handover *handover, struct lines *lines);

/* Frees what it has; no worker may be running. */
void workers_destroy(struct workers *workers);

/* Lowers the most workers there may be to what CPU quotas allow, unless the user gave a number.
 * Only the first call does anything; the workers make it before they start others. */
void workers_limit(struct workers *workers);

/* Starts the first worker, which starts others when the input is long. With options->begins_here it
 * is this thread, and others only go on with a long input. 0, or -1 with the reason set. */
int workers_begin(struct workers *workers, struct reason *why);

/* Waits until every worker has reached the end of the source, or until one has failed; meanwhile
 * calls options->look. 0, or -1 with the reason set: workers may then still be running. */
int workers_wait(struct workers *workers, struct reason *why);

#endif

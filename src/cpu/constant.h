/* SPDX-License-Identifier: MIT */
/* Whether all numbers that were counted in a bin are one and the same. Bins tell values apart only
 * as far as they are narrow, so this looks at the numbers themselves, but no further than up to the
 * first two that differ. */
#ifndef GPUHISTO_CONSTANT_H
#define GPUHISTO_CONSTANT_H

#include "src/engine/chunk.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct histogram;

/* Begins as CONSTANT_INITIALIZER. */
struct constant {
    atomic_bool varies; /* two numbers differ: nothing is looked at from then on */
    pthread_mutex_t lock;
    bool any;
    double value; /* if any: of all numbers so far */
};

#define CONSTANT_INITIALIZER                                                                       \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Adds the numbers of a chunk, whose histogram has bins of doubles. Numbers that are not in a bin,
 * and what is not a number, do not count. Takes time only while all of them are the same. Any
 * thread. */
void constant_add(struct constant *constant, const struct histogram *histogram,
                  const struct chunk *chunk);

/* Says that there were numbers that nothing but an engine saw: they may differ. Any thread. */
void constant_give_up(struct constant *constant);

/* Whether no two of the numbers differ. Any thread. */
bool constant_holds(struct constant *constant);

#endif

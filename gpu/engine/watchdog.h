/* SPDX-License-Identifier: MIT */
/* The time that something has been waited for: the sum of the times between looks at it, of which
 * none counts for more than a small part of the deadline. So time in which nobody looked, or in
 * which the whole process was stopped, does not count. One thread at a time. */
#ifndef GPUHISTO_WATCHDOG_H
#define GPUHISTO_WATCHDOG_H

#include "src/base/clock.h"

#include <stdbool.h>

struct watchdog {
    struct timespec looked; /* when, last */
    double waited;          /* seconds */
};

/* Begins anew: something has happened, or the wait begins only now. */
static inline void watchdog_reset(struct watchdog *watchdog)
{
    *watchdog = (struct watchdog){.looked = clock_now()};
}

/* True if less time was waited for than the deadline. Call it after each look in vain. */
static inline bool watchdog_allows(struct watchdog *watchdog, unsigned deadline_ms)
{
    const double max = deadline_ms / 32e3; /* seconds */
    const double since = clock_seconds_since(&watchdog->looked);
    watchdog->waited += since < max ? since : max;
    watchdog->looked = clock_now();
    return watchdog->waited * 1e3 < deadline_ms;
}

#endif

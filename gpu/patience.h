/* SPDX-License-Identifier: MIT */
/* How long something has been waited for: the time between looks at it, of which none counts for
 * more than a small part of the deadline. So the time does not count in which nobody looked, or in
 * which the whole process was stopped. One thread at a time. */
#ifndef GPUHISTO_PATIENCE_H
#define GPUHISTO_PATIENCE_H

#include "src/base/clock.h"

#include <stdbool.h>

struct patience {
    struct timespec looked; /* when, last */
    double waited;          /* seconds */
};

/* Begins anew: something has happened, or nothing was waited for until now. */
static inline void patience_renew(struct patience *patience)
{
    *patience = (struct patience){.looked = clock_now()};
}

/* To be called after each look in vain. True if less time was waited for than the deadline. */
static inline bool patience_lasts(struct patience *patience, unsigned deadline_ms)
{
    const double most = deadline_ms / 32e3; /* seconds */
    const double since = clock_seconds_since(&patience->looked);
    patience->waited += since < most ? since : most;
    patience->looked = clock_now();
    return patience->waited * 1e3 < deadline_ms;
}

#endif

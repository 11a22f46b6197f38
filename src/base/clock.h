/* SPDX-License-Identifier: MIT */
/* Time that no one can set: seconds of the monotonic clock. */
#ifndef GPUHISTO_CLOCK_H
#define GPUHISTO_CLOCK_H

#include <time.h>

/* Returns the time now, for clock_seconds_since. */
static inline struct timespec clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now;
}

/* Returns the seconds from *then until now. */
static inline double clock_seconds_since(const struct timespec *then)
{
    const struct timespec now = clock_now();
    return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

#endif

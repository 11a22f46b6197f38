/* SPDX-License-Identifier: MIT */
#ifndef GPUHISTO_SCALE_H
#define GPUHISTO_SCALE_H

/* The number of cases that a test tries, by SCALE in its environment. `small` has fewer
 * combinations and random cases, but every boundary; make check sets it. `full`, the default of a
 * test run by hand, is everything that takes no more than a minute or two. `all` adds what takes
 * longer. */
#ifdef __cplusplus
#include <cstdlib>
#include <cstring>
#else
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#endif

/* True if few cases are asked for. */
static inline bool scale_is_small(void)
{
    const char *scale = getenv("SCALE");
    return scale && strcmp(scale, "small") == 0;
}

/* True if all cases are asked for, however long they take. */
static inline bool scale_is_all(void)
{
    const char *scale = getenv("SCALE");
    return scale && strcmp(scale, "all") == 0;
}

/* True if a sanitizer makes each case take several times as long. */
static inline bool scale_is_slow(void)
{
    const char *sanitized = getenv("SANITIZED");
    return sanitized && strcmp(sanitized, "yes") == 0;
}

/* True if few cases are asked for, or many of them would take too long. */
static inline bool scale_is_small_or_slow(void)
{
    return scale_is_small() || scale_is_slow();
}

/* Returns one of three numbers of cases: where few are asked for or a sanitizer is slow, where all
 * boundaries and some more are, and where all are. */
static inline unsigned scale_of(unsigned small, unsigned full, unsigned all)
{
    return scale_is_small_or_slow() ? small : scale_is_all() ? all : full;
}

#endif

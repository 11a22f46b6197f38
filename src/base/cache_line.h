/* SPDX-License-Identifier: MIT */
/* Memory that threads write side by side, in lines of the cache that no two of them share: each
 * write would take the line away from the other's core. */
#ifndef GPUHISTO_CACHE_LINE_H
#define GPUHISTO_CACHE_LINE_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64 /* bytes */

/* A size, in whole lines. */
static inline size_t cache_lines(size_t size)
{
    return (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

/* All-zero memory that begins with a line, for free. NULL if memory is short. */
static inline void *cache_lines_open(size_t size)
{
    void *memory = aligned_alloc(CACHE_LINE, cache_lines(size));
    return memory ? memset(memory, 0, size) : NULL;
}

#endif

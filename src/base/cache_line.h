/* SPDX-License-Identifier: MIT */
/* Memory in whole cache lines, for threads that write side by side: each write would move a shared
 * line away from the other core. */
#ifndef GPUHISTO_CACHE_LINE_H
#define GPUHISTO_CACHE_LINE_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64 /* bytes */

/* Rounds a size up to whole lines. */
static inline size_t cache_lines(size_t size)
{
    return (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

/* Returns memory of zeros that begins with a line; free it. NULL if memory is short. */
static inline void *cache_lines_open(size_t size)
{
    void *memory = aligned_alloc(CACHE_LINE, cache_lines(size));
    return memory ? memset(memory, 0, size) : NULL;
}

#endif

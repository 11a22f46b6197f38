/* SPDX-License-Identifier: MIT */
/* Memory between pages that must not be touched: what reads or writes beyond either end faults. */
#ifndef GPUHISTO_TESTS_GUARDED_H
#define GPUHISTO_TESTS_GUARDED_H

#include <stddef.h>

/* Memory of `size` bytes, all zeros, with a page on each side that faults; where pages are larger
 * than 4096 bytes, and size is not a multiple of one, other zeros may come before it. It is the
 * caller's until the process ends; without memory the process ends with status 1. */
unsigned char *guarded_memory(size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* A loop whose rounds are done by several threads. */
#ifndef GPUHISTO_PARALLEL_H
#define GPUHISTO_PARALLEL_H

#include <stddef.h>

/* Calls round(arg, i) once for each i below `count`: in order of i, but several at a time, by at
 * most `threads` threads, of which the caller is one. Returns when all have ended. Where threads
 * cannot be started there are fewer. */
void parallel_loop(unsigned threads, size_t count, void (*round)(void *arg, size_t i), void *arg);

#endif

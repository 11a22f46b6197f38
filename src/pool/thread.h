/* SPDX-License-Identifier: MIT */
/* Threads of the pool. */
#ifndef GPUHISTO_THREAD_H
#define GPUHISTO_THREAD_H

#include <stddef.h>

/* Starts a detached thread, so that one blocked in a read or in CUDA does not keep the process from
 * exiting. `stack` is its stack's bytes; 0: the system's default. 0 or -1. */
int thread_start(void *(*run)(void *), void *arg, size_t stack);

#endif

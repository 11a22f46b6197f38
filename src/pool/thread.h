/* SPDX-License-Identifier: MIT */
/* Threads of the pool. */
#ifndef GPUHISTO_THREAD_H
#define GPUHISTO_THREAD_H

#include <stddef.h>

/* Starts a detached thread: a thread that is blocked in a read, or in CUDA, must not keep the
 * process from exiting. `stack` is its stack's size in bytes, 0 for the system's default. 0 or -1.
 */
int thread_start(void *(*run)(void *), void *arg, size_t stack);

#endif

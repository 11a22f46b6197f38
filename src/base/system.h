/* SPDX-License-Identifier: MIT */
/* What the system gives: processors, memory, threads, time. */
#ifndef GPUHISTO_BASE_SYSTEM_H
#define GPUHISTO_BASE_SYSTEM_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* --- the limits that the kernel and control groups (cgroups, versions 1 and 2) set for this
 * process; `root` goes before every path that is read: "", or a test's folder --- */

/* The type of sched_getaffinity, or of a test's function in its place. */
typedef int affinity_call(pid_t pid, size_t size, cpu_set_t *set);

/* Returns how many processors the calling thread may run on, at least 1. */
unsigned system_limits_processors(affinity_call *affinity);

/* Returns how many processors CPU quotas leave, rounded up, at least 1; UINT_MAX: there is none. */
unsigned system_limits_quota(const char *root);

/* Returns the bytes of memory that can be touched without the out-of-memory killer: the lesser of
 * what the kernel and the control groups leave; UINT64_MAX: not known. Limits on address space
 * (ulimit -v) do not count, as they fail the allocation itself. */
uint64_t system_limits_memory(const char *root);

/* --- threads --- */

/* Starts a detached thread, so that one blocked in a read or in CUDA does not keep the process from
 * exiting. `stack` is its stack's bytes; 0: the system's default. 0 or -1. */
int start_detached_thread(void *(*run)(void *), void *arg, size_t stack);

/* Calls round(arg, i) once for each i below `count`: in order of i, but several at a time, by at
 * most `threads` threads, of which the caller is one. Returns when all have ended. Where threads
 * cannot be started there are fewer. */
void parallel_loop(unsigned threads, size_t count, void (*round)(void *arg, size_t i), void *arg);

/* --- time that no one can set: seconds of the monotonic clock --- */

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

/* SPDX-License-Identifier: MIT */
/* The limits that the kernel and control groups (cgroups, versions 1 and 2) set for this process:
 * processors, memory and threads. `root` goes before every path that is read: "", or a test's
 * folder. */
#ifndef GPUHISTO_SYSTEM_LIMITS_H
#define GPUHISTO_SYSTEM_LIMITS_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

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

/* Starts a detached thread, so that one blocked in a read or in CUDA does not keep the process from
 * exiting. `stack` is its stack's bytes; 0: the system's default. 0 or -1. */
int start_detached_thread(void *(*run)(void *), void *arg, size_t stack);

#endif

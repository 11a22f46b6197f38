/* SPDX-License-Identifier: MIT */
/* How many processors this process may use. */
#ifndef GPUHISTO_PROCESSORS_H
#define GPUHISTO_PROCESSORS_H

#include <sched.h>
#include <stddef.h>

/* sched_getaffinity, or a test's function in its place. */
typedef int processors_affinity(pid_t pid, size_t size, cpu_set_t *set);

/* The processors that the calling thread may run on, at least 1, however many the machine has. A
 * system call or a few. */
unsigned processors_allowed(processors_affinity *affinity);

/* How many processors' time the CPU quotas of the control groups leave to this process, rounded up,
 * at least 1; UINT_MAX: there is no quota. Reads a few files under root ("", or a test's folder),
 * which takes some tens of microseconds. */
unsigned processors_quota(const char *root);

#endif

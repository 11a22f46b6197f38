/* SPDX-License-Identifier: MIT */
/* The filter of system calls: which are refused, as a program for seccomp. On x86-64 and AArch64;
 * elsewhere there is none (ENOSYS). */
#ifndef GPUHISTO_CALLS_H
#define GPUHISTO_CALLS_H

#include <stdbool.h>

/* Refuses the calls of calls_refused.h for this thread, and those that it starts; and such as make
 * files, names and permissions unless `writes`. The process must have given up new privileges. 0,
 * or an errno. */
int calls_enter(bool writes);

#endif

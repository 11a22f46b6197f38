/* SPDX-License-Identifier: MIT */
/* The filter of system calls, as a program for seccomp: on x86-64 and AArch64; elsewhere there is
 * none (ENOSYS). */
#ifndef GPUHISTO_CALLS_H
#define GPUHISTO_CALLS_H

#include <stdbool.h>

/* Which calls the output needs. */
struct calls_of_output {
    bool replaces; /* names are made, renamed and removed */
    bool opens;    /* something is opened for writing */
};

/* Puts the filter in force for this thread, and for those that it starts. The process must have
 * given up new privileges. 0, or an errno. */
int calls_enter(const struct calls_of_output *output);

#endif

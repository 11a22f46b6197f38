/* SPDX-License-Identifier: MIT */
/* The filter of system calls, as a program for seccomp: on x86-64 and AArch64; elsewhere there is
 * none (ENOSYS). */
#ifndef GPUHISTO_SECCOMP_H
#define GPUHISTO_SECCOMP_H

#include <stdbool.h>

/* The calls that the output needs. */
struct seccomp_needs {
    bool replaces; /* to create, rename and remove files */
    bool opens;    /* to open a file for writing */
};

/* Enforces the filter for this thread, and for those that it starts. The process must have dropped
 * new privileges. 0, or an errno. */
int seccomp_enter(const struct seccomp_needs *needs);

#endif

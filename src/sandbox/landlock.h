/* SPDX-License-Identifier: MIT */
/* Landlock, by system calls: what may be opened by its path. Linux 5.13 and later have it, unless
 * they are configured or started without. */
#ifndef GPUHISTO_LANDLOCK_H
#define GPUHISTO_LANDLOCK_H

#include "sandbox.h"

/* Sets *version to that of the kernel's Landlock, and creates a set of rules which allows nothing.
 * The set, as a descriptor, or -1 with *version set to an errno. */
int landlock_begin(int *version);

/* Adds a rule for what fd stands for. 0, or -1 with errno set. */
int landlock_allow(int rules, int version, int fd, enum sandbox_use use);

/* Puts the rules in force for this thread, which must have given up new privileges, and closes
 * them. 0; or -1 with errno set, and the rules left open. */
int landlock_enter(int rules);

#endif

/* SPDX-License-Identifier: MIT */
/* The limits that control groups (cgroups, versions 1 and 2) set for this process. */
#ifndef GPUHISTO_CGROUP_H
#define GPUHISTO_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* A function that is called with the folder of a control group, which holds the group's files. */
typedef void cgroup_look(const char *folder, bool version_2, void *arg);

/* Calls look(folder, version_2, arg) for the control group of this process and each of its
 * ancestors, in which `controller` ("cpu" or "memory") may have set a limit; the limits of all of
 * them hold. Folders need not exist: in a container the path of the group, as the kernel names it,
 * may begin outside of it. `root` goes before every path: "", or a test's folder. */
void cgroup_walk(const char *root, const char *controller, cgroup_look *look, void *arg);

/* Reads the beginning of the file folder/name as text of at most size - 1 bytes, always terminated.
 * 0, or -1: the file does not exist. */
int cgroup_read(const char *folder, const char *name, char *text, size_t size);

#endif

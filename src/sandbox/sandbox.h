/* SPDX-License-Identifier: MIT */
/* The sandbox: limits what hostile input can do that has taken over a thread, once the files that
 * are read and written are open.
 *
 * It has two parts. If the kernel lacks one, the other is enforced alone. Both hold for the whole
 * process, as its threads share their memory, and to its end.
 *
 * - Landlock: a list of what may be opened; what is already open stays usable. No TCP, no signals
 *   and no abstract sockets to other processes, if the kernel supports that.
 * - seccomp: a list of system calls that are refused: to run programs, create sockets,
 *   read other processes, change names and permissions, and so on. */
#ifndef GPUHISTO_SANDBOX_H
#define GPUHISTO_SANDBOX_H

#include "src/base/error.h"

#include <stdbool.h>

/* The use that may be made of a file, or of the files of a folder and of all folders in it. */
enum sandbox_use {
    SANDBOX_READ,    /* open it for reading */
    SANDBOX_WRITE,   /* open it for writing, and truncate it */
    SANDBOX_REPLACE, /* of a folder: create, rename and remove files, open the folder */
};

struct sandbox {
    int rules;         /* of Landlock: a descriptor until they are enforced; -1: none */
    int version;       /* of Landlock; without rules, why: an errno */
    int seccomp_error; /* why there is no filter of system calls; 0: there is */
    bool writes;       /* something may be opened for writing */
    bool replaces;     /* files may be created, renamed and removed */
    unsigned named;    /* files that may be opened by their names */
};

/* Begins a sandbox in which nothing may be opened. Nothing is enforced yet. Before threads. */
void sandbox_begin(struct sandbox *sandbox);

/* Allows a use of what an open descriptor, perhaps with O_PATH, stands for. What cannot be allowed
 * will be refused when it is opened, or needs no permission, as a pipe. */
void sandbox_allow(struct sandbox *sandbox, int fd, enum sandbox_use use);

/* Allows reading what a path stands for now, if it exists. */
void sandbox_allow_path(struct sandbox *sandbox, const char *path);

/* Enforces the sandbox for this thread, and for those that it starts, as far as the kernel can. No
 * other thread may be running. */
void sandbox_enter(struct sandbox *sandbox);

/* True if both parts are enforced. */
bool sandbox_is_whole(const struct sandbox *sandbox);

/* Describes to the user what is enforced, such as "Landlock (ABI 7) and seccomp". */
void sandbox_describe(const struct sandbox *sandbox, struct error *text);

#endif

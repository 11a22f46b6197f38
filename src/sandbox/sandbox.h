/* SPDX-License-Identifier: MIT */
/* The sandbox: what a thread can still do that hostile input has taken over, once the files that
 * are read and written are open.
 *
 * It is two things, each of which the kernel may lack: then the other one is in force alone, or
 * none. Both hold for the whole process, since its threads share their memory, and for ever.
 *
 * - Landlock: what can be opened, by a list of what may be; what is open already stays usable. No
 *   TCP, no signals and no abstract sockets to others, where the kernel has that.
 * - seccomp (calls.c): which system calls can be made, by a list of what may not be: to run
 *   programs, make sockets, look into other processes, change names and permissions, and so on. */
#ifndef GPUHISTO_SANDBOX_H
#define GPUHISTO_SANDBOX_H

#include "src/base/reason.h"

#include <stdbool.h>

/* What may be done with a file, or with the files of a folder and of all folders in it. */
enum sandbox_use {
    SANDBOX_READ,    /* open it for reading */
    SANDBOX_WRITE,   /* open it for writing, and truncate it */
    SANDBOX_REPLACE, /* of a folder: make names, rename and remove them, open the folder */
};

struct sandbox {
    int rules;       /* of Landlock, as a descriptor until they are in force; -1: it has none */
    int version;     /* of Landlock; without it, why: an errno */
    int calls_error; /* why there is no filter of system calls; 0: there is */
    bool writes;     /* something may be opened for writing, */
    bool replaces;   /* or names be changed */
    unsigned named;  /* files that may be opened by their names */
};

/* Begins a sandbox, in which nothing may be opened. Nothing is in force yet. Before threads. */
void sandbox_begin(struct sandbox *sandbox);

/* Allows something for what an open descriptor stands for, which may be of O_PATH. What cannot be
 * allowed will be refused when it is opened, or needs no permission, as a pipe. */
void sandbox_allow(struct sandbox *sandbox, int fd, enum sandbox_use use);

/* Allows to read what a path stands for now, if there is something. */
void sandbox_allow_path(struct sandbox *sandbox, const char *path);

/* Puts it in force for this thread, and for those that it starts, as far as the kernel can. No
 * other thread may be running. */
void sandbox_enter(struct sandbox *sandbox);

/* True if both parts are in force. */
bool sandbox_is_whole(const struct sandbox *sandbox);

/* What is in force, for the user, such as "Landlock (ABI 7) and seccomp". */
void sandbox_describe(const struct sandbox *sandbox, struct reason *text);

#endif

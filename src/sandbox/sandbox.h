/* SPDX-License-Identifier: MIT */
/* The sandbox: what a thread can still do that hostile input has taken over, once it is known which
 * FILEs are read and what is written.
 *
 * It is two things, each of which the kernel may lack: then the other one is in force alone, or
 * none, and the program runs as it would without. Both hold for the whole process, since its
 * threads share their memory, and for ever.
 *
 * - Landlock (landlock.h): which files and folders can be opened, by a list of what may be. What is
 *   open already stays usable. No TCP, no signals and no abstract sockets to others, where the
 *   kernel has that.
 * - seccomp (calls.h): which system calls can be made, by a list of what may not be: to run
 *   programs, open sockets, look into other processes, change names and permissions, and so on.
 *
 * For system calls that is not the usual way round. A list of all that are needed would have to
 * know those of every C library, of whichever version, and of what is preloaded to profile or test:
 * what it forgets fails where nobody looks, perhaps only when memory is short. Here only what lets
 * code out of the process is closed, which the program never does itself. Calls that are newer than
 * the list do not exist: C libraries go without them, as on an older kernel.
 *
 * A refused call fails with EPERM, rather than that the process is killed: the message then says
 * what failed, and nothing is left half done. */
#ifndef GPUHISTO_SANDBOX_H
#define GPUHISTO_SANDBOX_H

#include "src/base/reason.h"

#include <stdbool.h>
#include <limits.h>

/* What may be done with a file, or with the files of a folder and of all folders in it. */
enum sandbox_use {
    SANDBOX_READ,    /* open it for reading */
    SANDBOX_OPEN,    /* the same of a file, but of a folder only open itself */
    SANDBOX_WRITE,   /* open it for writing, and truncate it */
    SANDBOX_REPLACE, /* of a folder: create, write, rename and remove files, open the folder */
};

struct sandbox {
    int rules;        /* of Landlock, as a descriptor until they are in force; -1: it has none */
    int version;      /* of Landlock; without it, why: an errno */
    int calls_error;  /* why there is no filter of system calls; 0: there is */
    bool writes;      /* something may be opened for writing, */
    bool replaces;    /* and that is a folder */
    unsigned folders; /* of which all files may be read */
    char folder[PATH_MAX]; /* the last one that was looked at, */
    bool folder_leads_on;  /* and whether its name leads to it in the sandbox */
};

/* Begins a sandbox, in which nothing may be opened. Nothing is in force yet. Before threads. */
void sandbox_begin(struct sandbox *sandbox);

/* Allows something for what an open descriptor stands for, which may be of O_PATH. What cannot be
 * allowed will be refused when it is opened, or needs no permission, as a pipe. If descriptors or
 * memory are short for that, there will be no Landlock. */
void sandbox_allow(struct sandbox *sandbox, int fd, enum sandbox_use use);

/* Allows to read what a path stands for now. */
void sandbox_allow_path(struct sandbox *sandbox, const char *path);

/* Allows to open a FILE by its name later, when another file may have it: a device or a pipe as it
 * is; a regular file, or none yet, as sandbox_allow_regular.
 *
 * False: the name leads nowhere in the sandbox, whatever is allowed. It does if it goes through a
 * link of /proc to what a process has, such as an open pipe or its directory, or to a file of /proc
 * itself: from within a sandbox no process outside can be looked into. Such a FILE must be open
 * before, or be found with O_PATH. */
bool sandbox_allow_name(struct sandbox *sandbox, const char *name);

/* Allows that of what is known to be a regular file: all files of its folder may be read and, if
 * the name is a link, of the folder that it leads to. */
bool sandbox_allow_regular(struct sandbox *sandbox, const char *name);

/* Something that is to be opened could not be allowed; `error` says why not. If descriptors or
 * memory are short, Landlock is done without, as it would refuse what could be opened without it.
 */
void sandbox_missed(struct sandbox *sandbox, int error);

/* Puts it in force for this thread, and for those that it starts, as far as the kernel can. No
 * other thread may be running. */
void sandbox_enter(struct sandbox *sandbox);

/* What is in force, for the user, such as "Landlock (ABI 7) and seccomp". */
void sandbox_describe(const struct sandbox *sandbox, struct reason *text);

#endif

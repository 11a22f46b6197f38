/* SPDX-License-Identifier: MIT */
/* A new file that is written completely before it takes the place of another one. Where the file
 * system supports that, it has no name until then, so that it cannot be left over; otherwise
 * signals remove it (src/base/signals.h). There is one at a time. */
#ifndef GPUHISTO_TEMPORARY_H
#define GPUHISTO_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

struct temporary {
    int fd;        /* open for writing; -1: there is none */
    int directory; /* not owned */
    char name[24]; /* empty: it has none */
};

/* Creates the file in a directory, with a mode that the umask limits. Returns 0, or -1 with errno
 * set. */
int temporary_open(struct temporary *temporary, int directory, mode_t mode);

/* Gives the file its name, replaces a file of that name, and closes it. `is_new`: there was no such
 * file when the name was looked up. Returns 0; or -1 with errno set, and the file as it was. */
int temporary_place(struct temporary *temporary, const char *base, bool is_new);

/* Closes and removes the file, if there is one. Keeps errno. */
void temporary_discard(struct temporary *temporary);

#endif

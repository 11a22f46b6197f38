/* SPDX-License-Identifier: MIT */
/* A new file that is written completely before it replaces another one. Until then it has no name
 * if the file system supports that, so it cannot be left behind; otherwise signals remove it
 * (src/base/signals.h). There is one at a time. */
#ifndef GPUHISTO_TEMPORARY_H
#define GPUHISTO_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

struct temporary {
    int fd;        /* open for writing; -1: there is none */
    int directory; /* not owned */
    char name[24]; /* empty: it has none */
};

/* Creates the file in a directory; the umask limits the mode. Returns 0, or -1 with errno set. */
int temporary_open(struct temporary *temporary, int directory, mode_t mode);

/* Gives the file its name, replacing a file of that name, and closes it. `is_new`: there was no
 * such file when the name was looked up. Returns 0; or -1 with errno set, and nothing has changed.
 */
int temporary_commit(struct temporary *temporary, const char *base, bool is_new);

/* Closes and removes the file, if there is one. errno does not change. */
void temporary_discard(struct temporary *temporary);

#endif

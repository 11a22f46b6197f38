/* A file that is written beside another, and then takes its name: as a whole, or not at all. Where
 * the file system can, it has no name until then, so that nothing is left whatever happens; where
 * not, signals remove it (src/base/signals.h). One at a time. */
#ifndef GPUHISTO_TEMPORARY_H
#define GPUHISTO_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

struct temporary {
    int fd;        /* open for writing; -1: there is none */
    int directory; /* not owned */
    char name[24]; /* empty: it has none */
};

/* Makes the file in a directory, with a mode that the umask limits. 0, or -1 with errno set. */
int temporary_open(struct temporary *temporary, int directory, mode_t mode);

/* Gives the file its name, in place of what has that name, and closes it. `is_new`: nothing had it
 * when the name was looked up. 0; or -1 with errno set, the file is there as before. */
int temporary_place(struct temporary *temporary, const char *base, bool is_new);

/* Closes and removes the file, if there is one. errno is kept. */
void temporary_discard(struct temporary *temporary);

#endif

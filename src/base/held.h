/* SPDX-License-Identifier: MIT */
/* FILEs that are held from the beginning until their turn, so that they can be read when no other
 * file can be opened any more, whatever has happened to their names by then. */
#ifndef GPUHISTO_HELD_H
#define GPUHISTO_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct held {
    const char *name; /* "-": standard input, which is open anyway; it must outlive this */
    bool is_regular;  /* when it was looked at, */
    uint64_t size;    /* with so many bytes to read; otherwise 0 */
    int fd;           /* -1: it is not held, and will be opened by its name */
};

/* Looks at a FILE. It is not held yet. */
struct held held_look(const char *name);

/* How many FILEs should be held. */
size_t held_most(void);

/* Holds a FILE that is not standard input. A regular one is opened for reading; anything else only
 * with O_PATH, as to open a device or a pipe has effects. 0; or -1 with errno set, and it is not
 * held. */
int held_begin(struct held *file);

/* Opens a FILE for reading, and holds it no longer: what was held, or what has its name now. The
 * descriptor; or -1 with errno set, and nothing has changed. */
int held_open(struct held *file);

/* Lets go of it. */
void held_end(struct held *file);

struct held_list {
    struct held *list;
    size_t count;
};

/* Looks at FILEs, and holds as many as should be, the first ones. 0, or -1: memory is short. */
int held_list_open(struct held_list *files, char *const *names, size_t count);

/* Lets go of those whose turn has not come, and frees the list. */
void held_list_close(struct held_list *files);

#endif

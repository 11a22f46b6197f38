/* SPDX-License-Identifier: MIT */
/* Files that are held from the beginning until their turn, so that they can be read when no other
 * file can be opened any more, whatever has happened to their names by then. What cannot be opened
 * at the beginning is an error in its turn, even if it could be by then. */
#ifndef GPUHISTO_HELD_H
#define GPUHISTO_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct held {
    const char *name;    /* "-": standard input, which is open anyway; it must outlive this */
    bool is_regular;     /* when it was looked at, */
    uint64_t size;       /* with so many bytes to read; otherwise 0 */
    int error;           /* why it could not be opened; or 0 */
    int fd;              /* -1 without an error: it will be opened by its name */
    bool is_open;        /* fd is open for reading, whatever kind of file it is */
    unsigned char *head; /* of a stream: what was read of it already, owned; or NULL */
    size_t head_len;
};

/* Looks at a file. It is not held yet. */
struct held held_look(const char *name);

/* How many of `count` files should be held. Raises the limit on descriptors for that, if it may. */
size_t held_most(size_t count);

/* Holds a file. A regular one is opened for reading; anything else only with O_PATH, as to open a
 * device or a pipe has effects. True if that takes a descriptor: not for standard input, nor for
 * what cannot be opened, now or ever. */
bool held_begin(struct held *file);

/* Opens a file for reading, and holds it no longer: what was held, or what has its name now. The
 * descriptor; or -1 with errno set, and nothing has changed. */
int held_open(struct held *file);

/* Lets go of it, and forgets what was read of it. */
void held_end(struct held *file);

struct held_list {
    struct held *list;
    size_t count;
};

/* Looks at files, and holds as many as should be, the first ones. 0, or -1: memory is short. */
int held_list_open(struct held_list *files, char *const *names, size_t count);

/* Lets go of those whose turn has not come, and frees the list. */
void held_list_close(struct held_list *files);

#endif

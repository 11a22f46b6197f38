/* SPDX-License-Identifier: MIT */
/* Preopened files: opened, or at least found, before the sandbox forbids opening files, and read in
 * their turn, even if their names have changed by then. A file that cannot be opened at the
 * beginning is an error in its turn. */
#ifndef GPUHISTO_PREOPENED_H
#define GPUHISTO_PREOPENED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct preopened {
    const char *name;    /* "-": standard input, which is open anyway; must outlive this */
    bool is_regular;     /* when it was inspected */
    uint64_t size;       /* of a regular file: bytes to read; otherwise 0 */
    int error;           /* why it cannot be opened; or 0 */
    int fd;              /* -1 without an error: it will be opened by its name */
    bool is_open;        /* fd is open for reading, whatever kind of file it is */
    unsigned char *head; /* of a stream: what was already read, owned; or NULL */
    size_t head_len;
};

/* Finds out what a file is. It is not held yet. */
struct preopened preopened_inspect(const char *name);

/* Returns how many of `count` files should be held. Raises the limit on descriptors if possible. */
size_t preopened_max(size_t count);

/* Holds a file. A regular one is opened for reading; others only with O_PATH, as opening a device
 * or a pipe has effects. True if that needs a descriptor: not for standard input, nor for what
 * cannot be opened. */
bool preopened_acquire(struct preopened *file);

/* Opens the preopened file, or what has its name now, for reading, and releases it. Returns the
 * descriptor; or -1 with errno set, and nothing has changed. */
int preopened_open(struct preopened *file);

/* Closes the file, if it is held, and frees what was read of it. */
void preopened_release(struct preopened *file);

struct preopened_list {
    struct preopened *list;
    size_t count;
};

/* Inspects files, and holds the first ones, as many as should be. 0, or -1: memory is short. */
int preopened_list_open(struct preopened_list *files, char *const *names, size_t count);

/* Releases the files whose turn has not come, and frees the list. */
void preopened_list_close(struct preopened_list *files);

#endif

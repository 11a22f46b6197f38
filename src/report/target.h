/* SPDX-License-Identifier: MIT */
/* The file of --output before it is written. It is looked up once, and its directory stays open, so
 * renaming anything on the path cannot redirect the table later. */
#ifndef GPUHISTO_TARGET_H
#define GPUHISTO_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum target_kind {
    TARGET_REPLACED, /* a regular file, or nothing yet: a new file replaces it */
    TARGET_DIRECT,   /* written in place: a device, a FIFO, a mount point, or a deleted file that
                      * /proc still names */
    TARGET_OPEN,     /* an open descriptor of this process, such as /dev/stdout */
};

struct target {
    enum target_kind kind;
    int fd;                  /* TARGET_OPEN: a duplicate of the descriptor; otherwise -1 */
    int directory;           /* the file's, opened with O_PATH; TARGET_OPEN: -1 */
    int file;                /* the existing file, opened with O_PATH; -1: there is none */
    bool is_magic;           /* the name is a link in /proc to something without a name, such as a
                              * pipe or a deleted file */
    char base[NAME_MAX + 1]; /* the name in the directory; never a link, unless is_magic */
};

/* Looks up a file. Symbolic links are followed, even if they lead to no file, except where
 * fs.protected_symlinks forbids it: links of other users in directories such as /tmp. Returns 0; or
 * -1 with errno set, and nothing to close: EISDIR for a directory, EACCES or the like if the file
 * could not be written. */
int target_find(struct target *target, const char *name);

/* Opens a TARGET_DIRECT for writing, and truncates a regular file. May wait for the reader of a
 * FIFO. Returns the descriptor, or -1 with errno set. */
int target_open(const struct target *target);

/* Closes all descriptors. */
void target_close(struct target *target);

#endif

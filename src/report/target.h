/* What a FILE to be written is: looked up once, and held, so that nothing that happens to the names
 * on the way there makes it another one later. */
#ifndef GPUHISTO_TARGET_H
#define GPUHISTO_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum target_kind {
    TARGET_REPLACED, /* a regular file, or nothing yet: another file takes its place */
    TARGET_DIRECT,   /* written itself: a device, a FIFO, a file on which another is mounted, or one
                      * that was deleted, which /proc still names */
    TARGET_OPEN,     /* a descriptor of this process, as /dev/stdout names one */
};

struct target {
    enum target_kind kind;
    int fd;                  /* of TARGET_OPEN: a duplicate of the descriptor; otherwise -1 */
    int directory;           /* that holds the file, opened with O_PATH; of TARGET_OPEN -1 */
    int file;                /* what is there, opened with O_PATH; -1: nothing */
    bool magic;              /* the name is a link of /proc to something without a name, such as a
                              * pipe or a deleted file */
    char base[NAME_MAX + 1]; /* the name in the directory; not a link, but for a magic one */
};

/* Looks up a FILE. A symbolic link is followed, also to nothing, but where the kernel would not
 * follow it with fs.protected_symlinks: one of another user in a directory such as /tmp. 0; or -1
 * with errno set, and nothing to close: EISDIR for a directory, EACCES or the like if it could not
 * be written. */
int target_find(struct target *target, const char *name);

/* Opens a TARGET_DIRECT for writing, cut to nothing if it is a regular file; may wait for the
 * reader of a FIFO. The descriptor, or -1 with errno set. */
int target_open(const struct target *target);

/* Closes what is held. */
void target_close(struct target *target);

#endif

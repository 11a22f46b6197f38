/* SPDX-License-Identifier: MIT */
/* The permissions of a file that replaces another one. */
#ifndef GPUHISTO_PERMISSIONS_H
#define GPUHISTO_PERMISSIONS_H

/* What could not be kept. */
enum permissions_kept {
    PERMISSIONS_KEPT,
    PERMISSIONS_NO_MODE, /* errno says why; the file keeps the mode that it had */
    PERMISSIONS_NO_LIST, /* the access list; only the owner may use the file */
};

/* Gives a new file, which only its owner may use so far, the mode, the access list and, where
 * permitted, the owner and group of an old one. No user gains permissions: a file that gets another
 * owner loses setuid; one that gets another group loses setgid, and the group's permissions become
 * those of all others. Without the access list only the owner keeps permissions, because the rest
 * of the mode is then the most that the list allows. `fd` is the new file, `old` the old one, which
 * may be open with O_PATH. */
enum permissions_kept permissions_keep(int fd, int old);

#endif

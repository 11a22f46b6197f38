/* SPDX-License-Identifier: MIT */
/* The permissions of a file that replaces another one. */
#ifndef GPUHISTO_PERMISSIONS_H
#define GPUHISTO_PERMISSIONS_H

/* The permissions that could not be kept. */
enum permissions_kept {
    PERMISSIONS_KEPT,
    PERMISSIONS_NO_MODE, /* errno says why; the file keeps the mode that it had */
    PERMISSIONS_NO_LIST, /* the access list; only the owner may use the file */
};

/* Copies mode, access list and, if permitted, owner and group of the file `old`, which may be open
 * with O_PATH, to the new file `fd`, which only its owner may use so far. No user gains
 * permissions: with another owner the file loses setuid; with another group it loses setgid, and
 * the group gets the permissions of all others. Without the access list only the owner keeps
 * permissions, because the rest of the mode is then the most that the list allows. */
enum permissions_kept permissions_keep(int fd, int old);

#endif

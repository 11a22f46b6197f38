/* Who may use a file that takes the place of another one. */
#ifndef GPUHISTO_PERMISSIONS_H
#define GPUHISTO_PERMISSIONS_H

/* What could not be kept. */
enum permissions_kept {
    PERMISSIONS_KEPT,
    PERMISSIONS_NO_MODE, /* errno says why; the file keeps the mode that it had */
    PERMISSIONS_NO_LIST, /* the access list; only the owner may use the file */
};

/* Gives a new file, of which only its owner may do anything so far, the mode, the access list and,
 * as far as that is allowed, the owner and group of an old one. Nobody gets more rights than there
 * were: a file of another owner loses setuid; one of another group setgid, and that group's rights
 * are those of all others; and without the access list only the owner's rights are kept, as the
 * rest of the mode says what the list allows at most. `fd` is the new file, `old` the old one,
 * which may be open with O_PATH. */
enum permissions_kept permissions_keep(int fd, int old);

#endif

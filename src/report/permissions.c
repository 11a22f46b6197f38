/* SPDX-License-Identifier: MIT */
#include "permissions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACCESS_LIST "system.posix_acl_access" /* as Linux names it, see acl(5) */

struct access_list {
    bool known;
    ssize_t len; /* bytes; 0: there is none */
    char data[4096];
};

/* Extended attributes of a file that is open with O_PATH can be read by name only. */
static void read_list(int old, struct access_list *list)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", old);
    list->len = getxattr(path, ACCESS_LIST, list->data, sizeof list->data);
    bool none = list->len < 0 && (errno == ENODATA || errno == EOPNOTSUPP);
    list->known = none || list->len >= 0;
    if (none)
        list->len = 0;
}

/* Sets this list, or removes the one that the file inherited from its directory. True if that
 * worked. */
static bool set_list(int fd, const struct access_list *list)
{
    int rc = list->len > 0 ? fsetxattr(fd, ACCESS_LIST, list->data, (size_t)list->len, 0)
                           : fremovexattr(fd, ACCESS_LIST);
    return rc == 0 || (list->len == 0 && (errno == ENODATA || errno == EOPNOTSUPP));
}

/* Returns the mode for a file whose owner or group may not be the one that the mode was meant for.
 */
static mode_t mode_for_others(mode_t mode, bool same_owner, bool same_group)
{
    if (!same_owner)
        mode &= (mode_t)~S_ISUID;
    if (!same_group)
        mode &= (mode_t) ~(S_ISGID | S_IRWXG) | (mode & S_IRWXO) << 3;
    return mode;
}

enum permissions_kept permissions_keep(int fd, int old)
{
    struct stat before, now;
    if (fstat(old, &before) != 0 || fstat(fd, &now) != 0)
        return PERMISSIONS_NO_MODE;
    /* The owner is changed first, because that clears setuid bits. */
    if ((before.st_uid != now.st_uid || before.st_gid != now.st_gid) &&
        fchown(fd, before.st_uid, before.st_gid) != 0)
        (void)!fchown(fd, (uid_t)-1, before.st_gid);
    if (fstat(fd, &now) != 0)
        return PERMISSIONS_NO_MODE;
    bool same_group = before.st_gid == now.st_gid;
    mode_t mode = mode_for_others(before.st_mode & 07777, before.st_uid == now.st_uid, same_group);
    struct access_list list;
    read_list(old, &list);
    /* A list states the permissions of the old group, and none of another one. */
    bool listed = list.known && (list.len == 0 || same_group) && set_list(fd, &list);
    if (!listed)
        mode &= S_IRWXU;
    /* Some file systems have one mode for all files, and refuse even that. */
    bool fits = fstat(fd, &now) == 0 && (now.st_mode & 07777) == mode;
    if (!fits && fchmod(fd, mode) != 0)
        return PERMISSIONS_NO_MODE;
    return listed ? PERMISSIONS_KEPT : PERMISSIONS_NO_LIST;
}

/* SPDX-License-Identifier: MIT */
#include "target.h"
#include "mount_point.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel has it */

static int fail_with(int error)
{
    errno = error;
    return -1;
}

/* Returns the open descriptor that a path names, or -1. */
static int descriptor_of(const char *path)
{
    static const char *const roots[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        const char *number = path + strlen(roots[i]);
        if (strncmp(path, roots[i], strlen(roots[i])) != 0)
            continue;
        size_t digits = strspn(number, "0123456789");
        const bool is_canonical = digits > 0 && digits <= 9 && (number[0] != '0' || digits == 1);
        if (is_canonical && !number[digits])
            return (int)strtol(number, NULL, 10);
    }
    return -1;
}

/* Makes the target a duplicate of a descriptor, which must be open for writing. */
static int duplicate(struct target *target, int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return fail_with(EBADF);
    target->kind = TARGET_OPEN;
    target->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return target->fd < 0 ? -1 : 0;
}

/* Opens the directory of a path, relative to the one that is open, and sets base. */
static int enter_directory(struct target *target, const char *path)
{
    char directory[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t len = (size_t)(base - path);
    if (len >= sizeof directory || strlen(base) > NAME_MAX)
        return fail_with(ENAMETOOLONG);
    if (len > 0) {
        memcpy(directory, path, len);
        directory[len] = '\0';
    }
    strcpy(target->base, base);
    int from = target->directory < 0 ? AT_FDCWD : target->directory;
    int fd = openat(from, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (target->directory >= 0)
        close(target->directory);
    target->directory = fd;
    if (fd < 0)
        return -1;
    return base[0] ? 0 : fail_with(len > 0 ? EISDIR : ENOENT);
}

/* The kernel's rule for links in a sticky directory that all users may write to: links of other
 * users are not followed, except those of the directory's owner. */
static bool may_follow(const struct target *target, const struct stat *link)
{
    struct stat directory;
    if (fstat(target->directory, &directory) != 0)
        return false;
    return (directory.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH) ||
           link->st_uid == geteuid() || link->st_uid == directory.st_uid;
}

/* Reads the link that is open, and closes it. 0, or -1 with errno set. */
static int read_link(struct target *target, const struct stat *status, char text[PATH_MAX])
{
    ssize_t len = may_follow(target, status) ? readlinkat(target->file, "", text, PATH_MAX - 1)
                                             : fail_with(EACCES);
    int saved = errno;
    close(target->file);
    target->file = -1;
    errno = saved;
    if (len < 0)
        return -1;
    text[len] = '\0';
    return 0;
}

/* True if the text of the open link names this file. */
static bool link_names(const struct target *target, const struct stat *file)
{
    char text[PATH_MAX];
    struct stat named;
    ssize_t len = readlinkat(target->file, "", text, sizeof text - 1);
    if (len < 0)
        return false;
    text[len] = '\0';
    return fstatat(target->directory, text, &named, 0) == 0 && named.st_dev == file->st_dev &&
           named.st_ino == file->st_ino;
}

/* True if the open link is one of /proc to what its text does not name, such as a pipe or a file
 * that was deleted: opens that instead. */
static bool follow_magic(struct target *target)
{
    struct statfs system;
    struct stat status;
    if (fstatfs(target->file, &system) != 0 || system.f_type != PROC_SUPER_MAGIC)
        return false;
    int fd = openat(target->directory, target->base, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &status) != 0 || S_ISDIR(status.st_mode) ||
        (S_ISREG(status.st_mode) && link_names(target, &status))) {
        close(fd);
        return false;
    }
    close(target->file);
    target->file = fd;
    target->is_magic = true;
    return true;
}

/* Opens the directory of what a name stands for, and what is there. */
static int follow(struct target *target, const char *name)
{
    char text[PATH_MAX];
    struct stat status;
    const char *path = name;
    for (int links = 0; links <= LINKS_MAX; links++) {
        int fd = descriptor_of(path);
        if (fd >= 0)
            return duplicate(target, fd);
        if (enter_directory(target, path) != 0)
            return -1;
        target->file = openat(target->directory, target->base, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (target->file < 0)
            return errno == ENOENT ? 0 : -1;
        if (fstat(target->file, &status) != 0)
            return -1;
        if (!S_ISLNK(status.st_mode) || follow_magic(target))
            return 0;
        if (read_link(target, &status, text) != 0)
            return -1;
        path = text;
    }
    return fail_with(ELOOP);
}

/* In a directory such as /tmp, files of other users cannot be replaced. */
static bool may_replace(const struct target *target, const struct stat *file)
{
    struct stat directory;
    if (fstat(target->directory, &directory) != 0)
        return false;
    const uid_t user = geteuid();
    return !(directory.st_mode & S_ISVTX) || user == 0 || file->st_uid == user ||
           directory.st_uid == user;
}

/* Decides how the file is written. -1 with errno set if it cannot be. */
static int choose_kind(struct target *target)
{
    struct stat status;
    if (target->kind == TARGET_OPEN)
        return 0;
    if (target->file >= 0 && fstat(target->file, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return fail_with(EISDIR);
        if (!S_ISREG(status.st_mode) || target->is_magic || mount_point_is(target->file))
            target->kind = TARGET_DIRECT;
        else if (!may_replace(target, &status))
            return fail_with(EPERM);
    }
    if (target->kind == TARGET_DIRECT)
        return faccessat(target->directory, target->base, W_OK, AT_EACCESS);
    return faccessat(target->directory, ".", W_OK | X_OK, AT_EACCESS);
}

int target_find(struct target *target, const char *name)
{
    *target = (struct target){.fd = -1, .directory = -1, .file = -1};
    if (follow(target, name) == 0 && choose_kind(target) == 0)
        return 0;
    int saved = errno;
    target_close(target);
    errno = saved;
    return -1;
}

/* Opens what was found by its descriptor, as the name may belong to another process, which a
 * sandbox forbids. */
static int open_magic(const struct target *target, int flags)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", target->file);
    const int fd = open(path, flags);
    return fd < 0 && errno == ENOENT ? openat(target->directory, target->base, flags) : fd;
}

int target_open(const struct target *target)
{
    int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_TRUNC;
    return target->is_magic ? open_magic(target, flags)
                            : openat(target->directory, target->base, flags | O_NOFOLLOW);
}

static void close_open(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void target_close(struct target *target)
{
    close_open(&target->fd);
    close_open(&target->file);
    close_open(&target->directory);
}

/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "src/base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define LINKS_MAX 40      /* as the kernel has it */
#define MOUNT_ROOT 0x2000 /* STATX_ATTR_MOUNT_ROOT */

static int fail(const struct output *output, struct error *error)
{
    const char *what = strerror(errno);
    if (output->name)
        error_of(error, output->name, "%s", what);
    else
        error_set(error, "standard output: %s", what);
    return -1;
}

/* --- the file that is meant --- */

static void close_target(struct target *target)
{
    int *const all[] = {&target->fd, &target->file, &target->directory};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (*all[i] >= 0)
            close(*all[i]);
        *all[i] = -1;
    }
}

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
        if (fd >= 0) { /* which must be open for writing, and is duplicated */
            int flags = fcntl(fd, F_GETFL);
            if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
                return fail_with(EBADF);
            target->kind = TARGET_OPEN;
            target->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
            return target->fd < 0 ? -1 : 0;
        }
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

/* True if an open file is the root of a mount, so that no other file can replace it. By the system
 * call itself, as C libraries have a function for it only since glibc 2.28 and musl 1.2.5. Always
 * false before Linux 5.8. */
static bool is_mount_point(int fd)
{
    struct {
        uint32_t mask, block_size;
        uint64_t attributes;
        unsigned char others[240];
    } file; /* struct statx */
    return syscall(SYS_statx, fd, "", AT_EMPTY_PATH, 0, &file) == 0 &&
           (file.attributes & MOUNT_ROOT);
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
        if (!S_ISREG(status.st_mode) || target->is_magic || is_mount_point(target->file))
            target->kind = TARGET_DIRECT;
        else if (!may_replace(target, &status))
            return fail_with(EPERM);
    }
    if (target->kind == TARGET_DIRECT)
        return faccessat(target->directory, target->base, W_OK, AT_EACCESS);
    return faccessat(target->directory, ".", W_OK | X_OK, AT_EACCESS);
}

/* Looks up a file. 0; or -1 with errno set, and nothing to close: EISDIR for a directory, EACCES or
 * the like if the file could not be written. */
static int find_target(struct target *target, const char *name)
{
    *target = (struct target){.fd = -1, .directory = -1, .file = -1};
    if (follow(target, name) == 0 && choose_kind(target) == 0)
        return 0;
    const int saved = errno;
    close_target(target);
    errno = saved;
    return -1;
}

/* Opens a TARGET_DIRECT, and truncates a regular file. What is_magic is opened by its descriptor,
 * as the name may belong to another process, which a sandbox forbids. Returns the descriptor, or -1
 * with errno set. */
static int open_direct(const struct target *target)
{
    int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_TRUNC;
    char path[40];
    if (!target->is_magic)
        return openat(target->directory, target->base, flags | O_NOFOLLOW);
    snprintf(path, sizeof path, "/proc/self/fd/%d", target->file);
    const int fd = open(path, flags);
    return fd < 0 && errno == ENOENT ? openat(target->directory, target->base, flags) : fd;
}

/* --- the new file --- */

#define TRIES_MAX 100 /* names that are in use, one after the other */
#define RANDOM_LETTERS 6

/* Sets a random name, which is most likely free. */
static void choose_name(struct output *output)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char random[RANDOM_LETTERS];
    if (getrandom(random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        for (size_t i = 0; i < sizeof random; i++)
            random[i] = (unsigned char)(now.tv_nsec >> 4 * i ^ getpid());
    }
    size_t at = (size_t)sprintf(output->temporary, ".gpuhisto-");
    for (size_t i = 0; i < sizeof random; i++)
        output->temporary[at++] = letters[random[i] % (sizeof letters - 1)];
    output->temporary[at] = '\0';
}

/* Gives the file a name in the directory. The first way needs a privilege before Linux 6.10, the
 * second needs /proc. */
static int link_as(const struct output *output, const char *name)
{
    char path[40];
    if (linkat(output->fd, "", output->target.directory, name, AT_EMPTY_PATH) == 0)
        return 0;
    if (errno == EEXIST)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", output->fd);
    return linkat(AT_FDCWD, path, output->target.directory, name, AT_SYMLINK_FOLLOW);
}

/* Creates the file with a random name, or gives it one. Signals are held. */
static int acquire_name(struct output *output, mode_t mode)
{
    int rc = -1;
    for (int tries = 0; rc != 0 && tries < TRIES_MAX; tries++) {
        choose_name(output);
        if (output->fd >= 0)
            rc = link_as(output, output->temporary);
        else if ((output->fd =
                      openat(output->target.directory, output->temporary,
                             O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mode)) >= 0)
            rc = 0;
        if (rc != 0 && errno != EEXIST)
            break;
    }
    if (rc == 0)
        signals_remove_at_death(output->target.directory, output->temporary);
    else
        output->temporary[0] = '\0';
    return rc;
}

/* Creates the new file; the umask limits the mode. Until it is complete it has no name if the file
 * system supports that, so it cannot be left behind; otherwise signals remove it. Returns 0, or -1
 * with errno set. */
static int create_file(struct output *output, mode_t mode)
{
    /* Without /proc a file without a name might never get one. */
    if (access("/proc/self/fd", X_OK) == 0)
        output->fd = openat(output->target.directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    if (output->fd >= 0)
        return 0;
    signals_hold();
    int rc = acquire_name(output, mode);
    signals_release();
    return rc;
}

/* Gives the file the target's name. Signals are held. 0; or -1 with errno set, and nothing has
 * changed. */
static int rename_file(struct output *output)
{
    const struct target *target = &output->target;
    if (!output->temporary[0] && target->file < 0) { /* nothing had that name */
        if (link_as(output, target->base) == 0)
            return 0;
        if (errno != EEXIST)
            return -1;
    }
    if (!output->temporary[0] && acquire_name(output, 0) != 0)
        return -1;
    if (renameat(target->directory, output->temporary, target->directory, target->base) != 0)
        return -1;
    output->temporary[0] = '\0';
    signals_remove_at_death(-1, NULL);
    return 0;
}

/* Puts the file in its place, and closes it: if it has a name first, because some file systems
 * report errors only then. 0, or -1 with errno set. */
static int commit_file(struct output *output)
{
    if (output->temporary[0]) {
        const int fd = output->fd;
        output->fd = -1;
        if (close(fd) != 0 && errno != EINTR)
            return -1;
    }
    signals_hold();
    const int rc = rename_file(output);
    signals_release();
    if (rc == 0 && output->fd >= 0) {
        close(output->fd);
        output->fd = -1;
    }
    return rc;
}

/* Closes and removes the file, if there is one. */
static void discard_file(struct output *output)
{
    if (output->temporary[0]) {
        signals_hold();
        unlinkat(output->target.directory, output->temporary, 0);
        signals_remove_at_death(-1, NULL);
        output->temporary[0] = '\0';
        signals_release();
    }
    if (output->fd >= 0)
        close(output->fd);
    output->fd = -1;
}

/* --- its permissions --- */

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

/* Copies mode, access list and, if permitted, owner and group of the file that is replaced to the
 * new one, which only its owner may use so far. No user gains permissions: with another owner the
 * file loses setuid; with another group it loses setgid, and the group gets the permissions of all
 * others. Without the access list only the owner keeps permissions, because the rest of the mode is
 * then the most that the list allows. */
static void keep_permissions(struct output *output)
{
    const int fd = output->fd, old = output->target.file;
    struct access_list list;
    struct stat before, now;
    if (fstat(old, &before) != 0 || fstat(fd, &now) != 0)
        goto no_mode;
    /* The owner is changed first, because that clears setuid bits. */
    if ((before.st_uid != now.st_uid || before.st_gid != now.st_gid) &&
        fchown(fd, before.st_uid, before.st_gid) != 0)
        (void)!fchown(fd, (uid_t)-1, before.st_gid);
    if (fstat(fd, &now) != 0)
        goto no_mode;
    const bool same_group = before.st_gid == now.st_gid;
    mode_t mode = before.st_mode & 07777;
    if (before.st_uid != now.st_uid)
        mode &= (mode_t)~S_ISUID;
    if (!same_group)
        mode &= (mode_t) ~(S_ISGID | S_IRWXG) | (mode & S_IRWXO) << 3;
    read_list(old, &list);
    /* A list states the permissions of the old group, and none of another one. */
    const bool listed = list.known && (list.len == 0 || same_group) && set_list(fd, &list);
    if (!listed)
        mode &= S_IRWXU;
    /* Some file systems have one mode for all files, and refuse even that. */
    const bool fits = fstat(fd, &now) == 0 && (now.st_mode & 07777) == mode;
    if (!fits && fchmod(fd, mode) != 0)
        goto no_mode;
    if (!listed)
        error_of(&output->warning, output->name,
                 "cannot keep its access list, so only its owner can use it");
    return;
no_mode:
    error_of(&output->warning, output->name, "cannot keep its mode: %s", strerror(errno));
}

/* --- the output --- */

int output_prepare(struct output *output, const char *name, struct error *error)
{
    signal(SIGXFSZ, SIG_IGN); /* a write past the limit on a file's size fails with EFBIG */
    output->name = name;
    output->fd = -1;
    output->temporary[0] = '\0';
    output->warning.text[0] = '\0';
    if (!name)
        return 0;
    if (find_target(&output->target, name) != 0)
        return fail(output, error);
    if (output->target.kind != TARGET_REPLACED)
        return 0;
    /* If it replaces another, only its owner may use it until it has the same permissions. */
    const bool is_new = output->target.file < 0;
    if (create_file(output, is_new ? 0666 : 0600) != 0) {
        fail(output, error);
        close_target(&output->target);
        return -1;
    }
    if (!is_new)
        keep_permissions(output);
    return 0;
}

bool output_is_file(const struct output *output, const struct stat *file)
{
    const int fd = output->target.kind == TARGET_OPEN ? output->target.fd : output->target.file;
    struct stat status;
    return output->name && fd >= 0 && S_ISREG(file->st_mode) && fstat(fd, &status) == 0 &&
           status.st_dev == file->st_dev && status.st_ino == file->st_ino;
}

struct writer *output_open(struct output *output, struct error *error)
{
    struct target *target = &output->target;
    if (output->name && target->kind == TARGET_DIRECT)
        target->fd = open_direct(target);
    const int fd = !output->name                     ? STDOUT_FILENO
                   : target->kind == TARGET_REPLACED ? output->fd
                                                     : target->fd;
    if (fd < 0) {
        fail(output, error);
        close_target(target);
        return NULL;
    }
    writer_begin(&output->writer, fd);
    return &output->writer;
}

/* Calls fsync, if the file supports it. */
static int sync_file(int fd)
{
    int rc;
    do
        rc = fsync(fd);
    while (rc != 0 && errno == EINTR);
    return rc == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : -1;
}

/* Some file systems report a full disk only when the file is closed. */
static int close_direct(struct output *output)
{
    int *fd = &output->target.fd, rc = output->target.kind == TARGET_DIRECT ? sync_file(*fd) : 0;
    int saved = errno;
    if (close(*fd) != 0 && errno != EINTR && rc == 0)
        rc = -1;
    else
        errno = saved;
    *fd = -1;
    return rc;
}

static int finish(struct output *output)
{
    if (!output->name)
        return close(STDOUT_FILENO) == 0 || errno == EINTR ? 0 : -1;
    if (output->target.kind != TARGET_REPLACED)
        return close_direct(output);
    if (sync_file(output->fd) != 0 || commit_file(output) != 0)
        return -1;
    /* The new name is on disk when the directory is, which may be one that cannot be read. */
    const int directory = openat(output->target.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0 && sync_file(directory) != 0)
        error_of(&output->warning, output->name, "was written, but a crash may undo it: %s",
                 strerror(errno));
    if (directory >= 0)
        close(directory);
    return 0;
}

int output_flush(struct output *output, struct error *error)
{
    const int code = writer_flush(&output->writer);
    if (code == 0)
        return 0;
    errno = code;
    return fail(output, error);
}

int output_close(struct output *output, struct error *warning, struct error *error)
{
    int rc = -1, code = writer_flush(&output->writer);
    if (code)
        errno = code;
    else
        rc = finish(output);
    if (rc != 0)
        fail(output, error);
    *warning = output->warning;
    discard_file(output);
    if (output->name)
        close_target(&output->target);
    return rc;
}

#include "output.h"

#include "src/base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACCESS_LIST "system.posix_acl_access" /* as Linux names it, see acl(5) */

static int fail(const struct output *output, struct reason *why)
{
    const char *what = strerror(errno);
    if (output->name)
        reason_of(why, output->name, "%s", what);
    else
        reason_set(why, "standard output: %s", what);
    return -1;
}

int output_prepare(struct output *output, const char *name, struct reason *why)
{
    signals_ignore_file_size();
    output->name = name;
    output->temporary = (struct temporary){.fd = -1};
    return name && target_find(&output->target, name) != 0 ? fail(output, why) : 0;
}

/* A file that takes the place of another can be read by its owner alone until it has that one's
 * mode. */
static int open_temporary(struct output *output)
{
    bool is_new = output->target.file < 0;
    return temporary_open(&output->temporary, output->target.directory, is_new ? 0666 : 0600) == 0
               ? output->temporary.fd
               : -1;
}

static int open_file(struct output *output)
{
    switch (output->target.kind) {
    case TARGET_REPLACED:
        return open_temporary(output);
    case TARGET_DIRECT:
        return output->target.fd = target_open(&output->target);
    default:
        return output->target.fd;
    }
}

struct writer *output_open(struct output *output, struct reason *why)
{
    int fd = output->name ? open_file(output) : STDOUT_FILENO;
    if (fd < 0) {
        fail(output, why);
        target_close(&output->target);
        return NULL;
    }
    writer_begin(&output->writer, fd);
    return &output->writer;
}

/* fsync, where the file can do that. */
static int put_on_disk(int fd)
{
    int rc;
    do
        rc = fsync(fd);
    while (rc != 0 && errno == EINTR);
    return rc == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : -1;
}

static void warn(const struct output *output, struct reason *warning, const char *what)
{
    reason_of(warning, output->name, "%s: %s", what, strerror(errno));
}

/* The mode that a file may have whose owner or group is not the one that it was meant for. */
static mode_t mode_for_others(mode_t mode, bool same_owner, bool same_group)
{
    if (!same_owner)
        mode &= (mode_t)~S_ISUID;
    if (!same_group)
        mode &= (mode_t) ~(S_ISGID | S_IRWXG) | (mode & S_IRWXO) << 3;
    return mode;
}

/* Reads the access list of the FILE that was there. Its bytes, 0 if there is none, or -1. */
static ssize_t old_access_list(const struct output *output, char *list, size_t size)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", output->target.file); /* it is O_PATH */
    ssize_t len = getxattr(path, ACCESS_LIST, list, size);
    return len < 0 && errno != ERANGE ? 0 : len;
}

/* Makes a new file look like the one that it replaces. The owner goes first, as that takes setuid
 * bits away. */
static void keep_owner_and_mode(const struct output *output, struct reason *warning)
{
    struct stat old, new;
    int fd = output->temporary.fd;
    if (!target_status(&output->target, &old) || fstat(fd, &new) != 0)
        return;
    if ((old.st_uid != new.st_uid || old.st_gid != new.st_gid) &&
        fchown(fd, old.st_uid, old.st_gid) != 0)
        (void)!fchown(fd, (uid_t)-1, old.st_gid);
    if (fstat(fd, &new) != 0)
        return;
    char list[4096];
    const ssize_t len = old_access_list(output, list, sizeof list);
    /* With a list the group's bits are its mask, which may be more than the group has. */
    mode_t mode = mode_for_others(old.st_mode & 07777, old.st_uid == new.st_uid,
                                  old.st_gid == new.st_gid &&len == 0);
    if ((new.st_mode & 07777) != mode && fchmod(fd, mode) != 0)
        warn(output, warning, "its mode cannot be kept");
    else if (len < 0 || (len > 0 && fsetxattr(fd, ACCESS_LIST, list, (size_t)len, 0) != 0))
        warn(output, warning, "its access list cannot be kept");
}

/* The new name is on disk when the directory is. */
static void put_directory_on_disk(const struct output *output, struct reason *warning)
{
    int fd = openat(output->target.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return; /* one that may not be read */
    if (put_on_disk(fd) != 0)
        warn(output, warning, "written, but a crash may undo it");
    close(fd);
}

static int place(struct output *output, struct reason *warning)
{
    keep_owner_and_mode(output, warning);
    if (put_on_disk(output->temporary.fd) != 0 ||
        temporary_place(&output->temporary, output->target.base, output->target.file < 0) != 0)
        return -1;
    put_directory_on_disk(output, warning);
    return 0;
}

/* A full disk may show itself only when the file is closed. */
static int close_direct(struct output *output)
{
    int *fd = &output->target.fd, rc = output->target.kind == TARGET_DIRECT ? put_on_disk(*fd) : 0;
    int saved = errno;
    if (close(*fd) != 0 && errno != EINTR && rc == 0)
        rc = -1;
    else
        errno = saved;
    *fd = -1;
    return rc;
}

static int finish(struct output *output, struct reason *warning)
{
    if (!output->name)
        return close(STDOUT_FILENO) == 0 || errno == EINTR ? 0 : -1;
    if (output->target.kind == TARGET_REPLACED)
        return place(output, warning);
    return close_direct(output);
}

int output_close(struct output *output, struct reason *warning, struct reason *why)
{
    warning->text[0] = '\0';
    int rc = -1, error = writer_flush(&output->writer);
    if (error)
        errno = error;
    else
        rc = finish(output, warning);
    if (rc != 0)
        fail(output, why);
    temporary_discard(&output->temporary);
    if (output->name)
        target_close(&output->target);
    return rc;
}

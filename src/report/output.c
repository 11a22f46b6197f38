/* SPDX-License-Identifier: MIT */
#include "output.h"
#include "permissions.h"
#include "src/base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int fail(const struct output *output, struct error *error)
{
    const char *what = strerror(errno);
    if (output->name)
        error_of(error, output->name, "%s", what);
    else
        error_set(error, "standard output: %s", what);
    return -1;
}

static void warn(struct output *output, const char *what)
{
    error_of(&output->warning, output->name, "%s: %s", what, strerror(errno));
}

static void keep_permissions(struct output *output)
{
    switch (permissions_keep(output->temporary.fd, output->target.file)) {
    case PERMISSIONS_NO_MODE:
        warn(output, "cannot keep its mode");
        break;
    case PERMISSIONS_NO_LIST:
        error_of(&output->warning, output->name,
                 "cannot keep its access list, so only its owner can use it");
        break;
    case PERMISSIONS_KEPT:
        break;
    }
}

/* Creates the new file. If it replaces another, only its owner may use it until it has the same
 * permissions. */
static int create(struct output *output)
{
    const bool is_new = output->target.file < 0;
    if (temporary_open(&output->temporary, output->target.directory, is_new ? 0666 : 0600) != 0)
        return -1;
    if (!is_new)
        keep_permissions(output);
    return 0;
}

int output_prepare(struct output *output, const char *name, struct error *error)
{
    signals_ignore_file_size();
    output->name = name;
    output->temporary = (struct temporary){.fd = -1};
    output->warning.text[0] = '\0';
    if (!name)
        return 0;
    if (target_find(&output->target, name) != 0)
        return fail(output, error);
    if (output->target.kind != TARGET_REPLACED || create(output) == 0)
        return 0;
    fail(output, error);
    target_close(&output->target);
    return -1;
}

bool output_is_file(const struct output *output, const struct stat *file)
{
    const int fd = output->target.kind == TARGET_OPEN ? output->target.fd : output->target.file;
    struct stat status;
    return output->name && fd >= 0 && S_ISREG(file->st_mode) && fstat(fd, &status) == 0 &&
           status.st_dev == file->st_dev && status.st_ino == file->st_ino;
}

static int open_file(struct output *output)
{
    switch (output->target.kind) {
    case TARGET_REPLACED:
        return output->temporary.fd;
    case TARGET_DIRECT:
        return output->target.fd = target_open(&output->target);
    default:
        return output->target.fd;
    }
}

struct writer *output_open(struct output *output, struct error *error)
{
    int fd = output->name ? open_file(output) : STDOUT_FILENO;
    if (fd < 0) {
        fail(output, error);
        target_close(&output->target);
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

/* The new name is on disk when the directory is. */
static void sync_directory(struct output *output)
{
    int fd = openat(output->target.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return; /* one that may not be read */
    if (sync_file(fd) != 0)
        warn(output, "was written, but a crash may undo it");
    close(fd);
}

static int replace(struct output *output)
{
    if (sync_file(output->temporary.fd) != 0 ||
        temporary_commit(&output->temporary, output->target.base, output->target.file < 0) != 0)
        return -1;
    sync_directory(output);
    return 0;
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
    if (output->target.kind == TARGET_REPLACED)
        return replace(output);
    return close_direct(output);
}

int output_flush(struct output *output, struct error *error)
{
    int code = writer_flush(&output->writer);
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
    temporary_discard(&output->temporary);
    if (output->name)
        target_close(&output->target);
    return rc;
}

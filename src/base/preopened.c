/* SPDX-License-Identifier: MIT */
#include "preopened.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREOPENED_MAX 4096 /* files, or half of the descriptors that are allowed */

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY)

static bool is_standard(const struct preopened *file)
{
    return strcmp(file->name, "-") == 0;
}

struct preopened preopened_inspect(const char *name)
{
    struct preopened file = {.name = name, .fd = -1};
    struct stat status;
    const int rc = is_standard(&file) ? fstat(STDIN_FILENO, &status) : stat(name, &status);
    if (rc != 0 || S_ISDIR(status.st_mode))
        file.error = rc != 0 ? errno : EISDIR;
    file.is_regular = rc == 0 && S_ISREG(status.st_mode);
    if (!file.is_regular)
        return file;
    const off_t base = is_standard(&file) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    file.size = base >= 0 && status.st_size > base ? (uint64_t)(status.st_size - base) : 0;
    return file;
}

size_t preopened_max(size_t count)
{
    struct rlimit limit;
    if (count > PREOPENED_MAX)
        count = PREOPENED_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 2 >= count)
        return count;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max / 2 < count ? limit.rlim_max : 2 * count;
    const rlim_t max = setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
    return max / 2 < count ? (size_t)(max / 2) : count;
}

/* Opens a regular file. -1, without waiting, if its name now belongs to something else. */
static int open_regular(const char *name)
{
    struct stat status;
    const int fd = open(name, OPEN_FLAGS | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

bool preopened_acquire(struct preopened *file)
{
    if (is_standard(file) || file->error != 0)
        return false;
    file->fd = file->is_regular ? open_regular(file->name) : open(file->name, O_PATH | O_CLOEXEC);
    const bool may_be_gone_later = errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
                                   errno == EAGAIN || errno == EINTR || errno == ESTALE;
    if (file->fd < 0 && !may_be_gone_later)
        file->error = errno;
    return file->fd >= 0;
}

int preopened_open(struct preopened *file)
{
    if (file->error != 0) {
        errno = file->error;
        return -1;
    }
    if (file->fd < 0)
        return open(file->name, OPEN_FLAGS);
    int fd = file->fd;
    if (!file->is_regular && !file->is_open) {
        /* It was found with O_PATH. Its name may lead to something else by now, or be forbidden by
         * the sandbox, so it is used only where there is no /proc. */
        char path[40];
        snprintf(path, sizeof path, "/proc/self/fd/%d", file->fd);
        fd = open(path, OPEN_FLAGS);
        fd = fd < 0 && errno == ENOENT ? open(file->name, OPEN_FLAGS) : fd;
        if (fd < 0)
            return -1;
        close(file->fd);
    }
    file->fd = -1;
    return fd;
}

void preopened_release(struct preopened *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    free(file->head);
    file->head = NULL;
}

int preopened_list_open(struct preopened_list *files, char *const *names, size_t count)
{
    size_t left = preopened_max(count);
    *files = (struct preopened_list){calloc(count, sizeof *files->list), count};
    if (!files->list)
        return -1;
    for (size_t i = 0; i < count; i++) {
        files->list[i] = preopened_inspect(names[i]);
        if (left > 0)
            left -= preopened_acquire(&files->list[i]);
    }
    return 0;
}

void preopened_list_close(struct preopened_list *files)
{
    for (size_t i = 0; i < files->count; i++)
        preopened_release(&files->list[i]);
    free(files->list);
    *files = (struct preopened_list){NULL, 0};
}

/* SPDX-License-Identifier: MIT */
/* FILEs that are opened before their turn, so that they can be read when no other file can be
 * opened any more, whatever has happened to their names by then. */
#include "source_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD_MAX 256 /* FILEs, and a quarter of the descriptors that there may be */
#define HELD_SHARE 4

static size_t held_most(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / HELD_SHARE > HELD_MAX)
        return HELD_MAX;
    return (size_t)(limit.rlim_cur / HELD_SHARE);
}

/* Opens a regular file, without waiting if another one has its name by now; otherwise -1. */
static int hold_regular(const char *name)
{
    struct stat status;
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
        return fd;
    close(fd);
    return -1;
}

/* What others have open, such as pipes in /proc/PID/fd, cannot be reached by that name from a
 * sandbox; so it is held as it is, and opened in its turn. */
static int hold_of_process(const char *name)
{
    return strncmp(name, "/proc/", 6) == 0 ? open(name, O_PATH | O_CLOEXEC) : -1;
}

void source_hold(struct source *source)
{
    size_t left = held_most();
    for (size_t i = 0; i < source->count && left > 0; i++) {
        struct operand *operand = &source->operands[i];
        if (strcmp(operand->name, "-") != 0)
            operand->fd =
                operand->is_regular ? hold_regular(operand->name) : hold_of_process(operand->name);
        left -= operand->fd >= 0;
    }
}

int source_take_held(struct operand *operand)
{
    char path[40];
    const int held = operand->fd;
    operand->fd = -1;
    if (held < 0 || operand->is_regular)
        return held;
    snprintf(path, sizeof path, "/proc/self/fd/%d", held);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    close(held);
    return fd;
}

void source_let_go(struct source *source)
{
    for (size_t i = 0; i < source->count; i++)
        if (source->operands[i].fd >= 0)
            close(source->operands[i].fd);
}

const char *source_next_name(const struct source *source, size_t *at, bool *is_regular)
{
    while (*at < source->count) {
        const struct operand *operand = &source->operands[(*at)++];
        const bool is_held = operand->fd >= 0 && operand->is_regular;
        *is_regular = operand->is_regular;
        if (!is_held && strcmp(operand->name, "-") != 0)
            return operand->name;
    }
    return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "temporary.h"

#include "src/base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define TRIES_MAX 100 /* names that are in use, one after the other */
#define RANDOM_LETTERS 6

/* Sets a random name, which is most likely free. */
static void choose_name(struct temporary *temporary)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char random[RANDOM_LETTERS];
    if (getrandom(random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        for (size_t i = 0; i < sizeof random; i++)
            random[i] = (unsigned char)(now.tv_nsec >> 4 * i ^ getpid());
    }
    size_t at = (size_t)sprintf(temporary->name, ".gpuhisto-");
    for (size_t i = 0; i < sizeof random; i++)
        temporary->name[at++] = letters[random[i] % (sizeof letters - 1)];
    temporary->name[at] = '\0';
}

/* Gives the file a name in the directory. The first way needs a privilege before Linux 6.10, the
 * second needs /proc. */
static int link_as(const struct temporary *temporary, const char *name)
{
    char path[40];
    if (linkat(temporary->fd, "", temporary->directory, name, AT_EMPTY_PATH) == 0)
        return 0;
    if (errno == EEXIST)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", temporary->fd);
    return linkat(AT_FDCWD, path, temporary->directory, name, AT_SYMLINK_FOLLOW);
}

static int create_as(struct temporary *temporary, const char *name, mode_t mode)
{
    temporary->fd = openat(temporary->directory, name,
                           O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mode);
    return temporary->fd < 0 ? -1 : 0;
}

/* Creates the file with a random name, or gives it one. Signals are held. */
static int acquire_name(struct temporary *temporary, mode_t mode)
{
    int rc = -1;
    for (int tries = 0; rc != 0 && tries < TRIES_MAX; tries++) {
        choose_name(temporary);
        rc = temporary->fd < 0 ? create_as(temporary, temporary->name, mode)
                               : link_as(temporary, temporary->name);
        if (rc != 0 && errno != EEXIST)
            break;
    }
    if (rc == 0)
        signals_remove_at_death(temporary->directory, temporary->name);
    else
        temporary->name[0] = '\0';
    return rc;
}

static void remove_name(struct temporary *temporary)
{
    if (temporary->name[0])
        unlinkat(temporary->directory, temporary->name, 0);
    signals_remove_at_death(-1, NULL);
    temporary->name[0] = '\0';
}

int temporary_open(struct temporary *temporary, int directory, mode_t mode)
{
    *temporary = (struct temporary){.fd = -1, .directory = directory};
    /* Without /proc a file without a name might never get one. */
    if (access("/proc/self/fd", X_OK) == 0)
        temporary->fd = openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    if (temporary->fd >= 0)
        return 0;
    signals_hold();
    int rc = acquire_name(temporary, mode);
    signals_release();
    return rc;
}

/* Does what temporary_commit does except closing. Signals are held. */
static int commit(struct temporary *temporary, const char *base, bool is_new)
{
    bool has_name = temporary->name[0] != '\0';
    if (!has_name && is_new) {
        if (link_as(temporary, base) == 0)
            return 0;
        if (errno != EEXIST)
            return -1;
    }
    if (!has_name && acquire_name(temporary, 0) != 0)
        return -1;
    if (renameat(temporary->directory, temporary->name, temporary->directory, base) != 0)
        return -1;
    temporary->name[0] = '\0';
    signals_remove_at_death(-1, NULL);
    return 0;
}

/* A file with a name is closed first, because some file systems report errors only then. */
int temporary_commit(struct temporary *temporary, const char *base, bool is_new)
{
    if (temporary->name[0]) {
        int fd = temporary->fd;
        temporary->fd = -1;
        if (close(fd) != 0 && errno != EINTR)
            return -1;
    }
    signals_hold();
    int rc = commit(temporary, base, is_new);
    signals_release();
    if (rc == 0 && temporary->fd >= 0) {
        close(temporary->fd);
        temporary->fd = -1;
    }
    return rc;
}

void temporary_discard(struct temporary *temporary)
{
    int saved = errno;
    if (temporary->name[0]) {
        signals_hold();
        remove_name(temporary);
        signals_release();
    }
    if (temporary->fd >= 0)
        close(temporary->fd);
    temporary->fd = -1;
    errno = saved;
}

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The only global state: what the signal handler has to remove. Empty: nothing. */
static char temporary[PATH_MAX];
static volatile sig_atomic_t temporary_there;

static const int deadly_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
#define DEADLY_COUNT (sizeof deadly_signals / sizeof deadly_signals[0])

#define LINKS_MAX 40 /* as the kernel has it */

/* What FILE is now, and the name behind its links: rename must not replace a link. */
struct target {
    bool there;
    bool direct; /* written as it is, not replaced */
    mode_t mode;
    int descriptor; /* that the name stands for, as /dev/stdout does; or -1 */
    char path[PATH_MAX];
};

static int fail(const char *name, struct reason *why)
{
    reason_set(why, "%s: %s", name ? name : "standard output", strerror(errno));
    return -1;
}

/* path's directory, with its last slash; empty for the current one. */
static void directory_of(const char *path, char directory[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 0;
    memcpy(directory, path, len);
    directory[len] = '\0';
}

/* The open descriptor that a path names, or -1. */
static int descriptor_of(const char *path)
{
    int fd, end = 0;
    if ((sscanf(path, "/dev/fd/%d%n", &fd, &end) == 1 && !path[end]) ||
        (sscanf(path, "/proc/self/fd/%d%n", &fd, &end) == 1 && !path[end]))
        return fd;
    return -1;
}

/* Sets path to name, or what it points to if it is a link; there need be nothing. A name
 * for a descriptor is not followed to the file behind it. 0, or -1 with errno set. */
static int follow_links(const char *name, char path[PATH_MAX])
{
    char link[PATH_MAX], directory[PATH_MAX] = "";
    const char *next = name;
    for (int links = 0; links < LINKS_MAX; links++) {
        if (strlen(directory) + strlen(next) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        strcpy(stpcpy(path, directory), next);
        ssize_t len = readlink(path, link, sizeof link - 1);
        if (len < 0 || descriptor_of(path) >= 0)
            return 0; /* not a link */
        link[len] = '\0';
        next = link;
        directory_of(path, directory);
        if (link[0] == '/')
            directory[0] = '\0';
    }
    errno = ELOOP;
    return -1;
}

static int examine(const char *name, struct target *target)
{
    struct stat status;
    target->there = stat(name, &status) == 0;
    if (!target->there && errno != ENOENT)
        return -1;
    target->mode = target->there ? status.st_mode & 07777 : 0666;
    if (target->there && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (follow_links(name, target->path) != 0)
        return -1;
    target->descriptor = descriptor_of(target->path);
    target->direct = target->descriptor >= 0 || (target->there && !S_ISREG(status.st_mode));
    return 0;
}

int output_check(const char *name, struct reason *why)
{
    struct target target;
    char directory[PATH_MAX];
    if (!name)
        return 0;
    if (examine(name, &target) != 0)
        return fail(name, why);
    directory_of(target.path, directory);
    const char *written = target.direct ? name : directory[0] ? directory : ".";
    return access(written, W_OK) == 0 ? 0 : fail(name, why);
}

static void remove_and_die(int signal_number)
{
    if (temporary_there)
        unlink(temporary);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Signals that were ignored (nohup) stay ignored. */
static void guard_against_signals(void)
{
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        struct sigaction old, guard = {.sa_handler = remove_and_die};
        sigemptyset(&guard.sa_mask);
        if (sigaction(deadly_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(deadly_signals[i], &guard, NULL);
    }
}

static void block_signals(sigset_t *old)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < DEADLY_COUNT; i++)
        sigaddset(&set, deadly_signals[i]);
    pthread_sigmask(SIG_BLOCK, &set, old);
}

/* A file beside the target, removed by signals from the moment it is there. */
static int open_temporary(const char *target)
{
    static const char name[] = ".gpuhisto-XXXXXX";
    char directory[PATH_MAX];
    directory_of(target, directory);
    if (strlen(directory) + sizeof name > sizeof temporary) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(stpcpy(temporary, directory), name);
    guard_against_signals();
    sigset_t old;
    block_signals(&old);
    int fd = mkostemp(temporary, O_CLOEXEC);
    temporary_there = fd >= 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return fd;
}

static void remove_temporary(void)
{
    if (temporary_there)
        unlink(temporary);
    temporary_there = 0;
}

static int open_target(const char *name, const struct target *target)
{
    if (target->descriptor >= 0)
        return fcntl(target->descriptor, F_DUPFD_CLOEXEC, 3);
    if (target->direct)
        return open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return open_temporary(target->path);
}

FILE *output_open(const char *name, struct reason *why)
{
    struct target target;
    if (!name)
        return stdout;
    int fd = -1;
    if (examine(name, &target) == 0)
        fd = open_target(name, &target);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out) {
        fail(name, why);
        if (fd >= 0)
            close(fd);
        remove_temporary();
    }
    return out;
}

/* mkostemp made it for the owner alone; a new file has what the umask leaves, an old one its own.
 */
static int give_mode(int fd, const struct target *target)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(fd, target->there ? target->mode : target->mode & ~mask);
}

int output_close(FILE *out, const char *name, struct reason *why)
{
    struct target target;
    bool bad = ferror(out) || fflush(out) != 0;
    if (!bad && temporary_there)
        bad = examine(name, &target) != 0 || give_mode(fileno(out), &target) != 0;
    /* A full disk may show itself only when the file is closed. */
    int saved = errno;
    if (fclose(out) != 0)
        bad = true;
    else
        errno = saved;
    if (!bad && temporary_there) {
        bad = rename(temporary, target.path) != 0;
        if (!bad)
            temporary_there = 0;
    }
    if (!bad)
        return 0;
    fail(name, why);
    remove_temporary();
    return -1;
}

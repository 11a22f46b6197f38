/* SPDX-License-Identifier: MIT */
#include "sandbox.h"
#include "calls.h"
#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

void sandbox_begin(struct sandbox *sandbox)
{
    *sandbox = (struct sandbox){.writes = false};
    sandbox->rules = landlock_begin(&sandbox->version);
}

/* Does without Landlock, as it would refuse what could not be allowed. */
static void give_up_rules(struct sandbox *sandbox, int error)
{
    close(sandbox->rules);
    sandbox->rules = -1;
    sandbox->version = error;
}

static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

void sandbox_allow(struct sandbox *sandbox, int fd, enum sandbox_use use)
{
    sandbox->writes |= use == SANDBOX_WRITE || use == SANDBOX_REPLACE;
    sandbox->replaces |= use == SANDBOX_REPLACE;
    if (sandbox->rules >= 0 && landlock_allow(sandbox->rules, sandbox->version, fd, use) != 0 &&
        is_shortage(errno))
        give_up_rules(sandbox, errno);
}

/* Whether there is something of that name. */
static bool allow(struct sandbox *sandbox, const char *path, enum sandbox_use use)
{
    if (sandbox->rules < 0)
        return false;
    const int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        if (is_shortage(errno))
            give_up_rules(sandbox, errno);
        return false;
    }
    sandbox_allow(sandbox, fd, use);
    close(fd);
    return true;
}

void sandbox_allow_path(struct sandbox *sandbox, const char *path)
{
    (void)allow(sandbox, path, SANDBOX_READ);
}

/* Allows to read what is in the folder of a path, unless that was the last one. */
static void allow_folder_of(struct sandbox *sandbox, const char *path)
{
    const char *slash = strrchr(path, '/'), *folder = slash ? path : ".";
    const size_t len = slash && slash > path ? (size_t)(slash - path) : 1;
    if (len >= sizeof sandbox->folder)
        return;
    if (memcmp(folder, sandbox->folder, len) == 0 && sandbox->folder[len] == '\0')
        return;
    memcpy(sandbox->folder, folder, len);
    sandbox->folder[len] = '\0';
    sandbox->folders += allow(sandbox, sandbox->folder, SANDBOX_READ);
}

void sandbox_allow_regular(struct sandbox *sandbox, const char *name)
{
    char target[PATH_MAX];
    struct stat status;
    if (sandbox->rules < 0)
        return;
    allow_folder_of(sandbox, name);
    if (lstat(name, &status) == 0 && S_ISLNK(status.st_mode) && realpath(name, target))
        allow_folder_of(sandbox, target);
}

void sandbox_allow_name(struct sandbox *sandbox, const char *name)
{
    struct stat status;
    if (sandbox->rules < 0)
        return;
    if (stat(name, &status) != 0 || S_ISREG(status.st_mode))
        sandbox_allow_regular(sandbox, name);
    else /* that it is a folder is only said when it is opened */
        (void)allow(sandbox, name, SANDBOX_OPEN);
}

/* Gives up what a program that is run could gain: without that, neither part may be put in force.
 * 0, or an errno. */
static int give_up_privileges(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

void sandbox_enter(struct sandbox *sandbox)
{
    const int error = give_up_privileges();
    if (sandbox->rules >= 0 && error != 0)
        give_up_rules(sandbox, error);
    if (sandbox->rules >= 0 && landlock_enter(sandbox->rules) != 0)
        give_up_rules(sandbox, errno);
    sandbox->calls_error = error != 0 ? error : calls_enter(sandbox->writes);
}

void sandbox_describe(const struct sandbox *sandbox, struct reason *text)
{
    char landlock[80], reading[80] = "";
    const char *calls = sandbox->calls_error == 0 ? "seccomp" : NULL;
    const char *writing = "";
    if (sandbox->rules < 0) {
        snprintf(landlock, sizeof landlock, "no Landlock: %s", strerror(sandbox->version));
        if (calls)
            reason_set(text, "%s; %s", calls, landlock);
        else
            reason_set(text, "none: %s; no seccomp: %s", landlock, strerror(sandbox->calls_error));
        return;
    }
    snprintf(landlock, sizeof landlock, "Landlock (ABI %d)", sandbox->version);
    if (sandbox->folders > 0)
        snprintf(reading, sizeof reading, "; files in %u director%s can be read", sandbox->folders,
                 sandbox->folders == 1 ? "y" : "ies");
    if (sandbox->replaces)
        writing = "; files in the directory of --output can be written";
    if (calls)
        reason_set(text, "%s and %s%s%s", landlock, calls, reading, writing);
    else
        reason_set(text, "%s%s%s; no seccomp: %s", landlock, reading, writing,
                   strerror(sandbox->calls_error));
}

/* SPDX-License-Identifier: MIT */
#include "sandbox.h"
#include "calls.h"
#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* openat2 is as old as Linux 5.6, and the headers may be older. */
#define CALL_OPENAT2 437
#define RESOLVE_WITHOUT_MAGIC_LINKS 0x02
struct how_to_open {
    uint64_t flags, mode, resolve;
};

void sandbox_begin(struct sandbox *sandbox)
{
    *sandbox = (struct sandbox){.writes = false};
    sandbox->rules = landlock_begin(&sandbox->version);
}

/* Does without Landlock. */
static void give_up_rules(struct sandbox *sandbox, int error)
{
    close(sandbox->rules);
    sandbox->rules = -1;
    sandbox->version = error;
}

void sandbox_missed(struct sandbox *sandbox, int error)
{
    const bool is_shortage = error == EMFILE || error == ENFILE || error == ENOMEM;
    if (sandbox->rules >= 0 && is_shortage)
        give_up_rules(sandbox, error);
}

void sandbox_allow(struct sandbox *sandbox, int fd, enum sandbox_use use)
{
    sandbox->writes |= use == SANDBOX_WRITE || use == SANDBOX_REPLACE;
    sandbox->replaces |= use == SANDBOX_REPLACE;
    if (sandbox->rules >= 0 && landlock_allow(sandbox->rules, sandbox->version, fd, use) != 0)
        sandbox_missed(sandbox, errno);
}

/* Finds what has a name, with O_PATH. -1 with errno set, which is ELOOP if a link of /proc is on
 * the way that leads on without a name, to what a process has. Where that cannot be asked, as the
 * kernel is older or another filter forbids it, such links are followed. */
static int find(const char *path)
{
    const struct how_to_open how = {.flags = O_PATH | O_CLOEXEC,
                                    .resolve = RESOLVE_WITHOUT_MAGIC_LINKS};
    const int fd = (int)syscall(CALL_OPENAT2, AT_FDCWD, path, &how, sizeof how);
    return fd < 0 && errno != ELOOP ? open(path, (int)how.flags) : fd;
}

/* Whether what was found, or errno, says that the name will lead nowhere in the sandbox. In /proc
 * itself, to open a file may be to look into a process. */
static bool is_closed(int found)
{
    struct statfs system;
    if (found < 0)
        return errno == ELOOP;
    return fstatfs(found, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/* Finds what a name stands for now, which may be nothing: *found is a descriptor of it, or -1.
 * Whether the name leads to it in the sandbox. */
static bool look(struct sandbox *sandbox, const char *name, int *found)
{
    *found = find(name);
    if (is_closed(*found))
        return false;
    if (*found < 0)
        sandbox_missed(sandbox, errno);
    return true;
}

static void forget(int found)
{
    if (found >= 0)
        close(found);
}

/* Whether a name leads to what it stands for in the sandbox. */
static bool leads_on(struct sandbox *sandbox, const char *name)
{
    int found;
    const bool leads = look(sandbox, name, &found);
    forget(found);
    return leads;
}

/* The same; and allows something for what it stands for. */
static bool allow(struct sandbox *sandbox, const char *name, enum sandbox_use use)
{
    int found;
    const bool leads = look(sandbox, name, &found);
    if (found >= 0 && leads) {
        sandbox_allow(sandbox, found, use);
        sandbox->folders += use == SANDBOX_READ;
    }
    forget(found);
    return leads;
}

void sandbox_allow_path(struct sandbox *sandbox, const char *path)
{
    if (sandbox->rules < 0)
        return;
    const int found = open(path, O_PATH | O_CLOEXEC);
    if (found >= 0)
        sandbox_allow(sandbox, found, SANDBOX_READ);
    else
        sandbox_missed(sandbox, errno);
    forget(found);
}

/* Allows to read what is in the folder of a path, unless that was the last one. Whether the path
 * leads on, so far. */
static bool allow_folder_of(struct sandbox *sandbox, const char *path)
{
    const char *slash = strrchr(path, '/'), *folder = slash ? path : ".";
    const size_t len = slash && slash > path ? (size_t)(slash - path) : 1;
    if (len >= sizeof sandbox->folder)
        return true;
    if (memcmp(folder, sandbox->folder, len) != 0 || sandbox->folder[len] != '\0') {
        memcpy(sandbox->folder, folder, len);
        sandbox->folder[len] = '\0';
        sandbox->folder_leads_on = allow(sandbox, sandbox->folder, SANDBOX_READ);
    }
    return sandbox->folder_leads_on;
}

bool sandbox_allow_regular(struct sandbox *sandbox, const char *name)
{
    char target[PATH_MAX];
    struct stat status;
    if (sandbox->rules < 0)
        return true;
    if (!allow_folder_of(sandbox, name))
        return false;
    if (lstat(name, &status) != 0 || !S_ISLNK(status.st_mode))
        return true;
    return leads_on(sandbox, name) && (!realpath(name, target) || allow_folder_of(sandbox, target));
}

bool sandbox_allow_name(struct sandbox *sandbox, const char *name)
{
    struct stat status;
    if (sandbox->rules < 0)
        return true;
    if (stat(name, &status) != 0 || S_ISREG(status.st_mode))
        return sandbox_allow_regular(sandbox, name);
    return allow(sandbox, name, SANDBOX_OPEN); /* of a folder it is said when it is opened */
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

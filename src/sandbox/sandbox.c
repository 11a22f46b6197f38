/* SPDX-License-Identifier: MIT */
#include "sandbox.h"
#include "seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- Landlock: the same on all machines that this is built for; the headers may be older --- */

#define CALL_CREATE_RULES 444
#define CALL_ADD_RULE 445
#define CALL_RESTRICT_SELF 446
#define ASK_VERSION 1u
#define RULE_OF_PATH 1

enum {
    RIGHT_WRITE_FILE = 1 << 1,
    RIGHT_READ_FILE = 1 << 2,
    RIGHT_READ_DIR = 1 << 3,
    RIGHT_REMOVE_FILE = 1 << 5,
    RIGHT_MAKE_REG = 1 << 8,
    RIGHT_TRUNCATE = 1 << 14,
    RIGHT_IOCTL_DEV = 1 << 15,

    NET_BIND_AND_CONNECT = 3,    /* TCP, version 4 */
    SCOPE_SOCKET_AND_SIGNAL = 3, /* version 6 */
};

/* What is refused unless a rule allows it. Kernels take a longer structure than they know if they
 * find zeros there. */
struct handled {
    uint64_t files;
    uint64_t net;
    uint64_t scopes;
};

struct rule {
    uint64_t rights;
    int32_t fd;
} __attribute__((packed));

/* Returns all rights on files that a version knows. */
static uint64_t rights_of_version(int version)
{
    static const unsigned char bits[] = {13, 14, 15, 15, 16};
    const int newest = (int)sizeof bits;
    return ((uint64_t)1 << bits[(version < newest ? version : newest) - 1]) - 1;
}

/* Continues without Landlock. */
static void drop_rules(struct sandbox *sandbox, int error)
{
    if (sandbox->rules >= 0)
        close(sandbox->rules);
    sandbox->rules = -1;
    sandbox->version = error;
}

void sandbox_begin(struct sandbox *sandbox)
{
    const int version = (int)syscall(CALL_CREATE_RULES, NULL, 0, ASK_VERSION);
    *sandbox = (struct sandbox){.rules = -1, .version = version < 0 ? errno : ENOSYS};
    if (version <= 0)
        return;
    const struct handled handled = {
        .files = rights_of_version(version),
        .net = version >= 4 ? NET_BIND_AND_CONNECT : 0,
        .scopes = version >= 6 ? SCOPE_SOCKET_AND_SIGNAL : 0,
    };
    sandbox->rules = (int)syscall(CALL_CREATE_RULES, &handled, sizeof handled, 0);
    sandbox->version = sandbox->rules < 0 ? errno : version;
}

void sandbox_allow(struct sandbox *sandbox, int fd, enum sandbox_use use)
{
    static const uint64_t rights[] = {
        [SANDBOX_READ] = RIGHT_READ_FILE,
        [SANDBOX_WRITE] = RIGHT_WRITE_FILE | RIGHT_TRUNCATE | RIGHT_IOCTL_DEV,
        /* Files are renamed within the folder, so no right to move them elsewhere is needed. */
        [SANDBOX_REPLACE] = RIGHT_READ_DIR | RIGHT_MAKE_REG | RIGHT_REMOVE_FILE,
    };
    sandbox->writes |= use == SANDBOX_WRITE;
    sandbox->replaces |= use == SANDBOX_REPLACE;
    if (sandbox->rules < 0)
        return;
    const struct rule rule = {.rights = rights[use] & rights_of_version(sandbox->version),
                              .fd = fd};
    if (syscall(CALL_ADD_RULE, sandbox->rules, RULE_OF_PATH, &rule, 0) != 0 && errno == ENOMEM)
        drop_rules(sandbox, ENOMEM); /* it would refuse what can be opened without it */
}

void sandbox_allow_path(struct sandbox *sandbox, const char *path)
{
    const int found = sandbox->rules < 0 ? -1 : open(path, O_PATH | O_CLOEXEC);
    if (found < 0)
        return;
    sandbox_allow(sandbox, found, SANDBOX_READ);
    close(found);
}

/* --- both --- */

void sandbox_enter(struct sandbox *sandbox)
{
    const struct seccomp_needs needs = {.replaces = sandbox->replaces, .opens = sandbox->writes};
    /* First, programs that are run gain no privileges: both parts need that. */
    const int error = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
    if (error != 0)
        drop_rules(sandbox, error);
    else if (sandbox->rules >= 0 && syscall(CALL_RESTRICT_SELF, sandbox->rules, 0) != 0)
        drop_rules(sandbox, errno);
    else if (sandbox->rules >= 0)
        close(sandbox->rules);
    sandbox->seccomp_error = error != 0 ? error : seccomp_enter(&needs);
}

bool sandbox_is_whole(const struct sandbox *sandbox)
{
    return sandbox->rules >= 0 && sandbox->seccomp_error == 0;
}

void sandbox_describe(const struct sandbox *sandbox, struct error *text)
{
    char landlock[80], seccomp[80] = "seccomp", named[80] = "";
    if (sandbox->rules >= 0)
        snprintf(landlock, sizeof landlock, "Landlock (ABI %d)", sandbox->version);
    else
        snprintf(landlock, sizeof landlock, "no Landlock: %s", strerror(sandbox->version));
    if (sandbox->seccomp_error != 0)
        snprintf(seccomp, sizeof seccomp, "no seccomp: %s", strerror(sandbox->seccomp_error));
    if (sandbox->rules >= 0 && sandbox->named > 0)
        snprintf(named, sizeof named, "; %u file%s can be opened by name", sandbox->named,
                 sandbox->named == 1 ? "" : "s");
    const bool none = sandbox->rules < 0 && sandbox->seccomp_error != 0;
    error_set(text, "%s%s%s%s%s%s", none ? "none: " : "", landlock,
              sandbox_is_whole(sandbox) ? " and " : "; ", seccomp, named,
              sandbox->rules >= 0 && sandbox->replaces
                  ? "; files in the directory of --output can be replaced"
                  : "");
}

/* SPDX-License-Identifier: MIT */
#include "landlock.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same on all machines that this is built for. The headers of older systems do not have them,
 * or not all of the rights, though their kernel may. */
#define CALL_CREATE_RULES 444
#define CALL_ADD_RULE 445
#define CALL_RESTRICT_SELF 446
#define ASK_VERSION 1u
#define RULE_OF_PATH 1

enum {
    RIGHT_EXECUTE = 1 << 0,
    RIGHT_WRITE_FILE = 1 << 1,
    RIGHT_READ_FILE = 1 << 2,
    RIGHT_READ_DIR = 1 << 3,
    RIGHT_REMOVE_FILE = 1 << 5,
    RIGHT_MAKE_REG = 1 << 8,
    RIGHTS_1 = (1 << 13) - 1,  /* all of version 1 */
    RIGHT_REFER = 1 << 13,     /* version 2 */
    RIGHT_TRUNCATE = 1 << 14,  /* version 3 */
    RIGHT_IOCTL_DEV = 1 << 15, /* version 5 */

    RIGHTS_OF_FILES =
        RIGHT_EXECUTE | RIGHT_WRITE_FILE | RIGHT_READ_FILE | RIGHT_TRUNCATE | RIGHT_IOCTL_DEV,

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

static uint64_t rights_of_version(int version)
{
    uint64_t rights = RIGHTS_1;
    if (version >= 2)
        rights |= RIGHT_REFER;
    if (version >= 3)
        rights |= RIGHT_TRUNCATE;
    if (version >= 5)
        rights |= RIGHT_IOCTL_DEV;
    return rights;
}

int landlock_begin(int *version)
{
    const long known = syscall(CALL_CREATE_RULES, NULL, 0, ASK_VERSION);
    if (known <= 0) {
        *version = known < 0 ? errno : ENOSYS;
        return -1;
    }
    const struct handled handled = {
        .files = rights_of_version((int)known),
        .net = known >= 4 ? NET_BIND_AND_CONNECT : 0,
        .scopes = known >= 6 ? SCOPE_SOCKET_AND_SIGNAL : 0,
    };
    const int rules = (int)syscall(CALL_CREATE_RULES, &handled, sizeof handled, 0);
    *version = rules < 0 ? errno : (int)known;
    return rules;
}

int landlock_allow(int rules, int version, int fd, enum sandbox_use use)
{
    static const uint64_t rights[] = {
        [SANDBOX_READ] = RIGHT_READ_FILE,
        [SANDBOX_OPEN] = RIGHT_READ_FILE | RIGHT_READ_DIR,
        [SANDBOX_WRITE] = RIGHT_WRITE_FILE | RIGHT_TRUNCATE | RIGHT_IOCTL_DEV,
        /* Files are renamed within it, for which no right to move them elsewhere is needed. */
        [SANDBOX_REPLACE] =
            RIGHT_READ_DIR | RIGHT_WRITE_FILE | RIGHT_TRUNCATE | RIGHT_MAKE_REG | RIGHT_REMOVE_FILE,
    };
    struct stat status;
    struct rule rule = {.rights = rights[use] & rights_of_version(version), .fd = fd};
    if (fstat(fd, &status) != 0)
        return -1;
    if (!S_ISDIR(status.st_mode))
        rule.rights &= RIGHTS_OF_FILES;
    else if (use == SANDBOX_OPEN)
        rule.rights &= ~(uint64_t)RIGHT_READ_FILE;
    return (int)syscall(CALL_ADD_RULE, rules, RULE_OF_PATH, &rule, 0);
}

int landlock_enter(int rules)
{
    if (syscall(CALL_RESTRICT_SELF, rules, 0) != 0)
        return -1;
    close(rules);
    return 0;
}

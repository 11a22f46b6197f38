/* SPDX-License-Identifier: MIT */
/* By the system call itself, as C libraries have a function for it only since glibc 2.28 and musl
 * 1.2.5. The headers of those define the same names as the kernel's, so none is included here. */
#include "mount_point.h"

#include <linux/fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

bool mount_point_is(int fd)
{
    struct statx file;
    return syscall(SYS_statx, fd, "", AT_EMPTY_PATH, 0, &file) == 0 &&
           (file.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* SPDX-License-Identifier: MIT */
/* Files on which something is mounted. */
#ifndef GPUHISTO_MOUNT_POINT_H
#define GPUHISTO_MOUNT_POINT_H

#include <stdbool.h>

/* True if an open file, perhaps with O_PATH, is the root of a mount, so no other file can replace
 * it. Always false before Linux 5.8. */
bool mount_point_is(int fd);

#endif

/* SPDX-License-Identifier: MIT */
/* Files on which something is mounted. */
#ifndef GPUHISTO_MOUNT_POINT_H
#define GPUHISTO_MOUNT_POINT_H

#include <stdbool.h>

/* Whether an open file, perhaps with O_PATH, is the root of a mount, so that no other file can take
 * its place. False too where the kernel does not tell, before Linux 5.8. */
bool mount_point_is(int fd);

#endif

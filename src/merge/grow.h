/* SPDX-License-Identifier: MIT */
/* Lists that grow. */
#ifndef GPUHISTO_GROW_H
#define GPUHISTO_GROW_H

#include <stddef.h>

/* Makes room for `wanted` elements of `size` bytes in a list that has room for *room: the list,
 * perhaps moved, and *room changed; or NULL if memory is short, and nothing changed. It at least
 * doubles, so that elements can be added one at a time. */
void *grow_list(void *list, size_t *room, size_t wanted, size_t size);

/* Makes room for one more in a list of `count` elements whose room is the next power of two, and is
 * not kept: the list, perhaps moved; or NULL if memory is short, and nothing changed. */
void *grow_by_one(void *list, size_t count, size_t size);

#endif

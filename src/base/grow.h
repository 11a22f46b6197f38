/* SPDX-License-Identifier: MIT */
/* Lists that grow. */
#ifndef GPUHISTO_GROW_H
#define GPUHISTO_GROW_H

#include <stddef.h>

/* Makes room for `count` elements of `size` bytes in a list that has a capacity of *capacity.
 * Returns the list, perhaps moved, and updates *capacity; or NULL if memory is short, and nothing
 * has changed. The capacity at least doubles, so elements can be added one at a time. */
void *grow_list(void *list, size_t *capacity, size_t count, size_t size);

/* Makes room for one more element in a list of `count`, whose capacity follows from that: the next
 * power of two. Returns the list, perhaps moved; or NULL if memory is short, and nothing has
 * changed. */
void *grow_by_one(void *list, size_t count, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* Names of keys of several fields, such as status and path: the part of each field, one after the
 * other, and then the length of each but the last. So no two lists of parts have one name, and
 * whatever bytes a part has, nothing is escaped. A key of one field is its own only part. */
#ifndef GPUHISTO_KEY_PARTS_H
#define GPUHISTO_KEY_PARTS_H

#include "key.h"

/* Returns the bytes of a name whose `count` parts have `len` bytes together. */
static inline size_t key_parts_size(unsigned count, size_t len)
{
    return len + (count - 1) * sizeof(uint32_t);
}

/* Writes a name of 1 to KEY_PARTS_MAX parts to `to`, which has key_parts_size bytes and is none of
 * the parts. Returns it. Any thread. */
struct key_name key_parts_join(const struct key_name *parts, unsigned count, unsigned char *to);

/* Returns part i of a name that was joined of `count` parts. Any thread. */
struct key_name key_parts_get(struct key_name name, unsigned count, unsigned i);

#endif

/* SPDX-License-Identifier: MIT */
/* XXH64 of files, and of lists of files: to see that shards are of the same ones. */
#ifndef GPUHISTO_FINGERPRINT_H
#define GPUHISTO_FINGERPRINT_H

#include "bytes.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes at either end of a file that its fingerprint covers. */
#define FINGERPRINT_END ((size_t)64 << 10)

/* Sets *fingerprint to that of a regular file of `size` bytes: of the size (8 bytes, little-endian)
 * and of its first and last FINGERPRINT_END bytes, or of all of them twice. 0, or -1 with the
 * error set. Any thread. */
int fingerprint_file(const struct bytes *bytes, uint64_t size, uint64_t *fingerprint,
                     struct error *error);

/* Returns the digest of a list of files: of each name with its NUL and of each size, in order. */
uint64_t fingerprint_list(char *const *names, const uint64_t *sizes, size_t count);

#endif

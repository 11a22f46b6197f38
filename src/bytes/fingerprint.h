/* SPDX-License-Identifier: MIT */
/* Short numbers by which FILEs, and lists of them, are known again: XXH64. */
#ifndef GPUHISTO_FINGERPRINT_H
#define GPUHISTO_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes at the beginning and at the end of a FILE that its fingerprint takes in. */
#define FINGERPRINT_END ((size_t)64 << 10)

/* Sets *fingerprint to that of an open FILE of so many bytes: of the size, eight bytes with the
 * least first, and of its first and last FINGERPRINT_END bytes, or of all of them, twice. 0; 1: it
 * has fewer bytes; or -1 with errno: it cannot be read. Any thread. */
int fingerprint_file(int fd, uint64_t size, uint64_t *fingerprint);

/* The digest of a list of FILEs: of each name with its NUL, and of the size as above, in order. */
uint64_t fingerprint_list(char *const *names, const uint64_t *sizes, size_t count);

#endif

/* SPDX-License-Identifier: MIT */
/* Compressed files that are right and that no compressor writes, made so that each of their bytes
 * costs whoever looks for blocks, or prepares to decode them, as much work as possible. */
#ifndef GPUHISTO_TESTS_HOSTILE_H
#define GPUHISTO_TESTS_HOSTILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hostile_file {
    const char *name;     /* of its kind: "gzip-" or "zstd-", and what it is full of */
    unsigned char *bytes; /* to be freed */
    size_t len;
};

/* Makes a file of `size` bytes or some more, of the kind with this number, from 0, among those
 * whose names begin so. All is zero if there is none. */
struct hostile_file hostile_make(const char *name, size_t number, size_t size);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Compressed files that are right and that no compressor writes, made so that each of their bytes
 * costs whoever looks for blocks, or prepares to decode them, as much work as possible. */
#ifndef GPUHISTO_TESTS_HOSTILE_H
#define GPUHISTO_TESTS_HOSTILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owns its memory. */
struct hostile_file {
    unsigned char *bytes;
    size_t len;
};

/* Returns the name of a kind, from 0 on: "gzip-" or "zstd-", and what it is full of. NULL: there
 * are no more. */
const char *hostile_name(size_t kind);

/* Makes a file of a kind, of `size` bytes or a few more. Ends the process if there is none. */
struct hostile_file hostile_make(const char *name, size_t size);

void hostile_free(struct hostile_file *file);

#ifdef __cplusplus
}
#endif

#endif

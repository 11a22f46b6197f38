/* SPDX-License-Identifier: MIT */
/* Reads long parts of a regular file by several threads: one thread copies some 8 GB/s from the
 * page cache, which is less than a GPU decompresses. Threads start with the first part that is long
 * enough, and wait between parts. */
#ifndef GPUHISTO_PARALLEL_READ_H
#define GPUHISTO_PARALLEL_READ_H

#include "bytes.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct parallel_read;

/* Opens one, without threads yet. NULL, which parallel_read takes, too: out of memory. */
struct parallel_read *parallel_read_open(void);

/* Reads bytes [offset, offset + len) of a regular file to buf, as bytes_read_at: how many there
 * were, or -1 with the error set, which is that of the first byte that could not be read. With
 * `wide` NULL one thread reads. One call at a time. */
ssize_t parallel_read(struct parallel_read *wide, const struct bytes *bytes, void *buf, size_t len,
                      uint64_t offset, struct error *error);

/* Ends the threads, and frees it. NULL is fine. */
void parallel_read_close(struct parallel_read *wide);

#endif

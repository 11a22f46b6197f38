/* SPDX-License-Identifier: MIT */
/* A long part of a regular file, read by several threads side by side: one thread copies some 8
 * GB/s from the page cache, which is less than a GPU decompresses.
 *
 * Its threads are started for the first part that is long enough, and wait between parts. */
#ifndef GPUHISTO_WIDE_READ_H
#define GPUHISTO_WIDE_READ_H

#include "src/open/input.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct wide_read;

/* Opens one, without threads yet. NULL: memory is short; wide_read then reads with one thread. */
struct wide_read *wide_read_open(void);

/* Reads bytes [offset, offset + len) of a regular file to buf, as input_read_at: how many there
 * were, or -1 with the reason set, which is that of the first byte that could not be read. `wide`
 * may be NULL. One call at a time. */
ssize_t wide_read(struct wide_read *wide, const struct input *input, void *buf, size_t len,
                  uint64_t offset, struct reason *why);

/* Ends its threads, and frees it; NULL is fine. */
void wide_read_close(struct wide_read *wide);

#endif

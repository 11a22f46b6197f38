/* SPDX-License-Identifier: MIT */
/* What was read of a stream, kept so that it can be read again: a queue of bytes in pieces. */
#ifndef GPUHISTO_KEPT_H
#define GPUHISTO_KEPT_H

#include <stddef.h>
#include <stdint.h>

struct kept_piece;

/* Bytes [begin, end) of the stream. All zeros: nothing was read. */
struct kept {
    uint64_t begin, end;
    struct kept_piece *first, *last; /* owned */
};

/* Appends the next bytes. 0, or -1: out of memory, and some of them may be missing. */
int kept_add(struct kept *kept, const unsigned char *data, size_t len);

/* Copies bytes from `at` on, which is not before begin, to out[0..cap). Returns how many there
 * were. */
size_t kept_copy(const struct kept *kept, uint64_t at, unsigned char *out, size_t cap);

/* Drops the bytes before `at`, or all if it is after them. */
void kept_drop(struct kept *kept, uint64_t at);

/* Puts bytes before the first one. 0, or -1: out of memory, and nothing has changed. */
int kept_prepend(struct kept *kept, const unsigned char *data, size_t len);

/* Drops everything; the next bytes to be appended begin at `at`. */
void kept_restart(struct kept *kept, uint64_t at);

static inline uint64_t kept_size(const struct kept *kept)
{
    return kept->end - kept->begin;
}

#endif

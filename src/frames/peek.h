/* SPDX-License-Identifier: MIT */
/* A look at the content of a file from a frame on, beside what is counted: decompressed, or as it
 * is. Of a stream nothing is handed out by that. */
#ifndef GPUHISTO_PEEK_H
#define GPUHISTO_PEEK_H

#include "frames.h"

/* What is looked at: bytes [begin, end) of the file; a frame begins at `begin`. */
struct peek {
    const struct frames *frames;
    uint64_t begin, end;
};

/* Is given what comes next of the content, data[0..len); at its end, 0 bytes once. Returns 1 for
 * more, 0 if that is enough, or -1: out of memory. */
typedef int peek_take(void *arg, const unsigned char *data, size_t len);

/* Gives content to `take` until it is enough. 0, or -1 with the reason set. */
int peek_content(const struct peek *peek, peek_take *take, void *arg, struct reason *why);

#endif

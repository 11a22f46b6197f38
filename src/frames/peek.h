/* SPDX-License-Identifier: MIT */
/* A look at the content of a file from a frame on, decompressed, or as stored if it is not
 * compressed. It does not disturb counting: no bytes of a stream are handed out. */
#ifndef GPUHISTO_PEEK_H
#define GPUHISTO_PEEK_H

#include "frames.h"

/* The bytes that are looked at, [begin, end) of the file; a frame begins at `begin`. */
struct peek {
    const struct frames *frames;
    uint64_t begin, end;
};

/* Takes the next bytes of the content, data[0..len); at its end, 0 bytes once. Returns 1 for more,
 * 0 if that is enough, or -1: out of memory. */
typedef int peek_sink(void *arg, const unsigned char *data, size_t len);

/* Gives content to `sink` until it is enough. 0, or -1 with the error set. */
int peek_content(const struct peek *peek, peek_sink *sink, void *arg, struct error *error);

#endif

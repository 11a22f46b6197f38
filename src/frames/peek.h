/* SPDX-License-Identifier: MIT */
/* A look at the content of a compressed regular file from a unit on, beside what is counted. */
#ifndef GPUHISTO_PEEK_H
#define GPUHISTO_PEEK_H

#include "codec.h"

#include <sys/types.h>

struct input;

#define PEEK_SIZE ((size_t)64 << 10) /* bytes that are read, and may be asked for, at a time */

struct peek {
    const struct input *input;
    struct decoder *decoder;
    unsigned char *data;  /* PEEK_SIZE bytes */
    size_t pos, len;      /* data[pos..len) was not decoded yet */
    bool is_dry;          /* the decoder gives nothing more without being fed */
    uint64_t offset, end; /* of the file: of the next byte to read, and where to stop */
    uint64_t unit;        /* where the unit begins that is being decoded */
};

/* Begins with the unit at `offset`, up to `end`. 0, or -1 with the reason set. */
int peek_begin(struct peek *peek, const struct input *input, const struct codec_options *options,
               uint64_t offset, uint64_t end, struct reason *why);

/* Decodes on, to out[0..cap), cap > 0. The bytes, 0 at the end, or -1 with the reason set. */
ssize_t peek_read(struct peek *peek, unsigned char *out, size_t cap, struct reason *why);

/* Frees the memory. */
void peek_end(struct peek *peek);

#endif

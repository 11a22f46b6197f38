/* SPDX-License-Identifier: MIT */
/* A look at the content of a file from a frame on, beside what is counted: decompressed, or as it
 * is. Of a stream nothing is handed out by that. */
#ifndef GPUHISTO_PEEK_H
#define GPUHISTO_PEEK_H

#include "codec.h"
#include "src/bytes/bytes.h"

#include <sys/types.h>

#define PEEK_SIZE ((size_t)64 << 10) /* bytes that are read, and may be asked for, at a time */
#define PEEK_STREAM_MAX ((uint64_t)16 << 20) /* bytes of a compressed stream that are looked at */

struct peek {
    struct bytes *bytes;
    const struct codec *codec; /* NULL: the content is what is stored */
    struct decoder *decoder;
    unsigned char *data; /* PEEK_SIZE bytes */
    size_t pos, len;     /* data[pos..len) was not decoded yet */
    bool is_dry;         /* the decoder gives nothing more without being fed */
    uint64_t offset;     /* of the next byte to read. After peek_begin a frame's may be set, */
    uint64_t end;        /* and where to stop, if that is before the end of the file */
    uint64_t frame;      /* where the frame begins that is being decoded */
};

/* Begins at the beginning of the file, up to its end. 0, or -1 with the reason set. */
int peek_begin(struct peek *peek, struct bytes *bytes, const struct codec *codec,
               const struct codec_options *options, struct reason *why);

/* Decodes on, to out[0..cap), cap > 0. The bytes, 0 at the end, or -1 with the reason set. */
ssize_t peek_read(struct peek *peek, unsigned char *out, size_t cap, struct reason *why);

/* Frees the memory. */
void peek_end(struct peek *peek);

#endif

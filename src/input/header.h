/* SPDX-License-Identifier: MIT */
/* The header that a file's content may begin with (.npy, WAV, PNM). It says what the values after
 * it are. */
#ifndef GPUHISTO_HEADER_H
#define GPUHISTO_HEADER_H

#include "src/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEADER_MAX ((size_t)1 << 20) /* bytes of the longest header that is read */
#define HEADER_MAGIC_MAX 12          /* bytes that tell at most whether there is a header */
#define HEADER_TYPE_MAX 16           /* size of a type's name with its NUL */
#define HEADER_HOLDS_MAX 80          /* size of the description of the values with its NUL */
#define HEADER_TO_END UINT64_MAX     /* the values reach to the end of the content */

/* The bytes that may follow the header. */
enum header_extent {
    HEADER_EXACT,   /* all bytes that it states and nothing else */
    HEADER_LEADING, /* all bytes that it states, then something else */
    HEADER_OPEN,    /* at most the bytes that it states: the writer did not know the length */
};

struct header {
    const char *format;           /* name for messages */
    size_t size;                  /* bytes of the header; the values begin there */
    char holds[HEADER_HOLDS_MAX]; /* the values as the format describes them: "<f4" */
    char type[HEADER_TYPE_MAX];   /* the TYPE of --values: "f32"; empty if there is none */
    unsigned channels;            /* interleaved channels; 0 if the header does not say */
    bool is_planar;               /* channels are stored one after the other */
    uint64_t bytes;               /* of all values, at most INT64_MAX; or HEADER_TO_END */
    enum header_extent extent;
};

enum header_status {
    HEADER_NONE,  /* there is no header */
    HEADER_PART,  /* undecided: more bytes are needed */
    HEADER_FOUND, /* *header is set */
    HEADER_WRONG, /* there is a header that cannot be read: *fault says why */
};

/* Reads the header from the first bytes of a file's content, data[0..len). HEADER_PART sets *wanted
 * to the number of bytes that are needed, more than len and at most HEADER_MAX. It does not happen
 * with `wanted` NULL: the content has no more bytes. The fault does not name the file. Any thread.
 */
enum header_status header_peek(const unsigned char *data, size_t len, size_t *wanted,
                               struct header *header, struct error *fault);

/* True if the values can be counted as this type in this many channels. Otherwise sets the fault to
 * what to type instead, or that --values has no such type. */
bool header_fits(const struct header *header, const char *type, unsigned channels,
                 struct error *fault);

#endif

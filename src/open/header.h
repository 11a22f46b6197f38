/* SPDX-License-Identifier: MIT */
/* The header that a FILE's content may begin with, which says what the values after it are. Each
 * format is one file, and a row of the table in header.c. */
#ifndef GPUHISTO_HEADER_H
#define GPUHISTO_HEADER_H

#include "src/base/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEADER_MAX ((size_t)1 << 20) /* bytes of the longest one that is read */
#define HEADER_MAGIC_MAX 12          /* bytes that tell whether there is one, at most */
#define HEADER_TYPE_MAX 16           /* of a type's name, with its end */
#define HEADER_HOLDS_MAX 80          /* of what the values are, with its end */
#define HEADER_TO_END UINT64_MAX     /* bytes of values: up to the end of the content */

/* What may come of the values after the header. */
enum header_extent {
    HEADER_EXACT,   /* all bytes that it states, and nothing else after them */
    HEADER_LEADING, /* all bytes that it states; what follows is something else */
    HEADER_OPEN,    /* no more than it states: whoever wrote it did not know how many would come */
};

struct header {
    const char *format;           /* as messages call it */
    size_t size;                  /* bytes of the header: the values begin there */
    char holds[HEADER_HOLDS_MAX]; /* what the values are, as the format calls it: "<f4" */
    char type[HEADER_TYPE_MAX];   /* the same as --values=TYPE has it, "f32"; empty: it has none */
    unsigned channels;            /* whose values take turns; 0: the header does not say */
    bool is_planar;               /* values of one channel follow each other */
    uint64_t bytes;               /* of all values, at most INT64_MAX; or HEADER_TO_END */
    enum header_extent extent;
};

enum header_status {
    HEADER_NONE,  /* the content begins with no header */
    HEADER_PART,  /* so far it could be one: more bytes must be seen */
    HEADER_FOUND, /* *header is set */
    HEADER_WRONG, /* it is one, but cannot be read: *fault says why */
};

/* A format. Its first byte is that of no other. */
struct header_format {
    const char *name;
    size_t magic_size; /* bytes after which only a header of this format is HEADER_PART */
    /* As header_look, with len > 0. */
    enum header_status (*look)(const unsigned char *data, size_t len, size_t *wanted,
                               struct header *header, struct reason *fault);
};

extern const struct header_format header_npy, header_wav, header_pnm;

/* Looks at the first bytes of a FILE's content, data[0..len). HEADER_PART sets *wanted, which is
 * more than len, to how many must be seen before anything else can be said, HEADER_MAX at most. The
 * fault names no FILE. Any thread. */
enum header_status header_look(const unsigned char *data, size_t len, size_t *wanted,
                               struct header *header, struct reason *fault);

/* The same of a content that has no more bytes than these; never HEADER_PART. */
enum header_status header_look_at_all(const unsigned char *data, size_t len, struct header *header,
                                      struct reason *fault);

/* True if what the header says can be counted as values of that type, in so many channels.
 * Otherwise the fault says what to type, or that there is no such type. */
bool header_fits(const struct header *header, const char *type, unsigned channels,
                 struct reason *fault);

/* For formats: says that so many bytes must be seen. HEADER_PART. */
enum header_status header_need(size_t size, size_t *wanted);

/* For formats: sets the fault to what is wrong in a header of this name. HEADER_WRONG. */
enum header_status header_wrong(const char *format, const char *what, struct reason *fault);

#endif

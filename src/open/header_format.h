/* SPDX-License-Identifier: MIT */
/* What a header format implements. The table of formats is in header.c. */
#ifndef GPUHISTO_HEADER_FORMAT_H
#define GPUHISTO_HEADER_FORMAT_H

#include "header.h"

/* No two formats begin with the same byte. */
struct header_format {
    const char *name;
    size_t magic_size; /* with this many bytes, HEADER_PART means that the format is certain */
    /* As header_look, with len > 0. */
    enum header_status (*look)(const unsigned char *data, size_t len, size_t *wanted,
                               struct header *header, struct reason *fault);
};

extern const struct header_format header_npy, header_wav, header_pnm;

/* Asks for `size` bytes. Returns HEADER_PART. */
static inline enum header_status header_need(size_t size, size_t *wanted)
{
    *wanted = size;
    return HEADER_PART;
}

/* Sets the fault to what is wrong with a header of this format. Returns HEADER_WRONG. */
static inline enum header_status header_wrong(const char *format, const char *what,
                                              struct reason *fault)
{
    reason_set(fault, "invalid %s header (%s)", format, what);
    return HEADER_WRONG;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Formats of compressed data and of text that are recognised, but not decoded here: their bytes are
 * counted as they are, and the user is told which program to pipe them through. */
#ifndef GPUHISTO_UNSUPPORTED_FORMAT_H
#define GPUHISTO_UNSUPPORTED_FORMAT_H

#include "src/frames/codec.h"

struct unsupported_format {
    const char *name;    /* as messages call it */
    const char *command; /* decodes a file to standard output */
    bool is_text;        /* a way to code characters, which matters where text is counted */
};

/* The files of a run that are in such a format; zeroed, there are none. */
struct unsupported_seen {
    const struct unsupported_format *format; /* of the first one */
    const char *name;                        /* its name, which must outlive this */
    size_t number;                           /* where it stands among the files */
    size_t others;                           /* how many more there are */
};

/* Finds the format whose data begin with head[0..len); formats of text only where text is counted.
 * MAGIC_MATCH with *format set; MAGIC_PART if more bytes must be seen, CODEC_MAGIC_MAX at most; or
 * MAGIC_OTHER. */
enum codec_magic unsupported_format_recognise(const unsigned char *head, size_t len, bool is_text,
                                              const struct unsupported_format **format);

/* The format of compressed data with this name, or NULL. */
const struct unsupported_format *unsupported_format_find(const char *name);

/* Remembers a file, the number-th as they were given; a format of NULL is fine. Files come in any
 * order. One thread at a time. */
void unsupported_format_record(struct unsupported_seen *seen,
                               const struct unsupported_format *format, const char *name,
                               size_t number);

/* Sets *warning to one line about all that was seen; empty if that is nothing. */
void unsupported_format_warn(const struct unsupported_seen *seen, struct error *warning);

#endif

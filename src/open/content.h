/* SPDX-License-Identifier: MIT */
/* The range of a file's content that is counted. The content is what decompression gives or, if a
 * file is not compressed, its bytes. */
#ifndef GPUHISTO_CONTENT_H
#define GPUHISTO_CONTENT_H

#include "header.h"
#include "src/base/error.h"
#include "src/bytes/bytes.h"
#include "src/frames/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The options of the command line about content. All 0: the whole content of each file. */
struct content_options {
    uint64_t skip;   /* bytes to leave out at the beginning, CONTENT_MAX at most */
    uint64_t length; /* has_length: bytes to count after them, CONTENT_MAX at most */
    bool has_length;
    const char *header_type; /* the content may begin with a header, of values of this type; NULL:
                              * no header is looked for */
    bool needs_header;       /* the type was not typed: each file must have a header */
    unsigned channels;       /* of values: more than 1 if one of each is a record */
    bool has_pairs;          /* values are pairs of bytes */
};

#define CONTENT_MAX BYTES_MAX
#define CONTENT_TO_END UINT64_MAX

/* Bytes [begin, end) of a file's content. */
struct content_range {
    uint64_t begin;
    uint64_t end;       /* CONTENT_TO_END: to the end of the content */
    const char *stated; /* the format of the header that states the end, before which the content
                         * must not end; or NULL */
    bool is_whole;      /* nor may it go on after that */
};

/* Returns the range that the options give. */
struct content_range content_range_of(const struct content_options *options);

/* Sets the range to the values that follow a header. 0; or -1 with the fault if they do not fit the
 * options. */
int content_follow(struct content_range *range, const struct header *header,
                   const struct content_options *options, struct error *fault);

/* Compares content with what its header states, after `position` bytes of it were seen, or at its
 * end there. 0, or -1 with the fault. */
int content_check(const struct content_range *range, uint64_t position, bool at_end,
                  struct error *fault);

/* True if the range is less than the whole content. */
bool content_is_partial(const struct content_range *range);

/* Returns how many of the first `position` bytes of the content are in the range. */
uint64_t content_before(const struct content_range *range, uint64_t position);

/* Returns how many of the next `max` bytes after `position` are to be read: those up to the end of
 * the range, and one more if that would be wrong. */
size_t content_left(const struct content_range *range, uint64_t position, size_t max);

/* Keeps of data[0..len), bytes of the content from `position` on, those from the beginning of the
 * range on, and moves them to data. Returns how many. */
size_t content_keep(const struct content_range *range, uint64_t position, unsigned char *data,
                    size_t len);

#endif

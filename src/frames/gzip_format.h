/* SPDX-License-Identifier: MIT */
/* gzip's members (RFC 1952) but for their blocks: headers, trailers, and what is between members,
 * all of which may come in any number of parts. Pure functions on bytes; any thread. */
#ifndef GPUHISTO_GZIP_FORMAT_H
#define GPUHISTO_GZIP_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GZIP_MAGIC_SIZE 3   /* bytes, with the only method of compression there is */
#define GZIP_TRAILER_SIZE 8 /* bytes after the blocks: CRC-32 and length of the content */

/* What may be wrong after a header, in the words of messages. */
#define GZIP_FAULT_BLOCK "corrupt gzip data (invalid block)"
#define GZIP_FAULT_CODE "corrupt gzip data (invalid code)"
#define GZIP_FAULT_DISTANCE "corrupt gzip data (a distance goes back too far)"
#define GZIP_FAULT_CHECKSUM "corrupt gzip data (wrong checksum or length)"

/* The first bytes of a member of BGZF, up to its size: the first part of the extra field. */
#define BGZF_HEAD_SIZE 18

extern const unsigned char gzip_magic[GZIP_MAGIC_SIZE];

/* The fields, in their order. All but the first are optional. */
enum gzip_field {
    GZIP_FIXED, /* magic, method, flags, time, extra flags, operating system */
    GZIP_EXTRA_SIZE,
    GZIP_EXTRA,
    GZIP_NAME,
    GZIP_COMMENT,
    GZIP_CHECKSUM,
    GZIP_HEADER_ENDED,
};

/* A header as far as it has come; zeroed, it is at its beginning. */
struct gzip_header {
    enum gzip_field field;
    size_t at;       /* bytes of the field that have come */
    unsigned flags;  /* the fields that there are */
    unsigned number; /* of two bytes: the size of the extra field, then the checksum */
    uint32_t crc;    /* of the bytes before it */
};

/* The parts of a gzip file. */
enum gzip_part {
    GZIP_FIRST,   /* the first member */
    GZIP_HEADER,  /* the rest of a member's header */
    GZIP_BLOCKS,  /* blocks of a member */
    GZIP_TRAILER, /* the rest of its checksum and length */
    GZIP_NEXT,    /* another member, padding or the end */
    GZIP_ZEROS,   /* more padding, or the end */
};

/* A walk over members; zeroed, it is at the beginning of a file. Who decodes the blocks of a member
 * sets `next` behind them, to GZIP_TRAILER, with the other two zeroed, or to GZIP_NEXT. */
struct gzip_members {
    enum gzip_part next;
    struct gzip_header header;
    uint64_t trailer; /* as far as it has come: CRC-32 and length */
    unsigned trailer_len;
};

/* Takes bytes in[0..len) up to blocks, or behind a trailer or padding, and adds their number to
 * *used. Zero bytes after a member are padding, as on tape: only more of them may follow. NULL; or
 * what is wrong with the bytes from there on, and the walk is of no more use. */
const char *gzip_members_read(struct gzip_members *members, const unsigned char *in, size_t len,
                              size_t *used);

/* True if the next byte is of no member that has begun, so the file may end here. */
bool gzip_members_are_complete(const struct gzip_members *members);

/* Returns how many bytes the member that begins with head[0..BGZF_HEAD_SIZE) has, as these state; 0
 * if they do not. */
size_t bgzf_size(const unsigned char *head);

/* True if in[0..len), len at most BGZF_HEAD_SIZE, may be the first bytes of such a member. */
bool bgzf_may_begin(const unsigned char *in, size_t len);

/* Returns the CRC-32 of bytes that have the given one, 0 if there are none, and data[0..len) after
 * them. By ISA-L: only in builds with it, after codec_gzip.load. Any thread. */
uint32_t gzip_checksum(uint32_t before, const unsigned char *data, size_t len);

#endif

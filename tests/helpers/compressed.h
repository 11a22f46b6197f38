/* SPDX-License-Identifier: MIT */
/* Compressed data of any shape, written by hand and without compressing anything, so that a test
 * can have a million cases: the blocks are stored. */
#ifndef GPUHISTO_TESTS_COMPRESSED_H
#define GPUHISTO_TESTS_COMPRESSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bytes that one of these functions writes for so many bytes of content. */
#define COMPRESSED_MAX(len) ((len) + (len) / 500 + 64)

struct frame_shape {
    bool sized;          /* the header states the size of the content */
    bool is_misstated;   /* it states `stated`, and the last block is empty */
    uint64_t stated;     /* bytes */
    unsigned window_log; /* of the window; 0: the content, if it is sized, otherwise 128 KiB */
    size_t block;        /* bytes of a block, at most 128 KiB; 0: 128 KiB. */
};

/* Write what holds data[0..len), len below 4 GiB, to out: a zstd frame, or a gzip member. The bytes
 * written. */
size_t frame_put(unsigned char *out, const struct frame_shape *shape, const unsigned char *data,
                 size_t len);
size_t member_put(unsigned char *out, const unsigned char *data, size_t len);

/* Writes a member of BGZF that holds data[0..len), and whose header states `over` bytes more than
 * it has; len is at most BGZF_CONTENT_MAX. Returns the bytes written. */
#define BGZF_CONTENT_MAX ((size_t)65000)
size_t bgzf_put(unsigned char *out, const unsigned char *data, size_t len, int over);

/* Writes a skippable frame of len bytes. The bytes written. */
size_t skippable_put(unsigned char *out, size_t len);

#endif

/* SPDX-License-Identifier: MIT */
/* zstd frames of libzstd's own making, for tests of decoders, and what libzstd decodes them to. */
#ifndef GPUHISTO_TESTS_ZSTD_FRAMES_H
#define GPUHISTO_TESTS_ZSTD_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum frame_content {
    CONTENT_EQUAL,   /* one byte, over and over */
    CONTENT_TEXT,    /* words; compresses as text does */
    CONTENT_LINES,   /* lines of a log; compresses tenfold */
    CONTENT_RECORDS, /* binary, of 24 bytes each, most of which repeat */
    CONTENT_RANDOM,  /* does not compress */
    CONTENT_PERIODS, /* short patterns, repeated */
    CONTENT_COPIES,  /* random, with copies from far back */
    CONTENT_MIXED,   /* some KiB of each in turn */
    CONTENT_KINDS
};

/* Fills data[0..len), another way each time (tests/helpers/random.h). */
void frame_content(enum frame_content kind, unsigned char *data, size_t len);

struct frame_settings {
    int level;
    int window_log;  /* 0: the level's */
    bool is_long;    /* long distance matching */
    bool checksum;   /* at the end of the frame */
    bool is_unsized; /* the header does not state the content's size */
    size_t flush;    /* 0: no; otherwise a block ends after every so many bytes */
};

/* Settings for a level, others each time. */
struct frame_settings frame_settings_random(int level);

/* Compresses data[0..len) to a frame of at most `cap` bytes at out. Its bytes. Ends the process
 * with status 1 if that cannot be. */
size_t frame_compress(unsigned char *out, size_t cap, const struct frame_settings *settings,
                      const unsigned char *data, size_t len);

/* The bytes that frame_compress may need for so many bytes of content. */
size_t frame_bound(const struct frame_settings *settings, size_t len);

/* Has libzstd decode in[0..len), as a stream, without looking at checksums. Returns whether it took
 * all of it, as whole frames. The content, of *size bytes, is the caller's to free in either case.
 */
bool frame_reference(const unsigned char *in, size_t len, unsigned char **content, size_t *size);

#ifdef __cplusplus
}
#endif

#endif

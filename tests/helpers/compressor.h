/* SPDX-License-Identifier: MIT */
/* Formats of compressed files, as tests of whatever decodes them make and read them. */
#ifndef GPUHISTO_TESTS_COMPRESSOR_H
#define GPUHISTO_TESTS_COMPRESSOR_H

#include "src/codec/codec.h"
#include "zstd_frames.h"

struct compressor {
    const struct codec *codec;
    size_t checksum; /* bytes at the end of a frame of which each must be right */
    bool is_hashed;  /* the host compares checksums of what a GPU decompresses */

    /* Returns the most bytes that compress writes for so many. */
    size_t (*bound)(const struct frame_settings *settings, size_t len);

    /* Compresses data[0..len) to a frame (member) of at most `cap` bytes at out. Its bytes. Ends
     * the process if that cannot be. Formats take of the settings what they know. */
    size_t (*compress)(unsigned char *out, size_t cap, const struct frame_settings *settings,
                       const unsigned char *data, size_t len);

    /* Decompresses in[0..len), checksums and all, to `cap` bytes of content at most. True if all of
     * it is valid; if not, *size is that of the content before. */
    bool (*decompress)(const unsigned char *in, size_t len, unsigned char *content, size_t cap,
                       size_t *size);

    /* Returns the bytes of the frame at in[0..len), which is valid. */
    size_t (*first)(const unsigned char *in, size_t len);
};

extern const struct compressor compressor_zstd; /* by libzstd */
extern const struct compressor compressor_gzip; /* by zlib */

#endif

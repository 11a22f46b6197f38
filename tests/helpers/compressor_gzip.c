/* SPDX-License-Identifier: MIT */
#include "compressor.h"
#include "gzip_members.h"
#include "random.h"

#include <stdlib.h>
#include <zlib.h>

static size_t bound(const struct frame_settings *settings, size_t len)
{
    (void)settings;
    return len + len / 8 + 2000; /* small blocks, and stored ones */
}

/* Members of all kinds: with blocks of 500 codes, the fewest that a device has room for in tests,
 * or of many; and fixed ones. */
static size_t compress_member(unsigned char *out, size_t cap, const struct frame_settings *settings,
                              const unsigned char *data, size_t len)
{
    static const int strategies[] = {
        Z_DEFAULT_STRATEGY, Z_DEFAULT_STRATEGY, Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
    z_stream zlib = {.next_in = (unsigned char *)data,
                     .avail_in = (unsigned)len,
                     .next_out = out,
                     .avail_out = (unsigned)cap};
    const int memory = 3 + (int)random_below(7), strategy = strategies[random_below(6)];
    if (deflateInit2(&zlib, settings->level % 10, Z_DEFLATED, 31, memory, strategy) != Z_OK ||
        deflate(&zlib, Z_FINISH) != Z_STREAM_END)
        exit(99);
    deflateEnd(&zlib);
    return zlib.total_out;
}

static size_t first(const unsigned char *in, size_t len)
{
    unsigned char content[4096];
    z_stream zlib = {.next_in = (unsigned char *)in, .avail_in = (unsigned)len};
    int rc = inflateInit2(&zlib, 31);
    while (rc == Z_OK) {
        zlib.next_out = content;
        zlib.avail_out = sizeof content;
        rc = inflate(&zlib, Z_NO_FLUSH);
    }
    inflateEnd(&zlib);
    if (rc != Z_STREAM_END)
        exit(99);
    return zlib.total_in;
}

const struct compressor compressor_gzip = {
    .codec = &codec_gzip,
    .checksum = 8,
    .bound = bound,
    .compress = compress_member,
    .decompress = gzip_reference,
    .first = first,
};

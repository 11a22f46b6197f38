/* SPDX-License-Identifier: MIT */
#include "compressor.h"
#include "need.h"

#include <zstd.h>

static bool decompress(const unsigned char *in, size_t len, unsigned char *content, size_t cap,
                       size_t *size)
{
    ZSTD_DCtx *context = need(ZSTD_createDCtx());
    ZSTD_inBuffer from = {in, len, 0};
    ZSTD_outBuffer out = {content, cap, 0};
    size_t rc = 0;
    for (size_t before = 1; !ZSTD_isError(rc) && from.pos + out.pos != before;) {
        before = from.pos + out.pos;
        const size_t hint = ZSTD_decompressStream(context, &out, &from);
        if (ZSTD_isError(hint) || from.pos + out.pos != before)
            rc = hint;
    }
    *size = out.pos;
    ZSTD_freeDCtx(context);
    return rc == 0 && from.pos == len;
}

static size_t first(const unsigned char *in, size_t len)
{
    return ZSTD_findFrameCompressedSize(in, len);
}

const struct compressor compressor_zstd = {
    .codec = &codec_zstd,
    .checksum = 4,
    .is_hashed = true,
    .bound = frame_bound,
    .compress = frame_compress,
    .decompress = decompress,
    .first = first,
};

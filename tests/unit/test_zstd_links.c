/* SPDX-License-Identifier: MIT */
/* The size of a zstd frame, found by its blocks' headers alone: it must be the one that libzstd
 * finds in the whole frame, from whatever part of it is at hand. */
#include "src/codec/codec.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define CONTENT_MAX ((size_t)700000) /* several blocks, also of those that are not compressed */

static unsigned cases, wrong;

static void check(bool right, const char *what, size_t len, size_t cut)
{
    cases++;
    wrong += !right;
    if (!right)
        printf("a frame of %zu bytes, cut at %zu: %s\n", len, cut, what);
}

/* Follows the frame from the part of it that ends at `cut`. */
static void follow(const unsigned char *frame, size_t len, size_t cut)
{
    struct codec_frame seen;
    enum frame_extent extent = codec_zstd.peek(frame, cut, &seen);
    if (extent == FRAME_PART && seen.size == 0) {
        check(cut < 18, "the header is all there, and is not seen", len, cut);
        return;
    }
    check(seen.size <= len, "the next link is beyond the frame", len, cut);
    while (extent == FRAME_PART && seen.size + codec_zstd.link_size <= len)
        extent = codec_zstd.follow(frame + seen.size, &seen);
    check(extent == FRAME_WHOLE && seen.size == len, "another size", len, cut);
}

/* Content that compresses well, badly, not at all, or to blocks of a byte. */
static void make_content(unsigned char *content, size_t len)
{
    unsigned kind = random_below(4);
    for (size_t i = 0; i < len; i++)
        content[i] = (unsigned char)(kind == 0       ? 'x'
                                     : kind == 1     ? random_word()
                                     : kind == 2     ? 'a' + random_below(4)
                                     : (i >> 16) % 2 ? random_word()
                                                     : 'y');
}

/* A frame of one of libzstd's shapes: with a size or a checksum, or without; blocks of any length.
 * The bytes written. */
static size_t make_frame(ZSTD_CCtx *context, unsigned char *frame, size_t cap,
                         const unsigned char *content, size_t len)
{
    ZSTD_outBuffer out = {frame, cap, 0};
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, (int)random_below(6) - 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, (int)random_below(2));
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, (int)random_below(2));
    if (random_below(2))
        ZSTD_CCtx_setPledgedSrcSize(context, len);
    for (size_t done = 0, part; done < len; done += part) {
        part = random_below(4) ? len - done : 1 + random_word() % (len - done);
        ZSTD_inBuffer in = {content + done, part, 0};
        if (ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush)))
            return 0;
    }
    ZSTD_inBuffer none = {content, 0, 0};
    size_t rest = ZSTD_compressStream2(context, &out, &none, ZSTD_e_end);
    return rest == 0 ? out.pos : 0;
}

int main(void)
{
    unsigned char *content = malloc(CONTENT_MAX), *frame = malloc(2 * CONTENT_MAX);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!content || !frame || !context)
        return 1;
    for (unsigned round = 0; round < 300; round++) {
        size_t len = random_word() % (random_below(2) ? 300 : CONTENT_MAX);
        make_content(content, len);
        size_t size = make_frame(context, frame, 2 * CONTENT_MAX, content, len);
        check(size > 0 && ZSTD_findFrameCompressedSize(frame, size) == size, "not made", size, 0);
        for (size_t cut = 4; cut < 32 && cut < size; cut++)
            follow(frame, size, cut);
        for (unsigned i = 0; i < 20 && size > 32; i++)
            follow(frame, size, 32 + random_word() % (size - 32));
    }
    static const unsigned char reserved[] = {6, 0, 0};
    struct codec_frame seen = {.size = 6};
    check(codec_zstd.follow(reserved, &seen) == FRAME_UNKNOWN, "a reserved block is followed", 0,
          0);
    ZSTD_freeCCtx(context);
    free(content);
    free(frame);
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong ? 1 : 0;
}

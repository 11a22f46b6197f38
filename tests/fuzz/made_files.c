/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/made_files.h"
#include "tests/helpers/compressed.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define UNIT_MAX 20000 /* bytes of content of a frame or member that is made here */

unsigned plan_take(struct drawn *plan)
{
    return plan->at < plan->end ? *plan->at++ : 0;
}

/* Draws the content of a unit from the plan: pieces, some over and over, as text of numbers. */
static size_t take_content(struct drawn *plan, bool is_text, unsigned char *out)
{
    static const char alphabet[] = "0123456789 \n. 7\n-e5x";
    unsigned times = plan_take(plan), len = times & 31;
    size_t made = 0;
    times = times >> 5 == 7 ? 400 : times >> 5;
    for (unsigned i = 0; i < len && plan->at < plan->end; i++) {
        unsigned byte = plan_take(plan);
        out[made++] = is_text ? (unsigned char)alphabet[byte % 20] : (unsigned char)byte;
    }
    size_t piece = made;
    for (; times > 1 && made + piece < UNIT_MAX; times--) {
        memcpy(out + made, out, piece);
        made += piece;
    }
    return made;
}

/* A frame by libzstd. */
static size_t compress_frame(struct drawn *plan, unsigned char *out, const unsigned char *data,
                             size_t len)
{
    static ZSTD_CCtx *context;
    unsigned how = plan_take(plan);
    if (!context)
        context = ZSTD_createCCtx();
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, (how & 1) ? 1 : 5);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, how >> 1 & 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, how >> 2 & 1);
    if (how >> 3 & 1)
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 10 + (int)(how >> 4));
    size_t made = ZSTD_compress2(context, out, ZSTD_compressBound(len), data, len);
    fuzz_require(!ZSTD_isError(made), "libzstd cannot compress");
    return made;
}

static size_t compress_member(unsigned char *out, const unsigned char *data, size_t len)
{
    z_stream stream = {.next_in = (unsigned char *)data, .avail_in = (unsigned)len};
    size_t cap = 2 * UNIT_MAX;
    stream.next_out = out;
    stream.avail_out = (unsigned)cap;
    fuzz_require(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 1, Z_DEFAULT_STRATEGY) == Z_OK &&
                     deflate(&stream, Z_FINISH) == Z_STREAM_END,
                 "zlib cannot compress");
    deflateEnd(&stream);
    return cap - stream.avail_out;
}

static size_t stored_frame(struct drawn *plan, unsigned char *out, const unsigned char *data,
                           size_t len)
{
    unsigned how = plan_take(plan);
    struct frame_shape shape = {.sized = how & 1};
    if (how & 2)
        shape.window_log = 10 + (how >> 4);
    if (how & 4)
        shape.block = 1 + (how >> 3);
    shape.is_misstated = shape.sized && (how & 8);
    shape.stated = shape.is_misstated ? len + plan_take(plan) % 16 - 4 : 0;
    return frame_put(out, &shape, data, len);
}

/* Puts what the plan says next at the end of the FILE. */
static void put_frame(struct drawn *plan, bool is_text, struct made_file *file)
{
    static unsigned char data[UNIT_MAX + 64];
    unsigned what = plan_take(plan);
    unsigned char *out = file->bytes + file->len;
    size_t len = take_content(plan, is_text, data);
    switch (what % 8) {
    case 0:
        file->len += compress_frame(plan, out, data, len);
        break;
    case 1:
        file->len += compress_member(out, data, len);
        break;
    case 2:
        file->len += skippable_put(out, len % 300);
        break;
    case 3: /* whatever it is */
        memcpy(out, data, len);
        file->len += len;
        break;
    case 4:
        file->len += what & 8 ? bgzf_put(out, data, len, 0) : member_put(out, data, len);
        break;
    default:
        file->len += stored_frame(plan, out, data, len);
    }
}

static void corrupt(struct drawn *plan, struct made_file *file)
{
    unsigned where = plan_take(plan) << 8, mask;
    where |= plan_take(plan);
    mask = plan_take(plan);
    if (file->len > 0)
        file->bytes[where % file->len] ^= (unsigned char)mask;
    if (mask == 0)
        file->len -= where % (file->len + 1);
}

size_t made_files(struct drawn *plan, bool is_text, struct made_file *files)
{
    size_t count = 1;
    files[0].len = 0;
    while (plan->at < plan->end) {
        struct made_file *file = &files[count - 1];
        if (file->len > MADE_MAX - 4 * UNIT_MAX)
            break;
        switch (plan_take(plan) % 16) {
        case 0:
            corrupt(plan, file);
            break;
        case 1:
            if (count < MADE_FILES_MAX)
                files[count++].len = 0;
            break;
        default:
            put_frame(plan, is_text, file);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!files[i].file.name[0])
            files[i].file = fuzz_file_make("", 0);
        fuzz_file_fill(&files[i].file, files[i].bytes, files[i].len);
    }
    return count;
}

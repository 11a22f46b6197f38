/* SPDX-License-Identifier: MIT */
#include "tests/helpers/zstd_frames.h"

#include "tests/helpers/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static void *frames_memory(void *old, size_t size)
{
    void *memory = realloc(old, size ? size : 1);
    if (!memory) {
        fputs("zstd_frames: no memory\n", stderr);
        exit(1);
    }
    return memory;
}

static size_t checked(size_t rc)
{
    if (ZSTD_isError(rc)) {
        fprintf(stderr, "zstd_frames: %s\n", ZSTD_getErrorName(rc));
        exit(1);
    }
    return rc;
}

/* --- content --- */

/* Appends what it can of a piece. */
static size_t append(unsigned char *data, size_t at, size_t len, const void *piece, size_t size)
{
    size_t part = size < len - at ? size : len - at;
    memcpy(data + at, piece, part);
    return at + part;
}

static void fill_text(unsigned char *data, size_t len)
{
    char words[200][12];
    for (size_t i = 0; i < 200; i++) {
        size_t letters = 1 + random_below(10);
        for (size_t k = 0; k < letters; k++)
            words[i][k] = (char)('a' + random_below(1 + random_below(26)));
        words[i][letters] = '\0';
    }
    for (size_t at = 0; at < len;) {
        const char *word = words[random_below(1 + random_below(200))];
        at = append(data, at, len, word, strlen(word));
        at = append(data, at, len, random_below(12) ? " " : ".\n", random_below(12) ? 1 : 2);
    }
}

static void fill_lines(unsigned char *data, size_t len)
{
    for (size_t at = 0, line = 0; at < len; line++) {
        char text[160];
        int size = snprintf(text, sizeof text,
                            "10.0.%u.%u - - [01/Jan/2025:00:%02zu:%02zu +0000] \"GET /page/%u "
                            "HTTP/1.1\" 200 %u %.3f\n",
                            random_below(4), random_below(256), line / 6000 % 60, line / 100 % 60,
                            random_below(300), random_below(20000), random_fraction());
        at = append(data, at, len, text, (size_t)size);
    }
}

static void fill_records(unsigned char *data, size_t len)
{
    unsigned char record[24] = {0};
    for (size_t at = 0; at < len;) {
        for (unsigned changes = random_below(4); changes > 0; changes--)
            record[random_below(sizeof record)] = (unsigned char)random_below(16);
        record[0]++;
        at = append(data, at, len, record, sizeof record);
    }
}

static void fill_periods(unsigned char *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        unsigned char pattern[64];
        size_t period = 1 + random_below(sizeof pattern), times = 2 + random_below(60);
        for (size_t i = 0; i < period; i++)
            pattern[i] = (unsigned char)random_word();
        for (size_t i = 0; i < times; i++)
            at = append(data, at, len, pattern, period);
    }
}

static void fill_copies(unsigned char *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t size = 1 + random_below(200), back = at ? 1 + random_word() % at : 0;
        for (size_t i = 0; i < size && at < len; i++, at++)
            data[at] = back ? data[at - back] : (unsigned char)random_word();
        if (at < len && random_below(3))
            data[at++] = (unsigned char)random_word();
    }
}

void frame_content(enum frame_content kind, unsigned char *data, size_t len)
{
    if (len == 0)
        return; /* there may be no memory */
    switch (kind) {
    case CONTENT_EQUAL:
        memset(data, (int)random_below(256), len);
        break;
    case CONTENT_TEXT:
        fill_text(data, len);
        break;
    case CONTENT_LINES:
        fill_lines(data, len);
        break;
    case CONTENT_RECORDS:
        fill_records(data, len);
        break;
    case CONTENT_PERIODS:
        fill_periods(data, len);
        break;
    case CONTENT_COPIES:
        fill_copies(data, len);
        break;
    case CONTENT_MIXED:
        for (size_t at = 0; at < len;) {
            size_t part = 1 + random_below(50000);
            part = part < len - at ? part : len - at;
            frame_content((enum frame_content)random_below(CONTENT_MIXED), data + at, part);
            at += part;
        }
        break;
    default:
        for (size_t i = 0; i < len; i++)
            data[i] = (unsigned char)random_word();
    }
}

/* --- frames --- */

size_t frame_bound(const struct frame_settings *settings, size_t len)
{
    size_t blocks = settings->flush ? len / settings->flush + 1 : 0;
    return ZSTD_compressBound(len) + 16 * blocks + 64;
}

struct frame_settings frame_settings_random(int level)
{
    return (struct frame_settings){
        .level = level,
        .window_log = random_below(3) ? 0 : 10 + (int)random_below(10),
        .is_long = random_below(4) == 0,
        .checksum = random_below(2),
        .is_unsized = random_below(2),
        .flush = random_below(4) ? 0 : 1 + random_below(60000),
    };
}

size_t frame_compress(unsigned char *out, size_t cap, const struct frame_settings *settings,
                      const unsigned char *data, size_t len)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_outBuffer to = {out, cap, 0};
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, settings->level));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, settings->checksum));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, settings->window_log));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, settings->is_long));
    if (!settings->is_unsized)
        checked(ZSTD_CCtx_setPledgedSrcSize(context, len));
    for (size_t at = 0; settings->flush && at < len;) {
        size_t part = settings->flush < len - at ? settings->flush : len - at;
        ZSTD_inBuffer from = {data + at, part, 0};
        checked(ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush));
        at += part;
    }
    ZSTD_inBuffer rest = {data, settings->flush ? 0 : len, 0};
    size_t left = 1;
    while (left != 0 && to.pos < cap)
        left = checked(ZSTD_compressStream2(context, &to, &rest, ZSTD_e_end));
    if (left != 0) {
        fputs("zstd_frames: no room\n", stderr);
        exit(1);
    }
    ZSTD_freeCCtx(context);
    return to.pos;
}

bool frame_reference(const unsigned char *in, size_t len, unsigned char **content, size_t *size)
{
    /* libzstd decodes a frame that it sees as a whole in another way. */
    size_t piece = len < 4096 ? 11 : 1000, cap = 1 << 16, hint = 0;
    ZSTD_DCtx *context = ZSTD_createDCtx();
    checked(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27));
#if HAVE_DECL_ZSTD_D_EXPERIMENTALPARAM3
    checked(ZSTD_DCtx_setParameter(context, ZSTD_d_experimentalParam3, 1)); /* no checksums */
#endif
    *content = frames_memory(NULL, cap);
    *size = 0;
    for (size_t at = 0; at < len && !ZSTD_isError(hint);) {
        size_t part = piece < len - at ? piece : len - at;
        ZSTD_inBuffer from = {in + at, part, 0};
        bool is_full;
        do {
            if (*size + 4096 > cap)
                *content = frames_memory(*content, cap *= 2);
            ZSTD_outBuffer to = {*content, cap, *size};
            hint = ZSTD_decompressStream(context, &to, &from);
            *size = to.pos;
            is_full = to.pos == to.size;
        } while (!ZSTD_isError(hint) && (from.pos < from.size || (is_full && hint != 0)));
        at += part;
    }
    ZSTD_freeDCtx(context);
    return hint == 0;
}

#include "codec_zstd.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

static const unsigned char frame_magic[ZSTD_MAGIC_SIZE] = {0x28, 0xb5, 0x2f, 0xfd};

struct zstd_stream {
    ZSTD_DCtx *context;
    uint64_t window_max;
    bool in_frame; /* bytes of a frame were seen, its end was not */
};

int zstd_magic(const unsigned char *head, size_t len)
{
    static const unsigned char skippable[4] = {0x50, 0x2a, 0x4d, 0x18}; /* 0x50 to 0x5f */
    size_t seen = len < ZSTD_MAGIC_SIZE ? len : ZSTD_MAGIC_SIZE;
    bool is_frame = memcmp(head, frame_magic, seen) == 0;
    bool is_skippable = seen == 0 || ((head[0] & 0xf0) == skippable[0] &&
                                      memcmp(head + 1, skippable + 1, seen - 1) == 0);
    if (!is_frame && !is_skippable)
        return 0;
    return seen == ZSTD_MAGIC_SIZE ? 1 : -1;
}

/* The window that the frame at in[0..len) needs, in bytes; 0 if that cannot be seen. libzstd's own
 * function for it is not stable. */
static uint64_t frame_window(const unsigned char *in, size_t len)
{
    if (len < 6 || memcmp(in, frame_magic, sizeof frame_magic) != 0)
        return 0;
    if (in[4] & 0x20) { /* a single segment: the window is as large as the content */
        unsigned long long size = ZSTD_getFrameContentSize(in, len);
        return size < ZSTD_CONTENTSIZE_ERROR ? size : 0;
    }
    uint64_t power = (uint64_t)1 << (10 + (in[5] >> 3));
    return power + power / 8 * (in[5] & 7);
}

/* Whether the frame at in[0..len) is known to hold a multiple of unit bytes. */
static bool holds_units(const unsigned char *in, size_t len, size_t unit)
{
    unsigned long long size = unit > 1 ? ZSTD_getFrameContentSize(in, len) : 0;
    return size < ZSTD_CONTENTSIZE_ERROR && size % unit == 0;
}

ssize_t zstd_whole_frames(const unsigned char *in, size_t len, uint64_t window_max, size_t unit,
                          uint64_t *window)
{
    size_t whole = 0;
    *window = 0;
    while (whole < len) {
        if (zstd_magic(in + whole, len - whole) == 0)
            return whole ? (ssize_t)whole : -1;
        uint64_t needed = frame_window(in + whole, len - whole);
        size_t size = ZSTD_findFrameCompressedSize(in + whole, len - whole);
        bool cut = ZSTD_isError(size) && ZSTD_getErrorCode(size) == ZSTD_error_srcSize_wrong;
        if (needed > window_max || (ZSTD_isError(size) && !cut))
            return whole ? (ssize_t)whole : -1;
        if (cut)
            break;
        if (!holds_units(in + whole, len - whole, unit))
            return whole ? (ssize_t)whole : -1;
        whole += size;
        *window = needed > *window ? needed : *window;
    }
    return (ssize_t)whole;
}

static int log2_floor(uint64_t value)
{
    int log = 0;
    while (value >>= 1)
        log++;
    return log;
}

struct zstd_stream *zstd_stream_open(uint64_t memlimit)
{
    struct zstd_stream *zstd = calloc(1, sizeof *zstd);
    if (!zstd)
        return NULL;
    int window_log = log2_floor(memlimit);
    zstd->window_max = (uint64_t)1 << window_log;
    zstd->context = ZSTD_createDCtx();
    if (!zstd->context ||
        ZSTD_isError(ZSTD_DCtx_setParameter(zstd->context, ZSTD_d_windowLogMax, window_log))) {
        zstd_stream_close(zstd);
        return NULL;
    }
    return zstd;
}

static int window_too_large(struct reason *why)
{
    reason_set(why, "its zstd window is over the limit; --memlimit=SIZE raises it");
    return -1;
}

int zstd_stream_decode(struct zstd_stream *zstd, const unsigned char *in, size_t in_len,
                       size_t *used, unsigned char *out, size_t cap, size_t *made,
                       struct reason *why)
{
    ZSTD_inBuffer from = {in, in_len, 0};
    ZSTD_outBuffer to = {out, cap, 0};
    *used = *made = 0;
    /* Frames of before 1.0, which some builds of libzstd know, tell no window. */
    if (!zstd->in_frame && in_len >= ZSTD_MAGIC_SIZE && zstd_magic(in, in_len) != 1) {
        reason_set(why, "not zstd data (no frame begins here)");
        return -1;
    }
    /* libzstd would not look where the output has room for the whole frame, and so not always. */
    if (!zstd->in_frame && frame_window(in, in_len) > zstd->window_max)
        return window_too_large(why);
    size_t hint = ZSTD_decompressStream(zstd->context, &to, &from);
    *used = from.pos;
    *made = to.pos;
    if (ZSTD_isError(hint)) {
        ZSTD_ErrorCode code = ZSTD_getErrorCode(hint);
        if (code == ZSTD_error_frameParameter_windowTooLarge)
            return window_too_large(why);
        if (code == ZSTD_error_prefix_unknown)
            reason_set(why, "not zstd data (no frame begins here)");
        else
            reason_set(why, "corrupt zstd data (%s)", ZSTD_getErrorName(hint));
        return -1;
    }
    if (from.pos > 0 || to.pos > 0)
        zstd->in_frame = hint != 0;
    return 0;
}

bool zstd_stream_complete(const struct zstd_stream *zstd)
{
    return !zstd->in_frame;
}

void zstd_stream_close(struct zstd_stream *zstd)
{
    if (!zstd)
        return;
    ZSTD_freeDCtx(zstd->context);
    free(zstd);
}

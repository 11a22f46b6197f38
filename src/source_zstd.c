#include "source_zstd.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

struct zstd_stream {
    ZSTD_DCtx *context;
    bool in_frame; /* bytes of a frame were seen, its end was not */
};

int zstd_magic(const unsigned char *head, size_t len)
{
    static const unsigned char frame[4] = {0x28, 0xb5, 0x2f, 0xfd};
    static const unsigned char skippable[4] = {0x50, 0x2a, 0x4d, 0x18}; /* 0x50 to 0x5f */
    size_t seen = len < ZSTD_MAGIC_SIZE ? len : ZSTD_MAGIC_SIZE;
    bool is_frame = memcmp(head, frame, seen) == 0;
    bool is_skippable = seen == 0 || ((head[0] & 0xf0) == skippable[0] &&
                                      memcmp(head + 1, skippable + 1, seen - 1) == 0);
    if (!is_frame && !is_skippable)
        return 0;
    return seen == ZSTD_MAGIC_SIZE ? 1 : -1;
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
    zstd->context = ZSTD_createDCtx();
    if (!zstd->context || ZSTD_isError(ZSTD_DCtx_setParameter(zstd->context, ZSTD_d_windowLogMax,
                                                              log2_floor(memlimit)))) {
        zstd_stream_close(zstd);
        return NULL;
    }
    return zstd;
}

int zstd_stream_decode(struct zstd_stream *zstd, const unsigned char *in, size_t in_len,
                       size_t *used, unsigned char *out, size_t cap, size_t *made,
                       struct reason *why)
{
    ZSTD_inBuffer from = {in, in_len, 0};
    ZSTD_outBuffer to = {out, cap, 0};
    size_t hint = ZSTD_decompressStream(zstd->context, &to, &from);
    *used = from.pos;
    *made = to.pos;
    if (ZSTD_isError(hint)) {
        ZSTD_ErrorCode code = ZSTD_getErrorCode(hint);
        if (code == ZSTD_error_frameParameter_windowTooLarge)
            reason_set(why, "its zstd window is over the limit; --memlimit=SIZE raises it");
        else if (code == ZSTD_error_prefix_unknown)
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

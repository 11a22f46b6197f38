/* SPDX-License-Identifier: MIT */
/* zstd, by libzstd. */
#include "codec.h"
#include "src/base/library.h"
#include "zstd_format.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

/* --- libzstd --- */

/* Left out, as clang-format breaks the list otherwise each time that it is run. */
/* clang-format off */
#define CALLS(CALL) \
    CALL(ZSTD_DCtx_setParameter) \
    CALL(ZSTD_DCtx_reset) \
    CALL(ZSTD_createDCtx) \
    CALL(ZSTD_decompressStream) \
    CALL(ZSTD_freeDCtx) \
    CALL(ZSTD_getErrorCode) \
    CALL(ZSTD_getErrorName) \
    CALL(ZSTD_isError)
/* clang-format on */

LIBRARY(libzstd, LIBZSTD_FILE, CALLS)

/* --- the codec --- */

struct zstd_decoder {
    struct decoder decoder;
    ZSTD_DCtx *context; /* made when first needed; NULL: there was no memory */
    int window_log_max;
    bool no_check;                               /* leave content checksums out */
    bool in_frame;                               /* bytes of a frame were taken, but not its end */
    unsigned char header[ZSTD_FRAME_HEADER_MAX]; /* the frame's first bytes, */
    size_t header_len;                           /* as many as were taken */
    uint64_t content;                            /* bytes that the frame has given */
};

static enum codec_magic zstd_magic(const unsigned char *head, size_t len)
{
    struct zstd_frame_header header;
    size_t seen = len < ZSTD_MAGIC_SIZE ? len : ZSTD_MAGIC_SIZE;
    if (zstd_parse_frame(head, seen, &header) == ZSTD_WRONG)
        return MAGIC_OTHER;
    return seen == ZSTD_MAGIC_SIZE ? MAGIC_MATCH : MAGIC_PART;
}

/* A block's header is the link to the next one. */
static enum frame_extent zstd_follow(const unsigned char *link, struct codec_frame *frame)
{
    const struct zstd_block_header block = zstd_parse_block(link);
    if (block.type == ZSTD_STORED_RESERVED)
        return FRAME_UNKNOWN;
    frame->size += ZSTD_BLOCK_HEADER_SIZE + block.stored + (block.is_last ? frame->trailer : 0);
    return block.is_last ? FRAME_WHOLE : FRAME_PART;
}

/* Returns the size of the content that a frame states, or FRAME_UNSIZED. Of the two largest numbers
 * libzstd makes "unknown" and "error", and compares neither. */
static uint64_t stated_content(const struct zstd_frame_header *header)
{
    return header->content < ZSTD_CONTENTSIZE_ERROR ? header->content : FRAME_UNSIZED;
}

static enum frame_extent zstd_look(const unsigned char *in, size_t len, struct codec_frame *frame)
{
    struct zstd_frame_header header;
    const enum zstd_parsed parsed = zstd_parse_frame(in, len, &header);
    *frame = (struct codec_frame){.content = FRAME_UNSIZED};
    if (parsed == ZSTD_WRONG)
        return FRAME_UNKNOWN;
    frame->content = stated_content(&header);
    frame->memory = header.content < header.window ? header.content : header.window;
    if (parsed == ZSTD_SHORT)
        return FRAME_PART;
    frame->size = header.size + header.skipped;
    frame->trailer = header.has_checksum ? ZSTD_CHECKSUM_SIZE : 0;
    enum frame_extent extent = header.is_skippable ? FRAME_WHOLE : FRAME_PART;
    while (extent == FRAME_PART && frame->size <= len &&
           len - frame->size >= ZSTD_BLOCK_HEADER_SIZE)
        extent = zstd_follow(in + frame->size, frame);
    return extent;
}

static int log2_floor(uint64_t value)
{
    int log = 0;
    while (value >>= 1)
        log++;
    return log;
}

static void zstd_close(struct decoder *decoder)
{
    libzstd.ZSTD_freeDCtx(((struct zstd_decoder *)decoder)->context);
    free(decoder);
}

static struct decoder *zstd_open(const struct codec_options *options)
{
    struct reason unused;
    struct zstd_decoder *zstd = libzstd_load(&unused) == 0 ? calloc(1, sizeof *zstd) : NULL;
    if (!zstd)
        return NULL;
    zstd->decoder.codec = &codec_zstd;
    /* libzstd counts windows in powers of two. */
    zstd->window_log_max = log2_floor(options->memlimit);
    zstd->no_check = options->no_check;
    return &zstd->decoder;
}

/* Frees all memory that libzstd has. */
static void drop_context(struct zstd_decoder *zstd)
{
    libzstd.ZSTD_freeDCtx(zstd->context);
    zstd->context = NULL;
}

/* Has libzstd leave content checksums out. The parameter's own name, ZSTD_d_forceIgnoreChecksum, is
 * only declared for static linking. A libzstd without it verifies them. */
static void ignore_checksums(ZSTD_DCtx *context)
{
#if HAVE_DECL_ZSTD_D_EXPERIMENTALPARAM3
    (void)libzstd.ZSTD_DCtx_setParameter(context, ZSTD_d_experimentalParam3, 1);
#else
    (void)context;
#endif
}

static int make_context(struct zstd_decoder *zstd)
{
    zstd->context = libzstd.ZSTD_createDCtx();
    if (!zstd->context)
        return -1;
    if (zstd->no_check)
        ignore_checksums(zstd->context);
    size_t rc =
        libzstd.ZSTD_DCtx_setParameter(zstd->context, ZSTD_d_windowLogMax, zstd->window_log_max);
    if (!libzstd.ZSTD_isError(rc))
        return 0;
    drop_context(zstd);
    return -1;
}

static int zstd_reserve(struct decoder *decoder, const unsigned char *in, size_t len, bool is_first)
{
    (void)is_first;
    struct zstd_decoder *zstd = (struct zstd_decoder *)decoder;
    if (!zstd->context && make_context(zstd) != 0)
        return -1;
    /* Once libzstd has the whole header of a frame, it allocates all that it needs for the frame.
     */
    char none;
    ZSTD_inBuffer from = {in, len < ZSTD_FRAME_HEADER_MAX ? len : ZSTD_FRAME_HEADER_MAX, 0};
    ZSTD_outBuffer nothing = {&none, 0, 0};
    size_t rc = libzstd.ZSTD_decompressStream(zstd->context, &nothing, &from);
    if (libzstd.ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation) {
        drop_context(zstd);
        return -1;
    }
    libzstd.ZSTD_DCtx_reset(zstd->context,
                            ZSTD_reset_session_only); /* another fault shows in decode */
    zstd->in_frame = false; /* the last frame may not have been decoded to its end */
    return 0;
}

static bool zstd_complete(const struct decoder *decoder)
{
    return !((const struct zstd_decoder *)decoder)->in_frame;
}

/* Reads the frame's header, as far as it was taken or comes with the step. libzstd would read the
 * magic a byte at a time before it looks, and some builds know frames of before zstd 1.0, which do
 * not tell their window. False if no frame begins so. */
static bool read_header(struct zstd_decoder *zstd, const struct decode_step *step,
                        struct zstd_frame_header *header)
{
    size_t room = sizeof zstd->header - zstd->header_len;
    size_t len = zstd->header_len + (step->in_len < room ? step->in_len : room);
    memcpy(zstd->header + zstd->header_len, step->in, len - zstd->header_len);
    (void)zstd_parse_frame(zstd->header, len, header);
    return zstd_magic(zstd->header, len) != MAGIC_OTHER;
}

static enum decode_status window_too_large(struct reason *why)
{
    reason_set(why, "the zstd window exceeds the limit (raise it with --memlimit=SIZE)");
    return DECODE_FAULT;
}

static enum decode_status decode_failed(size_t error, struct reason *why)
{
    switch (libzstd.ZSTD_getErrorCode(error)) {
    case ZSTD_error_memory_allocation:
        return DECODE_NO_MEMORY;
    case ZSTD_error_frameParameter_windowTooLarge:
        return window_too_large(why);
    case ZSTD_error_dictionary_wrong:
        reason_set(why,
                   "needs a dictionary, which is not supported (use 'zstd -dc -D DICTIONARY')");
        return DECODE_FAULT;
    default:
        reason_set(why, "corrupt zstd data (%s)", libzstd.ZSTD_getErrorName(error));
        return DECODE_FAULT;
    }
}

/* At the end of a frame: whether it gave what its header states. libzstd does not look if the last
 * block is empty. */
static enum decode_status check_content(uint64_t content, uint64_t stated, struct reason *why)
{
    if (stated == FRAME_UNSIZED || stated == content)
        return DECODE_OK;
    reason_set(why, "corrupt zstd data (a frame of %llu bytes states a size of %llu)",
               (unsigned long long)content, (unsigned long long)stated);
    return DECODE_FAULT;
}

static enum decode_status zstd_decode(struct decoder *decoder, struct decode_step *step,
                                      struct reason *why)
{
    struct zstd_decoder *zstd = (struct zstd_decoder *)decoder;
    ZSTD_inBuffer from = {step->in, step->in_len, 0};
    ZSTD_outBuffer to = {step->out, step->cap, 0};
    struct zstd_frame_header header;
    step->used = step->made = 0;
    if (!zstd->in_frame)
        zstd->content = zstd->header_len = 0;
    if (!read_header(zstd, step, &header)) {
        reason_set(why, "not zstd data (no frame begins here)");
        return DECODE_FAULT;
    }
    /* libzstd would not look where the output has room for the whole frame, and so not always. */
    if (header.window > (uint64_t)1 << zstd->window_log_max)
        return window_too_large(why);
    if (!zstd->context && make_context(zstd) != 0)
        return DECODE_NO_MEMORY;
    size_t hint = libzstd.ZSTD_decompressStream(zstd->context, &to, &from);
    if (libzstd.ZSTD_isError(hint))
        return decode_failed(hint, why);
    step->used = from.pos;
    step->made = to.pos;
    zstd->header_len += from.pos;
    if (zstd->header_len > sizeof zstd->header)
        zstd->header_len = sizeof zstd->header;
    zstd->content += to.pos;
    if (from.pos == 0 && to.pos == 0)
        return DECODE_OK;
    zstd->in_frame = hint != 0;
    return zstd->in_frame ? DECODE_OK : check_content(zstd->content, stated_content(&header), why);
}

const struct codec codec_zstd = {
    .name = "zstd",
    .gpu_rate = 15e9,
    .magic = zstd_magic,
    .load = libzstd_load,
    .look = zstd_look,
    .follow = zstd_follow,
    .link_size = ZSTD_BLOCK_HEADER_SIZE,
    .open = zstd_open,
    .reserve = zstd_reserve,
    .decode = zstd_decode,
    .complete = zstd_complete,
    .close = zstd_close,
};

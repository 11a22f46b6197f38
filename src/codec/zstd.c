/* SPDX-License-Identifier: MIT */
/* zstd: its headers, and decoding by libzstd. */
#include "codec.h"
#include "src/base/library.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

/* --- headers --- */

#define MAGIC_SKIPPABLE 0x184d2a50u /* to 0x184d2a5f */
#define MAGIC_FRAME 0xfd2fb528u
#define SKIPPABLE_HEADER_SIZE 8 /* bytes of a magic number and a size */

/* Returns the next `bytes` bytes, up to 8, as a number. */
static uint64_t little_endian(const unsigned char *in, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << 8 * i;
    return value;
}

/* True if a number of which the first `seen` bytes are there may be a magic number. */
static bool may_be(uint32_t magic, uint32_t ignored, uint64_t value, size_t seen)
{
    uint64_t mask = (((uint64_t)1 << 8 * seen) - 1) & ~(uint64_t)ignored;
    return (value & mask) == (magic & mask);
}

/* Reads the fields after the magic number. */
static enum zstd_parsed parse_fields(const unsigned char *in, size_t len,
                                     struct zstd_frame_header *header)
{
    static const uint8_t dictionaries[4] = {0, 1, 2, 4}, contents[4] = {0, 2, 4, 8};
    const unsigned descriptor = *in++;
    const bool is_single_segment = descriptor >> 5 & 1; /* the window is the content */
    const size_t window = is_single_segment ? 0 : 1, dictionary = dictionaries[descriptor & 3];
    size_t content = contents[descriptor >> 6];
    if (descriptor & 8)
        return ZSTD_WRONG;
    if (is_single_segment && content == 0)
        content = 1;
    header->has_checksum = descriptor >> 2 & 1;
    header->size = (uint32_t)(ZSTD_MAGIC_SIZE + 1 + window + dictionary + content);
    if (window > 0 && len > 1) {
        const uint64_t power = (uint64_t)1 << (10 + (*in >> 3));
        header->window = power + power / 8 * (*in++ & 7);
    }
    if (ZSTD_MAGIC_SIZE + len < header->size)
        return ZSTD_SHORT;
    header->dictionary = (uint32_t)little_endian(in, dictionary);
    if (content > 0)
        header->content = little_endian(in + dictionary, content) + (content == 2 ? 256 : 0);
    if (is_single_segment)
        header->window = header->content;
    return ZSTD_PARSED;
}

enum zstd_parsed zstd_parse_frame(const unsigned char *in, size_t len,
                                  struct zstd_frame_header *header)
{
    const size_t seen = len < ZSTD_MAGIC_SIZE ? len : ZSTD_MAGIC_SIZE;
    const uint64_t magic = little_endian(in, seen);
    const bool is_frame = may_be(MAGIC_FRAME, 0, magic, seen);
    *header = (struct zstd_frame_header){.size = ZSTD_MAGIC_SIZE, .content = ZSTD_SIZE_UNKNOWN};
    if (!is_frame && !may_be(MAGIC_SKIPPABLE, 15, magic, seen))
        return ZSTD_WRONG;
    if (seen < ZSTD_MAGIC_SIZE)
        return ZSTD_SHORT;
    header->is_skippable = !is_frame;
    header->size = is_frame ? ZSTD_MAGIC_SIZE + 1 : SKIPPABLE_HEADER_SIZE;
    if (len < header->size)
        return ZSTD_SHORT;
    if (is_frame)
        return parse_fields(in + ZSTD_MAGIC_SIZE, len - ZSTD_MAGIC_SIZE, header);
    header->content = 0;
    header->skipped = little_endian(in + ZSTD_MAGIC_SIZE, 4);
    return ZSTD_PARSED;
}

struct zstd_block_header zstd_parse_block(const unsigned char *in)
{
    const uint32_t header = (uint32_t)little_endian(in, ZSTD_BLOCK_HEADER_SIZE);
    const enum zstd_stored_type type = header >> 1 & 3;
    const uint32_t size = header >> 3;
    return (struct zstd_block_header){.type = type,
                                      .size = size,
                                      .stored = type == ZSTD_STORED_RLE ? 1 : size,
                                      .is_last = header & 1};
}

enum zstd_parsed zstd_part_read(struct zstd_parts *parts, const unsigned char *in, size_t len,
                                uint64_t *size)
{
    if (parts->next == ZSTD_HEADER) {
        const enum zstd_parsed parsed = zstd_parse_frame(in, len, &parts->header);
        *size = parts->header.size;
        return parsed;
    }
    *size = parts->next == ZSTD_BLOCK ? ZSTD_BLOCK_HEADER_SIZE : ZSTD_CHECKSUM_SIZE;
    if (len < *size)
        return ZSTD_SHORT;
    if (parts->next == ZSTD_CHECKSUM)
        return ZSTD_PARSED;
    parts->block = zstd_parse_block(in);
    if (parts->block.type == ZSTD_STORED_RESERVED ||
        parts->block.size > zstd_block_max(parts->header.window))
        return ZSTD_WRONG;
    *size += parts->block.stored;
    return ZSTD_PARSED;
}

void zstd_part_pass(struct zstd_parts *parts)
{
    const struct zstd_frame_header *header = &parts->header;
    if (parts->next == ZSTD_HEADER)
        parts->next = header->is_skippable ? ZSTD_HEADER : ZSTD_BLOCK;
    else if (parts->next == ZSTD_CHECKSUM || (parts->block.is_last && !header->has_checksum))
        parts->next = ZSTD_HEADER;
    else if (parts->block.is_last)
        parts->next = ZSTD_CHECKSUM;
}

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
    CALL(ZSTD_isError)
/* clang-format on */

LIBRARY(libzstd, LIBZSTD_FILE, CALLS)

/* --- the codec --- */

#define CORRUPT "corrupt zstd data"
/* More bytes than libzstd allocates beside the window that it decodes into. */
#define RING_MORE (2 * ZSTD_BLOCK_MAX + (4 << 10))

/* libzstd gets a whole part of the frame at a time, however the input was cut. Otherwise its
 * verdict on corrupt data would depend on that: it does not look whether blocks are too large if it
 * gets all of a frame, and how far matches may go back depends on how it got raw blocks. */
struct zstd_decoder {
    struct decoder decoder;
    ZSTD_DCtx *context;  /* made when first needed; NULL: there was no memory */
    uint64_t window_max; /* bytes */
    bool no_check;       /* leave content checksums out */

    bool in_frame;           /* bytes of a frame were taken, but not its end */
    struct zstd_parts parts; /* of the frame */
    uint64_t content;        /* bytes that it has given */
    uint64_t skipped;        /* bytes to come, if it is skippable */
    bool is_direct;          /* libzstd decodes to the output, otherwise to a ring: */
    uint64_t ring_window;    /* its frame's window, */
    uint64_t ring_content;   /* and content, as far as the size of the ring depends on it */
    bool is_full;            /* libzstd may have more content than there was room for, */
    bool is_held;            /* and waits for the frame's last byte again */

    size_t cut_len; /* bytes of the next part that came before the input ended, */
    unsigned char cut[ZSTD_BLOCK_HEADER_SIZE + ZSTD_BLOCK_MAX];
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

static enum frame_extent zstd_peek(const unsigned char *in, size_t len, struct codec_frame *frame)
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

static void zstd_close(struct decoder *decoder)
{
    libzstd.ZSTD_freeDCtx(((struct zstd_decoder *)decoder)->context);
    free(decoder);
}

static struct decoder *zstd_open(const struct codec_options *options)
{
    struct error unused;
    struct zstd_decoder *zstd = libzstd_load(&unused) == 0 ? malloc(sizeof *zstd) : NULL;
    if (!zstd)
        return NULL;
    memset(zstd, 0, offsetof(struct zstd_decoder, cut)); /* the rest may never be touched */
    zstd->decoder.codec = &codec_zstd;
    zstd->window_max = zstd_window_max(options->memlimit);
    zstd->no_check = options->no_check;
    return &zstd->decoder;
}

/* Frees all memory that libzstd has. */
static void drop_context(struct zstd_decoder *zstd)
{
    libzstd.ZSTD_freeDCtx(zstd->context);
    zstd->context = NULL;
    zstd->is_direct = false;
}

/* The parameters' own names, ZSTD_d_stableOutBuffer and ZSTD_d_forceIgnoreChecksum, are only
 * declared for static linking. A libzstd without them decodes to a ring, and verifies checksums. */
#if HAVE_DECL_ZSTD_D_EXPERIMENTALPARAM3
#define STABLE_OUTPUT ZSTD_d_experimentalParam2
#define IGNORE_CHECKSUMS ZSTD_d_experimentalParam3
#else
#define STABLE_OUTPUT 0
#define IGNORE_CHECKSUMS 0
#endif

/* False: libzstd does not know the parameter. */
static bool set_parameter(ZSTD_DCtx *context, int parameter, int value)
{
    if (parameter == 0)
        return false;
    return !libzstd.ZSTD_isError(
        libzstd.ZSTD_DCtx_setParameter(context, (ZSTD_dParameter)parameter, value));
}

/* Before a frame: says whether libzstd decodes to the output. 0, or -1: out of memory. */
static int set_direct(struct zstd_decoder *zstd, bool is_direct)
{
    if (!zstd->context) {
        zstd->context = libzstd.ZSTD_createDCtx();
        if (!zstd->context)
            return -1;
        if (zstd->no_check)
            (void)set_parameter(zstd->context, IGNORE_CHECKSUMS, 1);
        if (!set_parameter(zstd->context, ZSTD_d_windowLogMax, __builtin_ctzll(zstd->window_max))) {
            drop_context(zstd);
            return -1;
        }
    }
    if (zstd->is_direct != is_direct)
        zstd->is_direct = set_parameter(zstd->context, STABLE_OUTPUT, is_direct) && is_direct;
    return 0;
}

/* Before a frame that libzstd decodes to a ring. It keeps one that is large enough; but how far
 * matches may go back depends on the size of the ring if the window does not hold the whole
 * content. So that must not depend on the frames before. 0, or -1: out of memory. */
static int begin_ring(struct zstd_decoder *zstd, const struct zstd_frame_header *header)
{
    const uint64_t max = content_add(header->window, RING_MORE),
                   content = header->content < max ? header->content : max;
    const bool is_same = header->window == zstd->ring_window && content == zstd->ring_content;
    if (header->content > header->window && !is_same)
        drop_context(zstd);
    zstd->ring_window = header->window;
    zstd->ring_content = content;
    return set_direct(zstd, false);
}

static int zstd_reserve(struct decoder *decoder, const unsigned char *in, size_t len, bool is_first)
{
    (void)is_first;
    struct zstd_decoder *zstd = (struct zstd_decoder *)decoder;
    struct zstd_frame_header header;
    const bool is_frame = zstd_parse_frame(in, len, &header) == ZSTD_PARSED && !header.is_skippable;
    zstd->parts.next = ZSTD_HEADER; /* the last frame may not have been decoded to its end */
    zstd->in_frame = zstd->is_full = zstd->is_held = false;
    zstd->skipped = zstd->cut_len = 0;
    if (zstd->context)
        libzstd.ZSTD_DCtx_reset(zstd->context, ZSTD_reset_session_only);
    if ((is_frame ? begin_ring(zstd, &header) : set_direct(zstd, false)) != 0)
        return -1;
    if (!is_frame)
        return 0;
    /* With the header of a frame, libzstd allocates all that it needs for the frame. */
    char none;
    ZSTD_inBuffer from = {in, header.size, 0};
    ZSTD_outBuffer nothing = {&none, 0, 0};
    size_t rc = libzstd.ZSTD_decompressStream(zstd->context, &nothing, &from);
    if (libzstd.ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation) {
        drop_context(zstd);
        return -1;
    }
    libzstd.ZSTD_DCtx_reset(zstd->context,
                            ZSTD_reset_session_only); /* another fault shows in decode */
    return 0;
}

static bool zstd_complete(const struct decoder *decoder)
{
    return !((const struct zstd_decoder *)decoder)->in_frame;
}

/* --- parts of a frame --- */

/* Returns what the header of the block that was read shows to be wrong; NULL: nothing. */
static const char *block_fault(const struct zstd_decoder *zstd)
{
    const struct zstd_block_header *block = &zstd->parts.block;
    if (block->size > zstd_block_max(zstd->parts.header.window))
        return CORRUPT " (a block is larger than its frame allows)";
    /* A compressed block has two headers at least. libzstd passes over one that has no bytes. */
    if (block->type == ZSTD_STORED_RESERVED ||
        (block->type == ZSTD_STORED_COMPRESSED && block->size < 2))
        return CORRUPT;
    return NULL;
}

/* Reads the part that begins with in[0..len). Returns how many bytes it has; more than len: at
 * least so many. A part that is wrong has no more than show it. */
static size_t part_size(struct zstd_decoder *zstd, const unsigned char *in, size_t len)
{
    uint64_t size;
    const enum zstd_parsed parsed = zstd_part_read(&zstd->parts, in, len, &size);
    if (parsed == ZSTD_SHORT)
        return (size_t)size;
    if (zstd->parts.next == ZSTD_BLOCK)
        return block_fault(zstd) ? ZSTD_BLOCK_HEADER_SIZE : (size_t)size;
    return parsed == ZSTD_WRONG ? len : (size_t)size;
}

/* Returns the next part, with *len set to its bytes, once all of it has come. Otherwise takes what
 * there is of it, and returns NULL. */
static const unsigned char *see_part(struct zstd_decoder *zstd, struct decode_step *step,
                                     size_t *len)
{
    const unsigned char *in = step->in + step->used;
    size_t left = step->in_len - step->used;
    if (left > 0 && zstd->cut_len == 0 && (*len = part_size(zstd, in, left)) <= left)
        return in;
    while ((*len = part_size(zstd, zstd->cut, zstd->cut_len)) > zstd->cut_len && left > 0) {
        const size_t missing = *len - zstd->cut_len, some = left < missing ? left : missing;
        memcpy(zstd->cut + zstd->cut_len, step->in + step->used, some);
        zstd->cut_len += some;
        zstd->in_frame = true;
        step->used += some;
        left -= some;
    }
    return *len <= zstd->cut_len ? zstd->cut : NULL;
}

/* --- decoding --- */

static enum decode_status zstd_fault(struct error *error, const char *fault)
{
    error_set(error, "%s", fault);
    return DECODE_FAULT;
}

/* Has libzstd decode in[0..len). What else it says of corrupt data depends on its version, and on
 * where it decodes to. It does not always look whether the content has the size that is stated. */
static enum decode_status decode_bytes(struct zstd_decoder *zstd, const unsigned char *in,
                                       size_t len, struct decode_step *step, struct error *why)
{
    const uint64_t stated = stated_content(&zstd->parts.header);
    ZSTD_inBuffer from = {in, len, 0};
    ZSTD_outBuffer to = {step->out, step->cap, step->made};
    const size_t hint = libzstd.ZSTD_decompressStream(zstd->context, &to, &from);
    const ZSTD_ErrorCode error = libzstd.ZSTD_getErrorCode(hint);
    if (error == ZSTD_error_memory_allocation)
        return DECODE_NO_MEMORY;
    if (error == ZSTD_error_checksum_wrong)
        return zstd_fault(why, CORRUPT " (wrong checksum)");
    if (libzstd.ZSTD_isError(hint))
        return zstd_fault(why, CORRUPT);
    zstd->content += to.pos - step->made;
    zstd->in_frame = hint != 0;
    if (stated != FRAME_UNSIZED &&
        (zstd->in_frame ? zstd->content > stated : zstd->content != stated))
        return zstd_fault(why, CORRUPT);
    step->made = to.pos;
    zstd->is_full = zstd->in_frame && !zstd->is_direct && to.pos == to.size;
    zstd->is_held = from.pos < len;
    return DECODE_OK;
}

/* Begins the frame with the header in[0..len). */
static enum decode_status begin_frame(struct zstd_decoder *zstd, const unsigned char *in,
                                      size_t len, struct decode_step *step, struct error *error)
{
    const struct zstd_frame_header *header = &zstd->parts.header;
    if (zstd_parse_frame(in, len, &zstd->parts.header) != ZSTD_PARSED)
        return zstd_fault(error, zstd_magic(in, len) == MAGIC_OTHER
                                     ? "not zstd data (no frame begins here)"
                                     : CORRUPT);
    zstd->content = 0;
    zstd->skipped = header->skipped;
    zstd->in_frame = zstd->skipped > 0;
    if (header->is_skippable)
        return DECODE_OK;
    if (header->window > zstd->window_max)
        return zstd_fault(error,
                          "the zstd window exceeds the limit (raise it with --memlimit=SIZE)");
    if (header->dictionary != 0)
        return zstd_fault(
            error, "needs a dictionary, which is not supported (use 'zstd -dc -D DICTIONARY')");
    /* To the output, if all of the frame is there, and all of its content in the window, and fits.
     */
    const size_t left = step->in_len - step->used;
    struct codec_frame frame;
    const bool is_direct = zstd->cut_len == 0 && header->content <= header->window &&
                           header->content <= step->cap - step->made &&
                           zstd_peek(in, left, &frame) == FRAME_WHOLE && frame.size <= left;
    if ((is_direct ? set_direct(zstd, true) : begin_ring(zstd, header)) != 0)
        return DECODE_NO_MEMORY;
    zstd_part_pass(&zstd->parts);
    return decode_bytes(zstd, in, len, step, error);
}

/* Decodes the next part of a frame, in[0..len). */
static enum decode_status decode_part(struct zstd_decoder *zstd, const unsigned char *in,
                                      size_t len, struct decode_step *step, struct error *error)
{
    const char *fault = zstd->parts.next == ZSTD_BLOCK ? block_fault(zstd) : NULL;
    if (zstd->parts.next == ZSTD_HEADER)
        return begin_frame(zstd, in, len, step, error);
    if (fault)
        return zstd_fault(error, fault);
    zstd_part_pass(&zstd->parts);
    return decode_bytes(zstd, in, len, step, error);
}

/* Skips what has come of a skippable frame. */
static void skip(struct zstd_decoder *zstd, struct decode_step *step)
{
    const size_t left = step->in_len - step->used,
                 some = left < zstd->skipped ? left : (size_t)zstd->skipped;
    step->used += some;
    zstd->skipped -= some;
    zstd->in_frame = zstd->skipped > 0;
}

static enum decode_status zstd_decode(struct decoder *decoder, struct decode_step *step,
                                      struct error *error)
{
    static const unsigned char held; /* libzstd does not look at it again */
    struct zstd_decoder *zstd = (struct zstd_decoder *)decoder;
    enum decode_status status = DECODE_OK;
    step->used = step->made = 0;
    do {
        size_t len;
        if (zstd->skipped > 0) {
            skip(zstd, step);
            return DECODE_OK;
        }
        if (zstd->is_full) {
            status = decode_bytes(zstd, &held, zstd->is_held, step, error);
            if (zstd->is_full)
                return status;
            continue;
        }
        const unsigned char *in = see_part(zstd, step, &len);
        if (!in)
            return DECODE_OK;
        status = decode_part(zstd, in, len, step, error);
        step->used += zstd->cut_len == 0 ? len : 0;
        zstd->cut_len = 0;
    } while (status == DECODE_OK && zstd->in_frame);
    return status;
}

const struct codec codec_zstd = {
    .name = "zstd",
    .gpu_rate = 10e9,
    .gpu_rate_unchecked = 40e9,
    .together = 7,
    .magic = zstd_magic,
    .load = libzstd_load,
    .peek = zstd_peek,
    .follow = zstd_follow,
    .link_size = ZSTD_BLOCK_HEADER_SIZE,
    .open = zstd_open,
    .reserve = zstd_reserve,
    .decode = zstd_decode,
    .complete = zstd_complete,
    .close = zstd_close,
};

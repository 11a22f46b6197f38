/* SPDX-License-Identifier: MIT */
/* gzip: its headers, and decoding by ISA-L in builds with it. */
#include "codec.h"
#include "src/base/library.h"

#include <stdlib.h>
#include <string.h>
#if HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#endif

#define FLAGS_UNKNOWN 0xe0u
#define FLAG_EXTRA 4u

const unsigned char gzip_magic[GZIP_MAGIC_SIZE] = {0x1f, 0x8b, 0x08};

/* The flag that announces a part, and its bytes; 0: those that the header states, or up to a zero
 * byte. */
static const struct {
    unsigned flag;
    size_t size;
} parts[] = {
    [GZIP_AT_FIXED] = {0, 10},         [GZIP_AT_EXTRA_SIZE] = {FLAG_EXTRA, 2},
    [GZIP_AT_EXTRA] = {FLAG_EXTRA, 0}, [GZIP_AT_NAME] = {8, 0},
    [GZIP_AT_COMMENT] = {16, 0},       [GZIP_AT_CHECKSUM] = {2, 2},
    [GZIP_AT_TRAILER] = {0, 8},
};

/* Takes the next byte of a header or trailer. NULL, or what is wrong. */
static const char *read_byte(struct gzip_members *members, unsigned char byte)
{
    const enum gzip_at part = members->next;
    const size_t size = part == GZIP_AT_EXTRA ? members->number : parts[part].size,
                 at = members->at++;
    const char *fault = NULL;
    if (part == GZIP_AT_FIXED && at < GZIP_MAGIC_SIZE && byte != gzip_magic[at])
        fault = "not gzip data (no member begins here)";
    if (part == GZIP_AT_FIXED && at == GZIP_MAGIC_SIZE) {
        members->flags = byte;
        fault = byte & FLAGS_UNKNOWN ? "corrupt gzip data (unknown flags in a header)" : NULL;
    }
    if (part == GZIP_AT_EXTRA_SIZE || part == GZIP_AT_CHECKSUM || part == GZIP_AT_TRAILER)
        members->number = (at > 0 ? members->number : 0) | (uint64_t)byte << 8 * at;
    if (part < GZIP_AT_CHECKSUM) {
        uint32_t crc = ~members->crc ^ byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
        members->crc = ~crc;
    }
    if (size > 0 ? members->at < size : byte != 0)
        return fault;
    if (part == GZIP_AT_CHECKSUM && members->number != (members->crc & 0xffff))
        fault = "corrupt gzip data (wrong checksum of a header)";
    members->at = 0;
    do
        members->next++;
    while (members->next < GZIP_AT_BLOCKS &&
           (!(members->flags & parts[members->next].flag) ||
            (members->next == GZIP_AT_EXTRA && members->number == 0)));
    return fault;
}

bool gzip_members_are_complete(const struct gzip_members *members)
{
    return members->next == GZIP_AT_FIRST || members->next >= GZIP_AT_NEXT;
}

const char *gzip_members_read(struct gzip_members *members, const unsigned char *in, size_t len,
                              size_t *used)
{
    const char *fault = NULL;
    size_t at = 0;
    if (gzip_members_are_complete(members) && len > 0) {
        while (members->next != GZIP_AT_FIRST && at < len && in[at] == 0)
            at++;
        if (at == 0 && members->next == GZIP_AT_ZEROS)
            return "not gzip data (after zero bytes, which end it)";
        *members = (struct gzip_members){.next = at > 0 ? GZIP_AT_ZEROS : GZIP_AT_FIXED};
    }
    while (at < len && !fault &&
           (members->next < GZIP_AT_BLOCKS || members->next == GZIP_AT_TRAILER))
        fault = read_byte(members, in[at++]);
    *used += at;
    return fault;
}

/* Returns a * b, polynomials over GF(2) modulo that of the CRC; the highest bit is x^0. */
static uint32_t crc_product(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = UINT32_C(1) << 31; bit > 0; bit >>= 1) {
        product ^= a & bit ? b : 0;
        b = b & 1 ? b >> 1 ^ UINT32_C(0xedb88320) : b >> 1;
    }
    return product;
}

/* Bytes that follow multiply a CRC by x^8 each; that power is made by squaring. */
uint32_t gzip_checksum_join(uint32_t before, uint32_t crc, uint64_t len)
{
    uint32_t power = UINT32_C(1) << 23; /* x^8 */
    for (; len > 0; len >>= 1) {
        if (len & 1)
            before = crc_product(before, power);
        power = crc_product(power, power);
    }
    return before ^ crc;
}

/* --- the codec --- */

#if HAVE_ISAL

/* gzip, by ISA-L, which verifies checksum and length of a member even if they are cut. It also
 * takes blocks whose codes leave bits unused, which zlib refuses and no compressor writes.
 *
 * Members of BGZF (bgzip, htslib) state their size in the first part of the extra field, named BC,
 * so that they can be decoded side by side. A size is believed only if another such member begins
 * where it says. So the last member, one before zero bytes, and one with a damaged size are decoded
 * in order with all that follows, as if they stated nothing. If a member ends elsewhere although
 * another one seems to begin there, the run fails, as what others have decoded from there on may
 * not be content. One that goes on fails in order, too: mostly it is corrupt, and is decoded in
 * order or not depending on how fast it comes. */

#define WINDOW_SIZE (32 << 10)
#define MISSTATED "corrupt gzip data " FRAME_MISSTATED

#define CALLS(CALL) CALL(isal_inflate) CALL(isal_inflate_init) CALL(crc32_gzip_refl)

LIBRARY(libisal, LIBISAL_FILE, CALLS)

uint32_t gzip_checksum(uint32_t before, const unsigned char *data, size_t len)
{
    return libisal.crc32_gzip_refl(before, data, len);
}

/* The first bytes of a member of BGZF, up to its size: the first part of the extra field. */
#define BGZF_HEAD_SIZE 18

/* Returns how many bytes the member that begins with head[0..BGZF_HEAD_SIZE) has, as these state; 0
 * if they do not. */
static size_t bgzf_size(const unsigned char *head)
{
    static const unsigned char name_and_size[] = {'B', 'C', 2, 0};
    const unsigned flags = head[3] & (FLAGS_UNKNOWN | FLAG_EXTRA);
    const bool has_room = head[10] >= 6 || head[11] > 0;
    if (memcmp(head, gzip_magic, GZIP_MAGIC_SIZE) != 0 || flags != FLAG_EXTRA || !has_room ||
        memcmp(head + 12, name_and_size, sizeof name_and_size) != 0)
        return 0;
    return (head[16] | (size_t)head[17] << 8) + 1;
}

/* True if in[0..len), len at most BGZF_HEAD_SIZE, may be the first bytes of such a member. */
static bool bgzf_may_begin(const unsigned char *in, size_t len)
{
    unsigned char head[BGZF_HEAD_SIZE] = {0x1f, 0x8b, 8, FLAG_EXTRA, [11] = 1, [12] = 'B', 'C', 2};
    memcpy(head, in, len);
    return bgzf_size(head) > 0;
}

/* Headers are read here: ISA-L forgets which fields are still to come when a header is cut. */
struct gzip_decoder {
    struct decoder decoder;
    struct gzip_members members;
    bool is_longer;                     /* the member goes on beyond the size that it states */
    uint64_t taken;                     /* bytes of the member */
    size_t stated;                      /* how many it states to have; 0: it does not */
    const char *fault;                  /* NULL; or what is wrong, unless its size is */
    unsigned char head[BGZF_HEAD_SIZE]; /* of the member; beyond its size, of what follows that */
    size_t head_len;                    /* bytes of it that have come */
    struct inflate_state inflate;       /* 90 KB: with its window, and needs no other memory */
};

static enum codec_magic gzip_match(const unsigned char *head, size_t len)
{
    if (memcmp(head, gzip_magic, len < GZIP_MAGIC_SIZE ? len : GZIP_MAGIC_SIZE) != 0)
        return MAGIC_OTHER;
    return len < GZIP_MAGIC_SIZE ? MAGIC_PART : MAGIC_MATCH;
}

/* The next member is the link. */
static enum frame_extent gzip_follow(const unsigned char *link, struct codec_frame *frame)
{
    (void)frame;
    return bgzf_size(link) > 0 ? FRAME_WHOLE : FRAME_UNKNOWN;
}

static enum frame_extent gzip_peek(const unsigned char *in, size_t len, struct codec_frame *frame)
{
    *frame = (struct codec_frame){.memory = WINDOW_SIZE, .content = FRAME_UNSIZED};
    if (len < BGZF_HEAD_SIZE)
        return FRAME_PART;
    frame->size = bgzf_size(in);
    if (frame->size == 0)
        return FRAME_UNKNOWN;
    if (len < frame->size + BGZF_HEAD_SIZE)
        return FRAME_PART;
    return gzip_follow(in + frame->size, frame);
}

/* No window is larger than 32 KiB, so the limit of memory says nothing; and checksums are always
 * verified, as ISA-L computes them in passing. */
static struct decoder *gzip_open(const struct codec_options *options)
{
    (void)options;
    struct error unused;
    struct gzip_decoder *gzip = libisal_load(&unused) == 0 ? calloc(1, sizeof *gzip) : NULL;
    if (!gzip)
        return NULL;
    gzip->decoder.codec = &codec_gzip;
    return &gzip->decoder;
}

static int gzip_reserve(struct decoder *decoder, const unsigned char *in, size_t len, bool is_first)
{
    (void)in;
    (void)len;
    ((struct gzip_decoder *)decoder)->members.next = is_first ? GZIP_AT_FIRST : GZIP_AT_NEXT;
    return 0;
}

static enum decode_status gzip_fault(struct error *error, const char *fault)
{
    error_set(error, "%s", fault);
    return DECODE_FAULT;
}

/* Adds to the head, which begins at byte `begin` of the member, what there is of it in in[0..len),
 * which begins at byte `at`, not after what is missing. */
static void see_head(struct gzip_decoder *gzip, uint64_t begin, const unsigned char *in, size_t len,
                     uint64_t at)
{
    const size_t missing = BGZF_HEAD_SIZE - gzip->head_len;
    if (missing == 0 || begin + gzip->head_len - at >= len)
        return;
    const size_t from = (size_t)(begin + gzip->head_len - at),
                 some = len - from < missing ? len - from : missing;
    memcpy(gzip->head + gzip->head_len, in + from, some);
    gzip->head_len += some;
}

/* Takes bytes up to the body of a member, and begins that. A step ends with padding, so that the
 * next one begins with what is wrong. */
static enum decode_status read_between(struct gzip_decoder *gzip, struct decode_step *step,
                                       struct error *error)
{
    if (gzip_members_are_complete(&gzip->members)) {
        gzip->taken = gzip->head_len = 0;
        gzip->fault = NULL;
        gzip->is_longer = false;
    }
    const char *fault = gzip_members_read(&gzip->members, step->in, step->in_len, &step->used);
    if (fault)
        return gzip_fault(error, fault);
    see_head(gzip, 0, step->in, step->used, gzip->taken);
    if (gzip->members.next != GZIP_AT_BLOCKS)
        return DECODE_OK;
    gzip->stated = gzip->head_len == BGZF_HEAD_SIZE ? bgzf_size(gzip->head) : 0;
    if (gzip->stated > 0 && gzip->stated <= gzip->taken + step->used) {
        if (step->is_followed)
            return gzip_fault(error, MISSTATED);
        gzip->stated = 0;
    }
    libisal.isal_inflate_init(&gzip->inflate);
    gzip->inflate.crc_flag = ISAL_GZIP_NO_HDR_VER; /* verifies what follows the blocks */
    return DECODE_OK;
}

static const char *inflate_fault(int error)
{
    switch (error) {
    case ISAL_INVALID_BLOCK:
        return "corrupt gzip data (invalid block)";
    case ISAL_INVALID_SYMBOL:
        return "corrupt gzip data (invalid code)";
    case ISAL_INVALID_LOOKBACK:
        return "corrupt gzip data (a distance goes back too far)";
    case ISAL_INCORRECT_CHECKSUM:
        return "corrupt gzip data (wrong checksum or length)";
    default:
        return "corrupt gzip data";
    }
}

/* Looks at what follows the size that the member states: one that goes on although another one
 * begins there is wrong. Says what is wrong, unless more bytes are needed for that. */
static enum decode_status look_beyond(struct gzip_decoder *gzip, const struct decode_step *step,
                                      struct error *error)
{
    see_head(gzip, gzip->stated, step->in, step->in_len, gzip->taken);
    if (bgzf_may_begin(gzip->head, gzip->head_len))
        return gzip->head_len == BGZF_HEAD_SIZE ? gzip_fault(error, MISSTATED) : DECODE_OK;
    return gzip->fault ? gzip_fault(error, gzip->fault) : DECODE_OK;
}

/* Inflates bytes up to the size that the member states, or from there on. */
static enum decode_status read_body(struct gzip_decoder *gzip, struct decode_step *step,
                                    struct error *error)
{
    struct inflate_state *inflate = &gzip->inflate;
    const uint64_t at = gzip->taken + step->used;
    const bool is_stated = gzip->stated > 0, is_longer = gzip->is_longer;
    size_t len = step->in_len - step->used;
    if (is_longer) {
        const enum decode_status status = look_beyond(gzip, step, error);
        if (gzip->fault)
            step->used = step->in_len;
        if (gzip->fault || status != DECODE_OK)
            return status;
    }
    if (is_stated && !is_longer && len > gzip->stated - at)
        len = (size_t)(gzip->stated - at);
    inflate->next_in = (uint8_t *)step->in + step->used; /* which is only read */
    inflate->avail_in = (uint32_t)len;
    inflate->next_out = step->out;
    inflate->avail_out = (uint32_t)step->cap;
    const int code = libisal.isal_inflate(inflate);
    gzip->fault = code == ISAL_DECOMP_OK ? NULL : inflate_fault(code);
    if (gzip->fault) {
        step->used = step->in_len;
        return is_longer ? look_beyond(gzip, step, error) : gzip_fault(error, gzip->fault);
    }
    step->used += len - inflate->avail_in;
    step->made = step->cap - inflate->avail_out;
    const bool is_at_end = is_stated && gzip->taken + step->used == gzip->stated;
    if (inflate->block_state == ISAL_BLOCK_FINISH) {
        gzip->members.next = GZIP_AT_NEXT;
        if (is_stated && !is_at_end && step->is_followed)
            return gzip_fault(error, MISSTATED);
    } else if (is_at_end && !is_longer && step->made < step->cap) {
        gzip->is_longer = true;
        gzip->head_len = 0;
    }
    return DECODE_OK;
}

static enum decode_status gzip_decode(struct decoder *decoder, struct decode_step *step,
                                      struct error *error)
{
    struct gzip_decoder *gzip = (struct gzip_decoder *)decoder;
    enum decode_status status = DECODE_OK;
    step->used = step->made = 0;
    if (gzip->members.next != GZIP_AT_BLOCKS)
        status = read_between(gzip, step, error);
    if (gzip->members.next == GZIP_AT_BLOCKS && status == DECODE_OK) {
        const bool was_longer = gzip->is_longer;
        status = read_body(gzip, step, error);
        if (gzip->is_longer && !was_longer && status == DECODE_OK && step->made == 0)
            status = read_body(gzip, step, error);
    }
    gzip->taken += step->used;
    return status;
}

static bool gzip_complete(const struct decoder *decoder)
{
    return gzip_members_are_complete(&((const struct gzip_decoder *)decoder)->members);
}

static void gzip_close(struct decoder *decoder)
{
    free(decoder);
}

const struct codec codec_gzip = {
    .name = "gzip",
    .gpu_rate = 40e9,
    .gpu_rate_unchecked = 40e9,
    .together = 16,
    .is_chain = true,
    .magic = gzip_match,
    .load = libisal_load,
    .peek = gzip_peek,
    .follow = gzip_follow,
    .link_size = BGZF_HEAD_SIZE,
    .open = gzip_open,
    .reserve = gzip_reserve,
    .decode = gzip_decode,
    .complete = gzip_complete,
    .close = gzip_close,
};

#endif

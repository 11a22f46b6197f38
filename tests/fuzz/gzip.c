/* SPDX-License-Identifier: MIT */
/* For libFuzzer: the codec for gzip, on any bytes, fed and emptied in steps of any size, against
 * zlib. The first byte says how the rest is meant: as gzip data; or as the blocks of a member, with
 * a header before them and the right checksum and length after them, which no fuzzer would guess.
 * The next two bytes say how large the steps are. `make fuzz` builds it if there is zlib. */
#include "src/codec/codec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/guarded.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define CONTENT_MAX ((size_t)1 << 20) /* bytes; data that hold more are left alone */
#define STEP_MAX ((size_t)64 << 10)

static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};

/* What came of decoding. */
struct content {
    bool whole;    /* the data end where they may */
    bool too_long; /* more than CONTENT_MAX */
    bool is_odd;   /* see is_oddity; or the size of a member of BGZF is wrong, which zlib ignores */
    size_t len;
    unsigned char bytes[CONTENT_MAX];
};

static struct content expected, actual;

static bool is_padding(const unsigned char *in, size_t len)
{
    while (len > 0 && *in == 0)
        in++, len--;
    return len == 0;
}

/* Whether zlib refuses a block for the form of its codes alone: a code that leaves bits unused,
 * say, which no compressor writes. ISA-L decodes such a block as far as its codes go. */
static bool is_oddity(const char *message)
{
    static const char *const oddities[] = {
        "invalid code lengths set", "invalid literal/lengths set", "invalid distances set",
        "too many length or distance symbols", "invalid code -- missing end-of-block"};
    for (size_t i = 0; message && i < sizeof oddities / sizeof oddities[0]; i++)
        if (strcmp(message, oddities[i]) == 0)
            return true;
    return false;
}

/* Decodes members, in zlib's words for how they are wrapped, after one another. Returns the bytes
 * that were taken. */
static size_t inflate_by_zlib(const unsigned char *in, size_t len, int window_bits, bool many)
{
    z_stream stream = {.next_in = (unsigned char *)in, .avail_in = (unsigned)len};
    fuzz_require(inflateInit2(&stream, window_bits) == Z_OK, "zlib cannot begin");
    stream.next_out = expected.bytes;
    stream.avail_out = CONTENT_MAX;
    int rc = inflate(&stream, Z_FINISH);
    while (rc == Z_STREAM_END && many && !is_padding(stream.next_in, stream.avail_in)) {
        inflateReset(&stream);
        rc = inflate(&stream, Z_FINISH);
    }
    expected.whole = rc == Z_STREAM_END;
    expected.is_odd = rc == Z_DATA_ERROR && is_oddity(stream.msg);
    expected.too_long = !expected.whole && stream.avail_out == 0;
    expected.len = CONTENT_MAX - stream.avail_out;
    inflateEnd(&stream);
    return len - stream.avail_in;
}

/* len bytes that end where memory does, so that ISA-L's assembly, which no sanitizer sees, cannot
 * touch what follows. `which` is 0 or 1. */
static unsigned char *at_the_edge(int which, size_t len)
{
    static unsigned char *memory[2];
    if (!memory[which])
        memory[which] = guarded_memory(STEP_MAX);
    return memory[which] + STEP_MAX - len;
}

/* One step, with copies at the edges of memory. */
static enum decode_status decode_at_the_edge(struct decoder *decoder, struct decode_step *step,
                                             struct error *error)
{
    struct decode_step edge = *step;
    unsigned char *in = at_the_edge(0, step->in_len);
    memcpy(in, step->in, step->in_len);
    edge.in = in;
    edge.out = at_the_edge(1, step->cap);
    enum decode_status status = decoder->codec->decode(decoder, &edge, error);
    step->used = edge.used;
    step->made = edge.made;
    fuzz_require(step->used <= step->in_len && step->made <= step->cap, "a step that is too long");
    if (status == DECODE_OK)
        memcpy(step->out, edge.out, edge.made);
    return status;
}

static void inflate_by_codec(const unsigned char *in, size_t len, size_t in_step, size_t out_step)
{
    static const struct codec_options options = {.memlimit = 1024};
    struct decoder *decoder = codec_gzip.open(&options);
    struct error error = {""};
    size_t at = 0;
    bool pending = false;
    enum decode_status status = DECODE_OK;
    actual.len = 0;
    while (status == DECODE_OK && (at < len || pending) && actual.len < CONTENT_MAX) {
        size_t space = CONTENT_MAX - actual.len, left = len - at;
        struct decode_step step = {.in = in + at,
                                   .in_len = left < in_step ? left : in_step,
                                   .out = actual.bytes + actual.len,
                                   .cap = space < out_step ? space : out_step};
        status = decode_at_the_edge(decoder, &step, &error);
        at += step.used;
        actual.len += step.made;
        pending = step.made == step.cap && !codec_gzip.complete(decoder);
        fuzz_require(status != DECODE_OK || step.used > 0 || step.made > 0 || step.in_len == 0,
                     "it would never end");
    }
    actual.whole = status == DECODE_OK && codec_gzip.complete(decoder) && at == len && len > 0;
    actual.is_odd = strstr(error.text, FRAME_MISSTATED) != NULL;
    actual.too_long = status == DECODE_OK && actual.len == CONTENT_MAX;
    decoder_close(decoder);
}

/* The blocks at in[0..len) as a member. To be freed. */
static unsigned char *make_member(const unsigned char *in, size_t len, size_t *member_len)
{
    unsigned char *member = malloc(sizeof header + len + 8), *end = member + sizeof header;
    size_t blocks = inflate_by_zlib(in, len, -15, false);
    uint64_t trailer = crc32(0, expected.bytes, (unsigned)expected.len) | (uint64_t)expected.len
                                                                              << 32;
    memcpy(member, header, sizeof header);
    memcpy(end, in, blocks);
    end += blocks;
    for (int i = 0; i < 8; i++)
        *end++ = (unsigned char)(trailer >> 8 * i);
    *member_len = (size_t)(end - member);
    return member;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t steps[] = {1, 2, 3, 7, 8, 9, 64, 300, 4096, 32768, STEP_MAX};
    const size_t count = sizeof steps / sizeof steps[0];
    unsigned char *member = NULL;
    if (size < 4)
        return 0;
    const unsigned char *in = data + 3;
    size_t len = size - 3;
    if (data[0] & 1)
        in = member = make_member(in, len, &len);
    inflate_by_zlib(in, len, 15 + 16, true);
    inflate_by_codec(in, len, steps[data[1] % count], steps[data[2] % count]);
    if (!expected.too_long && !actual.too_long && !expected.is_odd && !actual.is_odd) {
        fuzz_require(!actual.whole || expected.whole, "taken, and zlib refuses it");
        fuzz_require(actual.whole || !expected.whole, "refused, and zlib takes it");
        fuzz_require(!actual.whole || (actual.len == expected.len &&
                                       memcmp(actual.bytes, expected.bytes, actual.len) == 0),
                     "other content than zlib's");
    }
    free(member);
    return 0;
}

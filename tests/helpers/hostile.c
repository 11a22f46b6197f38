/* SPDX-License-Identifier: MIT */
#include "hostile.h"
#include "need.h"
#include "random.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* --- bytes and bits, the lowest first --- */

struct output {
    unsigned char *bytes;
    size_t len, cap;
    unsigned bits, bit_count; /* of the next byte */
    struct output *content;   /* of the blocks that have any */
};

static void put_byte(struct output *out, unsigned byte)
{
    if (out->len == out->cap) {
        out->cap = out->cap ? 2 * out->cap : 1 << 16;
        out->bytes = need(realloc(out->bytes, out->cap));
    }
    out->bytes[out->len++] = (unsigned char)byte;
}

static void put_bytes(struct output *out, const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        put_byte(out, bytes[i]);
}

static void put_number(struct output *out, uint64_t value, unsigned bytes)
{
    for (; bytes > 0; bytes--, value >>= 8)
        put_byte(out, value & 255);
}

static void put_bits(struct output *out, unsigned value, unsigned count)
{
    for (; count > 0; count--, value >>= 1) {
        out->bits |= (value & 1) << out->bit_count++;
        if (out->bit_count < 8)
            continue;
        put_byte(out, out->bits);
        out->bits = out->bit_count = 0;
    }
}

static void end_byte(struct output *out)
{
    put_bits(out, 0, (8 - out->bit_count) % 8);
}

/* Puts some blocks. */
typedef void blocks(struct output *out);

/* --- blocks of deflate --- */

/* The header of a dynamic block. Below 14, a literal of N is N ones and a zero; 14 ones and a zero
 * end the block, and 15 ones are a match without a distance. */
static const unsigned char unary[] = {0x0c, 0xe0, 0x81, 0x92, 0x24, 0x49, 0x92, 0x24,
                                      0xc9, 0x22, 0xb1, 0xa8, 0x79, 0x64, 0xf5, 0xec,
                                      0xfd, 0xea, 0xaf, 0xfe, 0xd3, 0x7b, 0x00};
#define UNARY_BITS 180
#define UNARY_END 14

/* The same in whole bytes, with a zero for a match of 258 bytes, and its distance in another bit.
 */
static const unsigned char matches[] = {0xec, 0xe1, 0x81, 0x92, 0x24, 0x49, 0x92, 0x24, 0xc9,
                                        0x12, 0x8b, 0x9a, 0x47, 0x56, 0xcf, 0xde, 0xaf, 0xfe,
                                        0xea, 0x47, 0xbd, 0xf7, 0x21, 0x88, 0x08};

/* A header with lengths of 9 bits for all symbols, which turn out to be an incomplete code. More
 * such bytes follow. */
static const unsigned char incomplete[] = {0xec, 0x7d, 0x00, 0x05, 0x50};
#define INCOMPLETE_MORE 79

static void put_unary(struct output *out, unsigned symbol)
{
    put_bits(out, (1u << symbol) - 1, symbol + 1);
}

static void put_unary_header(struct output *out)
{
    for (unsigned i = 0; i < UNARY_BITS; i++)
        put_bits(out, (unsigned)unary[i / 8] >> i % 8, 1);
}

/* Headers after which all is literals, until 15 bits are set. */
static void put_literals(struct output *out)
{
    for (unsigned i = 0; i < 4400; i++)
        put_bytes(out, unary, sizeof unary);
    put_number(out, UINT32_MAX, 4);
}

/* Headers after which two bits are an operation. */
static void put_matches(struct output *out)
{
    for (unsigned i = 0; i < 80; i++)
        put_bytes(out, matches, sizeof matches);
    for (unsigned i = 0; i < 4500; i++)
        put_byte(out, 0);
    put_number(out, UINT32_MAX, 4);
}

static void put_incomplete(struct output *out)
{
    put_bytes(out, incomplete, sizeof incomplete);
    for (unsigned i = 0; i < INCOMPLETE_MORE; i++)
        put_byte(out, 0x55);
}

/* Blocks as large as compressors make them. */
static void put_usual(struct output *out)
{
    for (unsigned block = 0; block < 100; block++) {
        put_unary_header(out);
        for (unsigned i = 0; i < 15000; i++) {
            const unsigned literal = random_below(UNARY_END);
            put_unary(out, literal);
            put_byte(out->content, literal);
        }
        put_unary(out, UNARY_END);
    }
}

static void put_stored(struct output *out, const unsigned char *data, size_t len)
{
    put_bits(out, 0, 3);
    end_byte(out);
    put_number(out, len, 2);
    put_number(out, ~len & 0xffff, 2);
    put_bytes(out, data, len);
}

/* As many of these in stored blocks first, as where a compressed file is stored in another one. */
static void put_mixed(struct output *out)
{
    struct output unused = {.len = 0}, body = {.content = &unused};
    put_usual(&body);
    for (size_t at = 0; at + 65535 < body.len; at += 65535) {
        put_stored(out, body.bytes + at, 65535);
        put_bytes(out->content, body.bytes + at, 65535);
    }
    put_usual(out);
    free(body.bytes);
    free(unused.bytes);
}

/* Without content. */
static void put_dynamic(struct output *out)
{
    put_unary_header(out);
    put_unary(out, UNARY_END);
}

static void put_fixed(struct output *out)
{
    put_bits(out, 2, 10);
}

static void put_empty_stored(struct output *out)
{
    put_stored(out, NULL, 0);
}

/* Three bytes, as of whoever flushes often. */
static void put_flushed(struct output *out)
{
    put_bits(out, 2, 3);
    for (unsigned i = 0; i < 3; i++) {
        put_bits(out, 0xcc, 8); /* 0x30 + 3, the highest bit first */
        put_byte(out->content, 3);
    }
    put_bits(out, 0, 7);
}

/* --- blocks of zstd --- */

enum block_type { RAW, RLE, COMPRESSED };

static void put_block(struct output *out, bool is_last, enum block_type type,
                      const unsigned char *bytes, size_t len)
{
    put_number(out, is_last | (unsigned)type << 1 | len << 3, 3);
    put_bytes(out, bytes, len);
}

static void put_raw(struct output *out)
{
    put_block(out, false, RAW, NULL, 0);
}

static void put_compressed(struct output *out)
{
    static const unsigned char empty[] = {4, 0, 0};
    put_block(out, false, COMPRESSED, empty, sizeof empty);
}

/* The largest tables, in the fewest bytes: codes of 1 to 11 bits, and tables of 512, 256 and 512
 * states, of which all but one are of the symbol 0; then a literal, and a sequence of three bytes.
 */
static void put_tables(struct output *out)
{
    static const unsigned char tables[] = {
        0x12, 0,    2,    138,  0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 3,     /* literals */
        1,    0xa8, 0xe4, 0xff, 0xe3, 0x7f, 0xe4, 0xff, 0,    0,    0, 4}; /* a sequence */
    put_block(out, false, COMPRESSED, tables, sizeof tables);
}

/* Many blocks with the same tables. */
static void put_repeated(struct output *out)
{
    static const unsigned char repeated[] = {0x13, 0x40, 0, 3, 1, 0xfc, 0, 0, 0, 4};
    put_tables(out);
    for (unsigned i = 0; i < 2000; i++)
        put_block(out, false, COMPRESSED, repeated, sizeof repeated);
}

/* Blocks of a sequence, by the predefined tables and by tables of one state, in turn. */
static void put_predefined(struct output *out)
{
    static const unsigned char predefined[] = {0, 1, 0, 0, 0, 2},
                               single[] = {0, 1, 0x54, 0, 0, 0, 1};
    put_block(out, false, COMPRESSED, predefined, sizeof predefined);
    put_block(out, false, COMPRESSED, single, sizeof single);
}

/* --- files, of such blocks --- */

static uint32_t crc_of(const unsigned char *data, size_t len)
{
    uint32_t table[256], crc = 0xffffffff;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    for (size_t i = 0; i < len; i++)
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 255];
    return ~crc;
}

static void begin_member(struct output *out, struct output *content)
{
    static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    put_bytes(out, header, sizeof header);
    out->content = content;
}

/* With an empty block. Frees the content. */
static void end_member(struct output *out)
{
    const struct output *content = out->content;
    put_bits(out, 3, 10);
    end_byte(out);
    put_number(out, crc_of(content->bytes, content->len), 4);
    put_number(out, content->len & 0xffffffff, 4);
    free(content->bytes);
}

static void put_member(struct output *out, size_t size, blocks *put)
{
    struct output content = {.len = 0};
    begin_member(out, &content);
    while (out->len < size)
        put(out);
    end_member(out);
}

static void put_members(struct output *out, size_t size, blocks *put)
{
    while (out->len < size)
        put_member(out, 0, put);
}

/* The blocks, over and over, are the content of stored ones. */
static void put_stored_member(struct output *out, size_t size, blocks *put)
{
    struct output content = {.len = 0}, unused = {.len = 0}, body = {.content = &unused};
    put(&body);
    end_byte(&body);
    while (content.len < size)
        put_bytes(&content, body.bytes, body.len);
    begin_member(out, &content);
    for (size_t at = 0, some; at < content.len; at += some) {
        some = content.len - at < 65535 ? content.len - at : 65535;
        put_stored(out, content.bytes + at, some);
    }
    end_member(out);
    free(unused.bytes);
    free(body.bytes);
}

static void put_frame(struct output *out, size_t size, blocks *put)
{
    static const unsigned char header[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3}, /* 128 KiB */
        before[100] = "x";
    put_bytes(out, header, sizeof header);
    put_block(out, false, RAW, before, sizeof before);
    while (out->len < size)
        put(out);
    put_block(out, true, RAW, NULL, 0);
}

static void put_frames(struct output *out, size_t size, blocks *put)
{
    while (out->len < size)
        put_frame(out, 0, put);
}

static const struct {
    const char *name;
    void (*put)(struct output *out, size_t size, blocks *put);
    blocks *blocks;
} kinds[] = {
    {"gzip-literals", put_stored_member, put_literals},
    {"gzip-matches", put_stored_member, put_matches},
    {"gzip-headers", put_stored_member, put_incomplete},
    {"gzip-nested", put_stored_member, put_usual},
    {"gzip-mixed", put_member, put_mixed},
    {"gzip-dynamic", put_member, put_dynamic},
    {"gzip-fixed", put_member, put_fixed},
    {"gzip-stored", put_member, put_empty_stored},
    {"gzip-flushed", put_member, put_flushed},
    {"gzip-members", put_members, NULL},
    {"zstd-raw", put_frame, put_raw},
    {"zstd-compressed", put_frame, put_compressed},
    {"zstd-tables", put_frame, put_tables},
    {"zstd-repeated", put_frame, put_repeated},
    {"zstd-predefined", put_frame, put_predefined},
    {"zstd-frames", put_frames, NULL},
};

struct hostile_file hostile_make(const char *name, size_t number, size_t size)
{
    struct output out = {.len = 0};
    size_t kind = 0;
    for (; kind < sizeof kinds / sizeof *kinds; kind++)
        if (strncmp(kinds[kind].name, name, strlen(name)) == 0 && number-- == 0)
            break;
    if (kind == sizeof kinds / sizeof *kinds)
        return (struct hostile_file){NULL, NULL, 0};
    kinds[kind].put(&out, size, kinds[kind].blocks);
    return (struct hostile_file){kinds[kind].name, out.bytes, out.len};
}

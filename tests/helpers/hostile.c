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
};

static void put_byte(struct output *out, unsigned byte)
{
    if (out->len == out->cap) {
        out->cap = out->cap ? 2 * out->cap : 1 << 16;
        out->bytes = need(realloc(out->bytes, out->cap));
    }
    out->bytes[out->len++] = (unsigned char)byte;
}

static void put_bytes(struct output *out, const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        put_byte(out, ((const unsigned char *)bytes)[i]);
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

/* --- codes of deflate --- */

#define LITERALS 286
#define DISTANCES 30
#define PRECODES 19
#define END 256
#define LONGEST 285 /* a match of 258 bytes */

/* Lengths in bits, and what codes they give. */
struct code {
    uint8_t lengths[LITERALS];
    uint16_t codes[LITERALS];
};

static void set_codes(struct code *code)
{
    unsigned next = 0;
    for (unsigned length = 1; length <= 15; length++, next <<= 1)
        for (unsigned i = 0; i < LITERALS; i++)
            if (code->lengths[i] == length)
                code->codes[i] = (uint16_t)next++;
}

/* Puts a code, which begins with its highest bit. */
static void put_code(struct output *out, const struct code *code, unsigned symbol)
{
    for (unsigned left = code->lengths[symbol]; left > 0; left--)
        put_bits(out, code->codes[symbol] >> (left - 1), 1);
}

/* What code lengths are written as. */
struct token {
    unsigned symbol, extra, extra_bits;
};

/* Zeros that are written at once: more would have ones in a row, which the codes of put_literals
 * and put_matches mean an end by. */
#define ZEROS_MAX 96

static unsigned tokens_of(const uint8_t *lengths, unsigned count, struct token *tokens)
{
    unsigned made = 0;
    for (unsigned at = 0, run; at < count; at += run) {
        for (run = 1;
             at + run < count && lengths[at] == 0 && lengths[at + run] == 0 && run < ZEROS_MAX;)
            run++;
        tokens[made++] =
            run >= 11 ? (struct token){18, run - 11, 7} : (struct token){lengths[at], 0, 0};
        run = run >= 11 ? run : 1;
    }
    return made;
}

/* Sets the lengths of a complete code of the symbols that are used, at least two. */
static void balance(struct code *code, const bool *used, unsigned symbols)
{
    unsigned count = 0, bits = 0;
    for (unsigned i = 0; i < symbols; i++)
        count += used[i];
    while (2u << bits <= count)
        bits++;
    unsigned longer = 2 * (count - (1u << bits));
    for (unsigned i = symbols; i-- > 0;) {
        code->lengths[i] = (uint8_t)(used[i] ? bits + (longer > 0) : 0);
        longer -= used[i] && longer > 0;
    }
    set_codes(code);
}

/* Puts the header of a dynamic block that is not the last. */
static void put_header(struct output *out, const struct code *literals, unsigned literal_count,
                       const struct code *distances, unsigned distance_count)
{
    static const uint8_t order[PRECODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + DISTANCES];
    struct token tokens[LITERALS + DISTANCES];
    bool used[PRECODES] = {[0] = true, [18] = true};
    struct code precode = {{0}, {0}};
    memcpy(lengths, literals->lengths, literal_count);
    memcpy(lengths + literal_count, distances->lengths, distance_count);
    const unsigned count = tokens_of(lengths, literal_count + distance_count, tokens);
    for (unsigned i = 0; i < count; i++)
        used[tokens[i].symbol] = true;
    balance(&precode, used, PRECODES);
    unsigned written = PRECODES;
    while (precode.lengths[order[written - 1]] == 0)
        written--;
    put_bits(out, 4, 3);
    put_bits(out, literal_count - 257, 5);
    put_bits(out, distance_count - 1, 5);
    put_bits(out, written - 4, 4);
    for (unsigned i = 0; i < written; i++)
        put_bits(out, precode.lengths[order[i]], 3);
    for (unsigned i = 0; i < count; i++) {
        put_code(out, &precode, tokens[i].symbol);
        put_bits(out, tokens[i].extra, tokens[i].extra_bits);
    }
}

/* --- gzip --- */

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

static void begin_member(struct output *out)
{
    static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    put_bytes(out, header, sizeof header);
}

/* Ends a member, after its last block. */
static void end_member(struct output *out, const unsigned char *content, size_t len)
{
    end_byte(out);
    put_number(out, crc_of(content, len), 4);
    put_number(out, len & 0xffffffff, 4);
}

/* An empty last block of fixed codes. */
static void put_last(struct output *out)
{
    put_bits(out, 3, 3);
    put_bits(out, 0, 7);
}

static void put_stored(struct output *out, const unsigned char *data, size_t len)
{
    put_bits(out, 0, 3);
    end_byte(out);
    put_number(out, len, 2);
    put_number(out, ~len & 0xffff, 2);
    put_bytes(out, data, len);
}

/* Makes a member of stored blocks, full of a body. */
static void store_over_and_over(struct output *out, struct output *body, size_t size)
{
    struct output content = {.len = 0};
    end_byte(body);
    while (content.len < size)
        put_bytes(&content, body->bytes, body->len);
    begin_member(out);
    for (size_t at = 0, some; at < content.len; at += some) {
        some = content.len - at < 65535 ? content.len - at : 65535;
        put_stored(out, content.bytes + at, some);
    }
    put_last(out);
    end_member(out, content.bytes, content.len);
    free(content.bytes);
    free(body->bytes);
}

/* Codes of 1 to 15 bits: the i-th symbol has i + 1, and the last one as many as the one before. */
static void set_unary(struct code *code, const unsigned symbols[16])
{
    for (unsigned i = 0; i < 16; i++)
        code->lengths[symbols[i]] = (uint8_t)(i < 15 ? i + 1 : 15);
    set_codes(code);
}

/* Headers whose codes mean nothing but literals, until 15 bits are set. */
static void put_literals(struct output *out, size_t size)
{
    static const unsigned symbols[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, END, 257};
    struct code literals = {{0}, {0}}, none = {{0}, {0}};
    struct output body = {.len = 0};
    set_unary(&literals, symbols);
    while (body.len < 100000) {
        put_header(&body, &literals, 258, &none, 1);
        end_byte(&body);
    }
    put_number(&body, UINT32_MAX, 4);
    store_over_and_over(out, &body, size);
}

/* Headers after which two bits are a match of 258 bytes at a distance of one or two. */
static void put_matches(struct output *out, size_t size)
{
    static const unsigned symbols[16] = {LONGEST, 0, 1, 2,  3,  4,  5,   6,
                                         7,       8, 9, 10, 11, 12, 257, END};
    struct code literals = {{0}, {0}}, distances = {{1, 1}, {0}};
    struct output body = {.len = 0};
    set_unary(&literals, symbols);
    while (body.len < 2000) {
        put_header(&body, &literals, LITERALS, &distances, 2);
        end_byte(&body);
    }
    for (unsigned i = 0; i < 4500; i++)
        put_byte(&body, 0);
    put_number(&body, UINT32_MAX, 4);
    store_over_and_over(out, &body, size);
}

/* Headers with a length for each of 286 symbols, which turn out to be incomplete. */
static void put_headers(struct output *out, size_t size)
{
    struct code literals = {{0}, {0}}, distances = {{0}, {0}};
    struct output body = {.len = 0};
    memset(literals.lengths, 9, LITERALS);
    memset(distances.lengths, 9, DISTANCES);
    for (unsigned i = 0; i < 1000; i++)
        put_header(&body, &literals, LITERALS, &distances, DISTANCES);
    store_over_and_over(out, &body, size);
}

/* Puts a block as compressors write them, and its content. */
static void put_usual(struct output *out, struct output *content)
{
    struct code literals = {{0}, {0}}, none = {{0}, {0}};
    bool used[LITERALS] = {[END] = true};
    memset(used, true, 100);
    balance(&literals, used, LITERALS);
    put_header(out, &literals, 257, &none, 1);
    for (unsigned i = 0; i < 15000; i++) {
        const unsigned literal = random_below(100);
        put_code(out, &literals, literal);
        put_byte(content, literal);
    }
    put_code(out, &literals, END);
}

/* Blocks of a compressed file, as where one is stored in another. */
static void put_nested(struct output *out, size_t size)
{
    struct output body = {.len = 0}, content = {.len = 0};
    for (unsigned blocks = 0; blocks < 100; blocks++)
        put_usual(&body, &content);
    free(content.bytes);
    store_over_and_over(out, &body, size);
}

/* The same between as many blocks that are not stored. */
static void put_mixed(struct output *out, size_t size)
{
    struct output body = {.len = 0}, content = {.len = 0}, unused = {.len = 0};
    for (unsigned blocks = 0; blocks < 100; blocks++)
        put_usual(&body, &unused);
    begin_member(out);
    while (out->len < size) {
        for (unsigned blocks = 0; blocks < 100; blocks++)
            put_usual(out, &content);
        for (size_t at = 0; at + 65535 < body.len; at += 65535) {
            put_stored(out, body.bytes + at, 65535);
            put_bytes(&content, body.bytes + at, 65535);
        }
    }
    put_last(out);
    end_member(out, content.bytes, content.len);
    free(body.bytes);
    free(content.bytes);
    free(unused.bytes);
}

/* Blocks without content. */
static void put_empty(struct output *out, size_t size)
{
    static const unsigned symbols[16] = {END, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    struct code literals = {{0}, {0}}, none = {{0}, {0}};
    set_unary(&literals, symbols);
    begin_member(out);
    while (out->len < size) {
        put_header(out, &literals, 257, &none, 1);
        put_code(out, &literals, END);
    }
    put_last(out);
    end_member(out, NULL, 0);
}

static void put_empty_fixed(struct output *out, size_t size)
{
    begin_member(out);
    while (out->len < size) {
        put_bits(out, 2, 3);
        put_bits(out, 0, 7);
    }
    put_last(out);
    end_member(out, NULL, 0);
}

static void put_empty_stored(struct output *out, size_t size)
{
    begin_member(out);
    while (out->len < size)
        put_stored(out, NULL, 0);
    put_last(out);
    end_member(out, NULL, 0);
}

/* Blocks of three bytes of content, with the fixed code: as of whoever flushes often. */
static void put_flushed(struct output *out, size_t size)
{
    static const unsigned char text[3] = {3, 3, 3};
    struct output content = {.len = 0};
    begin_member(out);
    while (out->len < size) {
        put_bits(out, 2, 3);
        for (unsigned i = 0; i < 3; i++)
            put_bits(out, 0xcc, 8); /* 0x30 + 3, the highest bit first */
        put_bits(out, 0, 7);
        put_bytes(&content, text, sizeof text);
    }
    put_last(out);
    end_member(out, content.bytes, content.len);
    free(content.bytes);
}

static void put_members(struct output *out, size_t size)
{
    while (out->len < size) {
        begin_member(out);
        put_last(out);
        end_member(out, NULL, 0);
    }
}

/* --- zstd --- */

enum block_type { RAW, RLE, COMPRESSED };

static void begin_frame(struct output *out)
{
    static const unsigned char header[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3}; /* 128 KiB */
    put_bytes(out, header, sizeof header);
}

static void begin_block(struct output *out, bool is_last, enum block_type type, size_t size)
{
    put_number(out, is_last | (unsigned)type << 1 | size << 3, 3);
}

static void put_block(struct output *out, const unsigned char *bytes, size_t len)
{
    begin_block(out, false, COMPRESSED, len);
    put_bytes(out, bytes, len);
}

static void put_raw(struct output *out, bool is_last, size_t size)
{
    begin_block(out, is_last, RAW, size);
    for (size_t i = 0; i < size; i++)
        put_byte(out, 'x');
}

static void put_empty_raw(struct output *out, size_t size)
{
    begin_frame(out);
    while (out->len < size)
        put_raw(out, false, 0);
    put_raw(out, true, 0);
}

static void put_empty_rle(struct output *out, size_t size)
{
    begin_frame(out);
    while (out->len < size) {
        begin_block(out, false, RLE, 0);
        put_byte(out, 'x');
    }
    put_raw(out, true, 0);
}

/* Compressed blocks without literals and sequences. */
static void put_empty_compressed(struct output *out, size_t size)
{
    static const unsigned char block[] = {4, 0, 0};
    begin_frame(out);
    while (out->len < size)
        put_block(out, block, sizeof block);
    put_raw(out, true, 0);
}

/* The largest tables, in the fewest bytes: codes of 1 to 11 bits, and tables of 512, 256 and 512
 * states, of which all but one are of the symbol 0; then a literal, and a sequence of three bytes.
 */
static const unsigned char tables[] = {
    0x12, 0,    2,    138,  0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 3,     /* literals */
    1,    0xa8, 0xe4, 0xff, 0xe3, 0x7f, 0xe4, 0xff, 0,    0,    0, 4}; /* a sequence */
/* The same, with the tables before. */
static const unsigned char repeated[] = {0x13, 0x40, 0, 3, 1, 0xfc, 0, 0, 0, 4};

static void put_tables(struct output *out, size_t size)
{
    begin_frame(out);
    put_raw(out, false, 100);
    while (out->len < size)
        put_block(out, tables, sizeof tables);
    put_raw(out, true, 0);
}

static void put_repeated(struct output *out, size_t size)
{
    begin_frame(out);
    put_raw(out, false, 100);
    put_block(out, tables, sizeof tables);
    while (out->len < size)
        put_block(out, repeated, sizeof repeated);
    put_raw(out, true, 0);
}

/* Blocks of a sequence, by the predefined tables and by tables of one state, in turn. */
static void put_predefined(struct output *out, size_t size)
{
    static const unsigned char predefined[] = {0, 1, 0, 0, 0, 2},
                               single[] = {0, 1, 0x54, 0, 0, 0, 1};
    begin_frame(out);
    put_raw(out, false, 100);
    while (out->len < size) {
        put_block(out, predefined, sizeof predefined);
        put_block(out, single, sizeof single);
    }
    put_raw(out, true, 0);
}

static void put_frames(struct output *out, size_t size)
{
    while (out->len < size) {
        begin_frame(out);
        put_raw(out, true, 1);
    }
}

/* Frames that are nearly as large as those that others decode meanwhile. */
static void put_empty_frames(struct output *out, size_t size)
{
    while (out->len < size)
        put_empty_raw(out, out->len + 4000000 < size ? out->len + 4000000 : size);
}

/* --- all --- */

static const struct {
    const char *name;
    void (*put)(struct output *out, size_t size);
} kinds[] = {
    {"gzip-literals", put_literals},
    {"gzip-matches", put_matches},
    {"gzip-headers", put_headers},
    {"gzip-nested", put_nested},
    {"gzip-mixed", put_mixed},
    {"gzip-empty", put_empty},
    {"gzip-empty-fixed", put_empty_fixed},
    {"gzip-empty-stored", put_empty_stored},
    {"gzip-flushed", put_flushed},
    {"gzip-members", put_members},
    {"zstd-empty-raw", put_empty_raw},
    {"zstd-empty-rle", put_empty_rle},
    {"zstd-empty-compressed", put_empty_compressed},
    {"zstd-empty-frames", put_empty_frames},
    {"zstd-tables", put_tables},
    {"zstd-repeated", put_repeated},
    {"zstd-predefined", put_predefined},
    {"zstd-frames", put_frames},
};
#define KINDS (sizeof kinds / sizeof *kinds)

const char *hostile_name(size_t kind)
{
    return kind < KINDS ? kinds[kind].name : NULL;
}

struct hostile_file hostile_make(const char *name, size_t size)
{
    struct output out = {.len = 0};
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            kinds[i].put(&out, size);
    return (struct hostile_file){need(out.bytes), out.len};
}

void hostile_free(struct hostile_file *file)
{
    free(file->bytes);
}

/* SPDX-License-Identifier: MIT */
/* gzip data of shapes that gzip itself does not make: make_gzip [OPTION]... < data
 *
 *     -b SIZE    blocks of SIZE bytes (65535)
 *     -f         blocks with the fixed code, and matches where a byte is repeated; otherwise stored
 *     -m SIZE    a new member every SIZE bytes
 *     -B         the size of the member in each header, as bgzip writes it
 *     -O SIZE    SIZE bytes more than that, or fewer
 *     -x SIZE    an extra field of SIZE bytes in each header
 *     -n NAME    a name
 *     -c TEXT    a comment
 *     -h         a checksum of the header; -H: a wrong one
 *     -F FLAGS   more bits in the byte of flags
 *     -C         a wrong checksum
 *     -L         a wrong length
 *     -z SIZE    SIZE zero bytes at the end */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK_MAX ((size_t)65535)

struct shape {
    size_t block, member, extra, zeros;
    size_t stated; /* in the header; 0: nothing */
    long over;
    bool is_bgzf, is_fixed, has_extra, has_check, wrong_check, wrong_crc, wrong_length;
    const char *name, *comment;
    unsigned flags;
};

static size_t written; /* bytes, as far as they were only counted */
static bool is_counting;
static uint32_t crc; /* of what was put since it was zero */
static unsigned bits, bit_count;

static uint32_t crc_of(uint32_t before, unsigned char byte)
{
    before = ~before ^ byte;
    for (int bit = 0; bit < 8; bit++)
        before = before >> 1 ^ (before & 1 ? 0xedb88320 : 0);
    return ~before;
}

static void put_byte(unsigned byte)
{
    crc = crc_of(crc, (unsigned char)byte);
    if (is_counting)
        written++;
    else
        putchar((int)(byte & 0xff));
}

static void put_number(uint32_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        put_byte(value >> 8 * i & 0xff);
}

static void put_string(const char *text)
{
    if (!text)
        return;
    while (*text)
        put_byte((unsigned char)*text++);
    put_byte(0);
}

static void put_header(const struct shape *shape)
{
    unsigned flags = shape->flags | (shape->has_check ? 2u : 0) | (shape->has_extra ? 4u : 0) |
                     (shape->name ? 8u : 0) | (shape->comment ? 16u : 0);
    crc = 0;
    put_number(0x088b1f | flags << 24, 4);
    put_number(1234567890, 4);
    put_number(0x0300, 2);
    if (shape->has_extra)
        put_number((uint32_t)(shape->extra + (shape->is_bgzf ? 6 : 0)), 2);
    if (shape->is_bgzf) {
        put_number(0x00024342, 4);
        put_number((uint32_t)((long)shape->stated - 1 + shape->over), 2);
    }
    for (size_t i = 0; i < shape->extra; i++)
        put_byte((unsigned char)"extra\0"[i % 6]);
    put_string(shape->name);
    put_string(shape->comment);
    if (shape->has_check)
        put_number(crc ^ shape->wrong_check, 2);
}

/* Puts the lowest `count` bits of value, the lowest first. */
static void put_bits(unsigned value, unsigned count)
{
    for (; count > 0; count--, value >>= 1) {
        bits |= (value & 1) << bit_count++;
        if (bit_count < 8)
            continue;
        put_byte(bits);
        bits = bit_count = 0;
    }
}

static void end_byte(void)
{
    if (bit_count > 0)
        put_bits(0, 8 - bit_count);
}

/* A code of so many bits, which begins with its highest. */
static void put_code(unsigned code, unsigned count)
{
    while (count-- > 0)
        put_bits(code >> count & 1, 1);
}

static void put_literal(unsigned char byte)
{
    if (byte < 144)
        put_code(0x30u + byte, 8);
    else
        put_code(0x190u + (byte - 144u), 9);
}

/* Returns how often data[at] is repeated directly after it, at most 10 times. */
static size_t repeats(const unsigned char *data, size_t at, size_t len)
{
    size_t count = 0;
    while (count < 10 && at + 1 + count < len && data[at + 1 + count] == data[at])
        count++;
    return count;
}

static void put_fixed(const unsigned char *data, size_t len)
{
    for (size_t at = 0; at < len; at++) {
        size_t match = repeats(data, at, len);
        put_literal(data[at]);
        if (match < 3)
            continue;
        put_code((unsigned)match - 2, 7); /* lengths 3 to 10 are codes 257 to 264 */
        put_code(0, 5);                   /* distance 1 */
        at += match;
    }
    put_code(0, 7);
}

static void put_blocks(const struct shape *shape, const unsigned char *data, size_t len)
{
    size_t at = 0;
    do {
        size_t size = len - at < shape->block ? len - at : shape->block;
        put_bits(at + size == len, 1);
        put_bits(shape->is_fixed, 2);
        if (shape->is_fixed) {
            put_fixed(data + at, size);
        } else {
            end_byte();
            put_number((uint32_t)size | ~(uint32_t)size << 16, 4);
            for (size_t i = 0; i < size; i++)
                put_byte(data[at + i]);
        }
        at += size;
    } while (at < len);
    end_byte();
}

static void put_member(const struct shape *shape, const unsigned char *data, size_t len)
{
    uint32_t content = 0;
    for (size_t i = 0; i < len; i++)
        content = crc_of(content, data[i]);
    put_header(shape);
    put_blocks(shape, data, len);
    put_number(content ^ shape->wrong_crc, 4);
    put_number((uint32_t)len ^ shape->wrong_length, 4);
}

/* Writes a member with its size in the header, which must be known before. */
static void put_bgzf_member(struct shape *shape, const unsigned char *data, size_t len)
{
    written = 0;
    is_counting = true;
    put_member(shape, data, len);
    is_counting = false;
    shape->stated = written;
    if (written > 1 << 16)
        exit(2);
    put_member(shape, data, len);
}

static void read_option(struct shape *shape, int option)
{
    switch (option) {
    case 'b':
        shape->block = strtoul(optarg, NULL, 10);
        if (shape->block == 0 || shape->block > BLOCK_MAX)
            exit(2);
        break;
    case 'f':
        shape->is_fixed = true;
        break;
    case 'm':
        shape->member = strtoul(optarg, NULL, 10);
        break;
    case 'O':
        shape->over = strtol(optarg, NULL, 10); /* fall through */
    case 'B':
        shape->is_bgzf = shape->has_extra = true;
        break;
    case 'x':
        shape->has_extra = true;
        shape->extra = strtoul(optarg, NULL, 10);
        break;
    case 'n':
        shape->name = optarg;
        break;
    case 'c':
        shape->comment = optarg;
        break;
    case 'H':
        shape->wrong_check = true; /* fall through */
    case 'h':
        shape->has_check = true;
        break;
    case 'F':
        shape->flags = (unsigned)strtoul(optarg, NULL, 0);
        break;
    case 'C':
        shape->wrong_crc = true;
        break;
    case 'L':
        shape->wrong_length = true;
        break;
    case 'z':
        shape->zeros = strtoul(optarg, NULL, 10);
        break;
    default:
        exit(2);
    }
}

int main(int argc, char **argv)
{
    struct shape shape = {.block = BLOCK_MAX};
    for (int option; (option = getopt(argc, argv, "b:fm:BO:x:n:c:hHF:CLz:")) != -1;)
        read_option(&shape, option);
    size_t len = 0, cap = 1 << 20;
    unsigned char *data = malloc(cap);
    for (size_t got; data && (got = fread(data + len, 1, cap - len, stdin)) > 0;) {
        len += got;
        if (len == cap)
            data = realloc(data, cap *= 2);
    }
    if (!data)
        return 1;
    size_t at = 0;
    do {
        size_t size = shape.member && shape.member < len - at ? shape.member : len - at;
        if (shape.is_bgzf)
            put_bgzf_member(&shape, data + at, size);
        else
            put_member(&shape, data + at, size);
        at += size;
    } while (at < len);
    for (size_t i = 0; i < shape.zeros; i++)
        putchar(0);
    free(data);
    return fflush(stdout) == 0 ? 0 : 1;
}

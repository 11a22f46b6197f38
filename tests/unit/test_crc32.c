/* SPDX-License-Identifier: MIT */
/* CRC-32 joined from pieces, and that by ISA-L, against one bit at a time. */
#include "src/frames/codec.h"
#include "src/frames/gzip_format.h"
#include "src/hash/crc32.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stddef.h>
#include <stdio.h>

#define SIZE 5000

static unsigned long cases, wrong;

static void expect(const char *what, uint32_t value, uint32_t expected)
{
    cases++;
    if (value != expected && wrong++ < 20)
        printf("%s: %08x instead of %08x\n", what, value, expected);
}

static uint32_t by_definition(uint32_t crc, const unsigned char *data, size_t len)
{
    crc = ~crc;
    for (; len > 0; data++, len--) {
        crc ^= *data;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

/* Two pieces of every length up to 70, and of random lengths. */
static void two_pieces(const unsigned char *data)
{
    for (size_t first = 0; first < 70; first++)
        for (size_t len = first; len < 70; len++)
            expect("two short pieces",
                   crc32_join(by_definition(0, data, first),
                              by_definition(0, data + first, len - first), len - first),
                   by_definition(0, data, len));
    for (unsigned i = scale_of(200, 2000, 20000); i > 0; i--) {
        const size_t len = random_below(SIZE + 1), first = random_below((unsigned)len + 1);
        expect("two pieces",
               crc32_join(by_definition(0, data, first),
                          by_definition(0, data + first, len - first), len - first),
               by_definition(0, data, len));
    }
}

/* Lengths that cannot be tried: pieces may be joined in any order. */
static void long_pieces(void)
{
    for (unsigned i = 0; i < 1000; i++) {
        const uint32_t a = (uint32_t)random_word(), b = (uint32_t)random_word(),
                       c = (uint32_t)random_word();
        const uint64_t b_len = random_word() >> (1 + random_below(40)),
                       c_len = random_word() >> (1 + random_below(40));
        expect("three long pieces", crc32_join(a, crc32_join(b, c, c_len), b_len + c_len),
               crc32_join(crc32_join(a, b, b_len), c, c_len));
    }
}

/* All short lengths at all alignments, and longer ones in two steps. */
static void by_library(const unsigned char *data)
{
#ifdef HAVE_ISAL
    struct reason why;
    if (codec_gzip.load(&why) != 0) {
        printf("left out: %s\n", why.text);
        return;
    }
    for (size_t at = 0; at < 16; at++)
        for (size_t len = 0; len < 300; len++)
            expect("by ISA-L", gzip_checksum(0, data + at, len), by_definition(0, data + at, len));
    for (size_t first = 0; first < SIZE; first += 1 + random_below(300))
        expect("by ISA-L in two steps",
               gzip_checksum(gzip_checksum(0, data, first), data + first, SIZE - first),
               by_definition(0, data, SIZE));
#else
    (void)data;
    printf("left out: no ISA-L\n");
#endif
}

int main(void)
{
    static unsigned char data[SIZE];
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (unsigned char)random_word();
    expect("published", by_definition(0, (const unsigned char *)"123456789", 9), 0xcbf43926);
    two_pieces(data);
    long_pieces();
    by_library(data);
    printf("%lu checksums, %lu wrong\n", cases, wrong);
    return wrong > 0;
}

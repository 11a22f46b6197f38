/* SPDX-License-Identifier: MIT */
/* Characters of UTF-8, one at a time. */
#ifndef GPUHISTO_UTF8_H
#define GPUHISTO_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define CHARACTER_INVALID                                                                          \
    ((size_t)0x110000)       /* after all code points: bytes that are not well-formed */
#define CHARACTER_SIZE_MAX 4 /* bytes */

/* Returns the bytes that encode a code point. */
static inline unsigned character_size(uint32_t character)
{
    return character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
}

static inline int character_continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Encodes a code point. Returns how many bytes that takes. */
static inline unsigned character_encode(uint32_t character, unsigned char bytes[CHARACTER_SIZE_MAX])
{
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const unsigned size = character_size(character);
    for (unsigned i = size - 1; i > 0; i--, character >>= 6)
        bytes[i] = (unsigned char)(0x80 | (character & 0x3f));
    bytes[0] = (unsigned char)(marks[size] | character);
    return size;
}

/* Decodes the character at the beginning of data[0..len), len > 0: sets *row to the code point, or
 * to CHARACTER_INVALID for a maximal subpart of a character (the bytes that one U+FFFD replaces).
 * Returns how many bytes that is. */
static inline size_t character_decode(const unsigned char *data, size_t len, uint32_t *row)
{
    const unsigned char first = data[0];
    *row = first;
    if (first < 0x80)
        return 1;
    *row = CHARACTER_INVALID;
    if (first < 0xc2 || first > 0xf4)
        return 1;
    /* The second byte decides whether a character is overlong, a surrogate, or too great. */
    const unsigned char min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned char max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    const size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (len < 2 || data[1] < min || data[1] > max)
        return 1;
    uint32_t character = (uint32_t)(first & (0xff >> (size + 1))) << 6 | (data[1] & 0x3f);
    for (size_t i = 2; i < size; i++) {
        if (i == len || !character_continues(data[i]))
            return i;
        character = character << 6 | (data[i] & 0x3f);
    }
    *row = character;
    return size;
}

#endif

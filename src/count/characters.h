/* SPDX-License-Identifier: MIT */
/* Characters of UTF-8: a row for each code point, and one for what is not well-formed. */
#ifndef GPUHISTO_CHARACTERS_H
#define GPUHISTO_CHARACTERS_H

#include "mode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHARACTER_INVALID ((size_t)0x110000) /* the row after those of all code points */
#define CHARACTER_ROWS (CHARACTER_INVALID + 1)
#define CHARACTER_SIZE_MAX 4     /* bytes */
#define CHARACTER_GROUPS_MAX 512 /* with that of CHARACTER_INVALID */

/* Groups of characters: general categories, or blocks (unicode_groups.c). The 2^shift code points
 * of a unit have the same group. Equal pages of 2^bits units are stored once. */
struct character_groups {
    size_t count;
    const char *const *names; /* [count] */
    const char *const *notes; /* shown beside names */
    unsigned shift, bits;
    const uint16_t *pages, *units;
};

extern const struct character_groups character_categories, character_blocks;

/* Returns the group of a code point; groups->count for CHARACTER_INVALID. */
static inline size_t character_group(const struct character_groups *groups, uint32_t character)
{
    if (character >= CHARACTER_INVALID)
        return groups->count;
    const uint32_t unit = character >> groups->shift, mask = (1u << groups->bits) - 1;
    const size_t page = groups->pages[unit >> groups->bits];
    return groups->units[page << groups->bits | (unit & mask)];
}

/* Returns the bytes that encode a code point. */
static inline unsigned character_size(uint32_t character)
{
    return character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
}

static inline int character_continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
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

/* Returns how many bytes at the end of data[0..len), 0 to 3, begin a character that ends later. */
size_t characters_tail(const unsigned char *data, size_t len);

/* Returns how many bytes at the beginning of data[0..len), 0 to 3, may belong to a character that
 * began before. A stream may be cut after them. */
size_t characters_head(const unsigned char *data, size_t len);

/* True if a character is invisible or would change its line: if its general category is Cc, Cf, Zl,
 * Zp or Zs. */
bool character_is_hidden(uint32_t character);

/* Writes a character as tables show it: itself, or its bytes as C escapes them if it is hidden. */
void character_show(uint32_t character, char text[ROW_TEXT]);

#endif

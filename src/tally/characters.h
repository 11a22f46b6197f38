/* SPDX-License-Identifier: MIT */
/* Characters of UTF-8: a row for each code point, and one for what is not well-formed. */
#ifndef GPUHISTO_CHARACTERS_H
#define GPUHISTO_CHARACTERS_H

#include "src/base/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHARACTER_ROWS (CHARACTER_INVALID + 1)
#define CHARACTER_GROUPS_MAX 512 /* with that of CHARACTER_INVALID */

/* Groups of characters: general categories, or blocks. The 2^shift code points of a unit have the
 * same group. unicode_groups.c has runs of units; building a histogram lays them out in pages
 * of 2^bits units, where a group is found at once. */
struct character_groups {
    size_t count;
    const char *const *names; /* [count] */
    const char *const *notes; /* shown beside names; NULL: the range of the group is */
    const uint32_t *runs;     /* from code point 0: their length times `count`, and the group */
    unsigned shift, bits;
    uint16_t *pages, *units; /* pages of one group are the same page */
};

extern const struct character_groups character_categories, character_blocks;

/* Returns the group of a code point, once groups are laid out; groups->count for CHARACTER_INVALID.
 */
static inline size_t character_group(const struct character_groups *groups, uint32_t character)
{
    if (character >= CHARACTER_INVALID)
        return groups->count;
    const uint32_t unit = character >> groups->shift, mask = (1u << groups->bits) - 1;
    const size_t page = groups->pages[unit >> groups->bits];
    return groups->units[page << groups->bits | (unit & mask)];
}

/* Returns how many bytes at the end of data[0..len), 0 to 3, begin a character that ends later. */
size_t characters_tail(const unsigned char *data, size_t len);

/* Returns how many bytes at the beginning of data[0..len), 0 to 3, may belong to a character that
 * began before. A stream may be cut after them. */
size_t characters_head(const unsigned char *data, size_t len);

/* True if a character is invisible or would change its line: if its general category is Cc, Cf, Zl,
 * Zp or Zs. */
bool character_is_hidden(uint32_t character);

#endif

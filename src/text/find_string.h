/* SPDX-License-Identifier: MIT */
/* Finds a string by masks of 64 bytes: a part of a gatherer's file after field_lines.h. */

/* Reads nothing outside of [at, limit). */
TARGET INLINE const unsigned char *find_string(const struct line_string *string,
                                               const unsigned char *at, const unsigned char *limit)
{
    const size_t back = string->len - 1;
    const unsigned char first = (unsigned char)string->text[0];
    const unsigned char last = (unsigned char)string->text[back];
    for (; limit - at >= (ptrdiff_t)(WINDOW + back); at += WINDOW) {
        uint64_t candidates = bytes_equal(at, first) & bytes_equal(at + back, last);
        for (; candidates; candidates &= candidates - 1) {
            const unsigned char *found = at + first_bit(candidates);
            if (memcmp(found, string->text, string->len) == 0)
                return found;
        }
    }
    const unsigned char *found = memmem(at, (size_t)(limit - at), string->text, string->len);
    return found ? found : limit;
}

/* SPDX-License-Identifier: MIT */
#include "route.h"

#include <string.h>

#define UUID_LENGTH 36
#define HEX_MIN 8
#define WORD_MIN 16

/* What a byte may be. Of an id all bytes are one of these. */
enum byte_kind {
    BYTE_DIGIT = 1,
    BYTE_HEX = 2,    /* a letter from a to f */
    BYTE_LETTER = 4, /* another one */
    BYTE_HYPHEN = 8,
    BYTE_UNDERSCORE = 16,
    BYTE_OTHER = 32,
};

static unsigned kind_of(unsigned char byte)
{
    const unsigned char letter = (unsigned char)((byte | 0x20) - 'a');
    if ((unsigned char)(byte - '0') < 10)
        return BYTE_DIGIT;
    if (letter < 26)
        return letter < 6 ? BYTE_HEX : BYTE_LETTER;
    return byte == '-' ? BYTE_HYPHEN : byte == '_' ? BYTE_UNDERSCORE : BYTE_OTHER;
}

/* True if hyphens stand where a UUID has them, and nowhere else; other bytes are hexadecimal. */
static bool is_uuid(const unsigned char *at)
{
    for (size_t i = 0; i < UUID_LENGTH; i++) {
        const bool is_between = i == 8 || i == 13 || i == 18 || i == 23;
        if ((at[i] == '-') != is_between)
            return false;
    }
    return true;
}

bool route_is_id(const unsigned char *begin, const unsigned char *end)
{
    const size_t len = (size_t)(end - begin);
    unsigned kinds = 0;
    for (const unsigned char *at = begin; at < end && !(kinds & BYTE_OTHER); at++)
        kinds |= kind_of(*at);
    const bool has_digit = kinds & BYTE_DIGIT;
    if (kinds & BYTE_OTHER)
        return false;
    if (kinds == BYTE_DIGIT)
        return true;
    if (len == UUID_LENGTH && !(kinds & (BYTE_LETTER | BYTE_UNDERSCORE)) && is_uuid(begin))
        return true;
    if (len >= HEX_MIN && has_digit && !(kinds & ~(unsigned)(BYTE_DIGIT | BYTE_HEX)))
        return true;
    return len >= WORD_MIN && has_digit && kinds & (BYTE_HEX | BYTE_LETTER);
}

/* Returns the first slash, '?' or '#' in [at, end), or end. Sets *may_be_id: false only if the
 * segment up to there is no id, which few are. */
static const unsigned char *segment_end(const unsigned char *at, const unsigned char *end,
                                        bool *may_be_id)
{
    const unsigned char *begin = at;
    bool has_digit = false;
    for (; at < end && *at != '/' && *at != '?' && *at != '#'; at++)
        has_digit |= (unsigned char)(*at - '0') < 10;
    *may_be_id = has_digit || at - begin == UUID_LENGTH;
    return at;
}

const unsigned char *route_of(const unsigned char *path, size_t *len, unsigned char *scratch)
{
    const unsigned char *end = path + *len, *at = path, *copied = path;
    unsigned char *to = scratch;
    for (;; at++) {
        const unsigned char *segment = at;
        bool may_be_id;
        at = segment_end(at, end, &may_be_id);
        if (may_be_id && route_is_id(segment, at)) {
            memmove(to, copied, (size_t)(segment - copied));
            to += segment - copied;
            *to++ = '*';
            copied = at;
        }
        if (at == end || *at != '/')
            break;
    }
    if (copied == path) {
        *len = (size_t)(at - path);
        return path;
    }
    memmove(to, copied, (size_t)(at - copied));
    *len = (size_t)(to - scratch) + (size_t)(at - copied);
    return scratch;
}

/* SPDX-License-Identifier: MIT */
/* Tokens and names between the places of a scan: a part of field_json.h. */
#ifndef GPUHISTO_JSON_TOKEN_H
#define GPUHISTO_JSON_TOKEN_H

#include "json_scan.h"

/* --- tokens --- */

/* Returns the token from `at` on before the next place, or that place if there is none. */
INLINE const unsigned char *json_token(const unsigned char *at, const unsigned char *position)
{
    while (*at <= ' ' && at < position)
        at++;
    return at;
}

/* Returns where the token before a place ends. */
INLINE const unsigned char *json_token_end(const unsigned char *position)
{
    while (json_is_space(position[-1]))
        position--;
    return position;
}

/* Returns a bit for each of 16 bytes that is not a digit. */
INLINE uint32_t json_not_digits(const unsigned char *at)
{
    uint64_t mask = 0;
#pragma GCC unroll 2
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t word = byte_word(at + 8 * i) ^ EACH_BYTE('0');
        const uint64_t others = ((word & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | word;
        mask |= ((others & EACH_BYTE(0x80)) >> 7) * UINT64_C(0x0102040810204080) >> 56 << 8 * i;
    }
    return (uint32_t)mask;
}

/* True if [at, end) is a number or a word of JSON. Reads 16 bytes. */
INLINE bool json_is_scalar(const unsigned char *at, const unsigned char *end)
{
    const size_t len = (size_t)(end - at);
    if (*at >= 'a')
        return (len == 4 && (memcmp(at, "true", 4) == 0 || memcmp(at, "null", 4) == 0)) ||
               (len == 5 && memcmp(at, "false", 5) == 0);
    if (len - 1 < 16) {
        const uint32_t others = json_not_digits(at) & (((uint32_t)1 << len) - 1);
        const unsigned point = others ? (unsigned)__builtin_ctz(others) : (unsigned)len;
        const bool is_decimal = others == 0 || ((others & (others - 1)) == 0 && at[point] == '.' &&
                                                point > 0 && point + 1 < len);
        if (is_decimal && (*at != '0' || point == 1))
            return true;
    }
    return json_number_end(at, end) == end;
}

/* --- paths --- */

/* A step as it is compared with names. */
struct json_name {
    uint64_t words[2], masks[2]; /* up to 16 bytes of the name and the quote after it */
    const struct json_step *step;
};

/* True if the path counts elements from the front, or takes the last one. */
static bool json_path_is_plain(const struct json_path *path)
{
    for (unsigned i = 0; i < path->count; i++)
        if (path->steps[i].index < -1)
            return false;
    return true;
}

static void json_prepare_names(const struct json_path *path, struct json_name *names)
{
    for (unsigned i = 0; i < path->count; i++) {
        const struct json_step *step = &path->steps[i];
        unsigned char bytes[16] = {0}, masks[16] = {0};
        const size_t len = !step->name ? 0 : step->len < 16 ? step->len : 16;
        if (step->name)
            memcpy(bytes, step->name, len);
        if (len < 16)
            bytes[len] = '"';
        memset(masks, 0xff, len < 16 ? len + 1 : 16);
        names[i] = (struct json_name){{byte_word(bytes), byte_word(bytes + 8)},
                                      {byte_word(masks), byte_word(masks + 8)},
                                      step};
    }
}

/* True if there is a backslash in [from, to); perhaps also if that begins before the block. */
INLINE bool json_has_backslash(const struct json_scan *scan, const unsigned char *from,
                               const unsigned char *to)
{
    if (from < scan->base)
        return true;
    const size_t first = (size_t)(from - scan->base), last = (size_t)(to - scan->base);
    uint64_t bits = scan->backslashes[first / WINDOW] >> first % WINDOW << first % WINDOW;
    size_t window = first / WINDOW;
    for (; window < last / WINDOW && !bits; window++)
        bits = scan->backslashes[window + 1];
    return (window < last / WINDOW ? bits : bits & ~(UINT64_MAX << last % WINDOW)) != 0;
}

/* True if the name that begins with the quote at `at` and ends before a colon is that of a step. */
TARGET INLINE bool json_name_matches(const struct json_name *name, const unsigned char *at,
                                     const unsigned char *colon, const struct json_scan *scan)
{
    const struct json_step *step = name->step;
    const bool is_same = ((byte_word(at + 1) ^ name->words[0]) & name->masks[0]) == 0 &&
                         ((byte_word(at + 9) ^ name->words[1]) & name->masks[1]) == 0;
    if (!step->is_escaped) {
        if (is_same && step->len < 16)
            return true;
        if (!is_same && !json_has_backslash(scan, at, colon))
            return false;
    }
    return json_name_is(step, at + 1, json_token_end(colon) - 1);
}

#endif

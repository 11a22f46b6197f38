/* SPDX-License-Identifier: MIT */
/* Finds the places of the marks that structure JSON, by masks of 64 bytes: a part of json_loop.h.
 * The marks are brackets, colons and commas outside of strings, and newlines.
 *
 * With masks it also checks that tokens stand only where one may begin: after these, with white
 * space between. So between two places there is one token or none. Text that is not valid gives
 * places, too, which alone show that it is not valid.
 *
 * Tokens and names are then read between the places. */
#ifndef GPUHISTO_JSON_SCAN_H
#define GPUHISTO_JSON_SCAN_H

#include "lines_loop.h"
#include "json_reader.h"
#include "src/base/byte_word.h"

#define JSON_BLOCK 8192 /* bytes that are scanned at a time, at most */
#define JSON_LINES 512  /* that end in them, or little more */
#define JSON_SLACK 32   /* bytes after a window that may be read */

/* The state of a scan before a window. */
struct json_carry {
    uint64_t inside;   /* all bits if in a string, or none */
    bool is_escaped;   /* the first byte is, by a backslash before it */
    bool may_begin;    /* a token may begin here */
    bool is_in_scalar; /* the byte before belongs to a number or word */
};

/* A block of windows, each after the other. */
struct json_scan {
    const unsigned char *at, *limit; /* what is to be scanned */
    struct json_carry carry;
    const unsigned char *base; /* of the places: where the block begins */
    unsigned count, lines;
    uint16_t positions[JSON_BLOCK + 2 * WINDOW]; /* with room for what is written too much */
    uint16_t ends[JSON_LINES + WINDOW];          /* the places that are newlines, by their number;
                                                    perhaps other control characters */
    uint64_t backslashes[JSON_BLOCK / WINDOW];
};

static const struct json_carry json_line_start = {.may_begin = true};

INLINE bool json_is_hex(unsigned char c)
{
    return number_is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}

/* True if an escape at a backslash is valid. */
INLINE bool json_escape_is_valid(const unsigned char *at)
{
    if (at[1] == 'u')
        return json_is_hex(at[2]) && json_is_hex(at[3]) && json_is_hex(at[4]) && json_is_hex(at[5]);
    const unsigned char c = at[1];
    const uint64_t low = UINT64_C(1) << '"' | UINT64_C(1) << '/';
    const uint64_t high = UINT64_C(1) << ('\\' - 64) | UINT64_C(1) << ('b' - 64) |
                          UINT64_C(1) << ('f' - 64) | UINT64_C(1) << ('n' - 64) |
                          UINT64_C(1) << ('r' - 64) | UINT64_C(1) << ('t' - 64);
    return c < 128 && ((c < 64 ? low : high) >> c % 64 & 1);
}

/* Returns the bytes of a window that are escaped, given the backslashes. Sets *wrong to escapes
 * that are not valid. */
TARGET INLINE uint64_t json_escaped(const unsigned char *window, uint64_t backslashes,
                                    struct json_carry *carry, uint64_t *wrong)
{
    uint64_t escaped = carry->is_escaped;
    backslashes &= ~escaped;
    carry->is_escaped = false;
    while (backslashes) {
        const unsigned i = first_bit(backslashes);
        const uint64_t next = UINT64_C(2) << i;
        if (!json_escape_is_valid(window + i))
            *wrong |= UINT64_C(1) << i;
        carry->is_escaped = i == 63;
        escaped |= next;
        backslashes &= (backslashes - 1) & ~next;
    }
    return escaped;
}

/* Returns the bytes of a window at which a token may begin: after a structural byte, and white
 * space. The addition carries a bit through the spaces. */
TARGET INLINE uint64_t json_may_begin(uint64_t structural, uint64_t spaces,
                                      struct json_carry *carry)
{
    const uint64_t after = structural << 1 | carry->may_begin;
    uint64_t past_spaces;
    const bool overflow = __builtin_add_overflow(spaces, after & spaces, &past_spaces);
    carry->may_begin = overflow || structural >> 63;
    return (after | past_spaces) & ~spaces;
}

/* The marks of a window. */
struct json_window {
    uint64_t positions;
    uint64_t lines;  /* places that are control characters */
    uint64_t broken; /* newlines in strings */
};

TARGET INLINE struct json_window
json_scan_window(const unsigned char *at, const struct json_bytes *bytes, struct json_carry *carry)
{
    uint64_t quotes = bytes->quotes, wrong = 0, broken = 0;
    if (bytes->backslashes || carry->is_escaped)
        quotes &= ~json_escaped(at, bytes->backslashes, carry, &wrong);
    const uint64_t inside = mask_parity(quotes) ^ carry->inside;
    const uint64_t spaces = bytes->spaces & ~inside;
    const uint64_t structural = (bytes->marks | bytes->controls) & ~inside & ~spaces;
    const uint64_t scalars = ~(inside | quotes | structural | spaces);
    const uint64_t begins = (scalars & ~(scalars << 1 | carry->is_in_scalar)) | (quotes & inside);
    const uint64_t lines = bytes->controls & ~spaces;
    wrong |= begins & ~json_may_begin(structural, spaces, carry);
    carry->inside = (uint64_t)((int64_t)inside >> 63);
    carry->is_in_scalar = scalars >> 63;
    if (lines & inside)
        broken = bytes_equal(at, '\n') & inside;
    return (struct json_window){structural | wrong | lines, lines, broken};
}

/* Begins a block at `at`, where a record begins. */
INLINE void json_begin_scan(struct json_scan *scan, const unsigned char *at)
{
    scan->at = scan->base = at;
    scan->count = scan->lines = 0;
    scan->carry = json_line_start;
}

/* Appends the places of a window. */
TARGET INLINE void json_add_window(struct json_scan *scan, const struct json_window *window,
                                   unsigned offset)
{
    uint64_t lines = window->lines;
    do { /* without a branch for the usual one or none */
        const uint64_t before = window->positions & below_first(lines);
        scan->ends[scan->lines] = (uint16_t)(scan->count + (unsigned)__builtin_popcountll(before));
        scan->lines += lines != 0;
        lines &= lines - 1;
    } while (lines);
    json_write_positions(window->positions, offset, scan->positions + scan->count);
    scan->count += (unsigned)__builtin_popcountll(window->positions);
}

/* Scans the next block. Strings end with their line, though that is wrong; there the block ends.
 * False if the text is too close to its end. */
TARGET static __attribute__((noinline)) bool json_scan_block(struct json_scan *scan)
{
    const unsigned char *base = scan->at, *at = base;
    struct json_carry carry = scan->carry;
    struct json_window window = {0, 0, 0};
    scan->base = base;
    scan->count = scan->lines = 0;
    while (at - base < JSON_BLOCK && scan->limit - at >= WINDOW + JSON_SLACK &&
           scan->lines < JSON_LINES && !window.broken) {
        const unsigned offset = (unsigned)(at - base);
        const struct json_bytes bytes = json_bytes_at(at);
        window = json_scan_window(at, &bytes, &carry);
        scan->backslashes[offset / WINDOW] = bytes.backslashes;
        at += WINDOW;
        if (window.broken) {
            const unsigned first = first_bit(window.broken);
            window.positions &= ~above(first);
            window.lines &= ~above(first);
            at += (int)first + 1 - WINDOW;
            carry = json_line_start;
        }
        json_add_window(scan, &window, offset);
    }
    scan->at = at;
    scan->carry = carry;
    return at > base;
}

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

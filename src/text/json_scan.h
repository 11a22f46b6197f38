/* SPDX-License-Identifier: MIT */
/* Finds the places of the marks that structure JSON, by masks of 64 bytes: a part of field_json.h.
 * The marks are brackets, colons and commas outside of strings, and newlines.
 *
 * With masks it also checks that tokens stand only where one may begin: after these, with white
 * space between. So between two places there is one token or none. Text that is not valid gives
 * places, too, which alone show that it is not valid. */
#ifndef GPUHISTO_JSON_SCAN_H
#define GPUHISTO_JSON_SCAN_H

#include "field_lines.h"
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

#endif

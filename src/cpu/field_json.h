/* SPDX-License-Identifier: MIT */
/* Finds what a path into JSON leads to, by masks of 64 bytes: a part of a gatherer's file, which
 * defines first what field_lines.h needs, and
 *
 *     json_bytes_at(at)                     what is at 64 bytes, as struct json_bytes
 *     json_write_places(bits, offset, to)   as mask_places
 *
 * Two steps. A scan gives the places of what structures a text: brackets, colons and commas outside
 * of strings, and newlines. With masks it also checks that tokens stand only where one may begin:
 * after these, with white space between. So between two places there is one token or none. A walk
 * then goes from place to place and checks their order, the names on the path, numbers and words.
 *
 * The scan also gives places of what is not valid. There the walk ends, as it does where something
 * is nested deep, or close to the end of the text. Then the record is left to field_find. */
#ifndef GPUHISTO_FIELD_JSON_H
#define GPUHISTO_FIELD_JSON_H

#include "field_lines.h"
#include "src/base/byte_word.h"

#define JSON_BLOCK 2048 /* bytes that are scanned at a time, at most */
#define JSON_SLACK 32   /* bytes after a window that may be read */

/* What a scan knows before a window. */
struct json_carry {
    uint64_t inside;   /* all bits if in a string, or none */
    bool is_escaped;   /* the first byte is, by a backslash before it */
    bool may_begin;    /* a token may begin here */
    bool is_in_scalar; /* the byte before belongs to a number or word */
};

struct json_scan {
    const unsigned char *at, *limit; /* what is to be scanned */
    struct json_carry carry;
    const unsigned char *base; /* of the places */
    unsigned count;
    const unsigned char *escapes_end;         /* of the last window that has a backslash */
    uint16_t places[JSON_BLOCK + 2 * WINDOW]; /* with room for what is written too much */
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
    return memchr("\"\\/bfnrt", at[1], 8);
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

/* Returns the places of the window at scan->at, and moves that: to the next window, or past a
 * newline in a string, as strings end with their line, though that is wrong. */
TARGET INLINE uint64_t json_scan_window(struct json_scan *scan)
{
    const unsigned char *window = scan->at;
    const struct json_bytes bytes = json_bytes_at(window);
    struct json_carry *carry = &scan->carry;
    uint64_t quotes = bytes.quotes, wrong = 0;
    if (bytes.backslashes || carry->is_escaped) {
        quotes &= ~json_escaped(window, bytes.backslashes, carry, &wrong);
        scan->escapes_end = window + WINDOW;
    }
    const uint64_t inside = mask_parity(quotes) ^ carry->inside;
    const uint64_t spaces = bytes.spaces & ~inside;
    const uint64_t structural = (bytes.marks | bytes.controls) & ~inside & ~spaces;
    const uint64_t scalars = ~(inside | quotes | structural | spaces);
    const uint64_t begins = (scalars & ~(scalars << 1 | carry->is_in_scalar)) | (quotes & inside);
    wrong |= begins & ~json_may_begin(structural, spaces, carry);
    wrong |= bytes.controls & inside;
    carry->inside = (uint64_t)((int64_t)inside >> 63);
    carry->is_in_scalar = scalars >> 63;
    scan->at += WINDOW;
    const uint64_t places = structural | wrong;
    if ((bytes.controls & inside) == 0)
        return places;
    const uint64_t newlines = bytes_equal(window, '\n') & inside;
    if (newlines == 0)
        return places;
    *carry = json_line_start;
    scan->at = window + first_bit(newlines) + 1;
    return places & (below_first(newlines) | (newlines & -newlines));
}

TARGET INLINE void json_begin_scan(struct json_scan *scan, const struct record_text *text)
{
    scan->at = scan->base = scan->escapes_end = text->at;
    scan->limit = text->limit;
    scan->carry = json_line_start;
}

/* Scans the next block. False if the text is too close to its end. */
TARGET static __attribute__((noinline)) bool json_scan_block(struct json_scan *scan)
{
    scan->base = scan->at;
    scan->count = 0;
    while (scan->at - scan->base < JSON_BLOCK && scan->limit - scan->at >= WINDOW + JSON_SLACK) {
        const unsigned offset = (unsigned)(scan->at - scan->base);
        const uint64_t places = json_scan_window(scan);
        json_write_places(places, offset, scan->places + scan->count);
        scan->count += (unsigned)__builtin_popcountll(places);
    }
    return scan->at > scan->base;
}

/* --- tokens --- */

/* Returns the token from `at` on before the next place, or that place if there is none. */
INLINE const unsigned char *json_token(const unsigned char *at, const unsigned char *place)
{
    while (*at <= ' ' && at < place)
        at++;
    return at;
}

/* Returns where the token before a place ends. */
INLINE const unsigned char *json_token_end(const unsigned char *place)
{
    while (json_is_space(place[-1]))
        place--;
    return place;
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

/* True if a token that is no string is a number or a word of JSON. Reads 16 bytes. */
INLINE bool json_is_scalar(const unsigned char *at, const unsigned char *end)
{
    const size_t len = (size_t)(end - at);
    if (*at >= 'a')
        return (len == 4 && (memcmp(at, "true", 4) == 0 || memcmp(at, "null", 4) == 0)) ||
               (len == 5 && memcmp(at, "false", 5) == 0);
    if (len <= 16) {
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

/* True if the name that begins with the quote at `at` and ends before a colon is that of a step. */
TARGET INLINE bool json_name_matches(const struct json_name *name, const unsigned char *at,
                                     const unsigned char *colon, const struct json_scan *scan)
{
    const struct json_step *step = name->step;
    if (scan->escapes_end <= at && !step->is_escaped) {
        if (((byte_word(at + 1) ^ name->words[0]) & name->masks[0]) != 0 ||
            ((byte_word(at + 9) ^ name->words[1]) & name->masks[1]) != 0)
            return false;
        if (step->len < 16)
            return true;
    }
    return json_name_is(step, at + 1, json_token_end(colon) - 1);
}

/* --- records --- */

/* Where a walk stands. What the path leads through are the first `on` of the containers that are
 * open. */
struct json_walk {
    struct json_scan *scan;
    const uint16_t *next, *last; /* places of the scan that are left */
    const struct json_name *names;
    unsigned steps, depth, on;
    uint64_t objects;           /* a bit for each that is open, the innermost lowest */
    int32_t *before;            /* of each step: elements before the wanted one */
    const unsigned char *token; /* what is read next, or the place, if no token is before it */
    const unsigned char *place;
    const unsigned char *from, *to; /* the value, or `from` is NULL */
};

/* Moves to the next place, and the token after `at`. False if the text is too close to its end. */
TARGET INLINE bool json_advance_from(struct json_walk *walk, const unsigned char *at)
{
    while (walk->next == walk->last) {
        if (!json_scan_block(walk->scan))
            return false;
        walk->next = walk->scan->places;
        walk->last = walk->next + walk->scan->count;
    }
    walk->place = walk->scan->base + *walk->next++;
    walk->token = json_token(at, walk->place);
    return true;
}

TARGET INLINE bool json_advance(struct json_walk *walk)
{
    return json_advance_from(walk, walk->place + 1);
}

/* Enters the container at the place. False if there is none, or it is nested too deep. */
TARGET INLINE bool json_open(struct json_walk *walk, bool is_wanted)
{
    const bool is_object = *walk->place == '{';
    const unsigned depth = walk->depth;
    if ((!is_object && *walk->place != '[') || depth == 64)
        return false;
    walk->depth++;
    walk->objects = walk->objects << 1 | is_object;
    if (!is_wanted)
        return true;
    walk->from = depth == walk->steps ? walk->place : NULL;
    walk->to = NULL;
    if (depth < walk->steps && is_object == (walk->names[depth].step->name != NULL)) {
        walk->on = depth + 1;
        walk->before[depth] = walk->names[depth].step->index;
    }
    return true;
}

/* Reads the value at the token, or enters the one at the place. */
TARGET INLINE bool json_begin_value(struct json_walk *walk, bool is_wanted)
{
    if (walk->token == walk->place)
        return json_open(walk, is_wanted);
    const bool is_string = *walk->token == '"';
    /* A newline in a string is a place, too, and after the outermost value nothing else tells that
     * the string has not ended. */
    if (is_string && walk->depth == 0)
        return false;
    if (is_string && !is_wanted)
        return true;
    const unsigned char *end = json_token_end(walk->place);
    if (is_wanted) {
        walk->from = walk->depth == walk->steps ? walk->token : NULL;
        walk->to = end;
    }
    return is_string || json_is_scalar(walk->token, end);
}

/* True if the place is the end of the innermost container. */
INLINE bool json_is_end(const struct json_walk *walk)
{
    return *walk->place == (walk->objects & 1 ? '}' : ']');
}

/* Leaves the containers whose ends follow a value. */
TARGET INLINE bool json_close(struct json_walk *walk)
{
    while (walk->depth > 0 && json_is_end(walk)) {
        walk->depth--;
        walk->objects >>= 1;
        walk->on = walk->on < walk->depth ? walk->on : walk->depth;
        if (walk->from && !walk->to && walk->depth == walk->steps)
            walk->to = walk->place + 1;
        if (!json_advance(walk) || walk->token != walk->place)
            return false;
    }
    return true;
}

/* Reads the name of a member, up to its value; or, in an array, nothing. */
TARGET INLINE bool json_begin_item(struct json_walk *walk, bool *is_wanted)
{
    const bool is_on = walk->on == walk->depth;
    const unsigned innermost = walk->depth - 1;
    if (!(walk->objects & 1)) {
        /* Each element may be the last one. */
        *is_wanted = is_on && (walk->before[innermost] == 0 || walk->before[innermost] == -1);
        if (is_on && walk->before[innermost] >= 0)
            walk->before[innermost] += walk->before[innermost] == 0 ? -2 : -1;
        return true;
    }
    if (*walk->token != '"' || *walk->place != ':')
        return false;
    *is_wanted =
        is_on && json_name_matches(&walk->names[innermost], walk->token, walk->place, walk->scan);
    return json_advance(walk);
}

/* Walks over a record, from the token or place that it begins with to its newline. False if it has
 * to be left to field_find. */
TARGET INLINE bool json_walk_record(struct json_walk *walk)
{
    bool is_wanted = true;
    for (;;) {
        const bool is_container = walk->token == walk->place;
        if (!json_begin_value(walk, is_wanted) || (is_container && !json_advance(walk)))
            return false;
        if (!is_container || (walk->token == walk->place && json_is_end(walk))) {
            if (*walk->place != ',' && !json_close(walk))
                return false;
            if (walk->depth == 0)
                return *walk->place == '\n';
            if (*walk->place != ',' || !json_advance(walk))
                return false;
        }
        if (!json_begin_item(walk, &is_wanted))
            return false;
    }
}

TARGET INLINE bool find_in_json(struct json_walk *walk, const unsigned char *begin,
                                struct found_line *line)
{
    walk->depth = walk->on = 0;
    if (!json_advance_from(walk, begin))
        return false;
    line->what = FIELD_EMPTY;
    if (walk->token < walk->place || *walk->place != '\n') {
        if (!json_walk_record(walk))
            return false;
        line->what = walk->from ? FIELD_FOUND : FIELD_MISSING;
    }
    line->from = walk->from;
    line->to = walk->to;
    line->end = walk->place;
    return true;
}

/* What a walk refers to. */
struct json_reader {
    struct json_name names[JSON_STEPS_MAX];
    int32_t before[JSON_STEPS_MAX];
    struct json_scan scan;
};

/* Begins at text->at, where a record begins. */
TARGET INLINE struct json_walk json_begin(struct json_reader *reader, const struct field *field,
                                          const struct record_text *text)
{
    json_prepare_names(&field->path, reader->names);
    json_begin_scan(&reader->scan, text);
    return (struct json_walk){.scan = &reader->scan,
                              .names = reader->names,
                              .steps = field->path.count,
                              .before = reader->before};
}

/* Skips the places of a record, given its end. */
TARGET INLINE void json_skip_record(struct json_walk *walk, const unsigned char *end)
{
    struct json_scan *scan = walk->scan;
    for (;;) {
        for (; walk->next < walk->last; walk->next++)
            if (scan->base + *walk->next > end)
                return;
        if (scan->at > end || !json_scan_block(scan))
            return;
        walk->next = scan->places;
        walk->last = walk->next + scan->count;
    }
}

#endif

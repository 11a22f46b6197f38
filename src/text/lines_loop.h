/* SPDX-License-Identifier: MIT */
/* Fields of lines by masks of 64 bytes: found, gathered as tokens, or found alone. A part of a
 * parser's file, which defines first
 *     TARGET                      the attribute of functions that use its instructions, or nothing
 *     INLINE                      what functions are declared with that must be inlined
 *     bytes_equal(at, byte)       a bit for each of the 64 bytes at `at` that equals this one
 *     bytes_low(at)               a bit for each of 64 bytes that is a space or less
 *     copy_32(to, from)           copies 32 bytes
 *
 * A line is read from its beginning, or from its end if fields are counted from there. Where 64
 * bytes cannot be read, or quotes are odd, it is left to field_find. */
#ifndef GPUHISTO_LINES_LOOP_H
#define GPUHISTO_LINES_LOOP_H

#include "field_parser.h"
#include "field.h"
#include "lines.h"
#include "units.h"
#include "src/base/byte_masks.h"

#include <string.h>

#define WINDOW 64

/* The way in which a field is found. A constant wherever it is used. */
enum field_way {
    FROM_FRONT,        /* between separators */
    FROM_FRONT_BLANKS, /* between blanks */
    FROM_FRONT_CSV,    /* between separators that are not in quotes */
    FROM_BACK,
    FROM_BACK_BLANKS,
    FROM_BACK_CSV,
    AFTER_STRING,
    IN_PARTS,      /* by the format of --line */
    IN_JSON,       /* by a path that is plain */
    BY_DEFINITION, /* by field_find alone */
};

#define FIELDS_AT_ONCE 2 /* of a record, found in one pass: the number's and the key's */

struct found_line {
    enum field_found what;
    const unsigned char *from, *to; /* the field, if FIELD_FOUND, perhaps with spaces around it */
    const unsigned char *end;       /* the newline or the limit */
};

INLINE unsigned first_bit(uint64_t bits)
{
    return (unsigned)__builtin_ctzll(bits);
}

INLINE unsigned last_bit(uint64_t bits)
{
    return 63 - (unsigned)__builtin_clzll(bits);
}

/* Returns the bits below the first bit of `bits`; all if that is 0. */
INLINE uint64_t below_first(uint64_t bits)
{
    return (bits - 1) & ~bits;
}

/* Returns the bits above bit n. */
INLINE uint64_t above(unsigned n)
{
    return ~UINT64_C(1) << n;
}

/* Clears the lowest n set bits. */
TARGET INLINE uint64_t without_first(uint64_t bits, unsigned n)
{
    for (; n > 0; n--)
        bits &= bits - 1;
    return bits;
}

/* Returns the end of a line without its carriage return. */
INLINE const unsigned char *text_end(const unsigned char *begin, const unsigned char *newline)
{
    return newline - (newline > begin && newline[-1] == '\r');
}

/* Sets *line to the field from `from` up to `to`, or to the line's end, given its newline. */
INLINE bool found(struct found_line *line, const unsigned char *begin, const unsigned char *from,
                  const unsigned char *to, const unsigned char *newline)
{
    const unsigned char *end = text_end(begin, newline);
    line->what = begin == end ? FIELD_EMPTY : from ? FIELD_FOUND : FIELD_MISSING;
    line->from = from;
    line->to = to && to < end ? to : end;
    line->end = newline;
    return true;
}

/* --- from the front --- */

/* The state that carries over from one window of CSV to the next. */
struct quotes {
    uint64_t inside;   /* all bits if inside a quoted field, or none */
    uint64_t may_open; /* bit 0: a quote would open a field */
};

/* Clears what is quoted in a window's masks. False if a quote before the record's end is out of
 * place, so that parity does not tell what is quoted. */
TARGET INLINE bool clear_quoted(struct quotes *quotes, const unsigned char *window,
                                uint64_t *newlines, uint64_t *separators)
{
    const uint64_t quote = bytes_equal(window, '"');
    if ((quote | quotes->inside) == 0) {
        quotes->may_open = *separators >> 63;
        return true;
    }
    const uint64_t inside = mask_parity(quote) ^ quotes->inside;
    const uint64_t before_open = (quote | *separators) << 1 | quotes->may_open;
    *newlines &= ~inside;
    *separators &= ~inside;
    quotes->may_open = (quote | *separators) >> 63;
    quotes->inside = (uint64_t)((int64_t)inside >> 63);
    return (quote & inside & ~before_open & below_first(*newlines)) == 0;
}

/* The end of the line is its newline or the limit if that is known, and NULL otherwise. */
TARGET INLINE bool find_from_front(const struct field *field, const struct record_text *text,
                                   const unsigned char *line_end, bool is_csv,
                                   struct found_line *line)
{
    const unsigned char *begin = text->at, *limit = text->limit;
    const unsigned char *from = field->number == 1 ? begin : NULL, *to = NULL;
    unsigned skip = (unsigned)field->number - 1; /* separators before the field */
    struct quotes quotes = {.inside = 0, .may_open = 1};
    for (const unsigned char *window = begin; limit - window >= WINDOW; window += WINDOW) {
        uint64_t newlines = bytes_equal(window, '\n');
        uint64_t separators = bytes_equal(window, field->separator);
        if (is_csv && !clear_quoted(&quotes, window, &newlines, &separators))
            return false;
        separators &= below_first(newlines);
        if (!from) {
            unsigned here = (unsigned)__builtin_popcountll(separators);
            if (here >= skip) {
                separators = without_first(separators, skip - 1);
                from = window + first_bit(separators) + 1;
                separators &= separators - 1;
            } else {
                skip -= here;
            }
        }
        if (from && !to && separators)
            to = window + first_bit(separators);
        if (newlines || (to && line_end))
            return found(line, begin, from, to, line_end ? line_end : window + first_bit(newlines));
    }
    return false;
}

TARGET INLINE uint64_t blanks_at(const unsigned char *window)
{
    return bytes_equal(window, ' ') | bytes_equal(window, '\t');
}

TARGET INLINE bool find_from_front_of_words(const struct field *field,
                                            const struct record_text *text,
                                            const unsigned char *line_end, struct found_line *line)
{
    const unsigned char *begin = text->at, *limit = text->limit;
    const unsigned char *from = NULL, *to = NULL;
    unsigned skip = (unsigned)field->number - 1; /* fields before this one */
    uint64_t after_blank = 1;
    for (const unsigned char *window = begin; limit - window >= WINDOW; window += WINDOW) {
        const uint64_t newlines = bytes_equal(window, '\n'), blanks = blanks_at(window);
        const uint64_t before = below_first(newlines);
        uint64_t ends = blanks & before;
        if (!from) {
            uint64_t starts = ~blanks & (blanks << 1 | after_blank) & before;
            unsigned here = (unsigned)__builtin_popcountll(starts);
            if (here > skip) {
                unsigned first = first_bit(without_first(starts, skip));
                from = window + first;
                ends &= above(first);
            } else {
                skip -= here;
            }
        }
        after_blank = blanks >> 63;
        if (from && !to && ends)
            to = window + first_bit(ends);
        if (!newlines && !(to && line_end))
            continue;
        const unsigned char *newline = line_end ? line_end : window + first_bit(newlines);
        if (!from || from >= text_end(begin, newline))
            return false; /* the line is empty or lacks the field */
        return found(line, begin, from, to, newline);
    }
    return false;
}

/* --- from the back --- */

/* Returns the newline of the line at `begin`; NULL if that is too close to the limit to find it
 * here. */
TARGET INLINE const unsigned char *find_newline(const unsigned char *begin,
                                                const unsigned char *limit)
{
    for (const unsigned char *window = begin; limit - window >= WINDOW; window += WINDOW) {
        const uint64_t newlines = bytes_equal(window, '\n');
        if (newlines)
            return window + first_bit(newlines);
    }
    return NULL;
}

/* Returns the bits of a window that are within the line. */
INLINE uint64_t from_begin(const unsigned char *window, const unsigned char *begin)
{
    return window >= begin ? UINT64_MAX : UINT64_MAX << (begin - window);
}

/* The search for a field from the end of its line. */
struct from_back {
    const unsigned char *to; /* the field's end; NULL if not found yet */
    unsigned skip;           /* separators after it still to be found */
};

INLINE struct from_back from_back_of(const struct field *field, const unsigned char *end)
{
    return (struct from_back){field->number == -1 ? end : NULL, (unsigned)-(field->number + 1)};
}

/* Continues with the separators of a window. Returns where the field begins, or NULL. */
TARGET INLINE const unsigned char *continue_back(struct from_back *back,
                                                 const unsigned char *window, uint64_t separators)
{
    for (; !back->to && separators; separators &= ~(UINT64_C(1) << last_bit(separators)))
        if (--back->skip == 0)
            back->to = window + last_bit(separators);
    return back->to && separators ? window + last_bit(separators) + 1 : NULL;
}

TARGET INLINE bool find_from_back(const struct field *field, const struct record_text *text,
                                  struct found_line *line)
{
    const unsigned char *begin = text->at, *limit = text->limit;
    const unsigned char *newline = find_newline(begin, limit);
    if (!newline)
        return false;
    const unsigned char *end = text_end(begin, newline), *from = NULL;
    struct from_back back = from_back_of(field, end);
    for (const unsigned char *window = end; window > begin && !from;) {
        if (window - text->begin < WINDOW)
            return false;
        window -= WINDOW;
        from = continue_back(&back, window,
                             bytes_equal(window, field->separator) & from_begin(window, begin));
    }
    return found(line, begin, from || !back.to ? from : begin, back.to, newline);
}

#define CSV_WINDOWS                                                                                \
    32 /* of a record whose separators are kept; longer ones are left to field_find */

TARGET INLINE bool find_from_back_of_csv(const struct field *field, const struct record_text *text,
                                         struct found_line *line)
{
    const unsigned char *begin = text->at, *limit = text->limit;
    uint64_t separators[CSV_WINDOWS], newlines = 0;
    const unsigned char *window = begin, *from = NULL;
    struct quotes quotes = {.inside = 0, .may_open = 1};
    unsigned windows = 0;
    for (; !newlines; window += WINDOW) {
        if (limit - window < WINDOW || windows == CSV_WINDOWS)
            return false;
        newlines = bytes_equal(window, '\n');
        separators[windows] = bytes_equal(window, field->separator);
        if (!clear_quoted(&quotes, window, &newlines, &separators[windows]))
            return false;
        separators[windows++] &= below_first(newlines);
    }
    const unsigned char *newline = window - WINDOW + first_bit(newlines);
    const unsigned char *end = text_end(begin, newline);
    if (end < newline && field->separator == '\r')
        return false; /* then it separates nothing here */
    struct from_back back = from_back_of(field, end);
    while (windows > 0 && !from) {
        windows--;
        from = continue_back(&back, begin + WINDOW * windows, separators[windows]);
    }
    return found(line, begin, from || !back.to ? from : begin, back.to, newline);
}

TARGET INLINE bool find_from_back_of_words(const struct field *field,
                                           const struct record_text *text, struct found_line *line)
{
    const unsigned char *begin = text->at, *limit = text->limit;
    const unsigned char *newline = find_newline(begin, limit);
    if (!newline)
        return false;
    const unsigned char *end = text_end(begin, newline), *to = NULL;
    unsigned skip = (unsigned)-(field->number + 1); /* fields after this one */
    uint64_t before_blank = UINT64_C(1) << 63;
    for (const unsigned char *window = end; window > begin;) {
        if (window - text->begin < WINDOW)
            return false;
        window -= WINDOW;
        const uint64_t line_bits = from_begin(window, begin);
        uint64_t blanks = blanks_at(window) & line_bits;
        uint64_t lasts = ~blanks & (blanks >> 1 | before_blank) & line_bits;
        before_blank = blanks << 63;
        for (; !to && lasts; lasts &= ~(UINT64_C(1) << last_bit(lasts)))
            if (skip-- == 0) {
                unsigned last = last_bit(lasts);
                to = window + last + 1;
                blanks &= ~above(last);
            }
        if (to && blanks)
            return found(line, begin, window + last_bit(blanks) + 1, to, newline);
    }
    return to && found(line, begin, begin, to, newline);
}

/* --- after a string --- */

/* Returns the end of the first occurrence of the string among candidates, or NULL. */
TARGET INLINE const unsigned char *string_end(const struct field *field,
                                              const unsigned char *window, uint64_t candidates)
{
    for (; candidates; candidates &= candidates - 1) {
        const unsigned char *at = window + first_bit(candidates);
        if (memcmp(at, field->after, field->after_len) == 0)
            return at + field->after_len;
    }
    return NULL;
}

TARGET INLINE bool find_after_string(const struct field *field, const struct record_text *text,
                                     struct found_line *line)
{
    const unsigned char *begin = text->at, *limit = text->limit;
    const unsigned char first = (unsigned char)field->after[0];
    const size_t back = field->after_len - 1;
    const unsigned char last = (unsigned char)field->after[back];
    const unsigned char *end = NULL;
    for (const unsigned char *window = begin; limit - window >= (ptrdiff_t)(WINDOW + back);
         window += WINDOW) {
        const uint64_t newlines = bytes_equal(window, '\n');
        /* A match has no newline in it, so one that begins in the line is in the line. */
        if (!end)
            end = string_end(field, window,
                             bytes_equal(window, first) & bytes_equal(window + back, last) &
                                 below_first(newlines));
        if (!newlines)
            continue;
        const unsigned char *newline = window + first_bit(newlines), *from = NULL, *to = NULL;
        if (end) {
            from = field_after_gap(end, newline);
            to = field->has_units ? field_clock_end(from, newline) : field_token_end(from, newline);
            from = to > from ? from : NULL;
        }
        return found(line, begin, from, to, newline);
    }
    return false;
}

/* --- a string alone --- */

/* The `find` of a parser. */
TARGET static const unsigned char *find_string(const struct line_string *string,
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

/* --- any way --- */

#define SHORT_TOKEN 32 /* bytes that are copied at once */

TARGET INLINE bool find_field(enum field_way way, const struct field *field,
                              const struct record_text *text, struct found_line *line)
{
    switch (way) {
    case FROM_FRONT:
    case FROM_FRONT_CSV:
        return find_from_front(field, text, NULL, way == FROM_FRONT_CSV, line);
    case FROM_FRONT_BLANKS:
        return find_from_front_of_words(field, text, NULL, line);
    case FROM_BACK:
        return find_from_back(field, text, line);
    case FROM_BACK_CSV:
        return find_from_back_of_csv(field, text, line);
    case FROM_BACK_BLANKS:
        return find_from_back_of_words(field, text, line);
    case AFTER_STRING:
        return find_after_string(field, text, line);
    default:
        return false;
    }
}

static __attribute__((noinline)) void find_field_slowly(const struct field *field,
                                                        const unsigned char *begin,
                                                        const unsigned char *limit,
                                                        struct found_line *line)
{
    line->end = field_record_end(field, begin, limit);
    line->what = field_find(field, begin, line->end, &line->from, &line->to);
}

/* --- tokens --- */

/* Ends a token of `len` bytes that was copied; 0: appends an invalid one. */
INLINE void end_token(struct field_tokens *tokens, size_t len)
{
    if (len == 0)
        tokens->bytes[tokens->len + len++] = '?';
    tokens->len += len;
    tokens->bytes[tokens->len++] = ' ';
}

/* Appends the field [from, to) of a record that ends at `end`, whatever is in it. */
static __attribute__((noinline)) void
put_by_definition(const struct field *field, struct field_tokens *tokens, const unsigned char *from,
                  const unsigned char *to, const unsigned char *end)
{
    end_token(tokens, field_token(field, &from, &to, end, tokens->bytes + tokens->len));
}

/* True if a unit, or more of them, may follow a field that ends at `to`. */
INLINE bool may_go_on(const struct field *field, const unsigned char *to, const unsigned char *end)
{
    if (!field->has_units || field->kind == FIELD_JSON || field->kind == FIELD_LINE)
        return false;
    if (field->kind == FIELD_CSV || field->kind == FIELD_SEPARATED) /* in the next one, stripped */
        return to < end &&
               (to[1] == '"' || number_is_space(to[1]) || number_may_go_on(to[-1], to + 1, end));
    return number_may_go_on(to[-1], to, end) && number_goes_on(to[-1], to, end);
}

/* Appends a field of a record that ends at `end`; at once if it is short and needs no stripping, as
 * usual. */
TARGET INLINE void put_field(const struct field *field, struct field_tokens *tokens,
                             const unsigned char *from, const unsigned char *to,
                             const unsigned char *end, const unsigned char *limit)
{
    const size_t len = (size_t)(to - from);
    const bool is_short = len > 0 && len <= SHORT_TOKEN && limit - from >= WINDOW;
    if (!is_short || *from == '"' || may_go_on(field, to, end) ||
        (bytes_low(from) & ((UINT64_C(1) << len) - 1))) {
        put_by_definition(field, tokens, from, to, end);
        return;
    }
    unsigned char *at = tokens->bytes + tokens->len;
    copy_32(at, from);
    at[len] = ' ';
    tokens->len += len + 1;
}

/* Returns how a field is found. */
INLINE enum field_way way_of(const struct field *field)
{
    const bool back = field->number < 0;
    switch (field->kind) {
    case FIELD_BLANKS:
        return back ? FROM_BACK_BLANKS : FROM_FRONT_BLANKS;
    case FIELD_CSV:
        return back ? FROM_BACK_CSV : FROM_FRONT_CSV;
    case FIELD_SEPARATED:
        return back ? FROM_BACK : FROM_FRONT;
    case FIELD_AFTER:
        return AFTER_STRING;
    case FIELD_LINE:
        return IN_PARTS;
    default:
        return BY_DEFINITION;
    }
}

/* Returns what was found in the record at `begin`, of `max` bytes at most, as a key. */
INLINE struct key_span span_of(const struct found_line *line, const unsigned char *begin,
                               size_t max)
{
    const size_t len = line->what == FIELD_FOUND ? (size_t)(line->to - line->from) : SIZE_MAX;
    if (len > KEY_SIZE_MAX || (size_t)(line->end - begin) > max)
        return (struct key_span){NULL, 0};
    return (struct key_span){line->from, len};
}

/* Returns the key of the record [text->at, end). */
TARGET static __attribute__((noinline)) struct key_span
key_at(const struct field *key, const struct record_text *text, const unsigned char *end)
{
    const enum field_way way = way_of(key);
    struct found_line line;
    if (way == FROM_FRONT          ? !find_from_front(key, text, end, false, &line)
        : way == FROM_FRONT_BLANKS ? !find_from_front_of_words(key, text, end, &line)
                                   : !find_field(way, key, text, &line))
        find_field_slowly(key, text->at, text->limit, &line);
    return span_of(&line, text->at, field_record_max(key));
}

#endif

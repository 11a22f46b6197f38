/* SPDX-License-Identifier: MIT */
/* Fields of lines, a record at a time, and where records of CSV end. */
#include "field.h"
#include "units.h"
#include "src/base/byte_masks.h"

#include <stdio.h>

/* --- CSV --- */

/* Returns where the closing quote of a quoted field is whose content begins at `at`, or end. */
static const unsigned char *closing_quote(const unsigned char *at, const unsigned char *end)
{
    for (;;) {
        at = byte_find(at, end, '"');
        if (end - at < 2 || at[1] != '"')
            return at;
        at += 2;
    }
}

static const unsigned char *csv_field_end(unsigned char separator, const unsigned char *at,
                                          const unsigned char *end)
{
    if (at < end && *at == '"')
        at = closing_quote(at + 1, end);
    return byte_find(at, end, separator);
}

static const unsigned char *csv_record_end(unsigned char separator, const unsigned char *at,
                                           const unsigned char *limit)
{
    for (;;) {
        if (at < limit && *at == '"')
            at = closing_quote(at + 1, limit);
        while (at < limit && *at != separator && *at != '\n')
            at++;
        if (at == limit || *at == '\n')
            return at;
        at++;
    }
}

/* Returns the next byte of the content of a field of CSV, or -1 at its end. `*is_quoted` before the
 * first one, after its opening quote: it has one. */
static int next_of_csv(const unsigned char **at, const unsigned char *to, bool *is_quoted)
{
    if (*is_quoted && *at < to && **at == '"') {
        *is_quoted = to - *at > 1 && (*at)[1] == '"';
        ++*at;
    }
    return *at < to ? *(*at)++ : -1;
}

size_t field_csv_text(const unsigned char *from, const unsigned char *to, unsigned char *text)
{
    bool is_quoted = from < to && *from == '"';
    size_t len = 0;
    from += is_quoted;
    for (int byte; (byte = next_of_csv(&from, to, &is_quoted)) >= 0;)
        text[len++] = (unsigned char)byte;
    return len;
}

const unsigned char *field_record_end(const struct field *field, const unsigned char *at,
                                      const unsigned char *limit)
{
    return field->kind == FIELD_CSV ? csv_record_end(field->separator, at, limit)
                                    : byte_find(at, limit, '\n');
}

/* --- fields --- */

/* A walk over the fields of a record, and the field it is at. */
struct walk {
    const unsigned char *at, *end; /* what is left of the record; `at` is NULL after the last one */
    const unsigned char *from, *to;
};

/* Walks to the next field. False if there is none. */
static bool next_field(const struct field *field, struct walk *walk)
{
    const unsigned char *at = walk->at, *end = walk->end;
    if (!at)
        return false;
    if (field->kind == FIELD_BLANKS) {
        while (at < end && number_is_blank(*at))
            at++;
        walk->from = at;
        while (at < end && !number_is_blank(*at))
            at++;
        walk->to = walk->at = at;
        return walk->from < walk->to;
    }
    walk->from = at;
    walk->to = field->kind == FIELD_CSV ? csv_field_end(field->separator, at, end)
                                        : byte_find(at, end, field->separator);
    walk->at = walk->to < end ? walk->to + 1 : NULL;
    return true;
}

/* Walks over up to `max` fields. Returns how many there are. */
static int64_t walk_fields(const struct field *field, int64_t max, struct walk *walk)
{
    int64_t count = 0;
    while (count < max && next_field(field, walk))
        count++;
    return count;
}

#define TIME_WORDS_MAX 5 /* as ctime has them */

static const unsigned char *after_blanks(const unsigned char *at, const unsigned char *limit)
{
    while (at < limit && number_is_blank(*at))
        at++;
    return number_colour_end(at, limit);
}

const unsigned char *field_after_gap(const unsigned char *at, const unsigned char *limit)
{
    at = after_blanks(at, limit);
    return at < limit && *at == '"' ? after_blanks(at + 1, limit) : at;
}

const unsigned char *field_clock_end(const unsigned char *at, const unsigned char *limit)
{
    const unsigned char *end = field_token_end(at, limit);
    while (end > at && limit - end > 1 && *end == ':' && number_is_digit(end[-1]) &&
           number_is_digit(end[1]))
        end = field_token_end(end + 1, limit);
    return end;
}

static enum field_found find_after(const struct field *field, const unsigned char *begin,
                                   const unsigned char *end, const unsigned char **from,
                                   const unsigned char **to)
{
    const unsigned char *at = memmem(begin, (size_t)(end - begin), field->after, field->after_len);
    if (!at)
        return FIELD_MISSING;
    *from = field_after_gap(at + field->after_len, end);
    *to = field->has_units ? field_clock_end(*from, end) : field_token_end(*from, end);
    return *to > *from ? FIELD_FOUND : FIELD_MISSING;
}

static enum field_found find_json(const struct field *field, const unsigned char *begin,
                                  const unsigned char *end, const unsigned char **from,
                                  const unsigned char **to)
{
    const unsigned char *at = begin;
    while (at < end && json_is_space(*at))
        at++;
    if (at == end)
        return FIELD_EMPTY;
    if (!json_find(&field->path, at, end, from, to))
        return FIELD_BROKEN;
    return *from ? FIELD_FOUND : FIELD_MISSING;
}

enum field_found field_find(const struct field *field, const unsigned char *begin,
                            const unsigned char *end, const unsigned char **from,
                            const unsigned char **to)
{
    if ((size_t)(end - begin) > field_record_max(field))
        return FIELD_TOO_LONG;
    end -= begin < end && end[-1] == '\r';
    if (begin == end)
        return FIELD_EMPTY;
    if (field->kind == FIELD_AFTER)
        return find_after(field, begin, end, from, to);
    if (field->kind == FIELD_JSON)
        return find_json(field, begin, end, from, to);
    if (field->kind == FIELD_LINE) {
        const struct line_span span = line_part_find(&field->part, begin, end);
        *from = span.from;
        *to = span.to;
        return span.from ? FIELD_FOUND : FIELD_MISSING;
    }
    const struct walk start = {.at = begin, .end = end};
    struct walk all = start, walk = start;
    int64_t number = field->number;
    if (number < 0)
        number += 1 + walk_fields(field, INT64_MAX, &all);
    if (number <= 0 || walk_fields(field, number, &walk) < number) {
        walk = start;
        return next_field(field, &walk) ? FIELD_MISSING : FIELD_EMPTY;
    }
    *from = walk.from;
    *to = walk.to;
    return FIELD_FOUND;
}

/* --- numbers in fields --- */

/* Removes white space and colours at both ends. */
static void strip_ends(const unsigned char **from, const unsigned char **to)
{
    const unsigned char *before;
    do {
        before = *from;
        while (*from < *to && number_is_space(**from))
            ++*from;
        *from = number_colour_end(*from, *to);
    } while (*from > before);
    do {
        before = *to;
        while (*from < *to && number_is_space((*to)[-1]))
            --*to;
        *to = number_colour_begin(*from, *to);
    } while (*to < before);
}

/* Removes what strip_ends removes, a pair of quotes, and what strip_ends removes within them. */
void field_strip(const unsigned char **from, const unsigned char **to)
{
    strip_ends(from, to);
    if (*to - *from < 2 || **from != '"' || (*to)[-1] != '"')
        return;
    ++*from;
    --*to;
    strip_ends(from, to);
}

/* Copies [from, to), which should be one word. */
static size_t copy_word(const unsigned char *from, const unsigned char *to, unsigned char *token)
{
    const size_t len = (size_t)(to - from);
    if (len == 0 || len > NUMBER_MAX || number_token_end(from, to) != to)
        return 0;
    memcpy(token, from, len);
    return len;
}

/* True if [from, to), which another word follows at `after`, is a number that is but the date of
 * HDFS. */
static bool is_short_date(const unsigned char *from, const unsigned char *to,
                          const unsigned char *after, const unsigned char *end)
{
    from += from < to && *from == '[';
    bool is_date = to - from == 6;
    while (from < to)
        is_date &= number_is_digit(*from++);
    while (after < end && number_is_space(*after))
        after++;
    return is_date && after < end;
}

/* A time with an offset is complete, and so is one that the next word would spoil. */
bool field_time_of_words(const unsigned char *from, const unsigned char *end, struct time *found)
{
    struct time time;
    bool is_time = false, goes_on = true;
    const unsigned char *after = from;
    for (int words = 0; words < TIME_WORDS_MAX && after < end && goes_on; words++) {
        while (after < end && number_is_blank(*after))
            after++;
        after = number_token_end(after, end);
        const unsigned char *begin = from, *to = after;
        field_strip(&begin, &to);
        const bool is_longer =
            time_read(begin, to, &time) && (words > 0 || !is_short_date(begin, to, after, end));
        goes_on = is_longer ? time.zone == TIME_NO_ZONE || !time.is_clock : !is_time;
        *found = is_longer ? time : *found;
        is_time |= is_longer;
    }
    return is_time;
}

/* Copies what a field is to have nothing beside. */
static size_t copy_content(const struct field *field, const unsigned char *from,
                           const unsigned char *to, unsigned char *token)
{
    struct time time;
    if (field->is_time)
        return time_read(from, to, &time) ? time_write_seconds(&time, token) : 0;
    return field->has_units ? number_copy_words(from, to, token) : copy_word(from, to, token);
}

/* Copies the number in the content of a field that is not as it is written: a string of JSON with
 * escapes, or a quoted field of CSV that ends with other text. Not inlined, as it takes a page of
 * the stack. */
static __attribute__((noinline)) size_t copy_decoded(const struct field *field,
                                                     const unsigned char *from,
                                                     const unsigned char *to, unsigned char *token)
{
    unsigned char text[NUMBER_MAX];
    if (to - from > NUMBER_MAX || (field->kind == FIELD_CSV && closing_quote(from + 1, to) == to))
        return 0;
    const unsigned char *begin = text;
    const unsigned char *end = text + (field->kind == FIELD_CSV ? field_csv_text(from, to, text)
                                                                : json_value_text(from, to, text));
    strip_ends(&begin, &end);
    return copy_content(field, begin, end, token);
}

size_t field_token(const struct field *field, const unsigned char **from, const unsigned char **to,
                   const unsigned char *end, unsigned char *token)
{
    const unsigned char *begin = *from, *after = *to;
    const bool has_blanks = field->kind == FIELD_BLANKS || field->kind == FIELD_AFTER;
    struct time time;
    if (field->is_time && has_blanks)
        return field_time_of_words(begin, end, &time) ? time_write_seconds(&time, token) : 0;
    field_strip(from, to);
    if (field->kind == FIELD_JSON && *begin == '"' && memchr(*from, '\\', (size_t)(*to - *from)))
        return copy_decoded(field, begin, after, token);
    if (field->kind == FIELD_CSV && *from == begin && begin < *to && *begin == '"')
        return copy_decoded(field, begin, *to, token);
    if (!field->has_units || !has_blanks) {
        const size_t len = copy_content(field, *from, *to, token);
        const bool has_next = field->kind == FIELD_SEPARATED || field->kind == FIELD_CSV;
        if (len == 0 || !field->has_units || !has_next || after == end)
            return len;
        struct walk walk = {.at = after + 1, .end = end}; /* the unit may be the next field */
        next_field(field, &walk);
        field_strip(&walk.from, &walk.to);
        const size_t joined = number_join_unit(token, len, walk.from, walk.to);
        *to = joined == len ? *to : walk.to;
        return joined;
    }
    size_t len = copy_word(*from, *to, token);
    const unsigned char *at = after;
    if (len > 0)
        len = number_join_words(token, len, &at, end);
    *to = at > after ? at : *to;
    return len;
}

size_t field_next_token(const unsigned char *begin, const unsigned char **at,
                        const unsigned char *limit, const unsigned char **from,
                        unsigned char *token)
{
    const unsigned char *here = *at;
    for (bool is_line = here == begin || here[-1] == '\n';; is_line = true) {
        if (is_line && limit - here > (ptrdiff_t)FIELD_RECORD_MAX &&
            !memchr(here, '\n', FIELD_RECORD_MAX + 1)) {
            *from = here;
            *at = byte_find(here, limit, '\n');
            return 0;
        }
        while (here < limit && number_is_space(*here) && *here != '\n')
            here++;
        if (here == limit || *here != '\n')
            break;
        here++;
    }
    *from = here < limit ? here : NULL;
    *at = number_token_end(here, limit);
    size_t len = copy_word(here, *at, token);
    if (len > 0)
        len = number_join_words(token, len, at, limit);
    if (*at == limit || number_is_space(**at))
        return len;
    *at = number_token_end(*at, limit);
    return 0;
}

/* --- the header --- */

/* True if the field [from, to) of a header is called field->name. */
static bool has_name(const struct field *field, const unsigned char *from, const unsigned char *to)
{
    const bool is_csv = field->kind == FIELD_CSV, begins = from < to && *from == '"';
    const bool has_quotes = begins && (is_csv || (to - from >= 2 && to[-1] == '"'));
    bool is_quoted = is_csv && has_quotes;
    const char *name = field->name;
    from += has_quotes;
    to -= has_quotes && !is_csv;
    int byte;
    while ((byte = next_of_csv(&from, to, &is_quoted)) >= 0)
        if (!*name || *name++ != (char)byte)
            return false;
    return !*name;
}

size_t field_bom_len(const unsigned char *text, size_t len)
{
    const bool has_bom = len >= FIELD_BOM_SIZE && memcmp(text, "\xef\xbb\xbf", FIELD_BOM_SIZE) == 0;
    return has_bom ? FIELD_BOM_SIZE : 0;
}

int32_t field_column(const struct field *field, const unsigned char *begin,
                     const unsigned char *end)
{
    end -= begin < end && end[-1] == '\r';
    begin += field_bom_len(begin, (size_t)(end - begin));
    struct walk walk = {.at = begin, .end = end};
    for (int32_t column = 1; next_field(field, &walk); column++) {
        const unsigned char *inner = walk.from, *inner_end = walk.to;
        strip_ends(&inner, &inner_end);
        if (has_name(field, walk.from, walk.to) || has_name(field, inner, inner_end))
            return column;
    }
    return 0;
}

size_t field_header_len(const struct field *field, const unsigned char *text, size_t len)
{
    return (size_t)(field_record_end(field, text, text + len) - text);
}

/* --- a hint --- */

void field_hint(const unsigned char *begin, const unsigned char *end, const char *name, size_t len,
                char hint[FIELD_HINT_SIZE])
{
    const char *option = len > 0 && *name == '.' ? "--field=" : "--field=.";
    const unsigned char *from = NULL, *to;
    struct json_path path;
    if (snprintf(hint, FIELD_HINT_SIZE, "%s%.*s", option, (int)len, name) < FIELD_HINT_SIZE &&
        json_path_parse(strchr(hint, '.'), &path) && json_find(&path, begin, end, &from, &to) &&
        from)
        return;
    hint[0] = '\0';
    for (const unsigned char *at = begin; !*hint; at = to) {
        at = memmem(at, (size_t)(end - at), name, len);
        if (!at)
            return;
        to = at + len;
        const bool is_quoted = to < end && *to == '"' && at > begin && at[-1] == '"';
        const unsigned char *between = to + is_quoted;
        while (between < end && number_is_blank(*between))
            between++;
        if (between == end || (*between != ':' && *between != '='))
            continue;
        const unsigned char *number = field_after_gap(++between, end);
        number += number < end && (*number == '-' || *number == '+');
        number += number < end && *number == '.';
        if (number == end || !number_is_digit(*number))
            continue;
        /* Unless the shell would change it within single quotes. */
        bool is_plain = true;
        from = at - is_quoted;
        for (const unsigned char *byte = from; byte < between; byte++)
            is_plain &= *byte >= ' ' && *byte <= '~' && *byte != '\'';
        if (is_plain && snprintf(hint, FIELD_HINT_SIZE, "--after='%.*s'", (int)(between - from),
                                 (const char *)from) >= FIELD_HINT_SIZE)
            hint[0] = '\0';
    }
}

/* Finds the ends of records of CSV, in text that is read in order. */

/* A text that is scanned, and what was found. */
struct scanned {
    const unsigned char *data;
    unsigned char separator;
    struct csv_scan *scan;
    size_t newline; /* the offset after the last newline that ends a record; 0: none yet */
};

/* True if a byte may not follow the closing quote of a field. */
static bool is_text_after_quote(unsigned char separator, unsigned char byte)
{
    return byte != separator && byte != '\n' && byte != '\r';
}

/* Returns the state after a byte: the newline that ends a record begins a field, as a separator. */
static inline enum csv_state state_after(enum csv_state state, unsigned char byte,
                                         unsigned char separator)
{
    if (state == CSV_QUOTED)
        return byte == '"' ? CSV_QUOTE : CSV_QUOTED;
    if (byte == '"' && state != CSV_PLAIN) /* or it is half of a doubled one */
        return CSV_QUOTED;
    return byte == separator || byte == '\n' ? CSV_FIELD_START : CSV_PLAIN;
}

#define BLOCK 64

/* Scans up to BLOCK bytes, one by one; `marks` has a bit for each quote, newline and separator, and
 * perhaps for others. */
static void scan_bytes(struct scanned *text, size_t from, size_t to, uint64_t marks)
{
    struct csv_scan *scan = text->scan;
    enum csv_state state = scan->state;
    for (size_t at = from; at < to; at++) {
        const uint64_t left = marks >> (at - from);
        if (state != CSV_QUOTE) { /* after which any byte matters */
            const size_t next = left ? at + (size_t)__builtin_ctzll(left) : to;
            state = state == CSV_FIELD_START && next > at ? CSV_PLAIN : state;
            at = next;
        }
        if (at == to)
            break;
        const unsigned char byte = text->data[at];
        scan->newlines += byte == '\n';
        if (byte == '\n' && state != CSV_QUOTED)
            text->newline = at + 1;
        if (state == CSV_QUOTE && byte != '"')
            scan->is_odd |= is_text_after_quote(text->separator, byte);
        state = state_after(state, byte, text->separator);
    }
    scan->state = state;
}

/* Scans BLOCK bytes by the parity of quotes. False, and nothing is changed, if there is a quote
 * where none should be. */
static bool scan_block(struct scanned *text, size_t from)
{
    struct csv_scan *scan = text->scan;
    const unsigned char *at = text->data + from, last = at[BLOCK - 1], separator = text->separator;
    const uint64_t quotes = byte_mask_equal(at, '"'), newlines = byte_mask_equal(at, '\n');
    const bool begins_inside = scan->state == CSV_QUOTED, may_open = scan->state != CSV_PLAIN;
    uint64_t inside = begins_inside ? UINT64_MAX : 0;
    if (quotes) {
        const uint64_t starts = quotes | newlines | byte_mask_equal(at, separator);
        inside ^= mask_parity(quotes);
        if (quotes & inside & ~(starts << 1 | may_open))
            return false;
        const uint64_t after = (quotes & ~inside) << 1 & ~starts;
        if (after)
            scan->is_odd |= (after & ~byte_mask_equal(at, '\r')) != 0;
    }
    if (scan->state == CSV_QUOTE && *at != '"')
        scan->is_odd |= is_text_after_quote(separator, *at);
    if (newlines)
        scan->newlines += mask_count(newlines);
    if (newlines & ~inside)
        text->newline = from + BLOCK - (size_t)__builtin_clzll(newlines & ~inside);
    scan->state = inside >> 63                        ? CSV_QUOTED
                  : last == '"'                       ? CSV_QUOTE
                  : last == '\n' || last == separator ? CSV_FIELD_START
                                                      : CSV_PLAIN;
    return true;
}

size_t field_scan_csv(unsigned char separator, const unsigned char *data, size_t from, size_t len,
                      struct csv_scan *scan)
{
    struct scanned text = {.data = data, .separator = separator, .scan = scan};
    size_t at = from;
    for (; len - at >= BLOCK; at += BLOCK)
        if (!scan_block(&text, at))
            scan_bytes(&text, at, at + BLOCK,
                       byte_mask_equal(data + at, '"') | byte_mask_equal(data + at, '\n') |
                           byte_mask_equal(data + at, separator));
    scan_bytes(&text, at, len, UINT64_MAX);
    return text.newline;
}

size_t field_end_csv(unsigned char separator, const unsigned char *data, size_t len,
                     struct csv_scan *scan)
{
    for (size_t at = 0; at < len; at++) {
        const unsigned char byte = data[at];
        const enum csv_state state = scan->state;
        if (byte == '\n' && state != CSV_QUOTED)
            return at;
        scan->newlines += byte == '\n';
        scan->state = state_after(state, byte, separator);
        if (scan->state == CSV_QUOTED && state == CSV_FIELD_START)
            scan->opened = scan->newlines;
        /* The closing quote of a field with newlines is followed by text other than blanks. */
        if (state == CSV_QUOTE && byte != '"' && byte != ' ' && byte != '\t' &&
            is_text_after_quote(separator, byte) && scan->newlines != scan->opened &&
            scan->matched == 0) {
            scan->unmatched = scan->opened;
            scan->matched = scan->newlines;
        }
    }
    return len;
}

/* SPDX-License-Identifier: MIT */
/* Fields of lines, a record at a time. field_csv.c finds where records of CSV end. */
#include "field.h"
#include "number_units.h"

#include <stdio.h>

/* Returns where a byte is in [at, end), or end. */
static const unsigned char *find_byte(const unsigned char *at, const unsigned char *end,
                                      unsigned char byte)
{
    const unsigned char *found = at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t';
}

/* --- CSV --- */

/* Returns where the closing quote of a quoted field is whose content begins at `at`, or end. */
static const unsigned char *closing_quote(const unsigned char *at, const unsigned char *end)
{
    for (;;) {
        at = find_byte(at, end, '"');
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
    return find_byte(at, end, separator);
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
                                    : find_byte(at, limit, '\n');
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
        while (at < end && is_blank(*at))
            at++;
        walk->from = at;
        while (at < end && !is_blank(*at))
            at++;
        walk->to = walk->at = at;
        return walk->from < walk->to;
    }
    walk->from = at;
    walk->to = field->kind == FIELD_CSV ? csv_field_end(field->separator, at, end)
                                        : find_byte(at, end, field->separator);
    walk->at = walk->to < end ? walk->to + 1 : NULL;
    return true;
}

/* Walks over up to `most` fields. Returns how many there are. */
static int64_t walk_fields(const struct field *field, int64_t most, struct walk *walk)
{
    int64_t count = 0;
    while (count < most && next_field(field, walk))
        count++;
    return count;
}

/* True if a number that ends at `end` may go on with a space and a unit. */
static bool has_space(const unsigned char *end, const unsigned char *limit)
{
    return limit - end > 1 && *end == ' ' && (number_is_digit(end[-1]) || end[-1] == '.');
}

const unsigned char *field_after_gap(const unsigned char *at, const unsigned char *limit)
{
    while (at < limit && is_blank(*at))
        at++;
    if (at == limit || *at != '"')
        return at;
    at++;
    while (at < limit && is_blank(*at))
        at++;
    return at;
}

static enum field_found find_after(const struct field *field, const unsigned char *begin,
                                   const unsigned char *end, const unsigned char **from,
                                   const unsigned char **to)
{
    const unsigned char *at = memmem(begin, (size_t)(end - begin), field->after, field->after_len);
    if (!at)
        return FIELD_MISSING;
    *from = field_after_gap(at + field->after_len, end);
    *to = field_token_end(*from, end);
    if (field->has_units && *to > *from && has_space(*to, end)) {
        const unsigned char *unit_end = field_token_end(*to + 1, end);
        *to = number_is_unit(*to + 1, unit_end) ? unit_end : *to;
    }
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
    if ((size_t)(end - begin) > FIELD_RECORD_MAX)
        return FIELD_TOO_LONG;
    end -= begin < end && end[-1] == '\r';
    if (begin == end)
        return FIELD_EMPTY;
    if (field->kind == FIELD_AFTER)
        return find_after(field, begin, end, from, to);
    if (field->kind == FIELD_JSON)
        return find_json(field, begin, end, from, to);
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

/* A part of a record. */
struct part {
    const unsigned char *from, *to;
};

static inline struct part without_spaces(struct part part)
{
    while (part.from < part.to && number_is_space(*part.from))
        part.from++;
    while (part.from < part.to && number_is_space(part.to[-1]))
        part.to--;
    return part;
}

/* Returns a part without white space and a pair of quotes around it. */
static inline struct part stripped(struct part part)
{
    part = without_spaces(part);
    if (part.to - part.from < 2 || *part.from != '"' || part.to[-1] != '"')
        return part;
    return without_spaces((struct part){part.from + 1, part.to - 1});
}

void field_strip(const unsigned char **from, const unsigned char **to)
{
    const struct part part = stripped((struct part){*from, *to});
    *from = part.from;
    *to = part.to;
}

size_t field_copy_token(bool has_units, const unsigned char *from, const unsigned char *to,
                        unsigned char *token)
{
    const unsigned char *end = number_token_end(from, to), *rest = to;
    const size_t len = (size_t)(end - from);
    if (len == 0 || to - from > NUMBER_MAX)
        return 0;
    if (end < to) {
        if (!has_units || !has_space(end, to) || !number_is_unit(end + 1, to))
            return 0;
        rest = end + 1;
    }
    memcpy(token, from, len);
    memcpy(token + len, rest, (size_t)(to - rest));
    return len + (size_t)(to - rest);
}

/* Copies the token in a quoted field [from, to) of CSV that ends with other text. As field_token.
 * Not inlined, as it takes a page of the stack. */
static __attribute__((noinline)) size_t copy_joined(bool has_units, const unsigned char *from,
                                                    const unsigned char *to, unsigned char *token)
{
    unsigned char joined[NUMBER_MAX];
    const unsigned char *quote = closing_quote(++from, to), *after = quote + 1;
    if (quote == to)
        return 0;
    while (from < quote && number_is_space(*from))
        from++;
    while (from == quote && number_is_space(*after))
        after++;
    const size_t first = (size_t)(quote - from), len = first + (size_t)(to - after);
    if (len > NUMBER_MAX)
        return 0;
    memcpy(joined, from, first);
    memcpy(joined + first, after, len - first);
    return field_copy_token(has_units, joined, joined + len, token);
}

size_t field_token(const struct field *field, const unsigned char *from, const unsigned char *to,
                   unsigned char *token)
{
    const struct part part = stripped((struct part){from, to});
    const bool is_open = part.from == from && from < part.to && *from == '"';
    if (is_open && field->kind == FIELD_CSV)
        return copy_joined(field->has_units, from, part.to, token);
    return field_copy_token(field->has_units, part.from, part.to, token);
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
        const struct part inner = without_spaces((struct part){walk.from, walk.to});
        if (has_name(field, walk.from, walk.to) || has_name(field, inner.from, inner.to))
            return column;
    }
    return 0;
}

size_t field_header_len(const struct field *field, const unsigned char *text, size_t len)
{
    return (size_t)(field_record_end(field, text, text + len) - text);
}

/* --- invalid records --- */

static bool is_number(const struct field *field, const unsigned char *from, const unsigned char *to)
{
    unsigned char token[NUMBER_MAX];
    const unsigned char *const end = token + field_token(field, from, to, token);
    return end > token && number_is_valid(token, end, field->has_units);
}

bool field_find_invalid(const struct field *field, const unsigned char *text, size_t len,
                        struct field_fault *fault)
{
    const unsigned char *limit = text + len, *from = text, *to = text;
    number_prepare();
    for (const unsigned char *at = text, *end; at < limit; at = end + 1) {
        end = field_record_end(field, at, limit);
        enum field_found found = field_find(field, at, end, &from, &to);
        if (found == FIELD_EMPTY || (found == FIELD_FOUND && is_number(field, from, to)))
            continue;
        if (found == FIELD_FOUND)
            field_strip(&from, &to);
        *fault = (struct field_fault){.at = (size_t)(at - text), .what = found};
        if (found == FIELD_FOUND || found == FIELD_BROKEN) {
            fault->from = (size_t)(from - text);
            fault->len = (size_t)(to - from);
        }
        return true;
    }
    return false;
}

/* --- a hint --- */

/* True if a number seems to begin at `at`. */
static bool begins_number(const unsigned char *at, const unsigned char *end)
{
    at += at < end && (*at == '-' || *at == '+');
    at += at < end && *at == '.';
    return at < end && number_is_digit(*at);
}

/* Sets the hint to --after with [from, to), unless the shell would change that within single
 * quotes. */
static void hint_after(const unsigned char *from, const unsigned char *to,
                       char hint[FIELD_HINT_SIZE])
{
    const size_t len = (size_t)(to - from);
    for (size_t i = 0; i < len; i++)
        if (from[i] < ' ' || from[i] > '~' || from[i] == '\'')
            return;
    if (snprintf(hint, FIELD_HINT_SIZE, "--after='%.*s'", (int)len, (const char *)from) >=
        FIELD_HINT_SIZE)
        hint[0] = '\0';
}

/* Sets the hint to --field with a path, if that leads to a value in the line. */
static void hint_path(const unsigned char *begin, const unsigned char *end, const char *name,
                      size_t len, char hint[FIELD_HINT_SIZE])
{
    const char *option = len > 0 && *name == '.' ? "--field=" : "--field=.";
    const unsigned char *from = NULL, *to;
    struct json_path path;
    if (snprintf(hint, FIELD_HINT_SIZE, "%s%.*s", option, (int)len, name) >= FIELD_HINT_SIZE ||
        !json_path_parse(strchr(hint, '.'), &path) || !json_find(&path, begin, end, &from, &to) ||
        !from)
        hint[0] = '\0';
}

void field_hint(const unsigned char *begin, const unsigned char *end, const char *name, size_t len,
                char hint[FIELD_HINT_SIZE])
{
    hint[0] = '\0';
    hint_path(begin, end, name, len, hint);
    for (const unsigned char *at = begin, *to; !*hint; at = to) {
        at = memmem(at, (size_t)(end - at), name, len);
        if (!at)
            return;
        to = at + len;
        const bool is_quoted = to < end && *to == '"' && at > begin && at[-1] == '"';
        const unsigned char *between = to + is_quoted;
        while (between < end && (*between == ' ' || *between == '\t'))
            between++;
        if (between < end && (*between == ':' || *between == '=') &&
            begins_number(field_after_gap(between + 1, end), end))
            hint_after(at - is_quoted, between + 1, hint);
    }
}

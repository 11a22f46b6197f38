/* SPDX-License-Identifier: MIT */
/* Fields of lines, a record at a time. */
#include "field.h"
#include "field_token.h"
#include "number.h"
#include "number_units.h"

#include <string.h>

/* Finds a byte in [at, end); end if it is not there. */
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

/* Where a quoted field's closing quote is, from the byte after its opening one on; end: it has
 * none. */
static const unsigned char *closing_quote(const unsigned char *at, const unsigned char *end)
{
    for (;;) {
        at = find_byte(at, end, '"');
        if (end - at < 2 || at[1] != '"')
            return at;
        at += 2;
    }
}

/* Where the field that begins at `at` ends: at its separator, or at end. */
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

const unsigned char *field_record_end(const struct field *field, const unsigned char *at,
                                      const unsigned char *limit)
{
    return field->kind == FIELD_CSV ? csv_record_end(field->separator, at, limit)
                                    : find_byte(at, limit, '\n');
}

/* --- fields --- */

/* Finds the next field at *at, and moves *at past it and its separator. False: there is none. At
 * first *at is where the record begins; NULL stands for the end. */
static bool next_field(const struct field *field, const unsigned char **at,
                       const unsigned char *end, const unsigned char **from,
                       const unsigned char **to)
{
    const unsigned char *here = *at;
    if (!here)
        return false;
    if (field->kind == FIELD_BLANKS) {
        while (here < end && is_blank(*here))
            here++;
        *from = here;
        while (here < end && !is_blank(*here))
            here++;
        *to = *at = here;
        return *from < *to;
    }
    *from = here;
    *to = field->kind == FIELD_CSV ? csv_field_end(field->separator, here, end)
                                   : find_byte(here, end, field->separator);
    *at = *to < end ? *to + 1 : NULL;
    return true;
}

/* Field `number`, from 1. Returns how many there are up to it: fewer if it is missing. */
static int64_t field_by_number(const struct field *field, int64_t number,
                               const unsigned char *begin, const unsigned char *end,
                               const unsigned char **from, const unsigned char **to)
{
    int64_t count = 0;
    for (const unsigned char *at = begin; count < number && next_field(field, &at, end, from, to);)
        count++;
    return count;
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
    if (field->has_units)
        *to = field_unit_end(*from, *to, end);
    return *to > *from ? FIELD_FOUND : FIELD_MISSING;
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
    int64_t number = field->number;
    if (number < 0)
        number += 1 + field_by_number(field, INT64_MAX, begin, end, from, to);
    if (number > 0 && field_by_number(field, number, begin, end, from, to) == number)
        return FIELD_FOUND;
    return field_by_number(field, 1, begin, end, from, to) == 1 ? FIELD_MISSING : FIELD_EMPTY;
}

static void strip_spaces(const unsigned char **from, const unsigned char **to)
{
    while (*from < *to && number_is_space(**from))
        ++*from;
    while (*from < *to && number_is_space((*to)[-1]))
        --*to;
}

void field_strip(const unsigned char **from, const unsigned char **to)
{
    strip_spaces(from, to);
    if (*to - *from < 2 || **from != '"' || (*to)[-1] != '"')
        return;
    ++*from;
    --*to;
    strip_spaces(from, to);
}

/* True if a number that ends at `end` may go on with a space and a unit. */
static bool has_space(const unsigned char *end, const unsigned char *limit)
{
    return limit - end > 1 && *end == ' ' && (number_is_digit(end[-1]) || end[-1] == '.');
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

/* --- the number after a string --- */

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

const unsigned char *field_unit_end(const unsigned char *at, const unsigned char *end,
                                    const unsigned char *limit)
{
    if (end == at || !has_space(end, limit))
        return end;
    const unsigned char *const unit_end = field_token_end(end + 1, limit);
    return number_is_unit(end + 1, unit_end) ? unit_end : end;
}

/* --- the header --- */

/* Whether the field [from, to) of a header is called so. Doubled quotes of CSV stand for one. */
static bool has_name(const struct field *field, const unsigned char *from, const unsigned char *to)
{
    bool is_quoted = to - from >= 2 && *from == '"' && to[-1] == '"';
    const char *name = field->name;
    from += is_quoted;
    to -= is_quoted;
    for (; from < to && *name == (char)*from; from++, name++)
        if (is_quoted && field->kind == FIELD_CSV && *from == '"' && to - from > 1 &&
            from[1] == '"')
            from++;
    return from == to && !*name;
}

int32_t field_column(const struct field *field, const unsigned char *begin,
                     const unsigned char *end)
{
    const unsigned char *from, *to;
    end -= begin < end && end[-1] == '\r';
    if (end - begin >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0)
        begin += 3; /* the byte order mark that some programs begin UTF-8 with */
    int32_t column = 1;
    for (const unsigned char *at = begin; next_field(field, &at, end, &from, &to); column++) {
        const unsigned char *inner = from, *inner_end = to;
        strip_spaces(&inner, &inner_end);
        if (has_name(field, from, to) || has_name(field, inner, inner_end))
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
    const unsigned char *const end = token + field_copy_token(field->has_units, from, to, token);
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
        field_strip(&from, &to);
        if (found == FIELD_EMPTY || (found == FIELD_FOUND && is_number(field, from, to)))
            continue;
        bool has_text = found == FIELD_FOUND;
        *fault = (struct field_fault){.at = (size_t)(at - text),
                                      .what = found,
                                      .from = has_text ? (size_t)(from - text) : 0,
                                      .len = has_text ? (size_t)(to - from) : 0};
        return true;
    }
    return false;
}

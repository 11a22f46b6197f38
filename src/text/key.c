/* SPDX-License-Identifier: MIT */
#include "key.h"

#include <string.h>

/* Returns the content of a quoted field of CSV. It is copied unless its quotes are around it. */
static struct key_name without_quotes(const unsigned char *from, const unsigned char *to,
                                      unsigned char *scratch)
{
    const size_t len = (size_t)(to - from);
    const unsigned char *quote = memchr(from + 1, '"', len - 1);
    if (quote && quote == to - 1)
        return (struct key_name){from + 1, len - 2};
    return (struct key_name){scratch, field_csv_text(from, to, scratch)};
}

static bool begins_character(unsigned char byte)
{
    return (byte & 0xc0) != 0x80;
}

/* Returns where the character after `count` characters begins, or the end. */
static const unsigned char *after_characters(const unsigned char *at, const unsigned char *end,
                                             uint32_t count)
{
    for (; at < end && count > 0; count--)
        for (at++; at < end && !begins_character(*at);)
            at++;
    return at;
}

struct key_name key_of_field(const struct key *key, const unsigned char *from,
                             const unsigned char *to, unsigned char *scratch)
{
    from = number_colour_end(from, to);
    to = number_colour_begin(from, to);
    struct key_name name = {from, (size_t)(to - from)};
    const bool is_quoted = from < to && *from == '"';
    if (key->field.kind == FIELD_CSV && is_quoted)
        name = without_quotes(from, to, scratch);
    else if (key->field.kind == FIELD_JSON && is_quoted)
        name = (struct key_name){scratch, json_value_text(from, to, scratch)};
    if (key->first == 0)
        return name;
    const unsigned char *end = name.bytes + name.len;
    const unsigned char *first = after_characters(name.bytes, end, key->first - 1);
    const unsigned char *last = after_characters(first, end, key->last - key->first + 1);
    return (struct key_name){first, (size_t)(last - first)};
}

/* As field_find; TOO_LONG, with *from set, if the field is. */
static enum field_found find_field(const struct key *key, const unsigned char *begin,
                                   const unsigned char *end, const unsigned char **from,
                                   const unsigned char **to)
{
    const enum field_found found = field_find(&key->field, begin, end, from, to);
    return found == FIELD_FOUND && *to - *from > (ptrdiff_t)KEY_SIZE_MAX ? FIELD_TOO_LONG : found;
}

enum field_found key_find(const struct key *key, const unsigned char *begin,
                          const unsigned char *end, unsigned char *scratch, struct key_name *name)
{
    const unsigned char *from, *to;
    const enum field_found found = find_field(key, begin, end, &from, &to);
    if (found == FIELD_FOUND)
        *name = key_of_field(key, from, to, scratch);
    return found;
}

bool key_find_missing(const struct key *key, const struct field *field, const unsigned char *text,
                      size_t len, struct field_fault *fault)
{
    const unsigned char *limit = text + len, *from = text, *to;
    for (const unsigned char *at = text, *end; at < limit; at = end + 1) {
        end = field_record_end(field, at, limit);
        if (field_find(field, at, end, &from, &to) == FIELD_EMPTY)
            continue;
        from = NULL;
        const enum field_found found = find_field(key, at, end, &from, &to);
        if (found == FIELD_FOUND)
            continue;
        *fault = (struct field_fault){.at = (size_t)(at - text), .what = found};
        if (found == FIELD_BROKEN)
            fault->from = (size_t)(from - text);
        if (found == FIELD_TOO_LONG && from)
            fault->len = (size_t)(to - from);
        return true;
    }
    return false;
}

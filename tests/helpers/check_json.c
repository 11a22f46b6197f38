/* SPDX-License-Identifier: MIT */
#include "tests/helpers/check_json.h"
#include "src/text/field_parser.h"
#include "tests/helpers/naive_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Moves *at past the next record that counts, and sets *value to its number, or NaN, and *key to
 * its field. False if there is none. */
static bool next_value(const struct field *field, const unsigned char **at,
                       const unsigned char *limit, double *value, struct key_span *key)
{
    const unsigned char *from = NULL, *to = NULL;
    while (*at < limit) {
        const unsigned char *begin = *at, *end = begin;
        while (end < limit && *end != '\n')
            end++;
        *at = end < limit ? end + 1 : limit;
        const enum field_found found = field_find(field, begin, end, &from, &to);
        if (found == FIELD_EMPTY)
            continue;
        *value = NAN;
        *key = (struct key_span){NULL, 0};
        if (found == FIELD_FOUND) {
            unsigned char token[NUMBER_MAX];
            *key = (struct key_span){from, (size_t)(to - from)};
            const size_t len = field_token(field, &from, &to, end, token);
            if (len > 0)
                *value = field->has_units ? naive_number_with_units(token, len)
                                          : naive_number(token, len);
        }
        return true;
    }
    return false;
}

static bool complain(const struct number_parser *parser, const struct field *field,
                     const unsigned char *text, const unsigned char *at, const char *what)
{
    fprintf(stderr, "FAIL: %s, %s: before byte %zu: %s\n", parser->name,
            field->kind == FIELD_JSON ? field->path.text : field->part.name, (size_t)(at - text),
            what);
    return false;
}

static bool same_key(struct key_span a, struct key_span b)
{
    return a.from == b.from && a.len == b.len;
}

/* The results that a parser is asked for. */
enum asked { VALUES, KEYS, VALUES_AND_KEYS };

static bool check_parser(const struct number_parser *parser, enum asked asked,
                         const struct field *field, const unsigned char *text, size_t len,
                         size_t cap, double *values, struct key_span *keys)
{
    struct record_text rest = {text, text, text + len};
    const unsigned char *at = text;
    struct key_span key;
    double value;
    size_t count;
    do {
        count = asked == KEYS ? parser->read_fields(field, &rest, NULL, keys, cap)
                              : fields_parse(parser, field, asked == VALUES ? NULL : field, &rest,
                                             values, asked == VALUES ? NULL : keys, cap);
        if (count > cap)
            return complain(parser, field, text, at, "too many values");
        for (size_t i = 0; i < count; i++) {
            if (!next_value(field, &at, rest.limit, &value, &key))
                return complain(parser, field, text, at, "more values than records");
            if (asked != KEYS && !naive_same(values[i], value))
                return complain(parser, field, text, at, "another value");
            if (asked != VALUES && !same_key(keys[i], key))
                return complain(parser, field, text, at, "another key");
        }
    } while (count == cap);
    if (rest.at != rest.limit || next_value(field, &at, rest.limit, &value, &key))
        return complain(parser, field, text, at, "fewer values than records");
    return true;
}

bool check_json(const struct field *field, const unsigned char *text, size_t len, size_t cap)
{
    double *values = malloc(cap * sizeof *values); /* of that size, for a sanitizer */
    struct key_span *keys = malloc(cap * sizeof *keys);
    bool right = true;
    if (!values || !keys)
        abort();
    for (const struct number_parser *const *parser = number_parsers; *parser; parser++)
        for (enum asked asked = VALUES; asked <= VALUES_AND_KEYS && (*parser)->runs_here(); asked++)
            right &= check_parser(*parser, asked, field, text, len, cap, values, keys);
    free(values);
    free(keys);
    return right;
}

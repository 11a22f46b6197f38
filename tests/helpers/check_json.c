/* SPDX-License-Identifier: MIT */
#include "tests/helpers/check_json.h"
#include "src/cpu/field_parser.h"
#include "tests/helpers/naive_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Moves *at past the next record that counts, and sets *value to its number, or NaN. False if there
 * is none. */
static bool next_value(const struct field *field, const unsigned char **at,
                       const unsigned char *limit, double *value)
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
        if (found == FIELD_FOUND) {
            unsigned char token[NUMBER_MAX];
            field_strip(&from, &to);
            const size_t len = field_copy_token(field->has_units, from, to, token);
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
    fprintf(stderr, "FAIL: %s, %s: before byte %zu: %s\n", parser->name, field->path.text,
            (size_t)(at - text), what);
    return false;
}

static bool check_parser(const struct number_parser *parser, const struct field *field,
                         const unsigned char *text, size_t len, size_t cap, double *values)
{
    struct record_text rest = {text, text, text + len};
    const unsigned char *at = text;
    double value;
    size_t count;
    do {
        count = fields_parse(parser, field, &rest, values, cap);
        if (count > cap)
            return complain(parser, field, text, at, "too many values");
        for (size_t i = 0; i < count; i++) {
            if (!next_value(field, &at, rest.limit, &value))
                return complain(parser, field, text, at, "more values than records");
            if (!naive_same(values[i], value))
                return complain(parser, field, text, at, "another value");
        }
    } while (count == cap);
    if (rest.at != rest.limit || next_value(field, &at, rest.limit, &value))
        return complain(parser, field, text, at, "fewer values than records");
    return true;
}

bool check_json(const struct field *field, const unsigned char *text, size_t len, size_t cap)
{
    double *values = malloc(cap * sizeof *values); /* of that size, for a sanitizer */
    bool right = true;
    if (!values)
        abort();
    for (const struct number_parser *const *parser = number_parsers; *parser; parser++)
        if ((*parser)->runs_here())
            right &= check_parser(*parser, field, text, len, cap, values);
    free(values);
    return right;
}

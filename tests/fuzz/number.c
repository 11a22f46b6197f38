/* SPDX-License-Identifier: MIT */
/* For libFuzzer: every parser of numbers that this processor can run, on any text, against the
 * grammar and strtod, to the bit. The first byte says how many tokens are asked for at a time, and
 * whether they may have units.
 * `make fuzz` builds it. */
#include "src/text/units.h"
#include "src/text/field_parser.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/naive_number.h"

#include <math.h>
#include <stdlib.h>

/* The value of the next number, which may be several words if it has units: which ones,
 * oracle_units.py tells. *from is NULL at the end. */
static double next_value(const unsigned char *text, const unsigned char **at,
                         const unsigned char *limit, bool has_units, const unsigned char **from)
{
    unsigned char token[NUMBER_MAX];
    if (has_units) {
        const size_t len = field_next_token(text, at, limit, from, token);
        return len > 0 ? naive_number_with_units(token, len) : NAN;
    }
    size_t begin, end;
    const bool any = naive_token(text, (size_t)(limit - text), (size_t)(*at - text), &begin, &end);
    *from = any ? text + begin : NULL;
    *at = text + end;
    return any ? naive_number(*from, end - begin) : NAN;
}

static void check(const struct number_parser *parser, const unsigned char *text, size_t len,
                  size_t cap, bool has_units)
{
    const struct field tokens = {.kind = FIELD_NONE, .has_units = has_units};
    double *values = malloc(cap * sizeof *values); /* of that size, for the sanitizer */
    struct record_text rest = {text, text, text + len};
    const unsigned char *at = text, *from;
    size_t count;
    do {
        count = fields_parse(parser, &tokens, NULL, &rest, values, NULL, cap);
        for (size_t i = 0; i < count; i++) {
            const double value = next_value(text, &at, rest.limit, has_units, &from);
            fuzz_require(from && naive_same(values[i], value), "a number differs");
        }
    } while (count == cap);
    next_value(text, &at, rest.limit, has_units, &from);
    fuzz_require(rest.at == rest.limit && !from, "a token is left over");
    free(values);
}

static void check_invalid(const unsigned char *text, size_t len, bool has_units)
{
    const struct field tokens = {.kind = FIELD_NONE, .has_units = true};
    const unsigned char *at = text, *from = text;
    struct field_fault fault = {.at = 0};
    bool invalid = false;
    while (!invalid && from) {
        const double value = next_value(text, &at, text + len, has_units, &from);
        invalid = from && isnan(value);
    }
    const bool found = has_units ? field_find_invalid(&tokens, text, len, &fault)
                                 : numbers_find_invalid(text, len, &fault.at, &fault.len);
    fuzz_require(found == invalid, "whether a token is invalid differs");
    fuzz_require(!invalid || (text + fault.at == from && from + fault.len == at),
                 "another token is the first invalid one");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t len = size - 1, cap = data[0] + (size_t)1;
    const bool has_units = data[0] % 2 == 1;
    unsigned char *text = fuzz_copy(data + 1, len);
    number_prepare();
    for (const struct number_parser *const *parser = number_parsers; *parser; parser++)
        if ((*parser)->runs_here())
            check(*parser, text, len, cap, has_units);
    check_invalid(text, len, has_units);
    free(text);
    return 0;
}

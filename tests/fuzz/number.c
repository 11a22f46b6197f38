/* SPDX-License-Identifier: MIT */
/* For libFuzzer: every parser of numbers that this processor can run, on any text, against the
 * grammar and strtod, to the bit. The first byte says how many tokens are asked for at a time, and
 * whether they may have units.
 * `make fuzz` builds it. */
#include "src/count/number_units.h"
#include "src/cpu/field_parser.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/naive_number.h"

#include <math.h>
#include <stdlib.h>

static double expected(const unsigned char *token, size_t len, bool has_units)
{
    return has_units ? naive_number_with_units(token, len) : naive_number(token, len);
}

static void check(const struct number_parser *parser, const unsigned char *text, size_t len,
                  size_t cap, bool has_units)
{
    const struct field tokens = {.kind = FIELD_NONE, .has_units = has_units};
    double *values = malloc(cap * sizeof *values); /* of that size, for the sanitizer */
    struct record_text rest = {text, text, text + len};
    size_t begin, end = 0, count;
    do {
        count = fields_parse(parser, &tokens, &rest, values, cap);
        for (size_t i = 0; i < count; i++)
            fuzz_require(naive_token(text, len, end, &begin, &end) &&
                             naive_same(values[i], expected(text + begin, end - begin, has_units)),
                         "a number differs");
    } while (count == cap);
    fuzz_require(rest.at == rest.limit && !naive_token(text, len, end, &begin, &end),
                 "a token is left over");
    free(values);
}

static void check_invalid(const unsigned char *text, size_t len, bool has_units)
{
    size_t begin = 0, end = 0, at, token_len;
    bool invalid = false;
    while (!invalid && naive_token(text, len, end, &begin, &end))
        invalid = isnan(expected(text + begin, end - begin, has_units));
    fuzz_require(numbers_find_invalid(text, len, has_units, &at, &token_len) == invalid,
                 "whether a token is invalid differs");
    fuzz_require(!invalid || (at == begin && token_len == end - begin),
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

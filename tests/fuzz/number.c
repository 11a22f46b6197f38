/* SPDX-License-Identifier: MIT */
/* For libFuzzer: every parser of numbers that this processor can run, on any text, against the
 * grammar and strtod, to the bit. The first byte says how many tokens are asked for at a time.
 * `make fuzz` builds it. */
#include "src/cpu/number_parser.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/naive_number.h"

#include <math.h>
#include <stdlib.h>

static void check(const struct number_parser *parser, const unsigned char *text, size_t len,
                  size_t cap)
{
    double *values = malloc(cap * sizeof *values); /* of that size, for the sanitizer */
    size_t at = 0, begin, end = 0, count, used;
    do {
        count = parser->parse(text + at, len - at, values, cap, &used);
        for (size_t i = 0; i < count; i++)
            fuzz_require(naive_token(text, len, end, &begin, &end) &&
                             naive_same(values[i], naive_number(text + begin, end - begin)),
                         "a number differs");
        at += used;
    } while (count == cap);
    fuzz_require(at == len && !naive_token(text, len, end, &begin, &end), "a token is left over");
    free(values);
}

static void check_invalid(const unsigned char *text, size_t len)
{
    size_t begin = 0, end = 0, at, token_len;
    bool invalid = false;
    while (!invalid && naive_token(text, len, end, &begin, &end))
        invalid = isnan(naive_number(text + begin, end - begin));
    fuzz_require(numbers_find_invalid(text, len, &at, &token_len) == invalid,
                 "whether a token is invalid differs");
    fuzz_require(!invalid || (at == begin && token_len == end - begin),
                 "another token is the first invalid one");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t len = size - 1, cap = data[0] + (size_t)1;
    unsigned char *text = fuzz_copy(data + 1, len);
    number_prepare();
    for (const struct number_parser *const *parser = number_parsers; *parser; parser++)
        if ((*parser)->runs_here())
            check(*parser, text, len, cap);
    check_invalid(text, len);
    free(text);
    return 0;
}

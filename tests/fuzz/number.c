/* For libFuzzer: every parser of numbers that this processor can run, on any text, against the
 * grammar and strtod, to the bit. The first byte says how many tokens are asked for at a time.
 * `make fuzz` builds it. */
#include "src/cpu/number_parser.h"
#include "tests/helpers/naive_number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct number_parser *parser, const unsigned char *text, size_t len,
                  size_t cap)
{
    double *values = malloc(cap * sizeof *values); /* of that size, for the sanitizer */
    size_t at = 0, begin, end = 0, count, used;
    do {
        count = parser->parse(text + at, len - at, values, cap, &used);
        for (size_t i = 0; i < count; i++)
            if (!naive_token(text, len, end, &begin, &end) ||
                !naive_same(values[i], naive_number(text + begin, end - begin)))
                abort();
        at += used;
    } while (count == cap);
    if (at != len || naive_token(text, len, end, &begin, &end))
        abort();
    free(values);
}

static void check_invalid(const unsigned char *text, size_t len)
{
    size_t begin = 0, end = 0, at, token_len;
    bool invalid = false;
    while (!invalid && naive_token(text, len, end, &begin, &end))
        invalid = isnan(naive_number(text + begin, end - begin));
    if (numbers_find_invalid(text, len, &at, &token_len) != invalid)
        abort();
    if (invalid && (at != begin || token_len != end - begin))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t len = size - 1, cap = data[0] + (size_t)1;
    unsigned char *text = malloc(len ? len : 1); /* so is this */
    memcpy(text, data + 1, len);
    number_prepare();
    for (const struct number_parser *const *parser = number_parsers; *parser; parser++)
        if ((*parser)->runs_here())
            check(*parser, text, len, cap);
    check_invalid(text, len);
    free(text);
    return 0;
}

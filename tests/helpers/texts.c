/* SPDX-License-Identifier: MIT */
#include "tests/helpers/texts.h"
#include "tests/helpers/naive_number.h"
#include "tests/helpers/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void text_append(struct text *text, const char *bytes, size_t len)
{
    if (text->len + len > TEXT_MAX)
        abort();
    memcpy(text->data + text->len, bytes, len);
    text->len += len;
}

void text_append_digits(struct text *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        text_append(text, i == 2 ? "." : "7", 1);
}

void text_fill(struct text *text, size_t len, size_t valid)
{
    static const char *const tokens[] = {"12",  "99.5", "-3",   "1e1",  "0.000123",  "inf", "-inf",
                                         "100", "5",    "3e-5", "49.9", "1234567.8", "+7",  "70",
                                         "nan", "12x",  "--1",  "0x10", "."};
    enum { VALID = 14, ALL = sizeof tokens / sizeof tokens[0] };
    static const char *const spaces[] = {" ", "\n", "\r\n", "\t", "\n\n", " \v\f ", "      \n "};
    text->len = 0;
    while (text->len < len) {
        const char *token = tokens[random_below(text->len < valid ? VALID : ALL)];
        text_append(text, token, strlen(token));
        const char *space = spaces[random_below(sizeof spaces / sizeof spaces[0])];
        text_append(text, space, strlen(space));
    }
    text->len = len;
    if (text->data[len - 1] == 'x' || text->data[len - 1] == '-')
        text->data[len - 1] = '1';
}

static size_t naive_row(const struct binning *binning, double value)
{
    size_t row = 0;
    if (isnan(value))
        return ROW_INVALID(binning);
    while (row <= binning->bins && binning_edge(binning, row) <= value)
        row++;
    return row;
}

/* What a message shows of a token: 40 bytes, NUL as C writes it. */
static void expect_message(struct text_expectation *expected, size_t line,
                           const unsigned char *token, size_t len)
{
    char shown[256] = "", byte[8];
    for (size_t i = 0; i < len && i < 40; i++) {
        snprintf(byte, sizeof byte, token[i] ? "%c" : "\\x%02x", token[i]);
        strcat(shown, byte);
    }
    snprintf(expected->invalid, sizeof expected->invalid, "line %zu: '%s%s' is not a number", line,
             shown, len > 40 ? "..." : "");
}

void text_expect(const struct text *text, const struct binning *binning,
                 struct text_expectation *expected)
{
    size_t begin, end = 0, line = 1, seen = 0;
    while (naive_token(text->data, text->len, end, &begin, &end)) {
        double value = naive_number(text->data + begin, end - begin);
        for (; seen < begin; seen++)
            line += text->data[seen] == '\n';
        expected->counts[naive_row(binning, value)]++;
        expected->samples++;
        if (isnan(value) && !expected->invalid[0])
            expect_message(expected, line, text->data + begin, end - begin);
    }
    for (size_t i = 0; i < text->len; i++)
        expected->newlines += text->data[i] == '\n';
}

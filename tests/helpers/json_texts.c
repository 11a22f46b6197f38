/* SPDX-License-Identifier: MIT */
#include "tests/helpers/json_texts.h"
#include "tests/helpers/drawn_text.h"
#include "tests/helpers/random.h"

#include <stdio.h>

const char *const json_text_paths[] = {".",
                                       ".a",
                                       ".a.b",
                                       ".b.a",
                                       ".a[0]",
                                       ".a[1].b",
                                       ".a[-1]",
                                       ".a[-2].a",
                                       ".[0]",
                                       ".[-1].a",
                                       ".\"a b\"",
                                       ".\"\\u00e9\"",
                                       ".\"\xf0\x9f\x98\x80\"",
                                       ".latency",
                                       ".latency_ms",
                                       ".\"a name of more than sixteen bytes\"",
                                       ".[\"\"]",
                                       ".[\"\\\"\"].a",
                                       NULL};

static void put_space(struct drawn_text *text, unsigned spaces)
{
    if (spaces > 0 && random_below(spaces) == 0)
        PUT_ONE_OF(text, " ", " ", " ", "\t", "\r", "  ", " \t\r ");
}

static void put_number(struct drawn_text *text)
{
    char number[64];
    switch (random_below(8)) {
    case 0:
        snprintf(number, sizeof number, "%.17g", random_fraction());
        break;
    case 1:
        snprintf(number, sizeof number, "-%u.%03ue%d", random_below(10), random_below(1000),
                 (int)random_below(20) - 10);
        break;
    case 2:
        PUT_ONE_OF(text, "0", "-0", "1E+2", "0e0", "18446744073709551615", "1e999", "12345678",
                   "123456789", "1234567.9012345", "1234567890123456", "12345678901234567",
                   "0.000000000000001", "1.5", "0.5", "10", "100000000000000000000000000000000000");
        return;
    case 3:
        PUT_ONE_OF(text, "01", "+1", "1.", ".5", "1.2.3", "1e", "1-2", "--1", "NaN", "Infinity",
                   "-", "0x1", "00", "00.5", "1_0", "1.e1", "truE", "nul", "falsee", "t");
        return;
    default:
        snprintf(number, sizeof number, "%u.%03u", random_below(100), random_below(1000));
        break;
    }
    put(text, number);
}

static void put_string(struct drawn_text *text)
{
    put(text, "\"");
    if (random_below(8) == 0)
        for (unsigned n = random_below(200); n > 0; n--)
            PUT_ONE_OF(text, "x", "x", "x", "x", "x", "x", "x", "x", "x", "\\\"", "\\\\", "{",
                       "\\/", ",");
    else
        PUT_ONE_OF(text, "", "a", "12", "5ms", " 7.5 ", "x\\\"y", "\\\\", "\\u00e9", "\xc3\xa9",
                   "[1,2", "}", "\\ud83d\\ude00", "1e3", "Infinity", "a: b, \\\\\\\"c", "\xff",
                   "\\n", "{\\\"a\\\":1}");
    put(text, "\"");
}

static void put_name(struct drawn_text *text)
{
    PUT_ONE_OF(text, "\"a\"", "\"a\"", "\"a\"", "\"b\"", "\"b\"", "\"latency\"", "\"latency_ms\"",
               "\"a b\"", "\"\xc3\xa9\"", "\"\\u00e9\"", "\"\\ud83D\\uDE00\"",
               "\"\xf0\x9f\x98\x80\"", "\"\\u0061\"", "\"a name of more than sixteen bytes\"",
               "\"a name of more than sixteen bytex\"", "\"\"", "\"\\\"\"", "\"ab\"",
               "\"latency_\"", "\"\\ud800\"", "\"\\u0000\"");
}

static void put_value(struct drawn_text *text, unsigned depth, unsigned spaces)
{
    const unsigned kind = depth == 0 ? 2 + random_below(6) : random_below(8);
    put_space(text, spaces);
    if (kind < 2) {
        put(text, kind ? "{" : "[");
        put_space(text, spaces);
        for (unsigned n = random_below(5); n > 0; n--) {
            if (kind) {
                put_name(text);
                put_space(text, spaces);
                put(text, ":");
            }
            put_value(text, depth - 1, spaces);
            if (n > 1)
                put(text, ",");
            put_space(text, spaces);
        }
        put(text, kind ? "}" : "]");
    } else if (kind == 2) {
        put_string(text);
    } else if (kind == 3) {
        PUT_ONE_OF(text, "true", "false", "null");
    } else {
        put_number(text);
    }
    put_space(text, spaces);
}

static void damage(struct json_text *text, unsigned oddity)
{
    static const char bytes[] = "{}[]:,\"\"\\\n x1\001\xff";
    for (size_t at = random_below(oddity); at < text->len; at += 1 + random_below(2 * oddity))
        text->bytes[at] = (unsigned char)bytes[random_below(sizeof bytes)];
}

void json_text_fill(struct json_text *text, size_t len, unsigned oddity)
{
    const unsigned spaces = random_below(3) == 0 ? 1 + random_below(8) : 0;
    struct drawn_text drawn = {.bytes = text->bytes, .size = JSON_TEXT_SIZE};
    while (drawn.len < len) {
        if (random_below(3)) {
            put(&drawn, "{\"a\":");
            put_value(&drawn, random_below(4), spaces);
            put(&drawn, ",\"b\":");
            put_value(&drawn, random_below(3), spaces);
            put(&drawn, "}");
        } else {
            put_value(&drawn, random_below(6), spaces);
        }
        PUT_ONE_OF(&drawn, "\n", "\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n \n");
    }
    text->len = len;
    if (oddity > 0)
        damage(text, oddity);
}

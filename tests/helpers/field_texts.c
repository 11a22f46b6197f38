/* SPDX-License-Identifier: MIT */
#include "tests/helpers/field_texts.h"
#include "tests/helpers/drawn_text.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <string.h>

static void put_colour(struct drawn_text *text)
{
    PUT_ONE_OF(text, "\033[m", "\033[m\033[K", "\033[01;31m", "\033[38:2::1:2:3m", "\033[", "\033",
               "\033[1", "\033[1x");
}

static void put_number(struct drawn_text *text)
{
    char number[64];
    if (random_below(40) == 0)
        put_colour(text);
    switch (random_below(8)) {
    case 0:
        snprintf(number, sizeof number, "%.17g", random_fraction());
        break;
    case 1:
        snprintf(number, sizeof number, "%u", random_below(100000));
        break;
    case 2:
        snprintf(number, sizeof number, "-%u.%03ue%d", random_below(10), random_below(1000),
                 (int)random_below(20) - 10);
        break;
    case 3:
        PUT_ONE_OF(text, "inf", "-Infinity", "+5", "5.", ".5", "1e5", "00000000000000000000000001");
        return;
    case 4:
        PUT_ONE_OF(text, "x", "1x", "5e", "-", "1\v2", "1\f", "\r", "nan", "0x10", "1\0012",
                   "\303\244");
        return;
    default:
        snprintf(number, sizeof number, "%u.%03u", random_below(10), random_below(1000));
        break;
    }
    put(text, number);
    if (random_below(8) == 0)
        PUT_ONE_OF(text, "s", "ms", "m5s", "h2m0.5s", "\302\265s", "k", "KiB", "B", "K", "x", " s",
                   " ms.", " MB", "  s", ". s", " m5s", " h 5", " min", "h 3m 2s", " KB", ":30:59",
                   " days, 2:03:04", "\\u00b5s", ",ms", " hours and 3 minutes");
    if (random_below(40) == 0)
        put_colour(text);
}

static void put_field(struct drawn_text *text, const struct field *field, unsigned oddity)
{
    if (random_below(oddity) == 0)
        PUT_ONE_OF(text, "\"", "\"\"", " ", "\t", "a\"b", "\"a\nb\"", "\"1,2\"", "\" 5 \"",
                   "\"\"\"\"", "\"5\"6", "\"5\"\"6\"", "5 6", "5 ms", "\"5 MB\"", "\"1\n\n2,\"",
                   "\r", "\n", "", " 7 ", "\"8\"");
    else if (random_below(3) == 0)
        PUT_ONE_OF(text, "GET", "/index.html", "2026-11-22T08:00:00", "a somewhat longer text",
                   "a-text-that-fills-more-than-a-window-of-sixty-four-bytes-by-itself-alone", "-",
                   "");
    else
        put_number(text);
    if (field->kind == FIELD_AFTER && random_below(2) == 0) {
        put(text, field->after);
        PUT_ONE_OF(text, "", " ", "\"", "\t \"", " \" ", "\"\"", "=");
        put_number(text);
        if (random_below(3) == 0)
            PUT_ONE_OF(text, ",", ",5", ", 5", "%", "%5", ".", "..", ".,", "ms", "m5s", "\"", "'",
                       "&a", ";5", ":5", "<", ">", "|", "\\n", ")", "]", "}", "(", "-5", "/5", "_",
                       " s", "s s", "\303", "=");
    }
}

void field_text_fill(struct field_text *text, const struct field *field, size_t len)
{
    const char separator[] = {(char)field->separator, '\0'};
    unsigned fields = 1 + random_below(12), oddity = 1 + random_below(200);
    struct drawn_text drawn = {.bytes = text->bytes, .size = FIELD_TEXT_SIZE};
    while (drawn.len < len) {
        unsigned count = random_below(4) == 0 ? random_below(16) : fields;
        for (unsigned i = 0; i < count; i++) {
            put_field(&drawn, field, oddity);
            if (i + 1 < count && field->kind == FIELD_BLANKS)
                PUT_ONE_OF(&drawn, " ", " ", "\t", "   ", " \t ");
            else if (i + 1 < count)
                put(&drawn, separator);
        }
        PUT_ONE_OF(&drawn, "\n", "\n", "\n", "\n", "\r\n", " \n", "\n\n", "\r\r\n");
    }
    text->len = len;
}

void field_draw(struct field *field)
{
    static const char *const strings[] = {
        "rt=", "\"ms\":",
        "=",   "latency",
        " ",   "a-text-that-is-long-enough-to-be-longer-than-one-window-of-sixty-four-bytes"};
    static const char separators[] = ",;\t|: \"5\r";
    *field = (struct field){.kind = (enum field_kind)(1 + random_below(4))};
    field->number = 1 + (int32_t)random_below(random_below(8) == 0 ? 80 : 12);
    if (random_below(2) == 0)
        field->number = -field->number;
    field->separator = (unsigned char)separators[random_below(sizeof separators - 1)];
    if (field->kind == FIELD_CSV && field->separator == '"')
        field->separator = ',';
    if (field->kind == FIELD_AFTER) {
        field->after = strings[random_below(sizeof strings / sizeof strings[0])];
        field->after_len = strlen(field->after);
    }
    field->has_units = random_below(4) == 0;
}

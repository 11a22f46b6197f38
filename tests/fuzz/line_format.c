/* SPDX-License-Identifier: MIT */
/* For libFuzzer: parts of lines that --line names, by every parser that this processor can run,
 * against the definition. A byte says how many values are asked for at a time, and whether numbers
 * have units; then come the format and a name, each a line of its own, and the text. It is read as
 * it is, and before other lines, as what is close to the end is left to the definition. */
#include "src/base/error.h"
#include "src/text/line_format.h"
#include "src/text/number.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/check_json.h"

#include <stdlib.h>
#include <string.h>

#define BEHIND 1200 /* more than the longest text that an input has room for */

/* A part that was found is within its line, and so is its text. */
static void check_first(const struct line_part *part, const unsigned char *text, size_t len)
{
    const unsigned char *newline = len > 0 ? memchr(text, '\n', len) : NULL;
    const unsigned char *end = newline ? newline : text + len;
    const struct line_span span = line_part_find(part, text, end);
    struct error what = {""};
    if (!span.from) {
        line_part_describe(part, text, end, &what);
        fuzz_require(*what.text, "nothing said of a missing part");
        return;
    }
    fuzz_require(text <= span.from && span.from <= span.to && span.to <= end,
                 "a part outside of the line");
    const size_t max = (size_t)(span.to - span.from);
    unsigned char *value = malloc(max + 1);
    if (!value)
        abort();
    fuzz_require(line_value_text(span.from, span.to, value) <= max, "a text longer than its value");
    free(value);
}

static void check_values(const struct field *field, const uint8_t *data, size_t len, size_t cap)
{
    unsigned char *text = fuzz_copy(data, len), *longer = malloc(len + BEHIND);
    if (!longer)
        abort();
    memcpy(longer, data, len);
    memset(longer + len, 'x', BEHIND);
    for (size_t at = 0; at < BEHIND; at += 100)
        longer[len + at] = '\n';
    check_first(&field->part, text, len);
    fuzz_require(check_json(field, text, len, cap), "values differ");
    fuzz_require(check_json(field, longer, len + BEHIND, cap), "values before lines differ");
    free(text);
    free(longer);
}

/* Copies the line at *at, and moves that behind it. NULL if there is none, or it has a NUL. */
static char *next_line(const uint8_t **at, const uint8_t *limit)
{
    const uint8_t *newline = *at < limit ? memchr(*at, '\n', (size_t)(limit - *at)) : NULL;
    if (!newline || memchr(*at, '\0', (size_t)(newline - *at)))
        return NULL;
    char *line = strndup((const char *)*at, (size_t)(newline - *at));
    if (!line)
        abort();
    *at = newline + 1;
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const uint8_t *at = data + 1, *limit = data + size;
    char *typed = next_line(&at, limit), *name = typed ? next_line(&at, limit) : NULL;
    struct field field = {.kind = FIELD_LINE, .has_units = data[0] >= 128};
    field.is_time = data[0] / 64 == 1;
    struct line_format format;
    struct error error;
    number_prepare();
    if (name && line_format_parse(typed, &format, &error) == 0) {
        if (line_part_parse(&format, "--field", name, &field.part, &error) == 0 &&
            line_format_open(&format, &error) == 0)
            check_values(&field, at, (size_t)(limit - at), data[0] % 128 + (size_t)1);
        line_format_close(&format);
    }
    free(typed);
    free(name);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* For libFuzzer: what a path into JSON leads to, by every parser that this processor can run,
 * against the definition. A byte says how many values are asked for at a time, and whether numbers
 * have units; then come the path, a line of its own, and the text. It is read as it is, and before
 * white space, as what is close to the end is left to the definition. */
#include "src/count/json_path.h"
#include "src/count/number.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/check_json.h"

#include <stdlib.h>
#include <string.h>

/* The value of the first record is within it, and so is its text. */
static void check_first(const struct json_path *path, const unsigned char *text, size_t len)
{
    const unsigned char *newline = len > 0 ? memchr(text, '\n', len) : NULL, *from, *to;
    const unsigned char *end = newline ? newline : text + len;
    if (!json_find(path, text, end, &from, &to)) {
        fuzz_require(text <= from && from <= end, "broken outside of the record");
        return;
    }
    if (!from)
        return;
    fuzz_require(text <= from && from < to && to <= end, "a value outside of the record");
    const size_t most = (size_t)(to - from);
    unsigned char *value = malloc(most);
    if (!value)
        abort();
    fuzz_require(json_value_text(from, to, value) <= most, "a text longer than its value");
    free(value);
}

#define SPACE 400

static void check_values(const struct field *field, const uint8_t *data, size_t len, size_t cap)
{
    unsigned char *text = fuzz_copy(data, len), *longer = malloc(len + SPACE);
    if (!longer)
        abort();
    memcpy(longer, data, len);
    memset(longer + len, ' ', SPACE);
    longer[len] = '\n';
    check_first(&field->path, text, len);
    fuzz_require(check_json(field, text, len, cap), "values differ");
    fuzz_require(check_json(field, longer, len + SPACE, cap), "values before space differ");
    free(text);
    free(longer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size > 1 ? memchr(data + 1, '\n', size - 1) : NULL;
    struct field field = {.kind = FIELD_JSON};
    if (!newline || memchr(data, '\0', (size_t)(newline - data)))
        return 0;
    char *typed = strndup((const char *)data + 1, (size_t)(newline - data) - 1);
    if (!typed)
        abort();
    field.has_units = data[0] >= 128;
    number_prepare();
    if (json_path_parse(typed, &field.path))
        check_values(&field, newline + 1, size - (size_t)(newline + 1 - data),
                     data[0] % 128 + (size_t)1);
    free(typed);
    return 0;
}

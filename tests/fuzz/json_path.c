/* SPDX-License-Identifier: MIT */
/* For libFuzzer: what a path into JSON leads to, by every parser that this processor can run,
 * against the definition. A byte says how many values are asked for at a time, and whether numbers
 * have units; then come the path, a line of its own, and the text. It is read as it is, and before
 * white space, as what is close to the end is left to the definition. The first record is read in
 * pieces, too, as tables are. */
#include "src/text/field_parser.h"
#include "src/text/json_reader.h"
#include "src/text/field.h"
#include "src/text/number.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/check_json.h"

#include <stdlib.h>
#include <string.h>

/* What is left of a record that is read in pieces. */
struct rest {
    const unsigned char *at;
    size_t len, piece;
};

static ssize_t read_rest(void *arg, unsigned char *to, size_t size)
{
    struct rest *rest = arg;
    size_t len = rest->len < rest->piece ? rest->len : rest->piece;
    len = len < size ? len : size;
    memcpy(to, rest->at, len);
    rest->at += len;
    rest->len -= len;
    return (ssize_t)len;
}

/* Returns whether a record is valid that comes in pieces of 1 to 256 bytes. */
static bool is_valid_in_pieces(const unsigned char *at, size_t len)
{
    struct rest rest = {at, len, len > 0 ? at[len - 1] + (size_t)1 : 1};
    struct json_input input = {.read = read_rest, .arg = &rest};
    struct json json;
    if (json_start(&json, &input) != 0)
        abort();
    bool is_valid = json_skip(&json);
    if (is_valid)
        json_skip_space(&json);
    is_valid = is_valid && !json.wrong && json.at == json.end;
    free(input.buffer);
    return is_valid;
}

/* The samples of a list [from, to) are within it. */
static void check_list(const struct field *field, const unsigned char *from,
                       const unsigned char *to)
{
    unsigned char token[LIST_TOKEN_SIZE];
    struct list list;
    list.token = token;
    list_open(&list, field, from, to);
    for (size_t count = 0; list_next(&list); count++) {
        fuzz_require(list.len <= NUMBER_MAX, "a sample that is no token");
        fuzz_require(!list.from || (from <= list.from && list.from <= list.to && list.to <= to),
                     "a sample outside of its list");
        fuzz_require(count <= (size_t)(to - from), "too many samples");
    }
}

/* The value of the first record is within it, and so are its text and its numbers. */
static void check_first(const struct json_path *path, const unsigned char *text, size_t len)
{
    const unsigned char *newline = len > 0 ? memchr(text, '\n', len) : NULL, *from, *to;
    const unsigned char *end = newline ? newline : text + len;
    const bool is_valid = json_find(path, text, end, &from, &to);
    fuzz_require(is_valid_in_pieces(text, (size_t)(end - text)) == is_valid,
                 "another verdict in pieces");
    if (!is_valid) {
        fuzz_require(text <= from && from <= end, "broken outside of the record");
        return;
    }
    if (!from)
        return;
    fuzz_require(text <= from && from < to && to <= end, "a value outside of the record");
    const size_t max = (size_t)(to - from);
    unsigned char *value = malloc(max);
    if (!value)
        abort();
    fuzz_require(json_value_text(from, to, value) <= max, "a text longer than its value");
    free(value);
    for (unsigned kind = LIST_NONE; kind <= LIST_LAST; kind++) {
        const struct field field = {.kind = FIELD_JSON, .list = kind, .path = *path};
        check_list(&field, from, to);
    }
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
    field.is_time = data[0] / 64 == 1;
    number_prepare();
    if (json_path_parse(typed, &field.path))
        check_values(&field, newline + 1, size - (size_t)(newline + 1 - data),
                     data[0] % 128 + (size_t)1);
    free(typed);
    return 0;
}

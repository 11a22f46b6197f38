/* SPDX-License-Identifier: MIT */
/* json_events PIECE UTF8: reads documents from standard input, each after its length of four bytes,
 * the lowest first, by the reader of JSON. With PIECE, each document comes so many bytes at a time;
 * with 0 it is in memory. UTF8 is 1 if strings must be UTF-8. Prints a line for each: what it
 * consists of, or "invalid". Strings are shown as their bytes in hexadecimal, in quotes, and
 * numbers as they are written. tests/helpers/json_events.py prints the same. */
#include "src/text/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 64

/* The text of a document's events: printed only if all of it is valid. */
static char *shown;
static size_t shown_len, shown_capacity;

static void show(const char *text, size_t len)
{
    if (shown_len + len > shown_capacity) {
        shown_capacity = 2 * (shown_len + len);
        shown = realloc(shown, shown_capacity);
        if (!shown)
            abort();
    }
    memcpy(shown + shown_len, text, len);
    shown_len += len;
}

static void show_string(const struct json *json)
{
    char digits[3];
    unsigned char *text = malloc((size_t)(json->to - json->from) + 1);
    if (!text)
        abort();
    const size_t len = json_decode(json->from, json->to, text);
    show("\"", 1);
    for (size_t i = 0; i < len; i++) {
        snprintf(digits, sizeof digits, "%02x", (unsigned)text[i]);
        show(digits, 2);
    }
    show("\"", 1);
    free(text);
}

static bool show_value(struct json *json)
{
    static const char *const words[] = {
        [JSON_TRUE] = "true", [JSON_FALSE] = "false", [JSON_NULL] = "null"};
    const enum json_kind kind = json_value(json);
    switch (kind) {
    case JSON_NONE:
        return false;
    case JSON_STRING:
        show_string(json);
        return true;
    case JSON_NUMBER:
        show((const char *)json->from, (size_t)(json->to - json->from));
        return true;
    case JSON_ARRAY:
        show("[", 1);
        while (json_next_element(json)) {
            if (!show_value(json))
                return false;
            show(",", 1);
        }
        show("]", 1);
        return !json->wrong;
    case JSON_OBJECT:
        show("{", 1);
        while (json_next_member(json)) {
            show_string(json);
            show(":", 1);
            if (!show_value(json))
                return false;
            show(",", 1);
        }
        show("}", 1);
        return !json->wrong;
    default:
        show(words[kind], strlen(words[kind]));
        return true;
    }
}

struct document {
    unsigned char *bytes;
    size_t len, at, piece;
};

static ssize_t read_piece(void *arg, unsigned char *to, size_t size)
{
    struct document *document = arg;
    size_t len = document->len - document->at;
    len = len < document->piece ? len : document->piece;
    len = len < size ? len : size;
    memcpy(to, document->bytes + document->at, len);
    document->at += len;
    return (ssize_t)len;
}

/* Reads a document by `read`. True if it is valid. */
static bool check(struct json *json, bool (*read)(struct json *json))
{
    if (!read(json))
        return false;
    json_skip_space(json);
    return !json->wrong && json->at == json->end;
}

/* Shows a document, and reads it again without looking at it: both must come to the same verdict.
 */
static void read_document(struct document *document, bool is_utf8)
{
    bool valid[2];
    for (unsigned way = 0; way < 2; way++) {
        struct json_input input = {.read = read_piece, .arg = document};
        struct json json = {.at = document->bytes, .end = document->bytes + document->len};
        shown_len = document->at = 0;
        if (document->piece > 0 && json_start(&json, &input) != 0)
            abort();
        json.is_utf8 = is_utf8;
        json.depth_max = DEPTH;
        valid[way] = check(&json, way == 0 ? json_skip : show_value);
        free(input.buffer);
    }
    if (valid[0] != valid[1])
        puts("skipped otherwise");
    else if (valid[1])
        printf("%.*s\n", (int)shown_len, shown);
    else
        puts("invalid");
}

int main(int argc, char **argv)
{
    unsigned char length[4];
    struct document document = {.piece = argc > 1 ? strtoul(argv[1], NULL, 10) : 0};
    while (fread(length, 1, sizeof length, stdin) == sizeof length) {
        document.len = (size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16;
        /* The memory has just that length, so that a sanitizer sees what is read beyond. */
        document.bytes = malloc(document.len ? document.len : 1);
        if (!document.bytes || fread(document.bytes, 1, document.len, stdin) != document.len)
            return 1;
        read_document(&document, argc > 2 && argv[2][0] == '1');
        free(document.bytes);
    }
    free(shown);
    return 0;
}

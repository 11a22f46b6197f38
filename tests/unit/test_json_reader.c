/* SPDX-License-Identifier: MIT */
/* JSON that comes in pieces: the longest names and values, memory and work, reads that fail, and
 * nesting. What documents consist of is for tests/cli/json.sh. */
#include "src/text/json_reader.h"
#include "tests/helpers/scale.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long cases, wrong;

static void check_that(bool holds, const char *what, size_t detail)
{
    cases++;
    if (!holds && wrong++ < 20)
        printf("%s: %zu\n", what, detail);
}

/* A text of three parts, of which the middle one is a byte many times. */
struct text {
    const char *begin, *end;
    char byte;
    size_t times;

    size_t at, piece, fails_at; /* what was read, how much at a time, and where reading fails */
};

static size_t length_of(const struct text *text)
{
    return strlen(text->begin) + text->times + strlen(text->end);
}

/* Copies what a part, which begins at `begin`, has of `len` bytes of the text from `from` on. */
static void copy_part(unsigned char *to, size_t from, size_t len, const char *part, size_t begin)
{
    for (size_t i = 0; part[i]; i++)
        if (begin + i >= from && begin + i < from + len)
            to[begin + i - from] = (unsigned char)part[i];
}

static ssize_t read_piece(void *arg, unsigned char *to, size_t size)
{
    struct text *text = arg;
    size_t len = length_of(text) - text->at;
    if (text->at >= text->fails_at) {
        errno = EIO;
        return -1;
    }
    len = len < size ? len : size;
    len = len < text->piece ? len : text->piece;
    memset(to, text->byte, len);
    copy_part(to, text->at, len, text->begin, 0);
    copy_part(to, text->at, len, text->end, strlen(text->begin) + text->times);
    text->at += len;
    return (ssize_t)len;
}

struct verdict {
    bool is_valid, is_invalid, has_failed;
    const char *wrong;
    uint64_t offset;
    size_t capacity;
};

static struct verdict read_all(struct text *text)
{
    struct json_input input = {.read = read_piece, .arg = text};
    struct json json;
    if (json_start(&json, &input) != 0)
        abort();
    json.is_utf8 = true;
    text->at = 0;
    bool is_valid = json_skip(&json);
    if (is_valid)
        json_skip_space(&json);
    is_valid = is_valid && !json.wrong && json.at == json.end;
    const struct verdict verdict = {is_valid,   json.is_invalid,    input.has_failed,
                                    json.wrong, json_offset(&json), input.capacity};
    free(input.buffer);
    return verdict;
}

/* A name or value of JSON_TOKEN_MAX bytes is read, whatever the pieces; a longer one is not. */
static void check_longest(void)
{
    static const struct {
        const char *begin, *end;
        char byte;
        size_t frame; /* bytes besides the many that belong to the name or value */
    } texts[] = {{"[\"", "\" ]", 'x', 1},   {"[", " ]", '1', 0},       {"[1.5e-", " ]", '1', 5},
                 {"{\"", "\": 1}", 'x', 2}, {"{\"x\"", ":1}", ' ', 3}, {"[\"", "\" ]", '\xff', 1}};
    static const size_t pieces[] = {SIZE_MAX, 65536, 1000003};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t k = 0; k < (scale_is_small() ? 1 : 3); k++)
            for (size_t len = JSON_TOKEN_MAX - 1; len <= JSON_TOKEN_MAX + 1; len++) {
                struct text text = {.begin = texts[i].begin,
                                    .end = texts[i].end,
                                    .byte = texts[i].byte,
                                    .times = len - texts[i].frame,
                                    .piece = pieces[k],
                                    .fails_at = SIZE_MAX};
                const struct verdict verdict = read_all(&text);
                const bool is_utf8 = text.byte != '\xff';
                check_that(verdict.is_valid == (is_utf8 && len <= JSON_TOKEN_MAX), "longest", i);
                check_that(len <= JSON_TOKEN_MAX ||
                               (verdict.wrong && strstr(verdict.wrong, "more than 8 MiB")),
                           "too long", i);
                check_that(verdict.capacity <= 2 * JSON_TOKEN_MAX + 2 * JSON_PIECE, "memory", i);
            }
}

/* White space and elements of any length need no memory. */
static void check_memory(void)
{
    struct text text = {"[1", ",2]", ' ', 3 * JSON_TOKEN_MAX, 0, SIZE_MAX, SIZE_MAX};
    struct verdict verdict = read_all(&text);
    check_that(verdict.is_valid && verdict.capacity == JSON_PIECE, "white space", verdict.capacity);
    text = (struct text){"[\"\"", "]", ' ', 3 * JSON_TOKEN_MAX, 0, SIZE_MAX, SIZE_MAX};
    verdict = read_all(&text);
    check_that(verdict.is_valid && verdict.capacity == JSON_PIECE, "white space", verdict.capacity);
}

/* Reads that fail are told from the end of the text. */
static void check_failures(void)
{
    for (size_t fails_at = 0; fails_at < 40; fails_at++) {
        struct text text = {"{\"a\":[1,true", ",null,\"b\",\"\\n\"]}", ' ', 3, 0, 1, fails_at};
        const bool fails = fails_at <= length_of(&text);
        const struct verdict verdict = read_all(&text);
        check_that(verdict.has_failed == fails, "failed", fails_at);
        check_that(verdict.is_valid != fails && !verdict.is_invalid, "a verdict", fails_at);
    }
}

/* Every beginning of a text is refused at its end, however it comes. */
static void check_beginnings(void)
{
    static const char whole[] =
        "{\"a\\u00e9\" : [1.5e-7 , true,false, {\"b\":null}], \"c\":\"\\n\"}";
    char begin[sizeof whole];
    for (size_t len = 0; len < sizeof whole; len++)
        for (size_t piece = 1; piece < 70; piece += 11) {
            memcpy(begin, whole, len);
            begin[len] = '\0';
            struct text text = {begin, "", ' ', 0, 0, piece, SIZE_MAX};
            const struct verdict verdict = read_all(&text);
            check_that(verdict.is_valid == (len == sizeof whole - 1), "a beginning", len);
            check_that(verdict.is_valid || verdict.is_invalid, "a beginning is invalid", len);
            const bool ends_in_number = len > 0 && strchr("-.e", begin[len - 1]) &&
                                        begin[1] == '"' && memchr(begin, '[', len);
            check_that(verdict.is_valid || ends_in_number || verdict.offset == len,
                       "a beginning ends there", len);
        }
}

static void check_depths(void)
{
    char *text = malloc(2 * JSON_DEPTH_MAX + 3);
    if (!text)
        abort();
    for (size_t depth = JSON_DEPTH_MAX - 1; depth <= JSON_DEPTH_MAX + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        text[2 * depth] = '\0';
        struct text nested = {text, "", ' ', 0, 0, 1000, SIZE_MAX};
        const struct verdict verdict = read_all(&nested);
        check_that(verdict.is_valid == (depth <= JSON_DEPTH_MAX), "depth", depth);
        check_that(verdict.is_valid || (!verdict.is_invalid && verdict.offset == JSON_DEPTH_MAX),
                   "too deep", depth);
    }
    free(text);
}

int main(void)
{
    check_longest();
    check_memory();
    check_failures();
    check_beginnings();
    check_depths();
    printf("test_json_reader: %lu cases, %lu failed\n", cases, wrong);
    return wrong != 0;
}

/* SPDX-License-Identifier: MIT */
/* Paths into JSON. The definition against cases by hand; every parser against the definition, on
 * random lines between pages that fault: every alignment and cut, damaged bytes, nesting and
 * records around the most. */
#include "src/text/json_reader.h"
#include "src/text/number.h"
#include "tests/helpers/check_json.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/json_texts.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_SIZE (FIELD_JSON_RECORD_MAX + ((size_t)3 << 20))

static unsigned char *memory, *long_memory;
static unsigned long cases, wrong;

static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "FAIL: %s: %s\n", what, detail);
    if (wrong++ == 20)
        exit(1);
}

static struct field field_of(const char *path)
{
    struct field field = {.kind = FIELD_JSON};
    if (!json_path_parse(path, &field.path))
        fail("not parsed", path);
    return field;
}

static void check(const struct field *field, const unsigned char *text, size_t len, size_t cap)
{
    cases++;
    if (!check_json(field, text, len, cap) && wrong++ == 20)
        exit(1);
}

/* --- by hand --- */

static void check_paths(void)
{
    static const char *const good[] = {
        ".",         ".a",          ".a.b", ".a[0]",  ".[0].b",    ".[-1]",
        ".\"a b\"",  ".a-b",        ".@x",  ".a.[0]", ".[\"\"]",   ".[\"a]\"].b",
        ".\"\\\"\"", ".a[1048576]", ".5xx", ".a[]",   ".[][0].b[]"};
    static const char *const bad[] = {
        "",     "a",      "..",     ".a.",  ".a..b", ".a[",        ".a[]b",   ".a[x]",
        ".a[1", ".[-0]",  ".[-]",   ".a b", ".\"",   ".\"\\x\"",   ".[\"a\"", ".a\"b\"",
        ".a]",  ".a[1]b", ".[1.5]", ".a?",  ".a|b",  ".a[1048577]"};
    char longest[2 * JSON_STEPS_MAX + 3] = "";
    struct json_path path;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++, cases++)
        if (!json_path_parse(good[i], &path))
            fail("refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++, cases++)
        if (json_path_parse(bad[i], &path))
            fail("accepted", bad[i]);
    for (unsigned i = 0; i <= JSON_STEPS_MAX; i++, cases++) {
        if (json_path_parse(longest, &path) != (i > 0))
            fail("so many steps", longest);
        strcat(longest, ".a");
    }
    if (json_path_parse(longest, &path))
        fail("too many steps", longest);
}

/* What a path leads to: a text, NULL for nothing, or where the line is broken. */
struct expected {
    const char *path, *line, *value;
    int broken; /* 0: it is not; otherwise the byte, from 1 */
};

static const struct expected expected[] = {
    {".a", "{\"a\":1}", "1", 0},
    {".a", " { \"a\" : 1.5e3 } ", "1.5e3", 0},
    {".a.b", "{\"a\":{\"b\":2,\"c\":3},\"b\":4}", "2", 0},
    {".a.b", "{\"b\":4,\"x\":{\"a\":{\"b\":5}}}", NULL, 0},
    {".a", "{\"x\":{\"a\":1}}", NULL, 0},
    {".a", "{\"a\":1,\"a\":2}", "2", 0},
    {".a.b", "{\"a\":{\"b\":1},\"a\":2}", NULL, 0},
    {".a.b", "{\"a\":{\"b\":1},\"a\":{}}", NULL, 0},
    {".a.b", "{\"a\":[{\"b\":1}]}", NULL, 0},
    {".a[0]", "{\"a\":{\"0\":1}}", NULL, 0},
    {".a[0].b", "{\"a\":[{\"b\":[1, 2]}]}", "[1, 2]", 0},
    {".a[1]", "{\"a\":[1]}", NULL, 0},
    {".a[1]", "{\"a\":[[],[7]]}", "[7]", 0},
    {".a[-1]", "{\"a\":[]}", NULL, 0},
    {".a[-1]", "{\"a\":[1,\"],\",3 ]}", "3", 0},
    {".a[-1].b", "{\"a\":[{\"b\":1},{}]}", NULL, 0},
    {".a[-2]", "{\"a\":[1,[2,3],\"\\\"]\"]}", "[2,3]", 0},
    {".a[-3]", "{\"a\":[1,2]}", NULL, 0},
    {".[1][0]", "[[1],[2,3]]", "2", 0},
    {".", "5", "5", 0},
    {".", " \"x\" ", "\"x\"", 0},
    {".a", "5", NULL, 0},
    {".\"a.b\"", "{\"a\":{\"b\":1},\"a.b\":2}", "2", 0},
    {".\"\\u00e9\"", "{\"\xc3\xa9\":1}", "1", 0},
    {".\xc3\xa9", "{\"\\u00E9\":1}", "1", 0},
    {".\"\xf0\x9f\x98\x80\"", "{\"\\ud83d\\ude00\":1}", "1", 0},
    {".\"\xf0\x9f\x98\x80\"", "{\"\\ud83d\":1}", NULL, 0},
    {".\"\\ufffd\"", "{\"\\ude00\\ud83d\":1,\"\\ud83d\":2}", "2", 0},
    {".ab", "{\"a\\u0062\":1}", "1", 0},
    {".\"\\u0000\"", "{\"\":1,\"\\u0000\":2}", "2", 0},
    {".a", "{\"\\\"a\":1,\"a\\\\\":2}", NULL, 0},
    {".a", "{\"a\":null}", "null", 0},
    {".a", "{\"a\":\"\\u00zz\"}", NULL, 8},
    {".a", "{\"a\":01}", NULL, 6},
    {".a", "{\"a\":+1}", NULL, 6},
    {".a", "{\"a\":1}x", NULL, 8},
    {".a", "{\"a\":1} {}", NULL, 9},
    {".a", "{\"a\":1", NULL, 7},
    {".a", "{\"a\":1,}", NULL, 8},
    {".a", "{\"a\" 1}", NULL, 6},
    {".a", "{\"a\"}", NULL, 5},
    {".a", "{a:1}", NULL, 2},
    {".a", "{\"b\":[1 2],\"a\":1}", NULL, 9},
    {".a", "{\"b\":[1,],\"a\":1}", NULL, 9},
    {".a", "{\"b\":[},\"a\":1}", NULL, 7},
    {".a", "{\"b\":nul,\"a\":1}", NULL, 9},
    {".a", "{\"b\":\"\t\",\"a\":1}", NULL, 7},
    {".a", "{\"b\":\"\\x\",\"a\":1}", NULL, 8},
    {".a", "{\"a\":NaN}", NULL, 6},
    {".a", "{\"a\":1}\f", NULL, 8},
    {".a", "\xef\xbb\xbf{\"a\":1}", NULL, 1},
};

static void check_expected(void)
{
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++, cases++) {
        const struct expected *at = &expected[i];
        const struct field field = field_of(at->path);
        const unsigned char *from = NULL, *to = NULL, *begin = (const unsigned char *)at->line;
        const size_t len = strlen(at->line);
        const bool valid = json_find(&field.path, begin, begin + len, &from, &to);
        if (valid != (at->broken == 0) || (!valid && from - begin + 1 != at->broken))
            fail("validity", at->line);
        else if (valid && (from != NULL) != (at->value != NULL))
            fail("something or nothing", at->line);
        else if (valid && from &&
                 ((size_t)(to - from) != strlen(at->value) ||
                  memcmp(from, at->value, (size_t)(to - from)) != 0))
            fail("another value", at->line);
    }
}

static void check_texts(void)
{
    static const char *const texts[][2] = {
        {"\"a\\n\\\"\\/\\u0041\"", "a\n\"/A"},
        {"\"\"", ""},
        {"\"\\u00e9\\u20ac\\ud83d\\ude00\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\"\\ud83dx\\udc00\"", "\xef\xbf\xbdx\xef\xbf\xbd"},
        {"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                               "A"},
        {"1e3", "1e3"},
        {"{\"a\" :\"\\n\"}", "{\"a\" :\"\\n\"}"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++, cases++) {
        const unsigned char *value = (const unsigned char *)texts[i][0];
        unsigned char text[64];
        const size_t len = json_value_text(value, value + strlen(texts[i][0]), text);
        if (len != strlen(texts[i][1]) || memcmp(text, texts[i][1], len) != 0)
            fail("another text", texts[i][0]);
    }
}

/* --- every parser --- */

static void check_random(unsigned long rounds)
{
    static struct json_text text;
    unsigned paths = 0;
    while (json_text_paths[paths])
        paths++;
    for (unsigned long round = 0; round < rounds; round++) {
        const size_t len = random_below(random_below(16) == 0 ? JSON_TEXT_SIZE / 4 : 1000);
        struct field field = field_of(json_text_paths[random_below(paths)]);
        field.has_units = random_below(4) == 0;
        json_text_fill(&text, len, random_below(2) ? 0 : 1 + random_below(400));
        unsigned char *at = random_below(2) ? memory : memory + JSON_TEXT_SIZE - len;
        memcpy(at, text.bytes, len);
        check(&field, at, len, 1 + random_below(300));
    }
}

/* A line that has everything, shifted over the ends of windows and blocks, and cut everywhere. */
static void check_cuts(void)
{
    static const char line[] = "{\"x\":\"\\\\\\\"{\",\"a\":[true , -1.5e1,{\"b\":\"\\u0041\"}],"
                               "\"l\\u0061tency_ms\":[null,12.25],\"a\":[[],{\"b\":7}]}\r\n";
    const size_t len = sizeof line - 1;
    const struct field fields[] = {field_of(".a[1].b"), field_of(".latency_ms[-1]")};
    for (size_t shift = 0; shift < 2200; shift += shift < 130 || shift > 1900 ? 1 : 13) {
        unsigned char *text = memory + JSON_TEXT_SIZE - shift - 2 * len - 100;
        memset(text, ' ', shift + 2 * len + 100);
        memcpy(text + shift, line, len);
        memcpy(text + shift + len, line, len);
        check(&fields[shift % 2], text, shift + 2 * len + 100, 5);
    }
    for (size_t cut = 0; cut <= len; cut++)
        for (unsigned i = 0; i < 2; i++) {
            /* Once at the end of the text, once before other lines. */
            memcpy(memory + JSON_TEXT_SIZE - cut, line, cut);
            check(&fields[i], memory + JSON_TEXT_SIZE - cut, cut, 3);
            memcpy(memory, line, cut);
            memcpy(memory + cut, "\n", 1);
            memcpy(memory + cut + 1, line, len);
            memset(memory + cut + 1 + len, ' ', 200);
            check(&fields[i], memory, cut + len + 201, 3);
        }
}

/* A record of n brackets around a value, and one after it. */
static void check_depth(size_t n, bool is_valid)
{
    const struct field field = field_of(".");
    const unsigned char *from, *to;
    unsigned char *text = long_memory;
    memset(text, '[', n);
    memset(text + n, ']', n);
    memcpy(text + 2 * n, "\n5\n", 3);
    memset(text + 2 * n + 3, ' ', 200);
    check(&field, text, 2 * n + 203, 3);
    if (json_find(&field.path, text, text + 2 * n, &from, &to) != is_valid)
        fail("nesting", is_valid ? "refused" : "accepted");
    memset(text, '[', (size_t)3 << 20);
    text[n] = '\n';
    check(&field, text, (size_t)3 << 20, 3);
}

/* The same of n objects in each other, of which the outermost has another member. */
static void check_objects(size_t n)
{
    const struct field field = field_of(".b");
    unsigned char *text = long_memory, *at = text;
    for (size_t i = 0; i < n; i++, at += 5)
        memcpy(at, "{\"a\":", 5);
    *at++ = '1';
    for (size_t i = 1; i < n; i++)
        *at++ = '}';
    memcpy(at, ",\"b\":7}\n", 9);
    memset(at + 9, ' ', 200);
    check(&field, text, (size_t)(at - text) + 209, 3);
}

static void check_long(void)
{
    static const char begin[] = "{\"a\":\"", end[] = "\",\"b\":12}\n{\"b\":3}\n";
    const struct field field = field_of(".b");
    const size_t frame = sizeof begin + sizeof end - 2 - 9; /* of the first line, without newline */
    for (size_t len = FIELD_JSON_RECORD_MAX - 1; len <= FIELD_JSON_RECORD_MAX + 1; len++) {
        memset(long_memory, 'x', len);
        memcpy(long_memory, begin, sizeof begin - 1);
        memcpy(long_memory + len - frame + sizeof begin - 1, end, sizeof end - 1);
        memset(long_memory + len + 9, '\n', 200);
        check(&field, long_memory, len + 209, 3);
        check(&field, long_memory, len + 9, 3);
    }
    for (size_t n = 62; n <= 66; n++) {
        check_depth(n, true);
        check_objects(n);
    }
    check_depth(JSON_DEPTH_MAX, true);
    check_depth(JSON_DEPTH_MAX + 1, false);
    check_depth((size_t)1 << 20, false);
}

int main(void)
{
    memory = guarded_memory(JSON_TEXT_SIZE);
    long_memory = guarded_memory(LONG_SIZE);
    number_prepare();
    check_paths();
    check_expected();
    check_texts();
    check_cuts();
    check_long();
    check_random(scale_is_slow()    ? 2000
                 : scale_is_small() ? 20000
                 : scale_is_all()   ? 1000000
                                    : 100000);
    printf("test_json_path: %lu cases, %lu failed\n", cases, wrong);
    return wrong != 0;
}

/* SPDX-License-Identifier: MIT */
#include "vectors.h"

#include "src/text/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)256 << 10)

static unsigned char file[FILE_MAX], texts[FILE_MAX]; /* texts: what was given out of the case */
static size_t texts_len;
static struct json json;           /* in the file */
static const unsigned char *begin; /* of the case; NULL: no file is open */
static size_t cases;               /* of the file, so far */

/* Aborts unless it holds. */
static void need_that(bool holds, const char *name)
{
    if (holds)
        return;
    fprintf(stderr, "%s.json: it cannot be read\n", name);
    abort();
}

static void open_file(const char *name)
{
    const char *folder = getenv("srcdir");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/vectors/%s.json", folder ? folder : "..", name);
    FILE *opened = fopen(path, "rb");
    need_that(opened, name);
    const size_t len = fread(file, 1, sizeof file, opened);
    need_that(len < sizeof file && fclose(opened) == 0, name);
    json = (struct json){.at = file, .end = file + len, .depth_max = JSON_DEPTH_MAX};
    need_that(json_value(&json) == JSON_ARRAY, name);
    cases = 0;
}

bool vectors_next(const char *name)
{
    if (!begin)
        open_file(name);
    texts_len = 0;
    begin = NULL;
    if (json_next_element(&json)) {
        json_skip_space(&json);
        begin = json.at;
        need_that(json_skip(&json), name);
        cases++;
    }
    need_that(!json.wrong && cases > 0, name);
    return begin;
}

/* Moves to the value of a member. False if there is none. */
static bool find(struct json *at, const char *member)
{
    const size_t len = strlen(member);
    *at = (struct json){.at = begin, .end = json.at, .depth_max = JSON_DEPTH_MAX};
    for (json_value(at); json_next_member(at); json_skip(at))
        if ((size_t)(at->to - at->from) == len && memcmp(at->from, member, len) == 0)
            return true;
    return false;
}

/* Keeps the text of a value. */
static const char *keep(struct json *at)
{
    json_skip_space(at);
    const unsigned char *from = at->at;
    json_skip(at);
    char *text = (char *)texts + texts_len;
    need_that(texts_len + (size_t)(at->at - from) < sizeof texts, "a case");
    const size_t len = json_value_text(from, at->at, texts + texts_len);
    text[len] = '\0';
    texts_len += len + 1;
    return strcmp(text, "null") == 0 ? "" : text;
}

const char *vector_text(const char *member)
{
    struct json at;
    need_that(find(&at, member), member);
    return keep(&at);
}

const char *vector_optional(const char *member)
{
    struct json at;
    return find(&at, member) ? keep(&at) : "";
}

const char *vector_element(const char *member, size_t index)
{
    struct json at;
    need_that(find(&at, member) && json_value(&at) == JSON_ARRAY, member);
    bool is_there = json_next_element(&at);
    for (size_t i = 0; i < index && is_there; i++)
        is_there = json_skip(&at) && json_next_element(&at);
    need_that(is_there, member);
    return keep(&at);
}

size_t vector_count(const char *member)
{
    struct json at;
    size_t count = 0;
    if (find(&at, member) && json_value(&at) == JSON_ARRAY)
        for (; json_next_element(&at); json_skip(&at))
            count++;
    return count;
}

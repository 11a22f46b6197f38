/* SPDX-License-Identifier: MIT */
#include "json_path.h"
#include "number.h"

#include <string.h>

/* --- paths --- */

static bool is_of_bare_name(unsigned char c)
{
    return number_is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 26 || c >= 0x80 ||
           (c && strchr("_-@$", c));
}

static const char *parse_string(const char *at, struct json_step *step)
{
    const unsigned char *begin = (const unsigned char *)at;
    step->name = at;
    step->len = (size_t)(json_string_end(begin, begin + strlen(at)) - begin);
    step->is_escaped = memchr(at, '\\', step->len);
    return at[step->len] == '"' ? at + step->len + 1 : NULL;
}

static const char *parse_name(const char *at, struct json_step *step)
{
    if (*at == '"')
        return parse_string(at + 1, step);
    for (step->name = at; is_of_bare_name((unsigned char)*at); at++)
        step->len++;
    return step->len > 0 ? at : NULL;
}

/* Parses what stands in brackets. */
static const char *parse_brackets(const char *at, struct json_step *step)
{
    if (*at == '"') {
        at = parse_string(at + 1, step);
    } else {
        const bool is_negative = *at == '-';
        const char *digits = at += is_negative;
        long index = 0;
        for (; number_is_digit((unsigned char)*at) && index <= JSON_INDEX_MAX; at++)
            index = index * 10 + (*at - '0');
        if (at == digits || index > JSON_INDEX_MAX || (is_negative && index == 0))
            return NULL;
        step->index = (int32_t)(is_negative ? -index : index);
    }
    return at && *at == ']' ? at + 1 : NULL;
}

bool json_path_parse(const char *text, struct json_path *path)
{
    *path = (struct json_path){.text = text};
    if (strcmp(text, ".") == 0)
        return true;
    if (*text != '.')
        return false;
    for (const char *at = text; at && *at;) {
        if (path->count == JSON_STEPS_MAX)
            return false;
        struct json_step *step = &path->steps[path->count++];
        const bool has_dot = *at == '.';
        at += has_dot;
        if (*at == '[')
            at = parse_brackets(at + 1, step);
        else
            at = has_dot ? parse_name(at, step) : NULL;
        if (!at)
            return false;
    }
    return true;
}

/* --- values --- */

bool json_name_is(const struct json_step *step, const unsigned char *from, const unsigned char *to)
{
    const unsigned char *name = (const unsigned char *)step->name;
    const size_t len = (size_t)(to - from);
    if (!step->is_escaped && !memchr(from, '\\', len))
        return len == step->len && memcmp(from, name, len) == 0;
    return json_same(from, to, name, name + step->len);
}

size_t json_value_text(const unsigned char *from, const unsigned char *to, unsigned char *text)
{
    if (*from == '"')
        return json_decode(from + 1, to - 1, text);
    memcpy(text, from, (size_t)(to - from));
    return (size_t)(to - from);
}

/* The value that a path leads to: NULL if there is none so far. */
struct found {
    const unsigned char *from, *to;
};

/* Returns the number of elements of an array, whose bracket was read. For an array that is not
 * valid, which is found later, it is any number. */
static int64_t count_elements(const struct json *json)
{
    struct json ahead = *json;
    int64_t count = 0;
    while (json_next_element(&ahead) && json_skip(&ahead))
        count++;
    return count;
}

/* Reads a value, which steps of the path lead to: the others lead on, instead of to what was found
 * before. False if it is not valid. */
static bool follow(const struct json_step *step, const struct json_step *end, struct json *json,
                   struct found *found)
{
    json_skip_space(json);
    const unsigned char *from = json->at;
    *found = (struct found){NULL, NULL};
    const enum json_kind kind = json_value(json);
    if (step == end) {
        if (!json_skip_rest(json, kind))
            return false;
        *found = (struct found){from, json->at};
        return true;
    }
    if (kind != (step->name ? JSON_OBJECT : JSON_ARRAY))
        return json_skip_rest(json, kind);
    if (step->name) {
        while (json_next_member(json)) {
            const size_t len = (size_t)(json->to - json->from);
            const bool is_wanted =
                step->is_escaped || json->has_escapes
                    ? json_name_is(step, json->from, json->to)
                    : len == step->len && memcmp(json->from, step->name, len) == 0;
            if (is_wanted ? !follow(step + 1, end, json, found) : !json_skip(json))
                return false;
        }
    } else {
        int64_t before = step->index < 0 ? step->index + count_elements(json) : step->index;
        while (json_next_element(json))
            if (before-- == 0 ? !follow(step + 1, end, json, found) : !json_skip(json))
                return false;
    }
    return !json->wrong;
}

bool json_find(const struct json_path *path, const unsigned char *begin, const unsigned char *end,
               const unsigned char **from, const unsigned char **to)
{
    struct json json = {.at = begin, .end = end, .depth_max = JSON_DEPTH_MAX};
    struct found found;
    bool is_valid = follow(path->steps, path->steps + path->count, &json, &found);
    if (is_valid)
        json_skip_space(&json);
    is_valid &= json.at == end;
    *from = is_valid ? found.from : json.at;
    *to = is_valid ? found.to : json.at;
    return is_valid;
}

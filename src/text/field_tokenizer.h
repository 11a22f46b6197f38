/* SPDX-License-Identifier: MIT */
/* Gathers fields as tokens: the body of a gatherer's file. That file defines first what
 * field_lines.h needs, and
 *
 *     bytes_low(at)       a bit for each of 64 bytes that is a space or less
 *     copy_32(to, from)   copies 32 bytes
 *
 * and what field_json.h needs.
 *
 * It calls tokenize_fields and find_fields. */
#include "key.h"
#include "units.h"

#include "field_json.h"
#include "field_lines.h"

#define SHORT_TOKEN 32 /* bytes that are copied at once */

TARGET INLINE bool find_field(enum field_way way, const struct field *field,
                              const struct record_text *text, struct found_line *line)
{
    switch (way) {
    case FROM_FRONT:
    case FROM_FRONT_CSV:
        return find_from_front(field, text, way == FROM_FRONT_CSV, line);
    case FROM_FRONT_BLANKS:
        return find_from_front_of_words(field, text, line);
    case FROM_BACK:
        return find_from_back(field, text, line);
    case FROM_BACK_CSV:
        return find_from_back_of_csv(field, text, line);
    case FROM_BACK_BLANKS:
        return find_from_back_of_words(field, text, line);
    case AFTER_STRING:
        return find_after_string(field, text, line);
    default:
        return false;
    }
}

static __attribute__((noinline)) void find_field_slowly(const struct field *field,
                                                        const unsigned char *begin,
                                                        const unsigned char *limit,
                                                        struct found_line *line)
{
    line->end = field_record_end(field, begin, limit);
    line->what = field_find(field, begin, line->end, &line->from, &line->to);
}

/* True if a unit, or more of them, may follow a field that ends at `to`. */
INLINE bool may_go_on(const struct field *field, const unsigned char *to, const unsigned char *end)
{
    if (!field->has_units || field->kind == FIELD_JSON)
        return false;
    if (field->kind == FIELD_CSV || field->kind == FIELD_SEPARATED) /* in the next one, stripped */
        return to < end &&
               (to[1] == '"' || number_is_space(to[1]) || number_may_go_on(to[-1], to + 1, end));
    return number_may_go_on(to[-1], to, end) && number_goes_on(to[-1], to, end);
}

/* Appends a field of a record that ends at `end`; at once if it is short and needs no stripping, as
 * usual. */
TARGET INLINE void put_field(struct field_tokens *tokens, const unsigned char *from,
                             const unsigned char *to, const unsigned char *end,
                             const unsigned char *limit)
{
    const size_t len = (size_t)(to - from);
    const bool is_short = len > 0 && len <= SHORT_TOKEN && limit - from >= WINDOW;
    if (!is_short || *from == '"' || may_go_on(tokens->field, to, end) ||
        (bytes_low(from) & ((UINT64_C(1) << len) - 1))) {
        field_tokens_put(tokens, from, to, end);
        return;
    }
    unsigned char *at = tokens->bytes + tokens->len;
    copy_32(at, from);
    at[len] = ' ';
    tokens->len += len + 1;
    tokens->count++;
}

/* Returns how a field is found. */
INLINE enum field_way way_of(const struct field *field)
{
    const bool back = field->number < 0;
    switch (field->kind) {
    case FIELD_BLANKS:
        return back ? FROM_BACK_BLANKS : FROM_FRONT_BLANKS;
    case FIELD_CSV:
        return back ? FROM_BACK_CSV : FROM_FRONT_CSV;
    case FIELD_SEPARATED:
        return back ? FROM_BACK : FROM_FRONT;
    case FIELD_AFTER:
        return AFTER_STRING;
    default:
        return BY_DEFINITION;
    }
}

/* Returns what was found in the record at `begin`, of `max` bytes at most, as a key. */
INLINE struct key_span span_of(const struct found_line *line, const unsigned char *begin,
                               size_t max)
{
    const size_t len = line->what == FIELD_FOUND ? (size_t)(line->to - line->from) : SIZE_MAX;
    if (len > KEY_SIZE_MAX || (size_t)(line->end - begin) > max)
        return (struct key_span){NULL, 0};
    return (struct key_span){line->from, len};
}

/* Returns the key of the record at text->at. */
TARGET static __attribute__((noinline)) struct key_span key_at(const struct field *key,
                                                               const struct record_text *text)
{
    struct found_line line;
    if (!find_field(way_of(key), key, text, &line))
        find_field_slowly(key, text->at, text->limit, &line);
    return span_of(&line, text->at, field_record_max(key));
}

/* Appends the field of the record at rest->at, and its key, if there are keys: `key`, or if that is
 * NULL, what key_at finds. Moves rest->at. */
TARGET INLINE void put_line(struct field_tokens *tokens, struct record_text *rest,
                            const struct found_line *line, const struct found_line *key, size_t max)
{
    const bool is_too_long = (size_t)(line->end - rest->at) > max;
    const bool counts = is_too_long || line->what != FIELD_EMPTY;
    if (counts && tokens->keys)
        tokens->keys[tokens->count] = key ? span_of(key, rest->at, max) : key_at(tokens->key, rest);
    if (is_too_long || line->what > FIELD_EMPTY)
        field_tokens_put_invalid(tokens);
    else if (counts)
        put_field(tokens, line->from, line->to, line->end, rest->limit);
    rest->at = line->end < rest->limit ? line->end + 1 : rest->limit;
}

/* Finds the field of the next record that is not an empty line. False at the limit. */
TARGET INLINE bool next_line(enum field_way way, const struct field *field,
                             struct record_text *rest, struct found_line *line)
{
    while (rest->at < rest->limit && *rest->at == '\n')
        rest->at++;
    if (rest->at == rest->limit)
        return false;
    if (!find_field(way, field, rest, line))
        find_field_slowly(field, rest->at, rest->limit, line);
    return true;
}

TARGET INLINE void tokenize_in_way(enum field_way way, const struct field *field,
                                   struct record_text *text, struct field_tokens *tokens)
{
    struct record_text rest = *text; /* which tokens cannot point into */
    const size_t max = field_record_max(field);
    struct found_line line;
    while (tokens->count < tokens->cap && field_tokens_have_room(tokens) &&
           next_line(way, field, &rest, &line))
        put_line(tokens, &rest, &line, NULL, max);
    text->at = rest.at;
}

INLINE bool is_plain_json(const struct field *field)
{
    return field->kind == FIELD_JSON && json_path_is_plain(&field->path);
}

/* Finds the fields of JSON in the record at rest->at; one or two. */
TARGET INLINE void find_json(struct json_reader *reader, const struct field *const *fields,
                             const struct record_text *rest, struct found_line *lines)
{
    if (find_in_json(reader, rest->at, lines))
        return;
    for (unsigned i = 0; i < reader->paths; i++)
        find_field_slowly(fields[i], rest->at, rest->limit, &lines[i]);
    json_skip_line(reader, lines[0].end);
}

TARGET static void tokenize_json(const struct field *field, struct record_text *text,
                                 struct field_tokens *tokens)
{
    const bool has_key = tokens->keys && is_plain_json(tokens->key);
    const struct field *const fields[JSON_PATHS] = {field, tokens->key};
    struct record_text rest = *text;
    struct json_reader reader;
    json_begin(&reader, fields, has_key ? 2 : 1, text);
    while (rest.at < rest.limit && tokens->count < tokens->cap && field_tokens_have_room(tokens)) {
        struct found_line lines[JSON_PATHS];
        find_json(&reader, fields, &rest, lines);
        put_line(tokens, &rest, &lines[0], has_key ? &lines[1] : NULL, FIELD_JSON_RECORD_MAX);
    }
    text->at = rest.at;
}

TARGET INLINE void tokenize_fields(const struct field *field, struct record_text *text,
                                   struct field_tokens *tokens)
{
    if (is_plain_json(field)) {
        tokenize_json(field, text, tokens);
        return;
    }
    if (field->kind == FIELD_NONE) {
        field_tokens_gather(text, tokens);
        return;
    }
    switch (way_of(field)) {
#define WAY(way)                                                                                   \
    case way:                                                                                      \
        tokenize_in_way(way, field, text, tokens);                                                 \
        break;
        EACH_WAY
#undef WAY
    }
}

/* --- fields alone --- */

/* Sets *span to what was found in the record at rest->at, and moves that. Returns how many records
 * that counts as: 0 if it is empty. */
INLINE size_t add_span(const struct found_line *line, struct record_text *rest,
                       struct key_span *span, size_t max)
{
    const bool is_too_long = (size_t)(line->end - rest->at) > max;
    const bool counts = is_too_long || line->what != FIELD_EMPTY;
    if (counts)
        *span = span_of(line, rest->at, max);
    rest->at = line->end < rest->limit ? line->end + 1 : rest->limit;
    return counts;
}

TARGET INLINE size_t find_in_way(enum field_way way, const struct field *field,
                                 struct record_text *text, struct key_span *keys, size_t cap)
{
    struct record_text rest = *text;
    const size_t max = field_record_max(field);
    struct found_line line;
    size_t count = 0;
    while (count < cap && next_line(way, field, &rest, &line))
        count += add_span(&line, &rest, &keys[count], max);
    text->at = rest.at;
    return count;
}

TARGET static size_t find_all_json(const struct field *field, struct record_text *text,
                                   struct key_span *keys, size_t cap)
{
    struct record_text rest = *text;
    struct json_reader reader;
    size_t count = 0;
    json_begin(&reader, &field, 1, text);
    while (rest.at < rest.limit && count < cap) {
        struct found_line line;
        find_json(&reader, &field, &rest, &line);
        count += add_span(&line, &rest, &keys[count], FIELD_JSON_RECORD_MAX);
    }
    text->at = rest.at;
    return count;
}

TARGET INLINE size_t find_fields(const struct field *field, struct record_text *text,
                                 struct key_span *keys, size_t cap)
{
    if (is_plain_json(field))
        return find_all_json(field, text, keys, cap);
    switch (way_of(field)) {
#define WAY(way)                                                                                   \
    case way:                                                                                      \
        return find_in_way(way, field, text, keys, cap);
        EACH_WAY
#undef WAY
    }
    return 0;
}

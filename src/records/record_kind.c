/* SPDX-License-Identifier: MIT */
#include "record_kind.h"
#include "src/count/histogram_spec.h"

#include <string.h>

static size_t token_head(const unsigned char *data, size_t len)
{
    return (size_t)(number_token_end(data, data + len) - data);
}

static size_t token_tail(const unsigned char *data, size_t len)
{
    size_t begin = len;
    while (begin > 0 && !number_is_space(data[begin - 1]))
        begin--;
    return len - begin;
}

static size_t line_head(const unsigned char *data, size_t len)
{
    const unsigned char *newline = memchr(data, '\n', len);
    return newline ? (size_t)(newline - data) : len;
}

static size_t line_tail(const unsigned char *data, size_t len)
{
    const unsigned char *newline = memrchr(data, '\n', len);
    return newline ? (size_t)(data + len - newline) - 1 : len;
}

static bool line_ends(unsigned char byte)
{
    return byte == '\n';
}

static bool character_ends(unsigned char byte)
{
    return byte < 0x80;
}

static size_t one_byte(const unsigned char *data, size_t len)
{
    (void)data;
    return len > 0;
}

/* A byte order mark may stand before the first record of lines. */
#define RECORD_WITH_BOM_MAX (FIELD_RECORD_MAX + FIELD_BOM_SIZE)

const struct record_kind record_tokens = {RECORD_TOKENS, .max = NUMBER_MAX, .head = token_head,
                                          .tail = token_tail, .ends = number_is_space};
const struct record_kind record_lines = {RECORD_LINES, .max = RECORD_WITH_BOM_MAX,
                                         .head = line_head, .tail = line_tail, .ends = line_ends};
const struct record_kind record_csv = {RECORD_CSV, .max = RECORD_WITH_BOM_MAX, .head = line_head,
                                       .tail = line_tail, .ends = line_ends};
const struct record_kind record_characters = {RECORD_CHARACTERS, .max = CHARACTER_SIZE_MAX,
                                              .head = characters_head, .tail = characters_tail,
                                              .ends = character_ends};
const struct record_kind record_pairs = {RECORD_PAIRS, .max = 2, .head = one_byte, .tail = one_byte,
                                         .ends = line_ends};

struct record_kind record_values(size_t size)
{
    return (struct record_kind){.type = RECORD_VALUES, .size = size, .max = size};
}

struct record_kind record_kind_of(const struct histogram_spec *spec)
{
    if (spec->mode->has_characters)
        return record_characters;
    if (spec->mode->has_pairs && !spec->is_aligned)
        return record_pairs;
    if (spec->field.kind == FIELD_CSV)
        return record_csv;
    if (spec->field.kind != FIELD_NONE || spec->field.has_units || spec->filter.count > 0) {
        struct record_kind lines = record_lines;
        lines.max = field_record_max(&spec->field) + FIELD_BOM_SIZE;
        return lines;
    }
    const size_t size = histogram_spec_sample_size(spec);
    return size > 0 ? record_values(size) : record_tokens;
}

/* Single bytes may be cut like all others. All others are the same but for the longest. */
struct record_kind record_kind_of_all(const struct histogram_spec *spec)
{
    struct record_kind kind = record_values(1);
    for (; spec; spec = spec->also) {
        const struct record_kind other = record_kind_of(spec);
        if (record_is_byte(&kind) || (!record_is_byte(&other) && other.max > kind.max))
            kind = other;
    }
    return kind;
}

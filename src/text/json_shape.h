/* SPDX-License-Identifier: MIT */
/* Shapes of JSON: a part of field_json.h. Lines of a log are mostly of a few shapes, which have the
 * same marks in the same order, with tokens of the same kinds between them, and the same names
 * where the paths lead. Records of one shape are valid alike, but for their numbers and words, and
 * the paths lead to the same tokens. So a record is compared with a shape, without a branch for
 * each place, and only its numbers and words are read.
 *
 * A shape is learned from a record that was walked over. */
#ifndef GPUHISTO_JSON_SHAPE_H
#define GPUHISTO_JSON_SHAPE_H

#include "json_token.h"

#define JSON_PATHS 2 /* that are followed at once, at most */

#define SHAPES 8
#define SHAPE_POSITIONS 128
#define SHAPE_SCALARS 64
#define SHAPE_NAMES 32  /* pieces of names of 16 bytes */
#define SHAPE_REACH 272 /* bytes from a place on that may be read: those of a spot, and 16 */

/* The places of the colons after names that were compared with a path. */
struct json_seen {
    unsigned count; /* may be more than there is room for */
    unsigned colons[SHAPE_NAMES];
};

/* Bytes at a place and after it, by number from the first of the record. */
struct shape_spot {
    uint8_t position, after;
};

struct json_shape {
    unsigned count; /* places, with the newline; 0: there is no shape */
    unsigned scalars, names;
    uint32_t bytes[SHAPE_POSITIONS], masks[SHAPE_POSITIONS]; /* of four bytes from each place on: up
                                                          to the token's first, or the next place */
    struct shape_spot scalar[SHAPE_SCALARS];                 /* where they begin */
    struct shape_spot name[SHAPE_NAMES];
    unsigned char name_bytes[SHAPE_NAMES][16], name_masks[SHAPE_NAMES][16];
    struct shape_value {
        enum field_found what;
        struct shape_spot from, to;
        bool is_string;
    } values[JSON_PATHS];
};

struct json_shapes {
    unsigned misses;      /* since a shape was replaced */
    unsigned tries, hits; /* of late */
    unsigned rest;        /* records for which shapes are not used, as few come back */
    struct json_shape shapes[SHAPES];
};

INLINE void json_forget(struct json_shapes *shapes)
{
    shapes->misses = shapes->tries = shapes->hits = shapes->rest = 0;
    for (unsigned i = 0; i < SHAPES; i++)
        shapes->shapes[i].count = 0;
}

INLINE void json_see(struct json_seen *seen, unsigned colon)
{
    if (seen->count < SHAPE_NAMES)
        seen->colons[seen->count] = colon;
    seen->count++;
}

/* --- a record and a shape --- */

/* The places of a record in a block. */
struct json_record {
    const unsigned char *base;
    const uint16_t *positions;
};

INLINE const unsigned char *json_spot(const struct json_record *record, struct shape_spot spot)
{
    return record->base + record->positions[spot.position] + spot.after;
}

/* True if the marks are the shape's, and the names on the paths. */
TARGET INLINE bool json_marks_match(const struct json_shape *shape,
                                    const struct json_record *record)
{
    uint32_t differ = 0;
    uint64_t others = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < shape->count; i++)
        differ |= (byte_word_of_4(record->base + record->positions[i]) ^ shape->bytes[i]) &
                  shape->masks[i];
    for (unsigned i = 0; i < shape->names; i++) {
        const unsigned char *name = json_spot(record, shape->name[i]);
        for (unsigned half = 0; half < 16; half += 8)
            others |= (byte_word(name + half) ^ byte_word(shape->name_bytes[i] + half)) &
                      byte_word(shape->name_masks[i] + half);
    }
    return (differ | others) == 0;
}

TARGET INLINE bool json_scalars_match(const struct json_shape *shape,
                                      const struct json_record *record)
{
    for (unsigned i = 0; i < shape->scalars; i++) {
        const unsigned char *end = record->base + record->positions[shape->scalar[i].position + 1];
        if (!json_is_scalar(json_spot(record, shape->scalar[i]), end))
            return false;
    }
    return true;
}

/* Finds the values in a record of the shape. False if white space follows one. */
TARGET INLINE bool json_shape_values(const struct json_shape *shape,
                                     const struct json_record *record, const unsigned char *end,
                                     struct found_line *lines, unsigned paths)
{
    bool is_right = true;
    for (unsigned i = 0; i < paths; i++) {
        const struct shape_value *value = &shape->values[i];
        lines[i].what = value->what;
        lines[i].from = value->what == FIELD_FOUND ? json_spot(record, value->from) : NULL;
        lines[i].to = json_spot(record, value->to);
        lines[i].end = end;
        is_right &= !value->is_string || lines[i].to[-1] == '"';
    }
    return is_right;
}

#define SHAPE_TRIES 32  /* records, of which half have to be of a shape that is known */
#define SHAPE_REST 2048 /* records that follow if they are not */

/* True if shapes are used for the next record. */
INLINE bool json_tries_shapes(struct json_shapes *shapes)
{
    if (shapes->rest > 0)
        return --shapes->rest == 0;
    if (++shapes->tries == SHAPE_TRIES) {
        shapes->rest = shapes->hits < SHAPE_TRIES / 2 ? SHAPE_REST : 0;
        shapes->tries = shapes->hits = 0;
    }
    return shapes->rest == 0;
}

/* Sets lines[] to what the paths lead to in the record at `begin`, which has the places
 * [first, last] of the block. False if it is of no shape that is known. */
TARGET INLINE bool json_find_by_shape(const struct json_shapes *shapes,
                                      const struct json_scan *scan, const unsigned char *begin,
                                      unsigned first, unsigned last, struct found_line *lines,
                                      unsigned paths)
{
    const struct json_record record = {scan->base, scan->positions + first};
    const unsigned char *end = scan->base + scan->positions[last];
    const unsigned count = last - first + 1;
    if (scan->base + scan->positions[first] != begin || scan->limit - end < SHAPE_REACH)
        return false;
    for (unsigned way = 0; way < 2; way++) {
        const struct json_shape *shape = &shapes->shapes[(count ^ way) % SHAPES];
        if (shape->count == count && json_marks_match(shape, &record) &&
            json_scalars_match(shape, &record) &&
            json_shape_values(shape, &record, end, lines, paths))
            return true;
    }
    return false;
}

/* --- learning --- */

/* Learns the bytes from place i on, up to the token after it. False if there is much white space,
 * or no room. */
static bool shape_add_position(struct json_shape *shape, const struct json_record *record,
                               unsigned i)
{
    const unsigned char *at = record->base + record->positions[i];
    const unsigned char *next = record->base + record->positions[i + 1];
    const unsigned char *token = json_token(at + 1, next);
    const size_t after = (size_t)(token - at);
    if (after > 3)
        return false;
    const bool is_scalar = token < next && *token != '"';
    const unsigned bits = 8 * (unsigned)(after + !is_scalar);
    shape->masks[i] = bits == 32 ? UINT32_MAX : ((uint32_t)1 << bits) - 1;
    shape->bytes[i] = byte_word_of_4(at);
    if (!is_scalar)
        return true;
    if (shape->scalars == SHAPE_SCALARS)
        return false;
    shape->scalar[shape->scalars++] = (struct shape_spot){(uint8_t)i, (uint8_t)after};
    return true;
}

/* Learns the name before a colon, with its quotes, in pieces. False if there is no room. */
static bool shape_add_name(struct json_shape *shape, const struct json_record *record,
                           unsigned colon)
{
    const unsigned char *position = record->base + record->positions[colon - 1];
    const unsigned char *end = json_token_end(record->base + record->positions[colon]);
    const unsigned char *at = json_token(position + 1, end);
    for (; at < end; at += 16, shape->names++) {
        if (shape->names == SHAPE_NAMES || at - position > UINT8_MAX)
            return false;
        const size_t len = end - at < 16 ? (size_t)(end - at) : 16;
        shape->name[shape->names] =
            (struct shape_spot){(uint8_t)(colon - 1), (uint8_t)(at - position)};
        memset(shape->name_masks[shape->names], 0, 16);
        memset(shape->name_masks[shape->names], 0xff, len);
        memcpy(shape->name_bytes[shape->names], at, 16);
    }
    return true;
}

/* Learns where a value is. False if white space follows it, or it cannot be said. */
static bool shape_add_value(struct shape_value *value, const struct json_record *record,
                            unsigned count, const struct found_line *line)
{
    unsigned from = 0, to = 0;
    *value = (struct shape_value){.what = line->what};
    if (line->what != FIELD_FOUND)
        return true;
    while (from + 1 < count && record->base + record->positions[from + 1] <= line->from)
        from++;
    while (to + 1 < count && record->base + record->positions[to + 1] <= line->to)
        to++;
    const bool is_container = *line->from == '{' || *line->from == '[';
    to -= is_container && record->base + record->positions[to] == line->to;
    value->from.position = (uint8_t)from;
    value->from.after = (uint8_t)(line->from - (record->base + record->positions[from]));
    value->to.position = (uint8_t)to;
    value->to.after = is_container;
    value->is_string = *line->from == '"';
    return record->base + record->positions[to] + is_container == line->to;
}

static bool shape_fill(struct json_shape *shape, const struct json_record *record, unsigned first,
                       unsigned count, const struct json_seen *seen, const struct found_line *lines,
                       unsigned paths)
{
    shape->count = shape->scalars = shape->names = 0;
    for (unsigned i = 0; i + 1 < count; i++)
        if (!shape_add_position(shape, record, i))
            return false;
    shape->bytes[count - 1] = '\n';
    shape->masks[count - 1] = 0xff;
    for (unsigned i = 0; i < seen->count; i++)
        if (!shape_add_name(shape, record, seen->colons[i] - first))
            return false;
    for (unsigned i = 0; i < paths; i++)
        if (!shape_add_value(&shape->values[i], record, count, &lines[i]))
            return false;
    shape->count = count;
    return true;
}

/* Learns the shape of the valid record at `begin`, which has `count` places of the block from
 * `first` on, and values as in lines[]. Where shapes do not come back, only some are learned, as
 * that takes longer than a walk. */
static __attribute__((noinline)) void json_learn(struct json_shapes *shapes,
                                                 const struct json_scan *scan,
                                                 const unsigned char *begin, unsigned first,
                                                 unsigned count, const struct json_seen *seen,
                                                 const struct found_line *lines, unsigned paths)
{
    const struct json_record record = {scan->base, scan->positions + first};
    struct json_shape *shape = &shapes->shapes[count % SHAPES];
    if (shapes->rest > 0 || count > SHAPE_POSITIONS || seen->count > SHAPE_NAMES ||
        scan->base + scan->positions[first] != begin)
        return;
    if (shape->count != 0)
        shape = &shapes->shapes[(count ^ 1) % SHAPES];
    if (shape->count != 0 && ++shapes->misses % 8 != 0)
        return;
    if (shapes->misses % 16 == 0)
        shape = &shapes->shapes[count % SHAPES];
    if (!shape_fill(shape, &record, first, count, seen, lines, paths))
        shape->count = 0;
}

#endif

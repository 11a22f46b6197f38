/* SPDX-License-Identifier: MIT */
/* Finds what one or two paths into JSON lead to, by masks of 64 bytes: a part of a parser's file,
 * which defines first what lines_loop.h needs, and
 *
 *     json_bytes_at(at)                     what is at 64 bytes, as struct json_bytes
 *     json_write_positions(bits, offset, to)   as mask_positions
 *
 * A scan gives the places of what structures a text (json_scan.h). Records that have the shape of
 * one before need no more than a look at their places. In the others a walk goes from place to
 * place and checks their order, the names on the paths, numbers and words.
 *
 * A walk ends at what is not valid, where something is nested deep, and close to the end of the
 * text. Then the record is left to field_find. At the end are the functions of the parser, for all
 * kinds of fields. */
#ifndef GPUHISTO_JSON_LOOP_H
#define GPUHISTO_JSON_LOOP_H

#include "json_scan.h"
#include "line_format_loop.h"

/* --- shapes --- */

/* Lines of a log are mostly of a few shapes, which have the same marks in the same order, with
 * tokens of the same kinds between them, and the same names where the paths lead. Records of one
 * shape are valid alike, but for their numbers and words, and the paths lead to the same tokens. So
 * a record is compared with a shape, without a branch for each place, and only its numbers and
 * words are read. A shape is learned from a record that was walked over. */

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
    } values[FIELDS_AT_ONCE];
};

struct json_shapes {
    unsigned misses;      /* since a shape was replaced */
    unsigned tries, hits; /* of late */
    unsigned rest;        /* records for which shapes are not used, as few come back */
    struct json_shape shapes[SHAPES];
};

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

#define SHAPE_TRIES 32  /* records, of which half have to be of a shape that is known */
#define SHAPE_REST 2048 /* records that follow if they are not */

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
        uint32_t differ = 0; /* marks, */
        uint64_t others = 0; /* and names on the paths */
        if (shape->count != count)
            continue;
#pragma GCC unroll 4
        for (unsigned i = 0; i < count; i++)
            differ |= (byte_word_of_4(record.base + record.positions[i]) ^ shape->bytes[i]) &
                      shape->masks[i];
        for (unsigned i = 0; i < shape->names; i++) {
            const unsigned char *name = json_spot(&record, shape->name[i]);
            for (unsigned half = 0; half < 16; half += 8)
                others |= (byte_word(name + half) ^ byte_word(shape->name_bytes[i] + half)) &
                          byte_word(shape->name_masks[i] + half);
        }
        bool is_right = (differ | others) == 0;
        for (unsigned i = 0; i < shape->scalars && is_right; i++)
            is_right =
                json_is_scalar(json_spot(&record, shape->scalar[i]),
                               record.base + record.positions[shape->scalar[i].position + 1]);
        for (unsigned i = 0; i < paths && is_right; i++) {
            const struct shape_value *value = &shape->values[i];
            lines[i].what = value->what;
            lines[i].from = value->what == FIELD_FOUND ? json_spot(&record, value->from) : NULL;
            lines[i].to = json_spot(&record, value->to);
            lines[i].end = end;
            is_right = !value->is_string || lines[i].to[-1] == '"'; /* or white space follows it */
        }
        if (is_right)
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
    bool is_known = true;
    shape->count = shape->scalars = shape->names = 0;
    for (unsigned i = 0; i + 1 < count && is_known; i++)
        is_known = shape_add_position(shape, &record, i);
    shape->bytes[count - 1] = '\n';
    shape->masks[count - 1] = 0xff;
    for (unsigned i = 0; i < seen->count && is_known; i++)
        is_known = shape_add_name(shape, &record, seen->colons[i] - first);
    for (unsigned i = 0; i < paths && is_known; i++)
        is_known = shape_add_value(&shape->values[i], &record, count, &lines[i]);
    shape->count = is_known ? count : 0;
}

/* --- walks --- */

/* A path that is followed. */
struct json_track {
    unsigned steps;
    struct json_name names[JSON_STEPS_MAX];
    int32_t before[JSON_STEPS_MAX]; /* of each step: elements before the wanted one */
};

struct json_reader {
    struct json_scan scan;
    unsigned next, line; /* places and lines of the block that are left begin there */
    unsigned paths;
    struct json_track tracks[FIELDS_AT_ONCE];
    struct json_seen seen;
    struct json_shapes shapes;
};

/* The progress along a path, which leads through the first `on` of the containers that are open. */
struct json_state {
    unsigned on;
    const unsigned char *from, *to; /* the value, or `from` is NULL */
};

/* The state of a walk: a variable, whose members are in registers. */
struct json_walk {
    unsigned paths; /* a constant */
    unsigned next;  /* place of the block */
    struct json_state states[FIELDS_AT_ONCE];
    unsigned depth;
    uint64_t objects;           /* a bit for each that is open, the innermost lowest */
    const unsigned char *token; /* what is read next, or the place, if no token is before it */
    const unsigned char *position;
};

/* Moves to the next place, and the token after `at`. False if the text is too close to its end. */
TARGET INLINE bool json_advance_from(struct json_reader *reader, struct json_walk *walk,
                                     const unsigned char *at)
{
    struct json_scan *scan = &reader->scan;
    while (walk->next == scan->count) {
        if (!json_scan_block(scan))
            return false;
        walk->next = reader->line = 0;
    }
    walk->position = scan->base + scan->positions[walk->next++];
    walk->token = json_token(at, walk->position);
    return true;
}

TARGET INLINE bool json_advance(struct json_reader *reader, struct json_walk *walk)
{
    return json_advance_from(reader, walk, walk->position + 1);
}

/* Enters the container at the place. False if there is none, or it is nested too deep. */
TARGET INLINE bool json_open(struct json_reader *reader, struct json_walk *walk, unsigned wanted)
{
    const bool is_object = *walk->position == '{';
    const unsigned depth = walk->depth;
    if ((!is_object && *walk->position != '[') || depth == 64)
        return false;
    walk->depth++;
    walk->objects = walk->objects << 1 | is_object;
    for (unsigned i = 0; i < walk->paths; i++) {
        struct json_track *track = &reader->tracks[i];
        struct json_state *state = &walk->states[i];
        if (!(wanted >> i & 1))
            continue;
        state->from = depth == track->steps ? walk->position : NULL;
        state->to = NULL;
        if (depth < track->steps && is_object == (track->names[depth].step->name != NULL)) {
            state->on = depth + 1;
            track->before[depth] = track->names[depth].step->index;
        }
    }
    return true;
}

/* Reads the value at the token, or enters the one at the place. `wanted`: a bit for each path that
 * leads to or through it. */
TARGET INLINE bool json_begin_value(struct json_reader *reader, struct json_walk *walk,
                                    unsigned wanted)
{
    if (walk->token == walk->position)
        return json_open(reader, walk, wanted);
    const bool is_string = *walk->token == '"';
    /* A newline in a string is a place, too, and after the outermost value nothing else tells that
     * the string has not ended. */
    if (is_string && walk->depth == 0)
        return false;
    if (is_string && !wanted)
        return true;
    const unsigned char *end = json_token_end(walk->position);
    for (unsigned i = 0; i < walk->paths; i++) {
        if (!(wanted >> i & 1))
            continue;
        walk->states[i].from = walk->depth == reader->tracks[i].steps ? walk->token : NULL;
        walk->states[i].to = end;
    }
    return is_string || json_is_scalar(walk->token, end);
}

/* True if the place is the end of the innermost container. */
INLINE bool json_is_end(const struct json_walk *walk)
{
    return *walk->position == (walk->objects & 1 ? '}' : ']');
}

/* Leaves the containers whose ends follow a value. */
TARGET INLINE bool json_close(struct json_reader *reader, struct json_walk *walk)
{
    while (walk->depth > 0 && json_is_end(walk)) {
        walk->depth--;
        walk->objects >>= 1;
        for (unsigned i = 0; i < walk->paths; i++) {
            struct json_state *state = &walk->states[i];
            state->on = state->on < walk->depth ? state->on : walk->depth;
            if (state->from && !state->to && walk->depth == reader->tracks[i].steps)
                state->to = walk->position + 1;
        }
        if (!json_advance(reader, walk) || walk->token != walk->position)
            return false;
    }
    return true;
}

/* Returns whether the path is on to this element of the innermost container, an array. Each may be
 * the last one. */
INLINE bool json_counts_to(struct json_track *track, unsigned innermost)
{
    int32_t *before = &track->before[innermost];
    const bool is_wanted = *before == 0 || *before == -1;
    if (*before >= 0)
        *before += *before == 0 ? -2 : -1;
    return is_wanted;
}

/* Reads the name of a member, up to its value; or, in an array, nothing. */
TARGET INLINE bool json_begin_item(struct json_reader *reader, struct json_walk *walk,
                                   unsigned *wanted)
{
    const unsigned innermost = walk->depth - 1;
    const bool is_object = walk->objects & 1;
    bool is_on = false;
    *wanted = 0;
    if (is_object && (*walk->token != '"' || *walk->position != ':'))
        return false;
    for (unsigned i = 0; i < walk->paths; i++) {
        struct json_track *track = &reader->tracks[i];
        if (walk->states[i].on != walk->depth)
            continue;
        is_on = true;
        if (is_object ? json_name_matches(&track->names[innermost], walk->token, walk->position,
                                          &reader->scan)
                      : json_counts_to(track, innermost))
            *wanted |= 1U << i;
    }
    if (!is_object)
        return true;
    if (is_on && reader->seen.count++ < SHAPE_NAMES)
        reader->seen.colons[reader->seen.count - 1] = walk->next - 1;
    return json_advance(reader, walk);
}

/* Walks over a record, from the token or place that it begins with to its newline. False if it has
 * to be left to field_find. */
TARGET INLINE bool json_walk_record(struct json_reader *reader, struct json_walk *walk)
{
    unsigned wanted = (1U << walk->paths) - 1;
    for (;;) {
        const bool is_container = walk->token == walk->position;
        if (!json_begin_value(reader, walk, wanted) ||
            (is_container && !json_advance(reader, walk)))
            return false;
        if (!is_container || (walk->token == walk->position && json_is_end(walk))) {
            if (*walk->position != ',' && !json_close(reader, walk))
                return false;
            if (walk->depth == 0)
                return *walk->position == '\n';
            if (*walk->position != ',' || !json_advance(reader, walk))
                return false;
        }
        if (!json_begin_item(reader, walk, &wanted))
            return false;
    }
}

TARGET INLINE bool json_walk_from(struct json_reader *reader, unsigned paths,
                                  const unsigned char *begin, struct found_line *lines)
{
    struct json_walk walk = {.paths = paths, .next = reader->next};
    const unsigned char *base = reader->scan.base;
    const unsigned first = reader->next;
    reader->seen.count = 0;
    bool is_right = json_advance_from(reader, &walk, begin);
    const bool is_empty = is_right && walk.token == walk.position && *walk.position == '\n';
    if (!is_empty)
        is_right = is_right && json_walk_record(reader, &walk);
    reader->next = walk.next;
    if (!is_right)
        return false;
    for (unsigned i = 0; i < paths; i++) {
        const struct json_state *state = &walk.states[i];
        lines[i] = (struct found_line){.what = is_empty      ? FIELD_EMPTY
                                               : state->from ? FIELD_FOUND
                                                             : FIELD_MISSING,
                                       .from = state->from,
                                       .to = state->to,
                                       .end = walk.position};
    }
    if (!is_empty && reader->scan.base == base)
        json_learn(&reader->shapes, &reader->scan, begin, first, walk.next - first, &reader->seen,
                   lines, paths);
    return true;
}

TARGET static __attribute__((noinline)) bool
json_walk_for_one(struct json_reader *reader, const unsigned char *begin, struct found_line *lines)
{
    return json_walk_from(reader, 1, begin, lines);
}

TARGET static __attribute__((noinline)) bool
json_walk_for_two(struct json_reader *reader, const unsigned char *begin, struct found_line *lines)
{
    return json_walk_from(reader, 2, begin, lines);
}

/* --- records --- */

/* Makes the block begin with the record at `begin` if it does not have its end. */
TARGET INLINE void json_see_line(struct json_reader *reader, const unsigned char *begin)
{
    struct json_scan *scan = &reader->scan;
    if (reader->line < scan->lines)
        return;
    json_begin_scan(scan, begin);
    json_scan_block(scan);
    reader->next = reader->line = 0;
}

/* Moves past the places up to the end of a record, its newline. */
TARGET INLINE void json_skip_line(struct json_reader *reader, const unsigned char *end)
{
    struct json_scan *scan = &reader->scan;
    while (reader->next < scan->count && scan->base + scan->positions[reader->next] <= end)
        reader->next++;
    while (reader->line < scan->lines && scan->ends[reader->line] < reader->next)
        reader->line++;
}

/* Sets lines[], one for each path, to what they lead to in the record at `begin`. False if that is
 * left to field_find; then json_skip_line has to be called. */
TARGET INLINE bool find_in_json(struct json_reader *reader, const unsigned char *begin,
                                struct found_line *lines)
{
    json_see_line(reader, begin);
    const struct json_scan *scan = &reader->scan;
    struct json_shapes *shapes = &reader->shapes;
    if (reader->line < scan->lines && shapes->rest > 0) {
        shapes->rest--;
    } else if (reader->line < scan->lines && ++shapes->tries == SHAPE_TRIES) {
        shapes->rest = shapes->hits < SHAPE_TRIES / 2 ? SHAPE_REST : 0;
        shapes->tries = shapes->hits = 0;
    }
    if (reader->line < scan->lines && shapes->rest == 0) {
        const unsigned end = scan->ends[reader->line];
        if (json_find_by_shape(shapes, scan, begin, reader->next, end, lines, reader->paths)) {
            reader->next = end + 1;
            reader->line++;
            shapes->hits++;
            return true;
        }
    }
    if (!(reader->paths == 1 ? json_walk_for_one(reader, begin, lines)
                             : json_walk_for_two(reader, begin, lines)))
        return false;
    json_skip_line(reader, lines[0].end);
    return true;
}

/* Begins at text->at, where a record begins. */
TARGET INLINE void json_begin(struct json_reader *reader, const struct field *const *fields,
                              unsigned paths, const struct record_text *text)
{
    reader->paths = paths;
    for (unsigned i = 0; i < paths; i++) {
        json_prepare_names(&fields[i]->path, reader->tracks[i].names);
        reader->tracks[i].steps = fields[i]->path.count;
    }
    reader->scan.limit = text->limit;
    json_begin_scan(&reader->scan, text->at);
    reader->next = reader->line = 0;
    struct json_shapes *shapes = &reader->shapes;
    shapes->misses = shapes->tries = shapes->hits = shapes->rest = 0;
    for (unsigned i = 0; i < SHAPES; i++)
        shapes->shapes[i].count = 0;
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

/* --- all kinds of fields --- */

/* Finds fields in a way, a constant, as the parser's read_fields. `json` is for IN_JSON alone. */
TARGET INLINE size_t read_in_way(enum field_way way, struct json_reader *json,
                                 const struct field *field, struct record_text *text,
                                 struct field_tokens *tokens, struct key_span *keys, size_t cap)
{
    const size_t max = field_record_max(field);
    const bool is_list = field_is_list(field); /* which may be longer than a key */
    const struct field *key = tokens && keys ? tokens->key : NULL;
    const bool has_both = key && (way == IN_JSON    ? is_plain_json(key)
                                  : way == IN_PARTS ? key->part.format == field->part.format
                                                    : false);
    const struct field *const fields[FIELDS_AT_ONCE] = {field, key};
    struct regex_matcher matcher = {.data = NULL};
    struct record_text rest = *text; /* which tokens cannot point into */
    size_t count = 0;
    if (way == IN_JSON)
        json_begin(json, fields, has_both ? 2 : 1, text);
    while (count < cap && (!tokens || field_tokens_have_room(tokens))) {
        struct found_line lines[FIELDS_AT_ONCE];
        while (way != IN_JSON && way != IN_PARTS && rest.at < rest.limit && *rest.at == '\n')
            rest.at++;
        if (rest.at == rest.limit)
            break;
        if (way == IN_JSON)
            find_json(json, fields, &rest, lines);
        else if (way == IN_PARTS)
            find_parts(fields, has_both ? 2 : 1, &rest, &matcher, lines);
        else if (!find_field(way, field, &rest, lines))
            find_field_slowly(field, rest.at, rest.limit, lines);
        const bool is_too_long = (size_t)(lines->end - rest.at) > max;
        const bool counts = is_too_long || lines->what != FIELD_EMPTY;
        if (counts && !tokens) {
            keys[count] = span_of(lines, rest.at, max);
            if (way == IN_JSON && is_list && lines->what == FIELD_FOUND && !is_too_long)
                keys[count] = (struct key_span){lines->from, (size_t)(lines->to - lines->from)};
        } else if (counts) {
            if (key)
                keys[count] =
                    has_both ? span_of(&lines[1], rest.at, max) : key_at(key, &rest, lines->end);
            if (is_too_long || lines->what != FIELD_FOUND)
                end_token(tokens, 0);
            else
                put_field(field, tokens, lines->from, lines->to, lines->end, rest.limit);
        }
        count += counts;
        rest.at = lines->end < rest.limit ? lines->end + 1 : rest.limit;
    }
    if (way == IN_PARTS)
        regex_matcher_close(&matcher);
    text->at = rest.at;
    return count;
}

/* Not inlined, as the reader takes some pages of the stack. */
TARGET static __attribute__((noinline)) size_t read_json(const struct field *field,
                                                         struct record_text *text,
                                                         struct field_tokens *tokens,
                                                         struct key_span *keys, size_t cap)
{
    struct json_reader reader;
    return tokens ? read_in_way(IN_JSON, &reader, field, text, tokens, keys, cap)
                  : read_in_way(IN_JSON, &reader, field, text, NULL, keys, cap);
}

/* Gathers tokens that may have units, with FIELD_NONE. */
static size_t gather_words(struct record_text *text, struct field_tokens *tokens, size_t cap)
{
    const unsigned char *from;
    size_t count = 0;
    for (; count < cap && field_tokens_have_room(tokens); count++) {
        const size_t len = field_next_token(text->begin, &text->at, text->limit, &from,
                                            tokens->bytes + tokens->len);
        if (!from)
            break;
        end_token(tokens, len);
    }
    return count;
}

/* The `read_fields` of a parser. The loops without tokens are copies of their own: one loop for
 * both takes some instructions more a line. */
TARGET static size_t read_fields(const struct field *field, struct record_text *text,
                                 struct field_tokens *tokens, struct key_span *keys, size_t cap)
{
    if (field->kind == FIELD_NONE)
        return gather_words(text, tokens, cap);
    if (is_plain_json(field))
        return read_json(field, text, tokens, keys, cap);
    switch (way_of(field)) {
#define WAY(way)                                                                                   \
    case way:                                                                                      \
        return tokens ? read_in_way(way, NULL, field, text, tokens, keys, cap)                     \
                      : read_in_way(way, NULL, field, text, NULL, keys, cap);
        WAY(FROM_FRONT)
        WAY(FROM_FRONT_BLANKS)
        WAY(FROM_FRONT_CSV)
        WAY(FROM_BACK)
        WAY(FROM_BACK_BLANKS)
        WAY(FROM_BACK_CSV)
        WAY(AFTER_STRING)
        WAY(IN_PARTS)
        WAY(BY_DEFINITION)
#undef WAY
    default:
        return 0;
    }
}

#endif

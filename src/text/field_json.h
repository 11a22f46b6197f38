/* SPDX-License-Identifier: MIT */
/* Finds what one or two paths into JSON lead to, by masks of 64 bytes: a part of a gatherer's file,
 * which defines first what field_lines.h needs, and
 *
 *     json_bytes_at(at)                     what is at 64 bytes, as struct json_bytes
 *     json_write_positions(bits, offset, to)   as mask_positions
 *
 * A scan gives the places of what structures a text (json_scan.h). Records that have the shape of
 * one before need no more than a look at their places (json_shape.h). In the others a walk goes
 * from place to place and checks their order, the names on the paths, numbers and words.
 *
 * A walk ends at what is not valid, where something is nested deep, and close to the end of the
 * text. Then the record is left to field_find. */
#ifndef GPUHISTO_FIELD_JSON_H
#define GPUHISTO_FIELD_JSON_H

#include "json_shape.h"

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
    struct json_track tracks[JSON_PATHS];
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
    struct json_state states[JSON_PATHS];
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
    if (is_on)
        json_see(&reader->seen, walk->next - 1);
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

/* Sets the lines of all paths to what was found. */
INLINE void json_give(const struct json_walk *walk, bool is_empty, struct found_line *lines)
{
    for (unsigned i = 0; i < walk->paths; i++) {
        const struct json_state *state = &walk->states[i];
        lines[i] = (struct found_line){.what = is_empty      ? FIELD_EMPTY
                                               : state->from ? FIELD_FOUND
                                                             : FIELD_MISSING,
                                       .from = state->from,
                                       .to = state->to,
                                       .end = walk->position};
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
    json_give(&walk, is_empty, lines);
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
    if (reader->line < scan->lines && json_tries_shapes(&reader->shapes)) {
        const unsigned end = scan->ends[reader->line];
        if (json_find_by_shape(&reader->shapes, scan, begin, reader->next, end, lines,
                               reader->paths)) {
            reader->next = end + 1;
            reader->line++;
            reader->shapes.hits++;
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
    json_forget(&reader->shapes);
}

#endif

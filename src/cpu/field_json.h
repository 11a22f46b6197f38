/* SPDX-License-Identifier: MIT */
/* Finds what one or two paths into JSON lead to, by masks of 64 bytes: a part of a gatherer's file,
 * which defines first what field_lines.h needs, and
 *
 *     json_bytes_at(at)                     what is at 64 bytes, as struct json_bytes
 *     json_write_places(bits, offset, to)   as mask_places
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

/* How far a path was followed. What it leads through are the first `on` of the containers that are
 * open. */
struct json_track {
    const struct json_name *names;
    unsigned steps, on;
    const unsigned char *from, *to; /* the value, or `from` is NULL */
    int32_t before[JSON_STEPS_MAX]; /* of each step: elements before the wanted one */
};

struct json_reader {
    struct json_scan scan;
    unsigned next, line; /* places and lines of the block that are left begin there */
    unsigned paths;
    struct json_track tracks[JSON_PATHS];
    struct json_name names[JSON_PATHS][JSON_STEPS_MAX];
    struct json_seen seen;
    struct json_shapes shapes;
};

/* Where a walk stands. */
struct json_walk {
    unsigned depth;
    uint64_t objects;           /* a bit for each that is open, the innermost lowest */
    const unsigned char *token; /* what is read next, or the place, if no token is before it */
    const unsigned char *place;
};

/* Moves to the next place, and the token after `at`. False if the text is too close to its end. */
TARGET INLINE bool json_advance_from(struct json_reader *reader, struct json_walk *walk,
                                     const unsigned char *at)
{
    struct json_scan *scan = &reader->scan;
    while (reader->next == scan->count) {
        if (!json_scan_block(scan))
            return false;
        reader->next = reader->line = 0;
    }
    walk->place = scan->base + scan->places[reader->next++];
    walk->token = json_token(at, walk->place);
    return true;
}

TARGET INLINE bool json_advance(struct json_reader *reader, struct json_walk *walk)
{
    return json_advance_from(reader, walk, walk->place + 1);
}

/* Enters the container at the place. False if there is none, or it is nested too deep. */
TARGET INLINE bool json_open(struct json_reader *reader, struct json_walk *walk, unsigned wanted)
{
    const bool is_object = *walk->place == '{';
    const unsigned depth = walk->depth;
    if ((!is_object && *walk->place != '[') || depth == 64)
        return false;
    walk->depth++;
    walk->objects = walk->objects << 1 | is_object;
    for (struct json_track *track = reader->tracks; wanted; wanted >>= 1, track++) {
        if (!(wanted & 1))
            continue;
        track->from = depth == track->steps ? walk->place : NULL;
        track->to = NULL;
        if (depth < track->steps && is_object == (track->names[depth].step->name != NULL)) {
            track->on = depth + 1;
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
    if (walk->token == walk->place)
        return json_open(reader, walk, wanted);
    const bool is_string = *walk->token == '"';
    /* A newline in a string is a place, too, and after the outermost value nothing else tells that
     * the string has not ended. */
    if (is_string && walk->depth == 0)
        return false;
    if (is_string && !wanted)
        return true;
    const unsigned char *end = json_token_end(walk->place);
    for (struct json_track *track = reader->tracks; wanted; wanted >>= 1, track++) {
        if (!(wanted & 1))
            continue;
        track->from = walk->depth == track->steps ? walk->token : NULL;
        track->to = end;
    }
    return is_string || json_is_scalar(walk->token, end);
}

/* True if the place is the end of the innermost container. */
INLINE bool json_is_end(const struct json_walk *walk)
{
    return *walk->place == (walk->objects & 1 ? '}' : ']');
}

/* Leaves the containers whose ends follow a value. */
TARGET INLINE bool json_close(struct json_reader *reader, struct json_walk *walk)
{
    while (walk->depth > 0 && json_is_end(walk)) {
        walk->depth--;
        walk->objects >>= 1;
        for (unsigned i = 0; i < reader->paths; i++) {
            struct json_track *track = &reader->tracks[i];
            track->on = track->on < walk->depth ? track->on : walk->depth;
            if (track->from && !track->to && walk->depth == track->steps)
                track->to = walk->place + 1;
        }
        if (!json_advance(reader, walk) || walk->token != walk->place)
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
    if (is_object && (*walk->token != '"' || *walk->place != ':'))
        return false;
    for (unsigned i = 0; i < reader->paths; i++) {
        struct json_track *track = &reader->tracks[i];
        if (track->on != walk->depth)
            continue;
        is_on = true;
        if (is_object ? json_name_matches(&track->names[innermost], walk->token, walk->place,
                                          &reader->scan)
                      : json_counts_to(track, innermost))
            *wanted |= 1U << i;
    }
    if (!is_object)
        return true;
    if (is_on)
        json_see(&reader->seen, reader->next - 1);
    return json_advance(reader, walk);
}

/* Walks over a record, from the token or place that it begins with to its newline. False if it has
 * to be left to field_find. */
TARGET INLINE bool json_walk_record(struct json_reader *reader, struct json_walk *walk)
{
    unsigned wanted = (1U << reader->paths) - 1;
    for (;;) {
        const bool is_container = walk->token == walk->place;
        if (!json_begin_value(reader, walk, wanted) ||
            (is_container && !json_advance(reader, walk)))
            return false;
        if (!is_container || (walk->token == walk->place && json_is_end(walk))) {
            if (*walk->place != ',' && !json_close(reader, walk))
                return false;
            if (walk->depth == 0)
                return *walk->place == '\n';
            if (*walk->place != ',' || !json_advance(reader, walk))
                return false;
        }
        if (!json_begin_item(reader, walk, &wanted))
            return false;
    }
}

/* Sets the lines of all paths to what was found, given the newline. */
INLINE void json_give(const struct json_reader *reader, const unsigned char *end,
                      struct found_line *lines)
{
    for (unsigned i = 0; i < reader->paths; i++) {
        const struct json_track *track = &reader->tracks[i];
        lines[i] = (struct found_line){.what = track->from ? FIELD_FOUND : FIELD_MISSING,
                                       .from = track->from,
                                       .to = track->to,
                                       .end = end};
    }
}

TARGET static __attribute__((noinline)) bool
json_find_by_walk(struct json_reader *reader, const unsigned char *begin, struct found_line *lines)
{
    struct json_walk walk = {0};
    const unsigned first = reader->next;
    const unsigned char *base = reader->scan.base;
    reader->seen.count = 0;
    for (unsigned i = 0; i < reader->paths; i++)
        reader->tracks[i].on = 0;
    if (!json_advance_from(reader, &walk, begin))
        return false;
    const bool is_empty = walk.token == walk.place && *walk.place == '\n';
    if (!is_empty && !json_walk_record(reader, &walk))
        return false;
    json_give(reader, walk.place, lines);
    for (unsigned i = 0; is_empty && i < reader->paths; i++)
        lines[i].what = FIELD_EMPTY;
    if (!is_empty && reader->scan.base == base)
        json_learn(&reader->shapes, &reader->scan, begin, first, reader->next - first,
                   &reader->seen, lines, reader->paths);
    return true;
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
    while (reader->next < scan->count && scan->base + scan->places[reader->next] <= end)
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
    if (reader->line < scan->lines) {
        const unsigned end = scan->ends[reader->line];
        if (json_find_by_shape(&reader->shapes, scan, begin, reader->next, end, lines,
                               reader->paths)) {
            reader->next = end + 1;
            reader->line++;
            return true;
        }
    }
    if (!json_find_by_walk(reader, begin, lines))
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
        json_prepare_names(&fields[i]->path, reader->names[i]);
        reader->tracks[i].names = reader->names[i];
        reader->tracks[i].steps = fields[i]->path.count;
    }
    reader->scan.limit = text->limit;
    json_begin_scan(&reader->scan, text->at);
    reader->next = reader->line = 0;
    json_forget(&reader->shapes);
}

#endif

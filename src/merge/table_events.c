/* SPDX-License-Identifier: MIT */
#include "table_parser.h"

#include <string.h>

#define TEXT_LENGTH_MAX ((size_t)1 << 20) /* of a text: "--edges=" may be long */
#define IGNORED_DEPTH_MAX 64
#define OPTIONS_READ_MAX 64

/* Whether the value that begins is of a member that nothing is known of. */
static bool json_is_ignored(const struct table_json *json)
{
    return json->ignored > 0 ||
           (table_places[json->levels[json->depth].place].is_object && !json->member);
}

/* A string or a number. */
static int json_scalar(struct table_json *json, const char *text, size_t len, bool is_number)
{
    struct level *level = json_level(json);
    uint64_t count;
    json->quiet = false;
    if (json_is_ignored(json))
        return 1;
    if (len > TEXT_LENGTH_MAX || memchr(text, '\0', len))
        return json_refuse(json, "a text is too long, or has a NUL byte");
    if (table_places[level->place].is_object)
        return json_set_member(json, text, len, is_number);
    if (level->place == AT_OPTIONS && !is_number) {
        if (json->table->options.count == OPTIONS_READ_MAX)
            return json_refuse(json, "there are too many \"options\"");
        return words_add(&json->table->options, text, len) == 0 ? 1 : json_no_memory(json);
    }
    const bool is_range = level->place == AT_PART || level->place == AT_RANGE;
    if (!is_number || !(is_range || level->place == AT_COUNTS))
        return json_unexpected(json, is_number ? "a number" : "a string");
    if (!json_read_count(text, len, &count) || (is_range && level->items == 2))
        return json_unexpected(json, "a wrong number");
    if (level->place == AT_COUNTS && level->items++ == CHANNELS_MAX)
        return json_refuse(json, "there are too many \"counts\"");
    if (level->place == AT_COUNTS)
        return json_add_count(json, count);
    *(level->items++ ? &json_range(json)->end : &json_range(json)->begin) = count;
    return 1;
}

static int json_number(void *arg, const char *text, size_t len)
{
    return json_scalar(arg, text, len, true);
}

static int json_string(void *arg, const unsigned char *text, size_t len)
{
    return json_scalar(arg, (const char *)text, len, false);
}

static int json_null(void *arg)
{
    struct table_json *json = arg;
    json->quiet = false;
    return json_is_ignored(json) ? 1 : json_unexpected(json, "null");
}

static int json_boolean(void *arg, int value)
{
    struct table_json *json = arg;
    (void)value;
    json->quiet = false;
    return json_is_ignored(json) ? 1 : json_unexpected(json, "a truth value");
}

/* Looks the name up, and refuses one that was there already. */
static int json_key(void *arg, const unsigned char *name, size_t len)
{
    struct table_json *json = arg;
    struct level *level = json_level(json);
    json->quiet = false;
    if (json->ignored > 0)
        return 1;
    unsigned index;
    json->member = table_member_find(level->place, (const char *)name, len, &index);
    if (!json->member)
        return 1;
    const uint64_t bit = (uint64_t)1 << index;
    if (level->seen & bit) {
        reason_set(&json->why, "\"%s\" occurs twice in %s", json->member->name,
                   table_places[level->place].name);
        return 0;
    }
    level->seen |= bit;
    return 1;
}

static int json_enter(struct table_json *json, bool is_object)
{
    const struct level *level = json_level(json);
    const char *what = is_object ? "an object" : "a list";
    enum place place;
    json->quiet = false;
    if (json_is_ignored(json)) {
        if (++json->ignored > IGNORED_DEPTH_MAX)
            return json_refuse(json, "nested too deeply");
        return 1;
    }
    if (table_places[level->place].is_object) {
        if (json->member->kind != (is_object ? MEMBER_OBJECT : MEMBER_LIST))
            return json_unexpected(json, what);
        place = json->member->inside;
    } else {
        if (!(is_object ? table_places[level->place].of_objects
                        : table_places[level->place].of_lists))
            return json_unexpected(json, what);
        place = table_places[level->place].inside;
    }
    json->levels[++json->depth] = (struct level){.place = place};
    return json_make_room(json, place);
}

/* Members of a row, by their places in table_members. */
enum { ROW_LO = 1, ROW_HI = 2, ROW_COUNT = 4, ROW_BIN = 8, ROW_COUNTS = 16 };

/* Whether a row was whole: it has edges, or just the name of a group, and counts. */
static int json_check_row(struct table_json *json)
{
    const uint64_t seen = json_level(json)->seen;
    const uint64_t edges = seen & (ROW_LO | ROW_HI);
    if (edges != (ROW_LO | ROW_HI) && (edges || !(seen & ROW_BIN))) {
        reason_set(&json->why, "a bin has no \"%s\"", edges & ROW_LO ? "hi" : "lo");
        return 0;
    }
    if (!(seen & ROW_COUNT) == !(seen & ROW_COUNTS))
        return json_refuse(json, "a bin has no \"count\"");
    return 1;
}

/* Whether everything that must be in the place was there. */
static int json_check_whole(struct table_json *json)
{
    const struct level *level = json_level(json);
    const uint64_t missing = table_places[level->place].needed & ~level->seen;
    uint64_t bit = 1;
    for (size_t i = 0; missing && i < table_member_count; i++) {
        if (table_members[i].place != level->place)
            continue;
        if (missing & bit) {
            if (level->place == AT_TABLE)
                return json_refuse(json, NOT_A_TABLE);
            reason_set(&json->why, "%s has no \"%s\"", table_places[level->place].name,
                       table_members[i].name);
            return 0;
        }
        bit <<= 1;
    }
    if (level->place == AT_ROW)
        return json_check_row(json);
    if ((level->place == AT_PART || level->place == AT_RANGE) && level->items != 2)
        return json_refuse(json, "a range has not two numbers");
    return 1;
}

/* Finds the row that ended: after it, rows may be read that are known. */
static void json_end_row(struct table_json *json)
{
    struct read_row *read = &json->table->rows[json->table->row_count - 1];
    if (json->known->rows == 0)
        return;
    const size_t row = row_finder_find(&json->finder, read_text(json->table, read->lo),
                                       read_text(json->table, read->hi));
    if (row == SIZE_MAX)
        return;
    read->row = (uint32_t)row;
    json->row = row;
}

static int json_end_table(struct table_json *json)
{
    json->table->has = json_level(json)->seen;
    json->depth--;
    json->tables++;
    return json->take(json->arg, json->table, &json->why) == 0;
}

static int json_leave(struct table_json *json)
{
    json->quiet = false;
    if (json->ignored > 0) {
        json->ignored--;
        return 1;
    }
    if (!json_check_whole(json))
        return 0;
    if (json_level(json)->place == AT_TABLE)
        return json_end_table(json);
    if (json_level(json)->place == AT_ROW)
        json_end_row(json);
    json->depth--;
    return 1;
}

static int json_start_object(void *arg)
{
    return json_enter(arg, true);
}

static int json_start_list(void *arg)
{
    return json_enter(arg, false);
}

static int json_end(void *arg)
{
    return json_leave(arg);
}

const yajl_callbacks json_callbacks = {
    .yajl_null = json_null,
    .yajl_boolean = json_boolean,
    .yajl_number = json_number,
    .yajl_string = json_string,
    .yajl_start_map = json_start_object,
    .yajl_map_key = json_key,
    .yajl_end_map = json_end,
    .yajl_start_array = json_start_list,
    .yajl_end_array = json_end,
};

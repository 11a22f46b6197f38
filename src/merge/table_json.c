#include "table_json.h"
#include "table_members.h"

#ifdef HAVE_YAJL

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define TEXT_LENGTH_MAX ((size_t)1 << 20) /* of a text: "--edges=" may be long */
#define QUIET_MAX ((uint64_t)4 << 20)     /* bytes without any value: no table has so many */
#define IGNORED_DEPTH_MAX 64
#define OPTIONS_READ_MAX 64
#define DEPTH_MAX 8

struct level {
    enum place place;
    uint64_t seen;  /* members, as bits */
    unsigned items; /* numbers of a range, or counts of a bin, so far */
};

struct table_json {
    yajl_handle parser;
    struct read_table *table;
    table_taker *take;
    void *arg;
    struct reason why; /* set if a callback has refused */
    struct level levels[DEPTH_MAX];
    unsigned depth;              /* levels[depth] is where the parser is */
    const struct member *member; /* of an object, whose value comes next; NULL: ignored */
    unsigned ignored;            /* levels within a value that is ignored */
    uint64_t tables;             /* that ended */
    uint64_t consumed;           /* bytes before the piece that is read */
    uint64_t last;               /* byte of the last value */
    bool quiet;                  /* no value since the piece began */
};

static int json_refuse(struct table_json *json, const char *text)
{
    reason_set(&json->why, "%s", text);
    return 0;
}

static int json_no_memory(struct table_json *json)
{
    return json_refuse(json, "out of memory");
}

static struct level *json_level(struct table_json *json)
{
    return &json->levels[json->depth];
}

/* What members of the place are filled into. */
static void *json_target(struct table_json *json, enum place place)
{
    struct read_table *table = json->table;
    switch (place) {
    case AT_ROW:
        return &table->rows[table->row_count - 1];
    case AT_CHANNEL:
        return &table->channels[table->channel_count - 1];
    case AT_MOMENTS:
        return &table->moments;
    case AT_SHARE:
    case AT_LIST:
        return &table->share;
    case AT_FILE:
        return &table->share.files[table->share.file_count - 1];
    default:
        return table;
    }
}

/* A value begins that no list and no object has asked for. */
static int json_unexpected(struct table_json *json, const char *what)
{
    const enum place place = json_level(json)->place;
    if (json->member && table_places[place].is_object)
        reason_set(&json->why, "\"%s\" cannot be %s", json->member->name, what);
    else
        reason_set(&json->why, "%s in %s", what, table_places[place].name);
    return 0;
}

/* Whether the value that begins is of a member that nothing is known of. */
static bool json_is_ignored(const struct table_json *json)
{
    return json->ignored > 0 ||
           (table_places[json->levels[json->depth].place].is_object && !json->member);
}

/* --- what values are put into --- */

static int json_table_error(struct table_json *json, enum read_table_error error)
{
    if (error == READ_TABLE_OK)
        return 1;
    return error == READ_TABLE_NO_MEMORY ? json_no_memory(json)
                                         : json_refuse(json, "the table is too long");
}

static bool json_read_count(const char *digits, size_t len, uint64_t *count)
{
    *count = 0;
    for (size_t i = 0; i < len; i++) {
        const unsigned digit = (unsigned)(digits[i] - '0');
        if (digit > 9 || *count > (UINT64_MAX - digit) / 10)
            return false;
        *count = *count * 10 + digit;
    }
    return len > 0;
}

static bool json_read_digest(const char *digits, size_t len, uint64_t *digest)
{
    *digest = 0;
    for (size_t i = 0; i < len; i++) {
        const char *digit = memchr("0123456789abcdef", digits[i], 16);
        if (!digit)
            return false;
        *digest = *digest << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    return len == 16;
}

/* Sets a member to its text, or its number. */
static int json_set_member(struct table_json *json, const char *text, size_t len, bool is_number)
{
    const struct member *member = json->member;
    char *target = json_target(json, member->place);
    uint64_t count = 0;
    char *name;
    target += member->offset;
    switch (member->kind) {
    case MEMBER_COUNT:
        if (!is_number || !json_read_count(text, len, &count)) {
            reason_set(&json->why, "\"%s\" is not a whole number from 0 to 18446744073709551615",
                       member->name);
            return 0;
        }
        if (member->place == AT_ROW)
            return json_table_error(json, read_table_add_count(json->table, count));
        memcpy(target, &count, sizeof count);
        return 1;
    case MEMBER_DIGEST:
        if (is_number || !json_read_digest(text, len, &count))
            return json_refuse(json, "a digest is not 16 hexadecimal digits");
        memcpy(target, &count, sizeof count);
        return 1;
    case MEMBER_TEXT:
        if (member->place == AT_FILE) {
            if (len > SHARE_NAME_MAX)
                return json_refuse(json, "the name of a FILE is too long");
            name = strndup(text, len);
            memcpy(target, &name, sizeof name);
            return name ? 1 : json_no_memory(json);
        }
        return json_table_error(
            json, read_table_add_text(json->table, text, len, (text_at *)(void *)target));
    default:
        return json_unexpected(json, is_number ? "a number" : "a string");
    }
}

/* Appends to a list of ranges. */
static int json_add_range(struct table_json *json, struct share_range **ranges, size_t *count)
{
    if ((*count & (*count - 1)) == 0) { /* there is room up to the next power of two */
        struct share_range *longer =
            realloc(*ranges, (*count ? 2 * *count : 1) * sizeof(struct share_range));
        if (!longer)
            return json_no_memory(json);
        *ranges = longer;
    }
    (*ranges)[(*count)++] = (struct share_range){0, 0};
    return 1;
}

static int json_add_file(struct table_json *json)
{
    struct share_record *share = &json->table->share;
    if ((share->file_count & (share->file_count - 1)) == 0) {
        const size_t room = share->file_count ? 2 * share->file_count : 1;
        struct share_file *longer = realloc(share->files, room * sizeof *longer);
        if (!longer)
            return json_no_memory(json);
        share->files = longer;
    }
    share->files[share->file_count++] = (struct share_file){0};
    return 1;
}

/* The range that is being read. */
static struct share_range *json_range(struct table_json *json)
{
    struct share_record *share = &json->table->share;
    if (json_level(json)->place == AT_PART)
        return &share->parts[share->part_count - 1];
    struct share_file *file = &share->files[share->file_count - 1];
    return &file->ranges[file->range_count - 1];
}

/* --- events --- */

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
        return json_table_error(json, read_table_add_count(json->table, count));
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
    json->member = NULL;
    uint64_t bit = 1;
    for (size_t i = 0; i < table_member_count; i++) {
        if (table_members[i].place != level->place)
            continue;
        if (strlen(table_members[i].name) == len && memcmp(table_members[i].name, name, len) == 0) {
            json->member = &table_members[i];
            break;
        }
        bit <<= 1;
    }
    if (!json->member)
        return 1;
    if (level->seen & bit) {
        reason_set(&json->why, "\"%s\" is there twice in %s", json->member->name,
                   table_places[level->place].name);
        return 0;
    }
    level->seen |= bit;
    return 1;
}

/* Makes room for what an object or a list will fill in. */
static int json_make_room(struct table_json *json, enum place place)
{
    struct read_table *table = json->table;
    struct share_record *share = &table->share;
    struct share_file *file = share->file_count ? &share->files[share->file_count - 1] : NULL;
    switch (place) {
    case AT_TABLE:
        read_table_clear(table);
        return 1;
    case AT_ROW:
        return json_table_error(json, read_table_add_row(table));
    case AT_CHANNEL:
        if (table->channel_count == CHANNELS_MAX)
            return json_refuse(json, "there are too many \"channels\"");
        table->channel_count++;
        return 1;
    case AT_FILE:
        return json_add_file(json);
    case AT_PART:
        if (share->part_count == SHARES_MAX)
            return json_refuse(json, "there are too many \"parts\"");
        return json_add_range(json, &share->parts, &share->part_count);
    case AT_RANGE:
        return json_add_range(json, &file->ranges, &file->range_count);
    default:
        return 1;
    }
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
            reason_set(&json->why, "%s has no \"%s\"", table_places[level->place].name,
                       table_members[i].name);
            return 0;
        }
        bit <<= 1;
    }
    if (level->place == AT_ROW && (level->seen >> 2 & 1) + (level->seen >> 4 & 1) != 1)
        return json_refuse(json, "a bin has no \"count\"");
    if ((level->place == AT_PART || level->place == AT_RANGE) && level->items != 2)
        return json_refuse(json, "a range has not two numbers");
    return 1;
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
    const struct level *level = json_level(json);
    const bool is_table = level->place == AT_TABLE;
    if (is_table)
        json->table->has = level->seen;
    json->depth--;
    if (!is_table)
        return 1;
    json->tables++;
    return json->take(json->arg, json->table, &json->why) == 0;
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

static const yajl_callbacks json_callbacks = {
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

/* --- a text --- */

bool table_json_is_built(void)
{
    return true;
}

struct table_json *table_json_open(struct read_table *table, table_taker *take, void *arg)
{
    struct table_json *json = calloc(1, sizeof *json);
    if (!json)
        return NULL;
    json->table = table;
    json->take = take;
    json->arg = arg;
    json->parser = yajl_alloc(&json_callbacks, NULL, json);
    if (json->parser)
        yajl_config(json->parser, yajl_allow_multiple_values, 1);
    else
        table_json_close(json);
    return json->parser ? json : NULL;
}

/* Says what is wrong, and where. */
static int json_explain(struct table_json *json, yajl_status status, struct reason *why)
{
    const uint64_t at = json->consumed + yajl_get_bytes_consumed(json->parser);
    if (status == yajl_status_client_canceled) {
        *why = json->why;
        if (json->tables == 0 || json->depth > 0)
            reason_set(why, "byte %" PRIu64 ": %.900s", at, json->why.text);
        return -1;
    }
    unsigned char *error = yajl_get_error(json->parser, 0, NULL, 0);
    const char *text = error ? (const char *)error : "out of memory";
    reason_set(why, "byte %" PRIu64 ": not JSON: %.*s", at, (int)strcspn(text, "\n"), text);
    yajl_free_error(json->parser, error);
    return -1;
}

int table_json_read(struct table_json *json, const unsigned char *text, size_t len,
                    struct reason *why)
{
    json->quiet = true;
    yajl_status status = yajl_parse(json->parser, text, len);
    if (status != yajl_status_ok)
        return json_explain(json, status, why);
    json->consumed += len;
    if (!json->quiet)
        json->last = json->consumed;
    if (json->consumed - json->last <= QUIET_MAX)
        return 0;
    reason_set(why, "byte %" PRIu64 ": more than 4 MiB without a value", json->last);
    return -1;
}

int table_json_end(struct table_json *json, struct reason *why)
{
    /* A newline ends a number, and shows that a string or a word has no end. */
    yajl_status status = yajl_parse(json->parser, (const unsigned char *)"\n", 1);
    if (status == yajl_status_error) {
        reason_set(why, "byte %" PRIu64 ": the table is cut short", json->consumed);
        return -1;
    }
    if (status == yajl_status_ok)
        status = yajl_complete_parse(json->parser);
    if (status == yajl_status_client_canceled)
        return json_explain(json, status, why);
    if ((status != yajl_status_ok && json->last > 0) || json->depth > 0) {
        reason_set(why, "byte %" PRIu64 ": the table is cut short", json->consumed);
        return -1;
    }
    if (json->tables == 0) {
        reason_set(why, "there is no table");
        return -1;
    }
    return 0;
}

void table_json_close(struct table_json *json)
{
    if (json && json->parser)
        yajl_free(json->parser);
    free(json);
}

#else

bool table_json_is_built(void)
{
    return false;
}

struct table_json *table_json_open(struct read_table *table, table_taker *take, void *arg)
{
    (void)table, (void)take, (void)arg;
    return NULL;
}

int table_json_read(struct table_json *json, const unsigned char *text, size_t len,
                    struct reason *why)
{
    (void)json, (void)text, (void)len, (void)why;
    return -1;
}

int table_json_end(struct table_json *json, struct reason *why)
{
    (void)json, (void)why;
    return -1;
}

void table_json_close(struct table_json *json)
{
    (void)json;
}

#endif

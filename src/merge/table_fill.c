/* SPDX-License-Identifier: MIT */
#include "grow.h"
#include "table_parser.h"

#include <stdlib.h>
#include <string.h>

/* Rows that a table may have beyond those of the sum before it is refused for that. At its end the
 * reason would be a better one, such as another option, but rows take memory. */
#define ROWS_BEYOND ((size_t)65536)

int json_refuse(struct table_json *json, const char *text)
{
    reason_set(&json->why, "%s", text);
    return 0;
}

int json_no_memory(struct table_json *json)
{
    return json_refuse(json, "out of memory");
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
        return &table->moments[table->moment_count - 1];
    case AT_SHARE:
    case AT_LIST:
        return &table->shard;
    case AT_FILE:
        return &table->shard.files[table->shard.file_count - 1];
    default:
        return table;
    }
}

int json_unexpected(struct table_json *json, const char *what)
{
    const enum place place = json_level(json)->place;
    if (json->member && table_places[place].is_object)
        reason_set(&json->why, "\"%s\" cannot be %s", json->member->name, what);
    else
        reason_set(&json->why, "%s in %s", what, table_places[place].name);
    return 0;
}

static int json_table_error(struct table_json *json, enum read_table_error error)
{
    if (error == READ_TABLE_OK)
        return 1;
    return error == READ_TABLE_NO_MEMORY ? json_no_memory(json)
                                         : json_refuse(json, "the table is too long");
}

int json_add_count(struct table_json *json, uint64_t count)
{
    return json_table_error(json, read_table_add_count(json->table, count));
}

bool json_read_count(const char *digits, size_t len, uint64_t *count)
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

int json_set_member(struct table_json *json, const char *text, size_t len, bool is_number)
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
            return json_add_count(json, count);
        memcpy(target, &count, sizeof count);
        return 1;
    case MEMBER_DIGEST:
        if (is_number || !json_read_digest(text, len, &count))
            return json_refuse(json, "a digest is not 16 hexadecimal digits");
        memcpy(target, &count, sizeof count);
        return 1;
    case MEMBER_TEXT:
        if (member->place == AT_FILE) {
            if (len > SHARD_NAME_MAX)
                return json_refuse(json, "the name of a file is too long");
            name = strndup(text, len);
            memcpy(target, &name, sizeof name);
            return name ? 1 : json_no_memory(json);
        }
        if (strcmp(member->name, "schema") == 0 &&
            read_table_check_schema(text, len, &json->why) != 0)
            return 0;
        return json_table_error(
            json, read_table_add_text(json->table, text, len, (text_at *)(void *)target));
    default:
        return json_unexpected(json, is_number ? "a number" : "a string");
    }
}

/* Appends to a list of ranges. */
static int json_add_range(struct table_json *json, struct shard_range **ranges, size_t *count)
{
    struct shard_range *longer = grow_by_one(*ranges, *count, sizeof *longer);
    if (!longer)
        return json_no_memory(json);
    *ranges = longer;
    (*ranges)[(*count)++] = (struct shard_range){0, 0};
    return 1;
}

static int json_add_file(struct table_json *json)
{
    struct shard_record *shard = &json->table->shard;
    struct shard_file *longer = grow_by_one(shard->files, shard->file_count, sizeof *longer);
    if (!longer)
        return json_no_memory(json);
    shard->files = longer;
    shard->files[shard->file_count++] = (struct shard_file){0};
    return 1;
}

struct shard_range *json_range(struct table_json *json)
{
    struct shard_record *shard = &json->table->shard;
    if (json_level(json)->place == AT_PART)
        return &shard->shards[shard->shard_count - 1];
    struct shard_file *file = &shard->files[shard->file_count - 1];
    return &file->ranges[file->range_count - 1];
}

int json_make_room(struct table_json *json, enum place place)
{
    struct read_table *table = json->table;
    struct shard_record *shard = &table->shard;
    struct shard_file *file = shard->file_count ? &shard->files[shard->file_count - 1] : NULL;
    switch (place) {
    case AT_TABLE:
        read_table_clear(table);
        if (json->known->rows > 0)
            row_finder_begin(&json->finder, json->histogram);
        return 1;
    case AT_ROW:
        if (json->histogram->mode && table->row_count >= json->histogram->bins + ROWS_BEYOND)
            return json_refuse(json, "there are more bins than in the tables before");
        return json_table_error(json, read_table_add_row(table));
    case AT_CHANNEL:
        if (table->channel_count == CHANNELS_MAX)
            return json_refuse(json, "there are too many \"channels\"");
        table->channel_count++;
        return 1;
    case AT_MOMENTS:
        if (table->moment_count == CHANNELS_MAX)
            return json_refuse(json, "there are too many \"moments\"");
        table->moment_count++;
        return 1;
    case AT_FILE:
        return json_add_file(json);
    case AT_PART:
        if (shard->shard_count == SHARDS_MAX)
            return json_refuse(json, "there are too many \"parts\"");
        return json_add_range(json, &shard->shards, &shard->shard_count);
    case AT_RANGE:
        return json_add_range(json, &file->ranges, &file->range_count);
    default:
        return 1;
    }
}

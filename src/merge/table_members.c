/* SPDX-License-Identifier: MIT */
#include "table_members.h"
#include "table_json.h"

#include <string.h>

/* A name and its length. */
#define NAME(text) text, sizeof(text) - 1

#define TABLE_COUNT(name)                                                                          \
    {                                                                                              \
        AT_TABLE, NAME(#name), MEMBER_COUNT, offsetof(struct read_table, totals.name), 0           \
    }
#define TABLE_TEXT(name)                                                                           \
    {                                                                                              \
        AT_TABLE, NAME(#name), MEMBER_TEXT, offsetof(struct read_table, name), 0                   \
    }
#define CHANNEL_COUNT(name)                                                                        \
    {                                                                                              \
        AT_CHANNEL, NAME(#name), MEMBER_COUNT, offsetof(struct read_totals, name), 0               \
    }
#define MOMENT(name, kind)                                                                         \
    {                                                                                              \
        AT_MOMENTS, NAME(#name), kind, offsetof(struct read_moments, name), 0                      \
    }
#define ROW_MEMBER(name)                                                                           \
    {                                                                                              \
        AT_ROW, NAME(#name), MEMBER_TEXT, offsetof(struct read_row, name), 0                       \
    }
#define LIST_MEMBER(name, kind)                                                                    \
    {                                                                                              \
        AT_LIST, NAME(#name), kind, offsetof(struct shard_record, job.name), 0                     \
    }
#define FILE_MEMBER(name, kind)                                                                    \
    {                                                                                              \
        AT_FILE, NAME(#name), kind, offsetof(struct shard_file, name), 0                           \
    }

/* The members of each place follow each other; bits of read_table.has are those of a table. Rows
 * come first, as they are looked up most often. */
const struct member table_members[] = {
    ROW_MEMBER(lo),
    ROW_MEMBER(hi),
    {AT_ROW, NAME("count"), MEMBER_COUNT, 0, 0},
    ROW_MEMBER(bin),
    {AT_ROW, NAME("counts"), MEMBER_LIST, 0, AT_COUNTS},
    TABLE_TEXT(schema),
    TABLE_TEXT(mode),
    TABLE_TEXT(type),
    {AT_TABLE, NAME("options"), MEMBER_LIST, 0, AT_OPTIONS},
    TABLE_COUNT(total),
    TABLE_COUNT(counted),
    TABLE_COUNT(other),
    TABLE_COUNT(below),
    TABLE_COUNT(above),
    TABLE_COUNT(invalid),
    {AT_TABLE, NAME("channels"), MEMBER_LIST, 0, AT_CHANNELS},
    {AT_TABLE, NAME("bins"), MEMBER_LIST, 0, AT_BINS},
    {AT_TABLE, NAME("moments"), MEMBER_OBJECT, 0, AT_MOMENTS},
    {AT_TABLE, NAME("share"), MEMBER_OBJECT, 0, AT_SHARE},
    {AT_TABLE, NAME("channel_stats"), MEMBER_LIST, 0, AT_CHANNEL_STATS},
    {AT_STATS_OF_CHANNEL, NAME("moments"), MEMBER_OBJECT, 0, AT_MOMENTS},
    CHANNEL_COUNT(total),
    CHANNEL_COUNT(below),
    CHANNEL_COUNT(above),
    CHANNEL_COUNT(invalid),
    MOMENT(least, MEMBER_TEXT),
    MOMENT(greatest, MEMBER_TEXT),
    MOMENT(lowest, MEMBER_COUNT),
    MOMENT(highest, MEMBER_COUNT),
    MOMENT(sum, MEMBER_TEXT),
    MOMENT(squares, MEMBER_TEXT),
    MOMENT(check, MEMBER_TEXT),
    {AT_SHARE, NAME("of"), MEMBER_COUNT, offsetof(struct shard_record, job.of), 0},
    {AT_SHARE, NAME("parts"), MEMBER_LIST, 0, AT_PARTS},
    {AT_SHARE, NAME("list"), MEMBER_OBJECT, 0, AT_LIST},
    {AT_SHARE, NAME("files"), MEMBER_LIST, 0, AT_FILES},
    LIST_MEMBER(files, MEMBER_COUNT),
    LIST_MEMBER(bytes, MEMBER_COUNT),
    LIST_MEMBER(digest, MEMBER_DIGEST),
    FILE_MEMBER(index, MEMBER_COUNT),
    {AT_FILE, NAME("name"), MEMBER_TEXT, offsetof(struct shard_file, name), 0},
    FILE_MEMBER(size, MEMBER_COUNT),
    FILE_MEMBER(fingerprint, MEMBER_DIGEST),
    {AT_FILE, NAME("ranges"), MEMBER_LIST, 0, AT_RANGES},
};

const size_t table_member_count = sizeof table_members / sizeof table_members[0];

const struct place_form table_places[PLACES] = {
    [AT_TOP] = {"the text", false, 0, true, false, AT_TABLE},
    [AT_TABLE] = {"the table", true, HAS_SCHEMA | HAS_MODE, false, false, 0},
    [AT_OPTIONS] = {"\"options\"", false, 0, false, false, 0},
    [AT_BINS] = {"\"bins\"", false, 0, true, false, AT_ROW},
    [AT_ROW] = {"a bin", true, 0, false, false, 0}, /* json_check_row */
    [AT_COUNTS] = {"\"counts\"", false, 0, false, false, 0},
    [AT_CHANNELS] = {"\"channels\"", false, 0, true, false, AT_CHANNEL},
    [AT_CHANNEL] = {"a channel", true, 15, false, false, 0},
    [AT_CHANNEL_STATS] = {"\"channel_stats\"", false, 0, true, false, AT_STATS_OF_CHANNEL},
    [AT_STATS_OF_CHANNEL] = {"the statistics of a channel", true, 1, false, false, 0},
    [AT_MOMENTS] = {"\"moments\"", true, 127, false, false, 0},
    [AT_SHARE] = {"\"share\"", true, 15, false, false, 0},
    [AT_PARTS] = {"\"parts\"", false, 0, false, true, AT_PART},
    [AT_PART] = {"a range of shares", false, 0, false, false, 0},
    [AT_LIST] = {"\"list\"", true, 7, false, false, 0},
    [AT_FILES] = {"\"files\"", false, 0, true, false, AT_FILE},
    [AT_FILE] = {"a file of \"share\"", true, 31, false, false, 0},
    [AT_RANGES] = {"\"ranges\"", false, 0, false, true, AT_RANGE},
    [AT_RANGE] = {"a range of bytes", false, 0, false, false, 0},
};

const struct member *table_member_find(enum place place, const char *name, size_t len,
                                       unsigned *index)
{
    *index = 0;
    for (const struct member *member = table_members; member < table_members + table_member_count;
         member++) {
        if (member->place != place)
            continue;
        if (member->len == len && memcmp(member->name, name, len) == 0)
            return member;
        ++*index;
    }
    return NULL;
}

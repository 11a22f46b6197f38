/* SPDX-License-Identifier: MIT */
/* The members that a table in JSON may have, and where their values go. */
#include "table_parser.h"

#include <string.h>

#define NAME(text) text, sizeof(text) - 1 /* a name and its length */

/* A member whose value is stored in a struct, and one with values inside. */
#define STORED(context, name, kind, structure, at)                                                 \
    {                                                                                              \
        context, NAME(#name), kind, offsetof(struct structure, at), 0                              \
    }
#define NESTED(context, name, kind, inside)                                                        \
    {                                                                                              \
        context, NAME(#name), kind, 0, inside                                                      \
    }

/* Rows come first, as they are looked up most often. */
const struct member table_members[] = {
    STORED(AT_ROW, lo, MEMBER_TEXT, read_row, lo),
    STORED(AT_ROW, hi, MEMBER_TEXT, read_row, hi),
    NESTED(AT_ROW, count, MEMBER_COUNT, 0),
    STORED(AT_ROW, bin, MEMBER_TEXT, read_row, bin),
    NESTED(AT_ROW, counts, MEMBER_LIST, AT_COUNTS),
    NESTED(AT_ROW, key, MEMBER_KEY, 0),
    NESTED(AT_ROW, key_bytes, MEMBER_KEY_BYTES, 0),

    STORED(AT_TABLE, schema, MEMBER_TEXT, read_table, schema),
    STORED(AT_TABLE, mode, MEMBER_TEXT, read_table, mode),
    STORED(AT_TABLE, type, MEMBER_TEXT, read_table, type),
    NESTED(AT_TABLE, options, MEMBER_LIST, AT_OPTIONS),
    STORED(AT_TABLE, total, MEMBER_COUNT, read_table, totals.total),
    STORED(AT_TABLE, counted, MEMBER_COUNT, read_table, totals.counted),
    STORED(AT_TABLE, other, MEMBER_COUNT, read_table, totals.other),
    STORED(AT_TABLE, below, MEMBER_COUNT, read_table, totals.below),
    STORED(AT_TABLE, above, MEMBER_COUNT, read_table, totals.above),
    STORED(AT_TABLE, invalid, MEMBER_COUNT, read_table, totals.invalid),
    NESTED(AT_TABLE, channels, MEMBER_LIST, AT_CHANNELS),
    NESTED(AT_TABLE, bins, MEMBER_LIST, AT_BINS),
    NESTED(AT_TABLE, moments, MEMBER_OBJECT, AT_MOMENTS),
    NESTED(AT_TABLE, share, MEMBER_OBJECT, AT_SHARE),
    NESTED(AT_TABLE, channel_stats, MEMBER_LIST, AT_CHANNEL_STATS),
    NESTED(AT_TABLE, key, MEMBER_KEY, 0),
    NESTED(AT_TABLE, key_bytes, MEMBER_KEY_BYTES, 0),
    STORED(AT_TABLE, keys, MEMBER_COUNT, read_table, keys),
    STORED(AT_TABLE, table, MEMBER_COUNT, read_table, table),
    STORED(AT_TABLE, tables, MEMBER_COUNT, read_table, tables),

    NESTED(AT_STATS_OF_CHANNEL, moments, MEMBER_OBJECT, AT_MOMENTS),

    STORED(AT_CHANNEL, total, MEMBER_COUNT, read_totals, total),
    STORED(AT_CHANNEL, below, MEMBER_COUNT, read_totals, below),
    STORED(AT_CHANNEL, above, MEMBER_COUNT, read_totals, above),
    STORED(AT_CHANNEL, invalid, MEMBER_COUNT, read_totals, invalid),

    STORED(AT_MOMENTS, least, MEMBER_TEXT, read_moments, least),
    STORED(AT_MOMENTS, greatest, MEMBER_TEXT, read_moments, greatest),
    STORED(AT_MOMENTS, lowest, MEMBER_COUNT, read_moments, lowest),
    STORED(AT_MOMENTS, highest, MEMBER_COUNT, read_moments, highest),
    STORED(AT_MOMENTS, sum, MEMBER_TEXT, read_moments, sum),
    STORED(AT_MOMENTS, squares, MEMBER_TEXT, read_moments, squares),
    STORED(AT_MOMENTS, check, MEMBER_TEXT, read_moments, check),

    STORED(AT_SHARE, of, MEMBER_COUNT, shard_record, job.of),
    NESTED(AT_SHARE, parts, MEMBER_LIST, AT_PARTS),
    NESTED(AT_SHARE, list, MEMBER_OBJECT, AT_LIST),
    NESTED(AT_SHARE, files, MEMBER_LIST, AT_FILES),

    STORED(AT_LIST, files, MEMBER_COUNT, shard_record, job.files),
    STORED(AT_LIST, bytes, MEMBER_COUNT, shard_record, job.bytes),
    STORED(AT_LIST, digest, MEMBER_DIGEST, shard_record, job.digest),

    STORED(AT_FILE, index, MEMBER_COUNT, shard_file, index),
    STORED(AT_FILE, name, MEMBER_TEXT, shard_file, name),
    STORED(AT_FILE, size, MEMBER_COUNT, shard_file, size),
    STORED(AT_FILE, fingerprint, MEMBER_DIGEST, shard_file, fingerprint),
    NESTED(AT_FILE, ranges, MEMBER_LIST, AT_RANGES),
};

const size_t table_member_count = sizeof table_members / sizeof table_members[0];

#define ALL_OF(members) (((uint64_t)1 << (members)) - 1)

const struct context_form table_contexts[CONTEXTS] = {
    [AT_TOP] = {"the text", false, 0, AT_TABLE},
    [AT_TABLE] = {"the table", true, HAS_SCHEMA | HAS_MODE, 0},
    [AT_OPTIONS] = {"\"options\"", false, 0, 0},
    [AT_BINS] = {"\"bins\"", false, 0, AT_ROW},
    [AT_ROW] = {"a bin", true, 0, 0}, /* check_row */
    [AT_COUNTS] = {"\"counts\"", false, 0, 0},
    [AT_CHANNELS] = {"\"channels\"", false, 0, AT_CHANNEL},
    [AT_CHANNEL] = {"a channel", true, ALL_OF(4), 0},
    [AT_CHANNEL_STATS] = {"\"channel_stats\"", false, 0, AT_STATS_OF_CHANNEL},
    [AT_STATS_OF_CHANNEL] = {"the statistics of a channel", true, ALL_OF(1), 0},
    [AT_MOMENTS] = {"\"moments\"", true, ALL_OF(7), 0},
    [AT_SHARE] = {"\"share\"", true, ALL_OF(4), 0},
    [AT_PARTS] = {"\"parts\"", false, 0, AT_PART},
    [AT_PART] = {"a range of shares", false, 0, 0},
    [AT_LIST] = {"\"list\"", true, ALL_OF(3), 0},
    [AT_FILES] = {"\"files\"", false, 0, AT_FILE},
    [AT_FILE] = {"a file of \"share\"", true, ALL_OF(5), 0},
    [AT_RANGES] = {"\"ranges\"", false, 0, AT_RANGE},
    [AT_RANGE] = {"a range of bytes", false, 0, 0},
};

const struct member *table_member_find(enum context context, const char *name, size_t len,
                                       uint64_t *bit)
{
    *bit = 1;
    for (size_t i = 0; i < table_member_count; i++) {
        const struct member *member = &table_members[i];
        if (member->context != context)
            continue;
        if (member->len == len && memcmp(member->name, name, len) == 0)
            return member;
        *bit <<= 1;
    }
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* What the library finds in the text, put into a read_table. */
#include "table_parser.h"
#include "src/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_LENGTH_MAX ((size_t)1 << 20)     /* of a text: "--edges=" may be long */
#define KEY_LENGTH_MAX (3 * FIELD_RECORD_MAX) /* as text, in which U+FFFD is three bytes */
#define IGNORED_DEPTH_MAX 64
#define OPTIONS_READ_MAX 64

/* Rows that a table may have beyond those of the sum before it is refused for that. At its end the
 * reason would be a better one, such as another option, but rows take memory. */
#define ROWS_BEYOND ((size_t)65536)

static struct level *top_level(struct table_json *json)
{
    return &json->levels[json->depth];
}

static const struct context_form *form_of(const struct level *level)
{
    return &table_contexts[level->context];
}

/* True if the value that begins is of an unknown member. */
static bool is_ignored(struct table_json *json)
{
    return json->ignored > 0 || (form_of(top_level(json))->is_object && !json->member);
}

/* Refuses a value that no list and no object has asked for. */
static int refuse_value(struct table_json *json, const char *what)
{
    const struct context_form *form = form_of(top_level(json));
    if (json->member && form->is_object)
        return reason_set(&json->why, "\"%s\" cannot be %s", json->member->name, what);
    return reason_set(&json->why, "%s in %s", what, form->name);
}

static int refuse_memory(struct table_json *json)
{
    return reason_set(&json->why, "out of memory");
}

/* --- strings and numbers --- */

/* Reads all of a text as a whole number. True if it is one of 64 bits. */
static bool read_count(const char *digits, size_t len, uint64_t *count)
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

/* Returns the value of a digit as tables have it; 16 if it is none. */
static unsigned hexadecimal_digit(char digit)
{
    return digit >= '0' && digit <= '9'   ? (unsigned)(digit - '0')
           : digit >= 'a' && digit <= 'f' ? (unsigned)(digit - 'a' + 10)
                                          : 16;
}

static bool read_digest(const char *digits, size_t len, uint64_t *digest)
{
    *digest = 0;
    for (size_t i = 0; i < len; i++) {
        const unsigned digit = hexadecimal_digit(digits[i]);
        if (digit > 15)
            return false;
        *digest = *digest << 4 | digit;
    }
    return len == 16;
}

/* Returns what members of the context are stored in. */
static void *target_of(struct read_table *table, enum context context)
{
    switch (context) {
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

static int store_text(struct table_json *json, char *target, const char *text, size_t len)
{
    const struct member *member = json->member;
    if (member->context == AT_FILE) {
        if (len > SHARD_NAME_MAX)
            return reason_set(&json->why, "the name of a file is too long");
        char *name = strndup(text, len);
        memcpy(target, &name, sizeof name);
        return name ? 0 : refuse_memory(json);
    }
    if (strcmp(member->name, "schema") == 0 && read_table_check_schema(text, len, &json->why) != 0)
        return -1;
    return read_table_add_text(json->reader.table, text, len, (text_at *)(void *)target,
                               &json->why);
}

/* Returns the key that is being read; NULL, with a reason, if memory is short. */
static struct read_key *open_key(struct table_json *json)
{
    struct read_table *table = json->reader.table;
    if (json->member->context == AT_TABLE)
        return &table->key;
    return read_table_add_key(table, &json->why) == 0 ? &table->keys_of_rows[table->key_count - 1]
                                                      : NULL;
}

static int store_key(struct table_json *json, const char *text, size_t len)
{
    struct read_key *key = open_key(json);
    if (!key || read_table_add_text(json->reader.table, text, len, &key->text, &json->why) != 0)
        return -1;
    key->text_len = (uint32_t)len;
    key->has |= READ_KEY_TEXT;
    return 0;
}

/* Stores the digits of bytes, and makes them the bytes. */
static int store_key_bytes(struct table_json *json, const char *digits, size_t len)
{
    struct read_table *table = json->reader.table;
    struct read_key *key = open_key(json);
    if (!key || read_table_add_text(table, digits, len, &key->bytes, &json->why) != 0)
        return -1;
    char *bytes = len > 0 ? table->text + key->bytes : NULL;
    for (size_t i = 0; i < len; i++) {
        const unsigned digit = hexadecimal_digit(digits[i]);
        if (len % 2 != 0 || digit > 15)
            return reason_set(&json->why, "\"key_bytes\" are not bytes in hexadecimal");
        bytes[i / 2] = (char)(i % 2 == 0 ? digit << 4 : (unsigned char)bytes[i / 2] | digit);
    }
    key->bytes_len = (uint32_t)(len / 2);
    key->has |= READ_KEY_BYTES;
    return 0;
}

static int store_member(struct table_json *json, const char *text, size_t len, bool is_number)
{
    const struct member *member = json->member;
    struct read_table *table = json->reader.table;
    char *target = (char *)target_of(table, member->context) + member->offset;
    uint64_t count = 0;
    switch (member->kind) {
    case MEMBER_COUNT:
        if (!is_number || !read_count(text, len, &count))
            return reason_set(&json->why,
                              "\"%s\" is not a whole number from 0 to 18446744073709551615",
                              member->name);
        if (member->context == AT_ROW)
            return read_table_add_count(table, count, &json->why);
        memcpy(target, &count, sizeof count);
        return 0;
    case MEMBER_DIGEST:
        if (is_number || !read_digest(text, len, &count))
            return reason_set(&json->why, "a digest is not 16 hexadecimal digits");
        memcpy(target, &count, sizeof count);
        return 0;
    case MEMBER_TEXT:
        return store_text(json, target, text, len);
    case MEMBER_KEY:
        return is_number ? refuse_value(json, "a number") : store_key(json, text, len);
    case MEMBER_KEY_BYTES:
        return is_number ? refuse_value(json, "a number") : store_key_bytes(json, text, len);
    default:
        return refuse_value(json, is_number ? "a number" : "a string");
    }
}

/* Returns the range that is being read. */
static struct shard_range *open_range(struct shard_record *shard, enum context context)
{
    if (context == AT_PART)
        return &shard->shards[shard->shard_count - 1];
    struct shard_file *file = &shard->files[shard->file_count - 1];
    return &file->ranges[file->range_count - 1];
}

/* Stores a number of a list. */
static int store_number(struct table_json *json, const char *text, size_t len)
{
    struct level *level = top_level(json);
    const bool is_count = level->context == AT_COUNTS;
    struct read_table *table = json->reader.table;
    uint64_t number;
    if (!read_count(text, len, &number) || (!is_count && level->items == 2))
        return refuse_value(json, "a wrong number");
    const unsigned item = level->items++;
    if (is_count && item == CHANNELS_MAX)
        return reason_set(&json->why, "there are too many \"counts\"");
    if (is_count)
        return read_table_add_count(table, number, &json->why);
    struct shard_range *range = open_range(&table->shard, level->context);
    *(item == 0 ? &range->begin : &range->end) = number;
    return 0;
}

static int scalar(struct table_json *json, const char *text, size_t len, bool is_number)
{
    const struct level *level = top_level(json);
    struct words *options = &json->reader.table->options;
    json->is_quiet = false;
    if (is_ignored(json))
        return 0;
    const bool is_key = form_of(level)->is_object && json->member->kind >= MEMBER_KEY &&
                        json->member->kind <= MEMBER_KEY_BYTES;
    if (len > (is_key ? KEY_LENGTH_MAX : TEXT_LENGTH_MAX) || (!is_key && memchr(text, '\0', len)))
        return reason_set(&json->why, "a text is too long, or has a NUL byte");
    if (form_of(level)->is_object)
        return store_member(json, text, len, is_number);
    switch (level->context) {
    case AT_OPTIONS:
        if (is_number)
            break;
        if (options->count == OPTIONS_READ_MAX)
            return reason_set(&json->why, "there are too many \"options\"");
        return words_add(options, text, len) == 0 ? 0 : refuse_memory(json);
    case AT_PART:
    case AT_RANGE:
    case AT_COUNTS:
        if (is_number)
            return store_number(json, text, len);
        break;
    default:
        break;
    }
    return refuse_value(json, is_number ? "a number" : "a string");
}

/* --- objects and lists that begin --- */

static int add_range(struct table_json *json, struct shard_range **ranges, size_t *count)
{
    struct shard_range *longer = grow_by_one(*ranges, *count, sizeof *longer);
    if (!longer)
        return refuse_memory(json);
    *ranges = longer;
    longer[(*count)++] = (struct shard_range){0, 0};
    return 0;
}

static int add_file(struct table_json *json, struct shard_record *shard)
{
    struct shard_file *longer = grow_by_one(shard->files, shard->file_count, sizeof *longer);
    if (!longer)
        return refuse_memory(json);
    shard->files = longer;
    longer[shard->file_count++] = (struct shard_file){0};
    return 0;
}

/* Adds what the context will fill in. */
static int begin_context(struct table_json *json, enum context context)
{
    struct read_table *table = json->reader.table;
    struct shard_record *shard = &table->shard;
    struct shard_file *file = shard->file_count ? &shard->files[shard->file_count - 1] : NULL;
    const struct histogram *histogram = json->reader.histogram;
    switch (context) {
    case AT_TABLE:
        read_table_clear(table);
        if (json->reader.known->rows > 0)
            row_finder_begin(&json->finder, histogram);
        return 0;
    case AT_ROW:
        if (table->key_count > 0 && table->key_count >= json->reader.max_keys)
            return reason_set(&json->why, "more than %zu keys; use a greater --max-keys",
                              json->reader.max_keys);
        if (histogram->mode && table->key_count == 0 &&
            table->row_count >= histogram->bins + ROWS_BEYOND)
            return reason_set(&json->why, "there are more bins than in the tables before");
        return read_table_add_row(table, &json->why);
    case AT_CHANNEL:
        if (table->channel_count == CHANNELS_MAX)
            return reason_set(&json->why, "there are too many \"channels\"");
        table->channel_count++;
        return 0;
    case AT_MOMENTS:
        if (table->moment_count == CHANNELS_MAX)
            return reason_set(&json->why, "there are too many \"moments\"");
        table->moment_count++;
        return 0;
    case AT_FILE:
        return add_file(json, shard);
    case AT_PART:
        if (shard->shard_count == SHARDS_MAX)
            return reason_set(&json->why, "there are too many \"parts\"");
        return add_range(json, &shard->shards, &shard->shard_count);
    case AT_RANGE:
        return add_range(json, &file->ranges, &file->range_count);
    default:
        return 0;
    }
}

static int enter(struct table_json *json, bool is_object)
{
    const struct context_form *form = form_of(top_level(json));
    const enum member_kind kind = is_object ? MEMBER_OBJECT : MEMBER_LIST;
    json->is_quiet = false;
    if (is_ignored(json)) {
        if (++json->ignored > IGNORED_DEPTH_MAX)
            return reason_set(&json->why, "nested too deeply");
        return 0;
    }
    const enum context inside = form->is_object ? json->member->inside : form->inside;
    const bool is_expected = form->is_object
                                 ? json->member->kind == kind
                                 : inside && table_contexts[inside].is_object == is_object;
    if (!is_expected)
        return refuse_value(json, is_object ? "an object" : "a list");
    json->levels[++json->depth] = (struct level){.context = inside};
    return begin_context(json, inside);
}

/* --- objects and lists that end --- */

/* Members of a row, as table_members has them. */
enum { ROW_LO = 1, ROW_HI = 2, ROW_COUNT = 4, ROW_BIN = 8, ROW_COUNTS = 16, ROW_KEY = 32 };

/* Checks that a row is complete: it has edges, or just the name of a group or a key, and counts. */
static int check_row(struct table_json *json)
{
    const uint64_t seen = top_level(json)->seen;
    const uint64_t edges = seen & (ROW_LO | ROW_HI);
    const bool has_place = edges == (ROW_LO | ROW_HI) || (!edges && (seen & (ROW_BIN | ROW_KEY)));
    if (!has_place)
        return reason_set(&json->why, "a bin has no \"%s\"", edges & ROW_LO ? "hi" : "lo");
    if (!(seen & ROW_COUNT) == !(seen & ROW_COUNTS))
        return reason_set(&json->why, "a bin has no \"count\"");
    return 0;
}

/* Checks that the context has everything that it must have. */
static int check_complete(struct table_json *json)
{
    const struct level *level = top_level(json);
    const struct context_form *form = form_of(level);
    const uint64_t missing = form->needed & ~level->seen;
    uint64_t bit = 1;
    if (missing && level->context == AT_TABLE)
        return reason_set(&json->why, NOT_A_TABLE);
    for (size_t i = 0; missing && i < table_member_count; i++) {
        if (table_members[i].context != level->context)
            continue;
        if (missing & bit)
            return reason_set(&json->why, "%s has no \"%s\"", form->name, table_members[i].name);
        bit <<= 1;
    }
    if (level->context == AT_ROW)
        return check_row(json);
    if ((level->context == AT_PART || level->context == AT_RANGE) && level->items != 2)
        return reason_set(&json->why, "a range must have two numbers");
    return 0;
}

/* Finds the row that ended: after it, known rows may be read. */
static void end_row(struct table_json *json)
{
    const struct read_table *table = json->reader.table;
    struct read_row *read = &table->rows[table->row_count - 1];
    if (json->reader.known->rows == 0)
        return;
    const size_t row =
        row_finder_find(&json->finder, read_text(table, read->lo), read_text(table, read->hi));
    if (row == SIZE_MAX)
        return;
    read->row = (uint32_t)row;
    json->row = row;
}

static int end_table(struct table_json *json, uint64_t seen)
{
    const struct table_reader *reader = &json->reader;
    reader->table->has = seen;
    json->tables++;
    return reader->add(reader->arg, reader->table, &json->why);
}

static int leave(struct table_json *json)
{
    const struct level *level = top_level(json);
    json->is_quiet = false;
    if (json->ignored > 0) {
        json->ignored--;
        return 0;
    }
    if (check_complete(json) != 0)
        return -1;
    json->depth--;
    if (level->context == AT_ROW)
        end_row(json);
    return level->context == AT_TABLE ? end_table(json, level->seen) : 0;
}

/* --- the library's callbacks, which return 1; or 0 with the reason in json->why --- */

static int on_number(void *arg, const char *text, size_t len)
{
    return scalar(arg, text, len, true) == 0;
}

static int on_string(void *arg, const unsigned char *text, size_t len)
{
    return scalar(arg, (const char *)text, len, false) == 0;
}

static int on_other(struct table_json *json, const char *what)
{
    json->is_quiet = false;
    return is_ignored(json) || refuse_value(json, what) == 0;
}

/* Which is the key of records without one. */
static int on_null(void *arg)
{
    struct table_json *json = arg;
    const struct member *member = json->member;
    if (is_ignored(json) || !form_of(top_level(json))->is_object || member->kind != MEMBER_KEY ||
        member->context != AT_TABLE)
        return on_other(json, "null");
    json->is_quiet = false;
    json->reader.table->key.has = READ_KEY_MISSING;
    return 1;
}

static int on_boolean(void *arg, int value)
{
    (void)value;
    return on_other(arg, "a truth value");
}

/* Finds the member, and refuses one that was there already. */
static int on_key(void *arg, const unsigned char *name, size_t len)
{
    struct table_json *json = arg;
    struct level *level = top_level(json);
    uint64_t bit;
    json->is_quiet = false;
    if (json->ignored > 0)
        return 1;
    json->member = table_member_find(level->context, (const char *)name, len, &bit);
    if (!json->member)
        return 1;
    if (level->seen & bit) {
        reason_set(&json->why, "\"%s\" occurs twice in %s", json->member->name,
                   form_of(level)->name);
        return 0;
    }
    level->seen |= bit;
    return 1;
}

static int on_object(void *arg)
{
    return enter(arg, true) == 0;
}

static int on_list(void *arg)
{
    return enter(arg, false) == 0;
}

static int on_end(void *arg)
{
    return leave(arg) == 0;
}

const yajl_callbacks json_callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_list,
    .yajl_end_array = on_end,
};

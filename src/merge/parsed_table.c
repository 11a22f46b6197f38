/* SPDX-License-Identifier: MIT */
/* Reads tables in JSON: what src/report/json.c writes, and other programs have perhaps written
 * anew. A function for each object, from a range of bytes up to a table. Members that none of them
 * knows are left out, whatever they are. */
#include "parsed_table.h"

#include "src/base/memory.h"
#include "src/base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_LENGTH_MAX ((size_t)1 << 20)     /* of a text: "--edges=" may be long */
#define KEY_LENGTH_MAX (3 * FIELD_RECORD_MAX) /* as text, in which U+FFFD is three bytes */
#define TEXTS_MAX UINT32_MAX                  /* of a table, together */
#define ROWS_READ_MAX (BINS_MAX + 3)
#define ROW_LENGTH_MAX UINT8_MAX        /* of a row's text that is kept: a few numbers and names */
#define ROWS_KEPT_MAX ((size_t)1 << 20) /* of a table */
#define OPTIONS_READ_MAX 64
#define DEPTH_MAX 72 /* the deepest known member, and 64 levels of an unknown one */

/* Rows that a table may have beyond those of the sum before it is refused for that. At its end the
 * error would be a better one, such as another option, but rows take memory. */
#define ROWS_BEYOND ((size_t)65536)

/* The message for a file of something else, such as the log that was counted. */
#define NOT_A_TABLE "not a table in JSON; make one with 'gpuhisto ... -F json'"

#define TEXT_TOO_LONG "a text is too long, or has a NUL byte"
#define TABLE_TOO_LONG "the table is too long"

#define SCHEMA "gpuhisto/1"
#define SCHEMA_SHOWN 60

/* --- what is refused: each of these sets the error, and returns -1 --- */

/* Names the byte up to which the file was read. */
static int refuse(struct table_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse(struct table_reader *reader, const char *format, ...)
{
    struct error what;
    va_list args;
    va_start(args, format);
    vsnprintf(what.text, sizeof what.text, format, args);
    va_end(args);
    return error_set(reader->error, "byte %" PRIu64 ": %.900s", json_offset(&reader->json),
                     what.text);
}

static int refuse_memory(struct table_reader *reader)
{
    return error_set(reader->error, "out of memory");
}

/* Says what is wrong with the text. */
static int refuse_text(struct table_reader *reader)
{
    struct json *json = &reader->json;
    if (reader->input.has_failed)
        return error_set(reader->error, "%s", strerror(errno));
    if (!json->is_invalid)
        return refuse(reader, "%s", json->wrong);
    if (json->at == json->end)
        return refuse(reader, "the table is truncated");
    json->at++; /* bytes are told from 1 on */
    return refuse(reader, "not JSON: %s", json->wrong);
}

/* Refuses a value of a kind that does not belong there. */
static int refuse_kind(struct table_reader *reader, enum json_kind kind)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",       [JSON_STRING] = "a string",
        [JSON_NUMBER] = "a number",  [JSON_TRUE] = "a truth value", [JSON_FALSE] = "a truth value",
        [JSON_NULL] = "null",
    };
    if (kind == JSON_NONE)
        return refuse_text(reader);
    if (!reader->member)
        return refuse(reader, "%s in the text", names[kind]);
    if (reader->is_in_list)
        return refuse(reader, "%s in \"%s\"", names[kind], reader->member);
    return refuse(reader, "\"%s\" cannot be %s", reader->member, names[kind]);
}

/* --- objects and lists --- */

/* Reads a value to what it is for. 0, or -1 with an error. */
typedef int read_value(struct table_reader *reader, void *to);

struct member {
    const char *name; /* NULL: the end of a list of members */
    read_value *read;
    void *to;
    unsigned flags; /* some of these: */
};

enum { NEEDED = 1, LIST = 2 /* whose elements `read` reads */ };

/* Reads the beginning of a value, which must be of that kind. */
static int expect(struct table_reader *reader, enum json_kind kind)
{
    const enum json_kind found = json_value(&reader->json);
    return found == kind ? 0 : refuse_kind(reader, found);
}

/* Returns the string, name or number that was read, decoded in place, and its length. */
static const char *text_of(struct table_reader *reader, size_t *len)
{
    struct json *json = &reader->json;
    unsigned char *text = reader->input.buffer + (json->from - reader->input.buffer);
    *len = (size_t)(json->to - json->from);
    if (json->has_escapes) {
        *len = json_decode(json->from, json->to, text);
        reader->has_decoded = true;
    }
    return (const char *)text;
}

static bool is_same(const char *name, const char *text, size_t len)
{
    size_t same = 0;
    while (same < len && name[same] && name[same] == text[same])
        same++;
    return same == len && !name[len];
}

/* Returns the member whose name was read; the one without a name: it is not known. */
static const struct member *find_member(struct table_reader *reader, const struct member *members)
{
    size_t len;
    const char *name = text_of(reader, &len);
    while (members->name && !is_same(members->name, name, len))
        members++;
    return members;
}

/* Reads a list, which is a member or in one. */
static int read_list(struct table_reader *reader, read_value *read, void *to)
{
    const char *name = reader->member;
    if (expect(reader, JSON_ARRAY) != 0)
        return -1;
    while (json_next_element(&reader->json)) {
        reader->member = name;
        reader->is_in_list = true;
        if (read(reader, to) != 0)
            return -1;
    }
    return reader->json.wrong ? refuse_text(reader) : 0;
}

/* Reads an object, which has at most 64 members that are known. Sets *seen, unless it is NULL, to
 * those that were there, as bits. */
static int read_object(struct table_reader *reader, const char *what, const struct member *members,
                       uint64_t *seen)
{
    struct json *json = &reader->json;
    uint64_t bits = 0;
    if (expect(reader, JSON_OBJECT) != 0)
        return -1;
    while (json_next_member(json)) {
        const struct member *member = find_member(reader, members);
        const uint64_t bit = (uint64_t)1 << (member - members);
        reader->member = member->name;
        reader->is_in_list = false;
        if (!member->name) {
            if (!json_skip(json))
                break;
            continue;
        }
        if (bits & bit)
            return refuse(reader, "\"%s\" occurs twice in %s", member->name, what);
        bits |= bit;
        if ((member->flags & LIST ? read_list(reader, member->read, member->to)
                                  : member->read(reader, member->to)) != 0)
            return -1;
    }
    if (json->wrong)
        return refuse_text(reader);
    for (unsigned i = 0; members[i].name; i++)
        if (members[i].flags & NEEDED && !(bits >> i & 1))
            return refuse(reader, "%s has no \"%s\"", what, members[i].name);
    if (seen)
        *seen = bits;
    return 0;
}

/* --- texts and numbers --- */

/* Reads a string, which may have zeros in it; or if it may be one a number. */
static int take_text(struct table_reader *reader, bool may_be_number, const char **text,
                     size_t *len)
{
    const enum json_kind kind = json_value(&reader->json);
    if (kind != JSON_STRING && !(may_be_number && kind == JSON_NUMBER))
        return refuse_kind(reader, kind);
    *text = text_of(reader, len);
    return *len <= KEY_LENGTH_MAX ? 0 : refuse(reader, TEXT_TOO_LONG);
}

/* Reads a text that is no key. */
static int take_plain_text(struct table_reader *reader, bool may_be_number, const char **text,
                           size_t *len)
{
    if (take_text(reader, may_be_number, text, len) != 0)
        return -1;
    return *len > TEXT_LENGTH_MAX || memchr(*text, '\0', *len) ? refuse(reader, TEXT_TOO_LONG) : 0;
}

/* Appends a copy of text[0..len) to the table's texts. */
static int add_text(struct table_reader *reader, const char *text, size_t len, text_at *at)
{
    struct parsed_table *table = &reader->table;
    const size_t begin = table->text_len ? table->text_len : 1; /* 0 is the empty text */
    *at = 0;
    if (len == 0)
        return 0;
    if (len >= TEXTS_MAX - begin)
        return refuse(reader, TABLE_TOO_LONG);
    char *longer = grow_list(table->text, &table->text_capacity, begin + len + 1, 1);
    if (!longer)
        return refuse_memory(reader);
    table->text = longer;
    memcpy(table->text + begin, text, len);
    table->text[begin + len] = '\0';
    table->text_len = begin + len + 1;
    *at = (text_at)begin;
    return 0;
}

static int read_text(struct table_reader *reader, void *to)
{
    const char *text;
    size_t len;
    if (take_plain_text(reader, true, &text, &len) != 0)
        return -1;
    return add_text(reader, text, len, to);
}

/* Takes the number that was read as a whole one. True if it is one of 64 bits. */
static bool take_count(const struct json *json, uint64_t *count)
{
    const size_t len = (size_t)(json->to - json->from);
    uint64_t number = 0;
    for (size_t i = 0; i < len; i++) {
        const unsigned digit = json->from[i] - (unsigned)'0';
        if (digit > 9 || (i >= 19 && number > (UINT64_MAX - digit) / 10))
            return false;
        number = number * 10 + digit;
    }
    *count = number;
    return true;
}

static int read_count(struct table_reader *reader, void *to)
{
    const enum json_kind kind = json_value(&reader->json);
    if (kind == JSON_NUMBER && take_count(&reader->json, to))
        return 0;
    if (kind != JSON_NUMBER && kind != JSON_STRING)
        return refuse_kind(reader, kind);
    return refuse(reader, "\"%s\" is not a whole number from 0 to 18446744073709551615",
                  reader->member);
}

static int read_digest(struct table_reader *reader, void *to)
{
    uint64_t *digest = to;
    const char *digits;
    size_t len;
    if (take_text(reader, false, &digits, &len) != 0)
        return -1;
    bool is_right = len == 16;
    for (size_t i = 0; is_right && i < len; i++) {
        *digest = *digest << 4 | show_digit(digits[i]);
        is_right = show_digit(digits[i]) < 16;
    }
    return is_right ? 0 : refuse(reader, "a digest is not 16 hexadecimal digits");
}

/* --- keys --- */

/* Replaces digits in hexadecimal by the bytes that they stand for. */
static int decode_bytes(struct table_reader *reader, char *bytes, size_t *len)
{
    for (size_t i = 0; i < *len; i++) {
        const unsigned digit = show_digit(bytes[i]);
        if (*len % 2 != 0 || digit > 15)
            return refuse(reader, "\"key_bytes\" are not bytes in hexadecimal");
        bytes[i / 2] = (char)(i % 2 == 0 ? digit << 4 : (unsigned char)bytes[i / 2] | digit);
    }
    *len /= 2;
    return 0;
}

/* The parts of a key that is being read, as key_parts_join has them: one after the other. */
struct key_parts {
    bool are_bytes;
    text_at begin; /* 0: there is no byte so far */
    size_t len;    /* of all */
    unsigned count;
    uint32_t lengths[KEY_PARTS_MAX];
};

/* Appends text to the parts. Returns where it was put, or NULL: it was refused. */
static char *append(struct table_reader *reader, struct key_parts *parts, const char *text,
                    size_t len)
{
    text_at at;
    if (add_text(reader, text, len, &at) != 0)
        return NULL;
    parts->begin = parts->begin ? parts->begin : at;
    parts->len += len;
    return reader->table.text + at;
}

static int read_key_part(struct table_reader *reader, void *to)
{
    struct key_parts *parts = to;
    struct parsed_table *table = &reader->table;
    const char *text;
    size_t len;
    if (parts->count == KEY_PARTS_MAX)
        return refuse(reader, "\"%s\" has more than %d texts", reader->member, KEY_PARTS_MAX);
    if (take_text(reader, false, &text, &len) != 0)
        return -1;
    if (len > 0) {
        char *added = append(reader, parts, text, len);
        size_t decoded = len;
        if (!added || (parts->are_bytes && decode_bytes(reader, added, &decoded) != 0))
            return -1;
        parts->len -= len - decoded;
        len = decoded;
        table->text_len = (size_t)(added - table->text) + len; /* the next part follows */
    }
    parts->lengths[parts->count++] = (uint32_t)len;
    return 0;
}

/* Reads a name, which is a text or a list of parts. */
static int read_name(struct table_reader *reader, struct read_name *name, bool are_bytes)
{
    struct json *json = &reader->json;
    struct key_parts parts = {.are_bytes = are_bytes};
    json_skip_space(json);
    const bool is_list = json->at < json->end && *json->at == '[';
    if ((is_list ? read_list(reader, read_key_part, &parts) : read_key_part(reader, &parts)) != 0)
        return -1;
    const size_t lengths = parts.count > 1 ? (parts.count - 1) * sizeof parts.lengths[0] : 0;
    if (lengths > 0 && !append(reader, &parts, (const char *)parts.lengths, lengths))
        return -1;
    *name = (struct read_name){.at = parts.begin,
                               .len = (uint32_t)parts.len,
                               .parts = (uint8_t)(is_list ? parts.count : 0),
                               .is_there = true};
    return 0;
}

static int read_key(struct table_reader *reader, void *to)
{
    return read_name(reader, &((struct read_key *)to)->text, false);
}

/* Reads a key's bytes, which are in hexadecimal. */
static int read_key_bytes(struct table_reader *reader, void *to)
{
    return read_name(reader, &((struct read_key *)to)->bytes, true);
}

/* Reads the key of a table, which may be of records without a key. */
static int read_key_of_table(struct table_reader *reader, void *to)
{
    json_skip_space(&reader->json);
    if (reader->json.at == reader->json.end || *reader->json.at != 'n')
        return read_key(reader, to);
    ((struct read_key *)to)->is_missing = true;
    return expect(reader, JSON_NULL);
}

/* --- rows --- */

/* Makes room for one more in a list that has `count`. */
static inline void *grown(void *list, size_t *capacity, size_t count, size_t size)
{
    return count < *capacity ? list : grow_list(list, capacity, count + 1, size);
}

static inline int add_row(struct table_reader *reader, uint32_t row)
{
    struct parsed_table *table = &reader->table;
    if (table->key_count > 0 && table->key_count >= reader->keys_max)
        return refuse(reader, "more than %zu key%s; use a greater --max-keys", reader->keys_max,
                      reader->keys_max == 1 ? "" : "s");
    if (table->key_count == 0 && table->row_count >= reader->rows_max)
        return refuse(reader, "there are more bins than in the tables before");
    if (table->row_count == (table->key_count > 0 ? ROW_NONE : ROWS_READ_MAX))
        return refuse(reader, TABLE_TOO_LONG);
    uint32_t *longer = grown(table->rows, &table->row_capacity, table->row_count, sizeof *longer);
    if (!longer)
        return refuse_memory(reader);
    table->rows = longer;
    table->rows[table->row_count++] = row;
    return 0;
}

/* Adds the count of a channel to the last row. */
static inline int add_count(struct table_reader *reader, uint64_t count)
{
    struct parsed_table *table = &reader->table;
    if (table->count_count == ROWS_READ_MAX * CHANNELS_MAX)
        return refuse(reader, TABLE_TOO_LONG);
    uint64_t *longer =
        grown(table->counts, &table->count_capacity, table->count_count, sizeof *longer);
    if (!longer)
        return refuse_memory(reader);
    table->counts = longer;
    table->counts[table->count_count++] = count;
    return 0;
}

static int read_row_count(struct table_reader *reader, void *to)
{
    uint64_t count, *end = to;
    if (read_count(reader, &count) != 0)
        return -1;
    *end = json_offset(&reader->json);
    return add_count(reader, count);
}

static int read_channel_count(struct table_reader *reader, void *to)
{
    uint64_t count;
    unsigned *channels = to;
    if (expect(reader, JSON_NUMBER) != 0)
        return -1;
    if (!take_count(&reader->json, &count))
        return refuse(reader, "a wrong number in \"counts\"");
    if ((*channels)++ == CHANNELS_MAX)
        return refuse(reader, "there are too many \"counts\"");
    return add_count(reader, count);
}

/* Adds the key of the last row; rows before it that have none get an empty one. */
static int add_key(struct table_reader *reader, const struct read_key *key)
{
    struct parsed_table *table = &reader->table;
    struct read_key *longer =
        grow_list(table->keys_of_rows, &table->key_capacity, table->row_count, sizeof *longer);
    if (!longer)
        return refuse_memory(reader);
    table->keys_of_rows = longer;
    memset(longer + table->key_count, 0, (table->row_count - table->key_count) * sizeof *longer);
    table->key_count = table->row_count;
    longer[table->key_count - 1] = *key;
    return 0;
}

/* Reads a row, which has edges, or just the name of a group or a key, and counts. */
static int read_row(struct table_reader *reader)
{
    enum { LO = 1, HI = 2, COUNT = 4, BIN = 8, COUNTS = 16, KEY = 32, KEY_BYTES = 64 };
    struct parsed_table *table = &reader->table;
    const size_t text_len = table->text_len;
    const uint64_t begin = json_offset(&reader->json);
    uint64_t count_end = 0, seen;
    unsigned channels = 0;
    struct row_texts texts = {0};
    struct read_key key = {0};
    reader->has_decoded = false;
    if (add_row(reader, ROW_UNKNOWN) != 0)
        return -1;
    const struct member members[] = {{"lo", read_text, &texts.lo, 0},
                                     {"hi", read_text, &texts.hi, 0},
                                     {"count", read_row_count, &count_end, 0},
                                     {"bin", read_text, &texts.bin, 0},
                                     {"counts", read_channel_count, &channels, LIST},
                                     {"key", read_key, &key, 0},
                                     {"key_bytes", read_key_bytes, &key, 0},
                                     {.name = NULL}};
    if (read_object(reader, "a bin", members, &seen) != 0)
        return -1;
    if ((seen & LO) ? !(seen & HI) : (seen & HI) || !(seen & (BIN | KEY)))
        return refuse(reader, "a bin has no \"%s\"", seen & LO ? "hi" : "lo");
    if (!(seen & COUNT) == !(seen & COUNTS))
        return refuse(reader, "a bin has no \"count\"");
    if (seen & (KEY | KEY_BYTES))
        return add_key(reader, &key);
    /* The text up to the count is kept, if all of it is there as it was, and a count is the end. */
    const struct json *json = &reader->json;
    const uint64_t before = reader->input.before;
    if (begin >= before && count_end + 1 == json_offset(json) && !reader->has_decoded) {
        const char *text = (const char *)reader->input.buffer + (begin - before);
        const size_t len = (size_t)((const char *)json->from - text);
        if (len <= ROW_LENGTH_MAX && table->row_count <= ROWS_KEPT_MAX &&
            add_text(reader, text, len, &texts.all) != 0)
            return -1;
    }
    const uint32_t row =
        reader->finder.spec ? row_finder_find(&reader->finder, table, &texts) : ROW_UNKNOWN;
    if (row == ROW_UNKNOWN) { /* of the first table, or of one that will be refused */
        reader->finder.spec = NULL;
        struct row_texts *longer =
            grown(table->texts, &table->texts_capacity, table->texts_count, sizeof *longer);
        if (!longer)
            return refuse_memory(reader);
        table->texts = longer;
        table->texts[table->texts_count++] = texts;
        return 0;
    }
    table->rows[table->row_count - 1] = row;
    table->text_len = text_len; /* nobody needs the texts */
    return 0;
}

/* Reads the count of a row, and the end of the row. NULL if something else is there, or not all of
 * it: then they are left to read_row. */
static const unsigned char *end_of_row(const unsigned char *at, const unsigned char *end,
                                       uint64_t *count)
{
    const unsigned char *digits = at;
    uint64_t number = 0;
    while (at < end && *at >= '0' && *at <= '9' && at - digits < 19)
        number = number * 10 + (*at++ - (unsigned)'0');
    *count = number;
    return at < end && *at == '}' && at > digits && (*digits != '0' || at == digits + 1) ? at + 1
                                                                                         : NULL;
}

/* Reads rows that were seen before, each after a comma but the first. Returns whether there are
 * any; -1 with an error. */
static int read_seen_rows(struct table_reader *reader)
{
    struct json *json = &reader->json;
    const unsigned char *begin = json->at, *at = begin;
    size_t next = reader->finder.next, len;
    uint64_t count;
    while ((len = row_finder_see(&reader->finder, at, (size_t)(json->end - at), &next)) > 0 &&
           (at = end_of_row(at + len, json->end, &count))) {
        if (add_row(reader, (uint32_t)next) != 0 || add_count(reader, count) != 0)
            return -1;
        json->at = at;
        reader->finder.next = ++next;
        reader->finder.follows = true;
        if (at == json->end || *at++ != ',')
            break;
    }
    return json->at > begin;
}

static int read_bin(struct table_reader *reader, void *to)
{
    (void)to;
    json_skip_space(&reader->json);
    const int seen = reader->finder.spec ? read_seen_rows(reader) : 0;
    return seen == 0 ? read_row(reader) : seen < 0 ? -1 : 0;
}

/* --- channels, moments and options --- */

static int read_channel(struct table_reader *reader, void *to)
{
    struct parsed_table *table = to;
    if (table->channel_count == CHANNELS_MAX)
        return refuse(reader, "there are too many \"channels\"");
    struct read_totals *totals = &table->channels[table->channel_count++];
    const struct member members[] = {{"total", read_count, &totals->total, NEEDED},
                                     {"below", read_count, &totals->below, NEEDED},
                                     {"above", read_count, &totals->above, NEEDED},
                                     {"invalid", read_count, &totals->invalid, NEEDED},
                                     {.name = NULL}};
    return read_object(reader, "a channel", members, NULL);
}

static int read_moments(struct table_reader *reader, void *to)
{
    struct parsed_table *table = to;
    if (table->moment_count == CHANNELS_MAX)
        return refuse(reader, "there are too many \"moments\"");
    struct read_moments *moments = &table->moments[table->moment_count++];
    const struct member members[] = {{"least", read_text, &moments->least, NEEDED},
                                     {"greatest", read_text, &moments->greatest, NEEDED},
                                     {"lowest", read_count, &moments->lowest, NEEDED},
                                     {"highest", read_count, &moments->highest, NEEDED},
                                     {"sum", read_text, &moments->sum, NEEDED},
                                     {"squares", read_text, &moments->squares, NEEDED},
                                     {"check", read_text, &moments->check, NEEDED},
                                     {.name = NULL}};
    return read_object(reader, "\"moments\"", members, NULL);
}

static int read_stats_of_channel(struct table_reader *reader, void *to)
{
    const struct member members[] = {{"moments", read_moments, to, NEEDED}, {.name = NULL}};
    return read_object(reader, "the statistics of a channel", members, NULL);
}

static int read_option(struct table_reader *reader, void *to)
{
    struct words *options = to;
    const char *text;
    size_t len;
    if (take_plain_text(reader, false, &text, &len) != 0)
        return -1;
    if (options->count == OPTIONS_READ_MAX)
        return refuse(reader, "there are too many \"options\"");
    return words_add(options, text, len) == 0 ? 0 : refuse_memory(reader);
}

/* --- shares --- */

struct range_ends {
    uint64_t ends[2];
    unsigned count;
};

static int read_range_end(struct table_reader *reader, void *to)
{
    struct range_ends *range = to;
    if (expect(reader, JSON_NUMBER) != 0)
        return -1;
    if (range->count == 2 || !take_count(&reader->json, &range->ends[range->count++]))
        return refuse(reader, "a wrong number in \"%s\"", reader->member);
    return 0;
}

/* Reads a pair of numbers, and appends it to a list. */
static int read_range(struct table_reader *reader, struct shard_range **ranges, size_t *count)
{
    struct range_ends range = {.count = 0};
    if (read_list(reader, read_range_end, &range) != 0)
        return -1;
    if (range.count != 2)
        return refuse(reader, "a range must have two numbers");
    struct shard_range *longer = grow_by_one(*ranges, *count, sizeof *longer);
    if (!longer)
        return refuse_memory(reader);
    *ranges = longer;
    longer[(*count)++] = (struct shard_range){range.ends[0], range.ends[1]};
    return 0;
}

static int read_part(struct table_reader *reader, void *to)
{
    struct shard_record *shard = to;
    if (shard->shard_count == SHARDS_MAX)
        return refuse(reader, "there are too many \"parts\"");
    return read_range(reader, &shard->shards, &shard->shard_count);
}

static int read_file_name(struct table_reader *reader, void *to)
{
    char **name = to;
    const char *text;
    size_t len;
    if (take_plain_text(reader, true, &text, &len) != 0)
        return -1;
    if (len > SHARD_NAME_MAX)
        return refuse(reader, "the name of a file is too long");
    *name = strndup(text, len);
    return *name ? 0 : refuse_memory(reader);
}

static int read_file_range(struct table_reader *reader, void *to)
{
    struct shard_file *file = to;
    return read_range(reader, &file->ranges, &file->range_count);
}

static int read_file(struct table_reader *reader, void *to)
{
    struct shard_record *shard = to;
    struct shard_file *longer = grow_by_one(shard->files, shard->file_count, sizeof *longer);
    if (!longer)
        return refuse_memory(reader);
    shard->files = longer;
    struct shard_file *file = &longer[shard->file_count++];
    *file = (struct shard_file){0};
    const struct member members[] = {{"index", read_count, &file->index, NEEDED},
                                     {"name", read_file_name, &file->name, NEEDED},
                                     {"size", read_count, &file->size, NEEDED},
                                     {"fingerprint", read_digest, &file->fingerprint, NEEDED},
                                     {"ranges", read_file_range, file, NEEDED | LIST},
                                     {.name = NULL}};
    return read_object(reader, "a file of \"share\"", members, NULL);
}

static int read_list_of_files(struct table_reader *reader, void *to)
{
    struct shard_job *job = to;
    const struct member members[] = {{"files", read_count, &job->files, NEEDED},
                                     {"bytes", read_count, &job->bytes, NEEDED},
                                     {"digest", read_digest, &job->digest, NEEDED},
                                     {.name = NULL}};
    return read_object(reader, "\"list\"", members, NULL);
}

static int read_share(struct table_reader *reader, void *to)
{
    struct shard_record *shard = to;
    const struct member members[] = {{"of", read_count, &shard->job.of, NEEDED},
                                     {"parts", read_part, shard, NEEDED | LIST},
                                     {"list", read_list_of_files, &shard->job, NEEDED},
                                     {"files", read_file, shard, NEEDED | LIST},
                                     {.name = NULL}};
    return read_object(reader, "\"share\"", members, NULL);
}

/* --- tables --- */

static int read_schema(struct table_reader *reader, void *to)
{
    const char *text;
    size_t len;
    (void)to;
    if (take_plain_text(reader, true, &text, &len) != 0)
        return -1;
    if (is_same(SCHEMA, text, len))
        return 0;
    return refuse(reader, "the schema is '%.*s', not '" SCHEMA "'",
                  (int)(len < SCHEMA_SHOWN ? len : SCHEMA_SHOWN), text);
}

static int read_table(struct table_reader *reader)
{
    struct parsed_table *table = &reader->table;
    struct read_totals *totals = &table->totals;
    /* The members are in the order of the bits. */
    const struct member members[] = {{"schema", read_schema, NULL, 0},
                                     {"mode", read_text, &table->mode, 0},
                                     {"options", read_option, &table->options, LIST},
                                     {"type", read_text, &table->type, 0},
                                     {"total", read_count, &totals->total, 0},
                                     {"counted", read_count, &totals->counted, 0},
                                     {"other", read_count, &totals->other, 0},
                                     {"below", read_count, &totals->below, 0},
                                     {"above", read_count, &totals->above, 0},
                                     {"invalid", read_count, &totals->invalid, 0},
                                     {"bins", read_bin, NULL, LIST},
                                     {"share", read_share, &table->shard, 0},
                                     {"key", read_key_of_table, &table->key, 0},
                                     {"key_bytes", read_key_bytes, &table->key, 0},
                                     {"keys", read_count, &table->keys, 0},
                                     {"table", read_count, &table->table, 0},
                                     {"tables", read_count, &table->tables, 0},
                                     {"channels", read_channel, table, LIST},
                                     {"moments", read_moments, table, 0},
                                     {"channel_stats", read_stats_of_channel, table, LIST},
                                     {.name = NULL}};
    if (read_object(reader, "the table", members, &table->has) != 0)
        return -1;
    return table->has & HAS_SCHEMA && table->has & HAS_MODE ? 0 : refuse(reader, NOT_A_TABLE);
}

/* Empties the table, but keeps the memory of rows and texts. */
static void clear_table(struct parsed_table *table)
{
    struct parsed_table empty = {
        .text = table->text,
        .text_capacity = table->text_capacity,
        .rows = table->rows,
        .row_capacity = table->row_capacity,
        .texts = table->texts,
        .texts_capacity = table->texts_capacity,
        .keys_of_rows = table->keys_of_rows,
        .key_capacity = table->key_capacity,
        .counts = table->counts,
        .count_capacity = table->count_capacity,
    };
    words_free(&table->options);
    shard_record_free(&table->shard);
    *table = empty;
}

int table_reader_begin(struct table_reader *reader)
{
    reader->tables = 0;
    if (json_start(&reader->json, &reader->input) != 0)
        return -1;
    reader->json.is_utf8 = true;
    reader->json.depth_max = DEPTH_MAX;
    return 0;
}

int table_reader_next(struct table_reader *reader, struct merge *merge, struct error *error)
{
    const struct histogram_spec *spec = &merge->spec;
    struct json *json = &reader->json;
    reader->error = error;
    clear_table(&reader->table);
    json_skip_space(json);
    if (json->wrong)
        return refuse_text(reader);
    if (json->at == json->end)
        return reader->tables > 0 ? 0 : error_set(error, "there is no table");
    if (reader->tables == 0 && *json->at != '{') {
        const size_t len = (size_t)(json->end - json->at);
        const char *program = len >= 4 && memcmp(json->at, "\x28\xb5\x2f\xfd", 4) == 0 ? "zstd"
                              : len >= 2 && memcmp(json->at, "\x1f\x8b", 2) == 0       ? "gzip"
                                                                                       : NULL;
        return program
                   ? error_set(error, "is compressed; decompress it first, with '%s -d'", program)
                   : error_set(error, NOT_A_TABLE);
    }
    reader->tables++;
    reader->member = NULL;
    reader->keys_max = merge->form.max_keys;
    reader->rows_max = spec->mode ? spec->bins + ROWS_BEYOND : SIZE_MAX;
    reader->finder.spec = NULL;
    if (spec->mode && (spec->mode->is_binned || spec->lines.key_count == 0))
        row_finder_begin(&reader->finder, spec, &merge->seen);
    return read_table(reader) == 0 ? 1 : -1;
}

void table_reader_free(struct table_reader *reader)
{
    struct parsed_table *table = &reader->table;
    clear_table(table);
    free(table->text);
    free(table->rows);
    free(table->texts);
    free(table->keys_of_rows);
    free(table->counts);
    free(reader->input.buffer);
}

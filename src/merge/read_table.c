/* SPDX-License-Identifier: MIT */
#include "read_table.h"
#include "shard_join.h"
#include "src/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX UINT32_MAX
#define ROWS_READ_MAX (BINS_MAX + 3)
#define TOO_LONG "the table is too long"

#define SCHEMA "gpuhisto/1"
#define SCHEMA_SHOWN 60

int read_table_check_schema(const char *text, size_t len, struct reason *why)
{
    if (len == strlen(SCHEMA) && memcmp(text, SCHEMA, len) == 0)
        return 0;
    return reason_set(why, "the schema is '%.*s', not '" SCHEMA "'",
                      (int)(len < SCHEMA_SHOWN ? len : SCHEMA_SHOWN), text);
}

int read_table_add_text(struct read_table *table, const char *text, size_t len, text_at *at,
                        struct reason *why)
{
    const size_t begin = table->text_len ? table->text_len : 1; /* 0 is the empty text */
    *at = 0;
    if (len == 0)
        return 0;
    if (len >= TEXT_MAX - begin)
        return reason_set(why, TOO_LONG);
    char *longer = grow_list(table->text, &table->text_room, begin + len + 1, 1);
    if (!longer)
        return reason_set(why, "out of memory");
    table->text = longer;
    memcpy(table->text + begin, text, len);
    table->text[begin + len] = '\0';
    table->text_len = begin + len + 1;
    *at = (text_at)begin;
    return 0;
}

int read_table_add_row(struct read_table *table, struct reason *why)
{
    const size_t most = table->key_count > 0 ? READ_ROW_NONE : ROWS_READ_MAX;
    if (table->row_count == most)
        return reason_set(why, TOO_LONG);
    struct read_row *longer =
        grow_list(table->rows, &table->row_room, table->row_count + 1, sizeof *longer);
    if (!longer)
        return reason_set(why, "out of memory");
    table->rows = longer;
    table->rows[table->row_count++] = (struct read_row){.row = READ_ROW_UNKNOWN};
    return 0;
}

int read_table_add_key(struct read_table *table, struct reason *why)
{
    const size_t before = table->key_count;
    if (before == table->row_count)
        return 0;
    struct read_key *longer =
        grow_list(table->keys_of_rows, &table->key_room, table->row_count, sizeof *longer);
    if (!longer)
        return reason_set(why, "out of memory");
    table->keys_of_rows = longer;
    table->key_count = table->row_count;
    memset(longer + before, 0, (table->key_count - before) * sizeof *longer);
    return 0;
}

struct key_name read_key_name(const struct read_table *table, const struct read_key *key)
{
    const bool is_bytes = key->has & READ_KEY_BYTES;
    if (key->has & READ_KEY_MISSING)
        return (struct key_name){NULL, 0};
    return (struct key_name){
        (const unsigned char *)read_text(table, is_bytes ? key->bytes : key->text),
        is_bytes ? key->bytes_len : key->text_len};
}

int read_table_add_count(struct read_table *table, uint64_t count, struct reason *why)
{
    if (table->count_count == ROWS_READ_MAX * CHANNELS_MAX)
        return reason_set(why, TOO_LONG);
    uint64_t *longer =
        grow_list(table->counts, &table->count_room, table->count_count + 1, sizeof *longer);
    if (!longer)
        return reason_set(why, "out of memory");
    table->counts = longer;
    table->counts[table->count_count++] = count;
    return 0;
}

int read_table_add_known(struct read_table *table, size_t row, uint64_t count, struct reason *why)
{
    if (table->row_count == table->row_room || table->row_count == ROWS_READ_MAX ||
        table->count_count == table->count_room) {
        if (read_table_add_row(table, why) != 0)
            return -1;
        table->row_count--;
        if (read_table_add_count(table, count, why) != 0)
            return -1;
        table->count_count--;
    }
    table->rows[table->row_count++] = (struct read_row){.row = (uint32_t)row};
    table->counts[table->count_count++] = count;
    return 0;
}

void read_table_clear(struct read_table *table)
{
    struct read_table empty = {
        .text = table->text,
        .text_room = table->text_room,
        .rows = table->rows,
        .row_room = table->row_room,
        .keys_of_rows = table->keys_of_rows,
        .key_room = table->key_room,
        .counts = table->counts,
        .count_room = table->count_room,
    };
    words_free(&table->options);
    shard_record_free(&table->shard);
    *table = empty;
}

void read_table_free(struct read_table *table)
{
    read_table_clear(table);
    free(table->text);
    free(table->rows);
    free(table->keys_of_rows);
    free(table->counts);
    *table = (struct read_table){0};
}

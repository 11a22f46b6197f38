#include "read_table.h"
#include "share_join.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX UINT32_MAX
#define ROWS_READ_MAX (BINS_MAX + 3)

/* Makes room for `wanted` elements. */
static bool grow_to(void **list, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room)
        return true;
    size_t more = *room ? *room : 256;
    while (more < wanted)
        more *= 2;
    void *longer = realloc(*list, more * size);
    if (!longer)
        return false;
    *list = longer;
    *room = more;
    return true;
}

enum read_table_error read_table_add_text(struct read_table *table, const char *text, size_t len,
                                          text_at *at)
{
    const size_t begin = table->text_len ? table->text_len : 1; /* 0 is the empty text */
    *at = 0;
    if (len == 0)
        return READ_TABLE_OK;
    if (len >= TEXT_MAX - begin)
        return READ_TABLE_TOO_LONG;
    void *list = table->text;
    if (!grow_to(&list, &table->text_room, begin + len + 1, 1))
        return READ_TABLE_NO_MEMORY;
    table->text = list;
    memcpy(table->text + begin, text, len);
    table->text[begin + len] = '\0';
    table->text_len = begin + len + 1;
    *at = (text_at)begin;
    return READ_TABLE_OK;
}

enum read_table_error read_table_add_row(struct read_table *table)
{
    void *list = table->rows;
    if (table->row_count == ROWS_READ_MAX)
        return READ_TABLE_TOO_LONG;
    if (!grow_to(&list, &table->row_room, table->row_count + 1, sizeof table->rows[0]))
        return READ_TABLE_NO_MEMORY;
    table->rows = list;
    table->rows[table->row_count++] = (struct read_row){0};
    return READ_TABLE_OK;
}

enum read_table_error read_table_add_count(struct read_table *table, uint64_t count)
{
    void *list = table->counts;
    if (table->count_count == ROWS_READ_MAX * CHANNELS_MAX)
        return READ_TABLE_TOO_LONG;
    if (!grow_to(&list, &table->count_room, table->count_count + 1, sizeof table->counts[0]))
        return READ_TABLE_NO_MEMORY;
    table->counts = list;
    table->counts[table->count_count++] = count;
    return READ_TABLE_OK;
}

void read_table_clear(struct read_table *table)
{
    struct read_table empty = {
        .text = table->text,
        .text_room = table->text_room,
        .rows = table->rows,
        .row_room = table->row_room,
        .counts = table->counts,
        .count_room = table->count_room,
    };
    words_free(&table->options);
    share_free(&table->share);
    *table = empty;
}

void read_table_free(struct read_table *table)
{
    read_table_clear(table);
    free(table->text);
    free(table->rows);
    free(table->counts);
    *table = (struct read_table){0};
}

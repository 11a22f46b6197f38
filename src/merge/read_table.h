/* SPDX-License-Identifier: MIT */
/* A table as it was read from a file. Only its form was checked. */
#ifndef GPUHISTO_READ_TABLE_H
#define GPUHISTO_READ_TABLE_H

#include "src/base/reason.h"
#include "src/base/words.h"
#include "src/count/histogram.h"
#include "src/report/shard_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text of the table: where it begins in table->text; 0 is the empty one. */
typedef uint32_t text_at;

/* A key: the bytes of one of these texts, which may have zeros in them. */
struct read_key {
    unsigned has;        /* some of these: */
    text_at text, bytes; /* as text, and if they are not UTF-8 as bytes */
    uint32_t text_len, bytes_len;
};

enum { READ_KEY_TEXT = 1, READ_KEY_BYTES = 2, READ_KEY_MISSING = 4 /* of records without a key */ };

struct read_row {
    text_at bin, lo, hi; /* empty where there is none */
    uint32_t row;        /* of the histogram, or one of these: */
};

#define READ_ROW_UNKNOWN UINT32_MAX    /* its texts say which */
#define READ_ROW_NONE (UINT32_MAX - 1) /* a bin that no number can be in */

/* Totals of a table, or of one channel of it. */
struct read_totals {
    uint64_t total, counted, other, below, above, invalid;
};

struct read_moments {
    text_at least, greatest, sum, squares, check;
    uint64_t lowest, highest;
};

/* Members of a table, as bits, in the order of table_members.c. */
enum {
    HAS_SCHEMA = 1 << 0,
    HAS_MODE = 1 << 1,
    HAS_OPTIONS = 1 << 3,
    HAS_TOTAL = 1 << 4,
    HAS_COUNTED = 1 << 5,
    HAS_OTHER = 1 << 6,
    HAS_BELOW = 1 << 7,
    HAS_ABOVE = 1 << 8,
    HAS_INVALID = 1 << 9,
    HAS_BINS = 1 << 11,
    HAS_SHARE = 1 << 13,
    HAS_KEY = 1 << 15,
    HAS_KEY_BYTES = 1 << 16,
    HAS_KEYS = 1 << 17,
    HAS_TABLE = 1 << 18,
    HAS_TABLES = 1 << 19,
};

struct read_table {
    uint64_t has; /* the members that were there */
    char *text;   /* all texts, each with its end */
    size_t text_len, text_room;

    text_at schema, mode, type;
    struct words options;
    struct read_key key;    /* whose numbers these are */
    uint64_t keys;          /* how many keys are in this table together, each without a name */
    uint64_t table, tables; /* which of how many tables of the result this is, from 1 */
    struct read_totals totals;
    struct read_totals channels[CHANNELS_MAX]; /* total, below, above and invalid of each */
    size_t channel_count;

    struct read_row *rows;
    size_t row_count, row_room;
    struct read_key *keys_of_rows; /* of the first `key_count` rows */
    size_t key_count, key_room;
    uint64_t *counts; /* of the first row, one for each channel, then of the second one ... */
    size_t count_count, count_room;

    struct read_moments moments[CHANNELS_MAX]; /* of each channel */
    size_t moment_count;
    struct shard_record shard;
};

/* Checks that text[0..len) is the schema of our tables. 0, or -1 with a reason. */
int read_table_check_schema(const char *text, size_t len, struct reason *why);

/* Each of these appends something. 0; or -1 with a reason if memory is short or the table too long,
 * and nothing has changed. */

/* A copy of text[0..len), in which there is no 0 unless it is a key; sets *at. */
int read_table_add_text(struct read_table *table, const char *text, size_t len, text_at *at,
                        struct reason *why);

/* An empty row, and the count of a channel for the last row. */
int read_table_add_row(struct read_table *table, struct reason *why);
int read_table_add_count(struct read_table *table, uint64_t count, struct reason *why);

/* An empty key of the last row, unless it has one. */
int read_table_add_key(struct read_table *table, struct reason *why);

/* A row of one channel by its number, without texts. */
int read_table_add_known(struct read_table *table, size_t row, uint64_t count, struct reason *why);

/* Empties the table, but keeps the memory of rows and texts. All zeros is an empty table. */
void read_table_clear(struct read_table *table);

void read_table_free(struct read_table *table);

/* Returns a key's name. */
struct key_name read_key_name(const struct read_table *table, const struct read_key *key);

static inline const char *read_text(const struct read_table *table, text_at at)
{
    return at ? table->text + at : "";
}

#endif

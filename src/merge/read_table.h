/* SPDX-License-Identifier: MIT */
/* A table as it was read from a FILE: nothing is known yet but that its parts have the right form.
 */
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

struct read_table {
    char *text; /* of all texts, each with its end */
    size_t text_len, text_room;

    text_at schema, mode, type;
    struct words options;
    struct read_totals totals;
    struct read_totals channels[CHANNELS_MAX]; /* total, below, above and invalid of each */
    size_t channel_count;

    struct read_row *rows;
    size_t row_count, row_room;
    uint64_t *counts; /* of the first row, one for each channel, then of the second one ... */
    size_t count_count, count_room;

    struct read_moments moments[CHANNELS_MAX]; /* of each channel */
    size_t moment_count;
    struct shard_record shard;
    uint64_t has; /* a bit for each member that was there: table_json.c */
};

/* Whether text[0..len) is the schema of the tables that are read here. 0, or -1 with a reason. */
int read_table_check_schema(const char *text, size_t len, struct reason *why);

/* Why a table could not take more. */
enum read_table_error {
    READ_TABLE_OK = 0,
    READ_TABLE_NO_MEMORY,
    READ_TABLE_TOO_LONG,
};

/* Appends a copy of text[0..len), in which there is no 0, and sets *at. */
enum read_table_error read_table_add_text(struct read_table *table, const char *text, size_t len,
                                          text_at *at);

/* Appends an empty row. */
enum read_table_error read_table_add_row(struct read_table *table);

/* Appends the count of a channel to the last row. */
enum read_table_error read_table_add_count(struct read_table *table, uint64_t count);

/* Appends a row of one channel whose texts are known, and need not be kept. On an error nothing is
 * appended. */
enum read_table_error read_table_add_known(struct read_table *table, size_t row, uint64_t count);

/* Makes the table an empty one, which keeps the memory of rows and texts. All zeros is empty too.
 */
void read_table_clear(struct read_table *table);

/* Frees everything. */
void read_table_free(struct read_table *table);

/* The text itself. */
static inline const char *read_text(const struct read_table *table, text_at at)
{
    return at ? table->text + at : "";
}

#endif

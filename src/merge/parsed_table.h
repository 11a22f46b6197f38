/* SPDX-License-Identifier: MIT */
/* Reads the text of a table into rows of a histogram. For src/merge alone. */
#ifndef GPUHISTO_MERGE_PARSED_TABLE_H
#define GPUHISTO_MERGE_PARSED_TABLE_H

#include "merge.h"

#include "src/text/json_reader.h"

/* --- a table as it was read: only its form was checked --- */

/* A text of the table: where it begins in table->text; 0 is the empty one. */
typedef uint32_t text_at;

/* The name of a key in the table's texts, which may have zeros in it. */
struct read_name {
    text_at at;
    uint32_t len;
    uint8_t parts; /* that were listed; 0: it was no list */
    bool is_there;
};

struct read_key {
    struct read_name text, bytes; /* as text, and if that is not UTF-8 as bytes */
    bool is_missing;              /* of records without a key */
};

/* Instead of a row of the histogram: */
#define ROW_UNKNOWN UINT32_MAX    /* its texts say which, if there is one */
#define ROW_NONE (UINT32_MAX - 1) /* a bin that no number can be in */

/* The texts of a row; those that it has not are empty. */
struct row_texts {
    text_at bin, lo, hi;
    text_at all; /* of the row, up to its count, if that is its end */
};

/* Totals of a table, or of one channel of it. */
struct read_totals {
    uint64_t total, counted, other, below, above, invalid;
};

struct read_moments {
    text_at least, greatest, sum, squares, check;
    uint64_t lowest, highest;
};

/* Members of a table, as bits, in the order of read_table(). */
enum {
    HAS_SCHEMA = 1 << 0,
    HAS_MODE = 1 << 1,
    HAS_OPTIONS = 1 << 2,
    HAS_TOTAL = 1 << 4,
    HAS_COUNTED = 1 << 5,
    HAS_OTHER = 1 << 6,
    HAS_BELOW = 1 << 7,
    HAS_ABOVE = 1 << 8,
    HAS_INVALID = 1 << 9,
    HAS_BINS = 1 << 10,
    HAS_SHARE = 1 << 11,
    HAS_KEY = 1 << 12,
    HAS_KEYS = 1 << 14,
    HAS_TABLE = 1 << 15,
    HAS_TABLES = 1 << 16,
};

struct parsed_table {
    uint64_t has; /* the members that were there */
    char *text;   /* all texts, each with its end */
    size_t text_len, text_capacity;

    text_at mode, type;
    struct words options;
    struct read_key key;    /* whose numbers these are */
    uint64_t keys;          /* how many keys are in this table together, each without a name */
    uint64_t table, tables; /* which of how many tables of the result this is, from 1 */
    struct read_totals totals;
    struct read_totals channels[CHANNELS_MAX]; /* total, below, above and invalid of each */
    size_t channel_count;

    uint32_t *rows;
    size_t row_count, row_capacity;
    struct row_texts *texts; /* of the rows that are unknown */
    size_t texts_count, texts_capacity;
    struct read_key *keys_of_rows; /* of the first `key_count` rows */
    size_t key_count, key_capacity;
    uint64_t *counts; /* of the first row, one for each channel, then of the second one ... */
    size_t count_count, count_capacity;

    struct read_moments moments[CHANNELS_MAX]; /* of each channel */
    size_t moment_count;
    struct shard_record shard;
};

static inline const char *table_text(const struct parsed_table *table, text_at at)
{
    return at ? table->text + at : "";
}

/* --- table_rows.c: rows of the histogram, found by the texts that a table shows; one key and its
 * numbers, or a key in each row --- */

/* A walk over the rows of a table, which mostly follow each other. */
struct row_finder {
    const struct histogram_spec *spec;
    struct seen_rows *seen;
    size_t rows;            /* of the histogram */
    size_t next;            /* the row after the last one that was found */
    bool follows;           /* the last one followed the one before it */
    struct row_label label; /* of the row that was guessed last */
};

/* Begins a walk over the rows of a table of the histogram. */
void row_finder_begin(struct row_finder *finder, const struct histogram_spec *spec,
                      struct seen_rows *seen);

/* Returns how many bytes of text[0..len) are a row that was seen before, up to its count; or 0. It
 * is *next or one soon after that, which *next becomes. */
size_t row_finder_see(const struct row_finder *finder, const unsigned char *text, size_t len,
                      size_t *next);

/* Returns the row that has such texts, ROW_NONE for a bin that no value can be in, or
 * ROW_UNKNOWN: there is no such row. Rows of numbers may come in any order; others ascend. */
uint32_t row_finder_find(struct row_finder *finder, const struct parsed_table *table,
                         const struct row_texts *texts);

/* Proves that the rows of a table are the histogram's, ascend, and add up to the table's totals;
 * stores in each row which of the histogram's it is; and reads the moments of each channel, if
 * the histogram has any. 0; or -1 with an error, which does not depend on other tables. */
int table_rows_check(struct parsed_table *table, const struct histogram_spec *spec,
                     struct seen_rows *seen, struct moments *moments, struct error *error);

/* Adds the counts and moments of a table that was checked to a tally of the same histogram, and
 * marks its blocks, if it has them. No count overflows if the tally's samples and the table's total
 * together do not. */
void table_rows_add(const struct parsed_table *table, const struct histogram_spec *spec,
                    const struct moments *moments, struct tally *tally);

/* Checks that a table has the keys that its options, with or without --by, and its mode let it
 * have: all of them, as none are left out by --top. Rows of lines must also add up. 0; or -1 with
 * an error. */
int table_keys_check(const struct parsed_table *table, const struct histogram_spec *spec,
                     struct error *error);

/* Adds a table that was checked: the rows of lines, or the numbers in `tally`, which has blocks. */
void table_keys_add(const struct parsed_table *table, const struct tally *tally,
                    struct key_tallies *keys);

/* --- parsed_table.c --- */

/* A reader of the tables of one file after another. All zeros but `read`, which reads the file and,
 * where it fails, leaves the reason in errno. */
struct table_reader {
    struct json json;
    struct json_input input;
    struct parsed_table table; /* that was read; it is the reader's */
    uint64_t tables;           /* that were read of the file */
    struct row_finder finder;
    size_t rows_max; /* of a table; then it is refused for that */
    size_t keys_max;
    const char *member; /* that is being read; NULL: none */
    bool is_in_list;    /* in the list that it is */
    bool has_decoded;   /* text in the input's buffer was replaced since a row began */
    struct error *error;
};

/* Begins a file, of which nothing was read. 0, or -1: memory is short. */
int table_reader_begin(struct table_reader *reader);

/* Reads the next table, whose rows are then known if the sum so far has any. 1; 0 at the file's
 * end; or -1 with an error, which says at which byte. */
int table_reader_next(struct table_reader *reader, struct merge *merge, struct error *error);

void table_reader_free(struct table_reader *reader);

#endif

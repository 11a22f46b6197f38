/* SPDX-License-Identifier: MIT */
/* Tables in JSON, read from memory: with rows that were seen before, or each one anew. */
#ifndef GPUHISTO_TESTS_READ_JSON_H
#define GPUHISTO_TESTS_READ_JSON_H

#include "src/merge/merge.h"

struct read_json {
    bool forgets;       /* after each table which rows were seen */
    size_t piece;       /* the text is read so many bytes at a time; 0: a line, as tables are */
    struct merge sum;   /* set, also if the text is refused: merge_free it */
    struct error error; /* it is refused; empty: it is not */
    size_t rows_seen;   /* which later tables have in the same text */
};

/* Adds all tables of a text. */
void read_json(struct read_json *reading, const char *text, size_t len);

/* Adds all tables of a text, and then again with each row read anew. False if the verdicts, the
 * errors or the sums differ. */
bool read_json_agrees(struct read_json *reading, const char *text, size_t len);

/* True if two sums have the same keys, with as many samples, or both have none. */
bool same_keys(const struct merge *one, const struct merge *other);

#endif

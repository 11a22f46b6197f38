/* SPDX-License-Identifier: MIT */
/* Tables in JSON, read from memory: with rows that are known, or by the library alone. */
#ifndef GPUHISTO_TESTS_READ_JSON_H
#define GPUHISTO_TESTS_READ_JSON_H

#include "src/merge/merge.h"

struct read_json {
    size_t knows;      /* after the first table its rows are known, if there are no more bins */
    size_t piece;      /* the text is read so many bytes at a time; 0: a line, as tables are */
    struct merge sum;  /* set, also if the text is refused: merge_free it */
    struct reason why; /* it is refused; empty: it is not */
    size_t rows_known; /* that were taken from the text without the library */
};

/* Adds all tables of a text. */
void read_json(struct read_json *reading, const char *text, size_t len);

/* The same, and again by the library alone; false if the verdicts, the reasons or the sums differ.
 */
bool read_json_agrees(struct read_json *reading, const char *text, size_t len);

/* Whether two sums have the same keys, with as many samples, or both have none. */
bool same_keys(const struct merge *one, const struct merge *other);

#endif

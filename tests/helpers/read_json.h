/* SPDX-License-Identifier: MIT */
/* Tables in JSON, read from memory: with rows that are known, or by the library alone. */
#ifndef GPUHISTO_TESTS_READ_JSON_H
#define GPUHISTO_TESTS_READ_JSON_H

#include "src/merge/merge.h"

struct read_json {
    struct merge merge; /* the sum; merge_free it */
    size_t knows;       /* after the first table its rows are known, if there are no more bins */
    size_t piece;       /* the text is read so many bytes at a time; 0: a line, as tables are */
    size_t rows_known;  /* set: rows that were taken from the text without the library */
};

/* Adds all tables of a text. 0, or -1 with a reason. */
int read_json(struct read_json *reading, const char *text, size_t len, struct reason *why);

/* Reads a text by the library alone, and in pieces with known rows, if there are no more than
 * `bins` of them. Whether both agree: on the verdict, the reason, and the sum. *right is set to
 * whether it was taken, and *rows_known to how many rows were. */
bool read_json_agrees(const char *text, size_t len, size_t piece, size_t bins, bool *right,
                      size_t *rows_known);

#endif

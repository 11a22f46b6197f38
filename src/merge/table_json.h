/* SPDX-License-Identifier: MIT */
/* Tables in JSON, read a piece of text at a time. */
#ifndef GPUHISTO_TABLE_JSON_H
#define GPUHISTO_TABLE_JSON_H

#include "known_rows.h"
#include "read_table.h"

#include "src/base/reason.h"

/* What is wrong with a file of something else, such as the log that was counted. */
#define NOT_A_TABLE "not a table in JSON; make one with 'gpuhisto ... -F json'"

struct table_reader {
    struct read_table *table;          /* the table that is being read */
    const struct histogram *histogram; /* of the sum so far; without a mode: there is none */
    const struct known_rows *known;    /* rows of the histogram; `add` may make them known */
    size_t max_keys;                   /* of a table */

    /* Gets each table as soon as it ends. 0, or -1 with a reason. */
    int (*add)(void *arg, struct read_table *table, struct reason *why);
    void *arg;
};

struct table_json;

/* Begins the text of one file. NULL: memory is short. */
struct table_json *table_json_open(const struct table_reader *reader);

/* Reads the next piece. 0, or -1 with a reason that says at which byte, and nothing more to be
 * read. */
int table_json_read(struct table_json *json, const unsigned char *text, size_t len,
                    struct reason *why);

/* At the end of the text: 0, or -1 with a reason if it ends too soon. */
int table_json_end(struct table_json *json, struct reason *why);

void table_json_close(struct table_json *json);

/* Loads the library that reads JSON (src/base/library.h); before all else here. 0, or -1 with the
 * reason set: it is not there, or this build has none. */
int table_json_load(struct reason *why);

#endif

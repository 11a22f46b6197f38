/* SPDX-License-Identifier: MIT */
/* Tables in JSON, read a piece of text at a time. */
#ifndef GPUHISTO_TABLE_JSON_H
#define GPUHISTO_TABLE_JSON_H

#include "known_rows.h"
#include "read_table.h"

#include "src/base/reason.h"

/* Members of a table, as bits of read_table.has. */
#define HAS_SCHEMA ((uint64_t)1 << 0)
#define HAS_MODE ((uint64_t)1 << 1)
#define HAS_TYPE ((uint64_t)1 << 2)
#define HAS_OPTIONS ((uint64_t)1 << 3)
#define HAS_TOTAL ((uint64_t)1 << 4)
#define HAS_COUNTED ((uint64_t)1 << 5)
#define HAS_OTHER ((uint64_t)1 << 6)
#define HAS_BELOW ((uint64_t)1 << 7)
#define HAS_ABOVE ((uint64_t)1 << 8)
#define HAS_INVALID ((uint64_t)1 << 9)
#define HAS_CHANNELS ((uint64_t)1 << 10)
#define HAS_BINS ((uint64_t)1 << 11)
#define HAS_SHARE ((uint64_t)1 << 13)

/* What is wrong with a FILE of something else, such as the log that was counted. */
#define NOT_A_TABLE "not a table in JSON; make one with 'gpuhisto ... -F json'"

/* Takes a table that was read, and is changed with the next one. 0, or -1 with a reason. */
typedef int table_taker(void *arg, struct read_table *table, struct reason *why);

struct table_json;

/* Begins the text of one file. NULL: memory is short. `take` is called for each table, as soon as
 * it ends. Rows that `known` has, while it has any, are those of `histogram`; all that take may
 * change of both is to make them known. */
struct table_json *table_json_open(struct read_table *table, const struct histogram *histogram,
                                   const struct known_rows *known, table_taker *take, void *arg);

/* Reads on. 0, or -1 with a reason that says at which byte, and nothing more to be read. */
int table_json_read(struct table_json *json, const unsigned char *text, size_t len,
                    struct reason *why);

/* At the end of the text: 0, or -1 with a reason if it ends too soon. */
int table_json_end(struct table_json *json, struct reason *why);

void table_json_close(struct table_json *json);

/* Loads the library that reads JSON (src/base/library.h); before all else here. 0, or -1 with the
 * reason set: it is not there, or this build has none. */
int table_json_load(struct reason *why);

#endif

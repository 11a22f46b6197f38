/* SPDX-License-Identifier: MIT */
/* What reads a table in JSON: the library's parser, and where in a table it is. For table_json.c,
 * table_events.c and table_fill.c alone. */
#ifndef GPUHISTO_TABLE_PARSER_H
#define GPUHISTO_TABLE_PARSER_H

#include "find_rows.h"
#include "table_json.h"
#include "table_members.h"

#include <setjmp.h>
#include <yajl/yajl_parse.h>

#define DEPTH_MAX 8

struct level {
    enum place place;
    uint64_t seen;  /* members, as bits */
    unsigned items; /* numbers of a range, or counts of a bin, so far */
};

struct table_json {
    yajl_handle parser; /* NULL: not made yet */
    jmp_buf no_memory;  /* where the library was called */
    struct read_table *table;
    const struct histogram *histogram;
    const struct known_rows *known;
    table_taker *take;
    void *arg;
    struct reason why; /* set if a callback has refused */
    struct level levels[DEPTH_MAX];
    unsigned depth;              /* levels[depth] is where the parser is */
    const struct member *member; /* of an object, whose value comes next; NULL: ignored */
    unsigned ignored;            /* levels within a value that is ignored */
    uint64_t tables;             /* that ended */
    uint64_t consumed;           /* bytes before the piece that is read */
    uint64_t last;               /* byte of the last value */
    bool quiet;                  /* no value since the slice began */
    uint64_t open;               /* bytes of the slices since the last value */
    struct row_finder finder;    /* of this table's rows, while any are known */
    size_t row;                  /* which one has just ended; 0: none, or it is not known */
};

static inline struct level *json_level(struct table_json *json)
{
    return &json->levels[json->depth];
}

/* --- table_events.c --- */

extern const yajl_callbacks json_callbacks;

/* --- table_fill.c: what values are put into. Like a callback, each returns 1; or 0 with a reason
 * in json->why. --- */

int json_refuse(struct table_json *json, const char *text);
int json_no_memory(struct table_json *json);

/* A value begins that no list and no object has asked for. */
int json_unexpected(struct table_json *json, const char *what);

/* Adds the count of a channel to a row. */
int json_add_count(struct table_json *json, uint64_t count);

/* Reads all of a text as a whole number; whether it is one. */
bool json_read_count(const char *digits, size_t len, uint64_t *count);

/* Sets a member to its text, or its number. */
int json_set_member(struct table_json *json, const char *text, size_t len, bool is_number);

/* Makes room for what an object or a list will fill in. */
int json_make_room(struct table_json *json, enum place place);

/* The range that is being read. */
struct shard_range *json_range(struct table_json *json);

#endif

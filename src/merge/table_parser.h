/* SPDX-License-Identifier: MIT */
/* The parser of tables in JSON: what a table consists of, and where in it the parser is. For
 * table_json.c, table_events.c and table_members.c alone. */
#ifndef GPUHISTO_TABLE_PARSER_H
#define GPUHISTO_TABLE_PARSER_H

#include "find_rows.h"
#include "table_json.h"

#include <setjmp.h>
#include <yajl/yajl_parse.h>

/* --- table_members.c --- */

/* The object or list that is being read. */
enum context {
    AT_TOP,
    AT_TABLE,
    AT_OPTIONS,
    AT_BINS,
    AT_ROW,
    AT_COUNTS,
    AT_CHANNELS,
    AT_CHANNEL,
    AT_CHANNEL_STATS,
    AT_STATS_OF_CHANNEL,
    AT_MOMENTS,
    AT_SHARE,
    AT_PARTS,
    AT_PART,
    AT_LIST,
    AT_FILES,
    AT_FILE,
    AT_RANGES,
    AT_RANGE,
    CONTEXTS,
};

/* What a member's value is. */
enum member_kind {
    MEMBER_TEXT,      /* a string, or a number as it is written */
    MEMBER_COUNT,     /* a whole number of 64 bits */
    MEMBER_DIGEST,    /* a string of 16 hexadecimal digits */
    MEMBER_KEY,       /* a string, or of a table null */
    MEMBER_KEY_BYTES, /* a string of bytes in hexadecimal */
    MEMBER_OBJECT,
    MEMBER_LIST,
};

struct member {
    enum context context;
    const char *name;
    size_t len; /* of the name */
    enum member_kind kind;
    size_t offset;       /* of the value, in what the context fills in */
    enum context inside; /* of an object or a list */
};

struct context_form {
    const char *name; /* in messages */
    bool is_object;
    uint64_t needed;     /* an object: members that it must have, as bits */
    enum context inside; /* a list: of what, if that is objects or lists */
};

/* The members of each context follow each other; their order is that of the bits. */
extern const struct member table_members[];
extern const size_t table_member_count;
extern const struct context_form table_contexts[CONTEXTS];

/* Finds the member of a context by its name, and its bit. NULL: there is none. */
const struct member *table_member_find(enum context context, const char *name, size_t len,
                                       uint64_t *bit);

/* --- table_events.c --- */

#define DEPTH_MAX 8

struct level {
    enum context context;
    uint64_t seen;  /* members, as bits */
    unsigned items; /* numbers of a range, or counts of a bin, so far */
};

struct table_json {
    yajl_handle parser; /* NULL: not made yet */
    jmp_buf no_memory;  /* where the library was called */
    struct table_reader reader;
    struct reason why; /* set if a callback has refused */
    struct level levels[DEPTH_MAX];
    unsigned depth;              /* levels[depth] is where the parser is */
    const struct member *member; /* of an object, whose value comes next; NULL: ignored */
    unsigned ignored;            /* levels within a value that is ignored */
    uint64_t tables;             /* that ended */
    uint64_t consumed;           /* bytes before the piece that is read */
    uint64_t last;               /* byte of the last value */
    bool is_quiet;               /* no value since the slice began */
    uint64_t open;               /* bytes of the slices since the last value */
    struct row_finder finder;    /* of this table's rows, while any are known */
    size_t row;                  /* which one has just ended; 0: none, or it is not known */
};

extern const yajl_callbacks json_callbacks;

#endif

/* SPDX-License-Identifier: MIT */
/* What a table in JSON has: its members, as data. */
#ifndef GPUHISTO_TABLE_MEMBERS_H
#define GPUHISTO_TABLE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the parser is. */
enum place {
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
    PLACES,
};

/* What a member's value is. */
enum member_kind {
    MEMBER_TEXT,   /* a string, or a number as it is written */
    MEMBER_COUNT,  /* a whole number of 64 bits */
    MEMBER_DIGEST, /* a string of 16 hexadecimal digits */
    MEMBER_OBJECT,
    MEMBER_LIST,
    MEMBER_IGNORED,
};

struct member {
    enum place place;
    const char *name;
    size_t len; /* of the name */
    enum member_kind kind;
    size_t offset;     /* of the value, from what the place fills in */
    enum place inside; /* of objects and lists */
};

/* How each place is called in messages, whether it is an object, which members it must have, as
 * bits, and of a list what it is a list of. */
struct place_form {
    const char *name;
    bool is_object;
    uint64_t needed;
    bool of_objects, of_lists;
    enum place inside;
};

/* The members of each place follow each other; bits of read_table.has are those of a table. */
extern const struct member table_members[];
extern const size_t table_member_count;
extern const struct place_form table_places[PLACES];

/* The member of a place with this name, or NULL, and which one of that place it is. */
const struct member *table_member_find(enum place place, const char *name, size_t len,
                                       unsigned *index);

#endif

/* SPDX-License-Identifier: MIT */
/* The results of a run that has several: one for each group of its samples, which are those of a
 * file (--each) or of a block of it (--each=SIZE), or those with a key (--by). */
#ifndef GPUHISTO_GROUPS_H
#define GPUHISTO_GROUPS_H

#include "src/count/file_tallies.h"
#include "src/count/key_tallies.h"
#include "src/count/tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUP_REST "other"      /* the name of all keys that are not shown alone */
#define GROUP_MISSING "invalid" /* and of records without a key */

/* What says which group one is: its columns, in order. */
enum group_column {
    GROUP_NAME,
    GROUP_OFFSET, /* of a block: the bytes of content before it */
    GROUP_COLUMNS,
};

/* Groups in the order in which they are shown, numbered from 0. */
struct groups {
    const char *columns[GROUP_COLUMNS]; /* what they are, as headers call them; NULL: groups do not
                                         * have this column */
    bool are_keys;                      /* names are text of the input */
    size_t count;                       /* that are shown */
    size_t all;                         /* keys, files or blocks */
    size_t rest;       /* the group that is this one and all that follow, added up; SIZE_MAX: there
                        * is none */
    size_t missing;    /* that of records without a key; SIZE_MAX: there are none, or they are left
                        * out */
    unsigned threads;  /* that may show them together, if they are keys; 0 as 1 */
    bool skip_invalid; /* what is not a number is left out, also of the total */

    /* For the functions below. Group `all` is that of records without a key. */
    const void *of;
    struct key_name (*name)(const void *of, size_t group);
    uint64_t (*offset)(const void *of, size_t group);                     /* of blocks only */
    uint64_t (*samples)(const void *of, size_t group);                    /* of keys only */
    void (*load)(const void *of, size_t group, struct tally *tally);      /* as file_tallies_load */
    void (*load_from)(const void *of, size_t group, struct tally *tally); /* of keys only */
};

/* The files of --each, in order. */
struct file_groups {
    const struct file_tallies *tallies;
    char *const *names; /* as typed, `count` */
    size_t count;       /* 0: the only one is standard input */
};

/* Makes groups of files, which must outlive them; or of their blocks, if they are divided. Those of
 * the only file do without its name. */
struct groups groups_of_files(const struct file_groups *files);

/* Makes groups of keys, which must outlive them, in the order in which they were sorted last: the
 * first `top` ones, and all others, if there are any, as one. */
struct groups groups_of_keys(const struct key_tallies *keys, size_t top, const char *column,
                             bool skip_invalid);

/* Returns the name of a group as it was found, which need not be printable. */
struct key_name groups_name(const struct groups *groups, size_t group);

/* Returns the samples of a key. */
uint64_t groups_samples(const struct groups *groups, size_t group);

/* Sets a tally of the histogram, with blocks, which is all zeros or has those of another group. */
void groups_load(const struct groups *groups, size_t group, const struct histogram *histogram,
                 struct tally *tally);

/* Shows a name as one printable line of at most room - 1 bytes; room is at least SHOW_TEXT_MIN
 * (src/base/show.h). */
void groups_show_name(const struct groups *groups, size_t group, char *text, size_t room);

/* Returns the offset of a block. */
uint64_t groups_offset(const struct groups *groups, size_t group);

/* Returns the room that the longest name needs. */
size_t groups_name_room(const struct groups *groups);

#endif

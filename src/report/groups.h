/* SPDX-License-Identifier: MIT */
/* The results of a run that has several: one for each group of its samples, which are those of a
 * file (--each) or of a block of it (--each=SIZE), or those with a key (--by). */
#ifndef GPUHISTO_GROUPS_H
#define GPUHISTO_GROUPS_H

#include "screen.h"

#include "src/tally/file_tallies.h"
#include "src/tally/key_tallies.h"
#include "src/tally/tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUP_REST "(other)"      /* what all keys are called that are not shown alone */
#define GROUP_MISSING "(invalid)" /* and records without a key */

/* Stands between the parts of a name, and of the header of their columns. It is in no part, as
 * names are shown without control characters. */
#define GROUP_SEPARATOR '\t'

/* The columns that say which group it is, in order. */
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
    unsigned parts;                     /* of each name, a column each; of keys only */
    size_t count;                       /* that are shown */
    size_t all;                         /* keys, files or blocks */
    size_t rest;       /* the group that is this one and all that follow, added up; SIZE_MAX: there
                        * is none */
    size_t missing;    /* that of records without a key; SIZE_MAX: there are none, or they are left
                        * out */
    unsigned threads;  /* that may show them together, if they are keys; 0 as 1 */
    bool skip_invalid; /* what is not a number is left out, also of the total */
    bool is_ordered;   /* by --sort: of a picture that is too long the last ones are left out */
    size_t shown_max[KEY_PARTS_MAX]; /* bytes of each part of a name in a picture; 0: names are
                                      * shown in full */
    bool is_ascii;                   /* names are shown in ASCII */
    uint32_t *gaps;                  /* of each name that is longer: see groups_shorten_names */

    /* The source of groups, and its functions. Group `all` is that of records without a key. */
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

/* Returns the name of a group as it was found, which need not be printable. It is neither `rest`
 * nor `missing`. */
struct key_name groups_name(const struct groups *groups, size_t group);

/* Returns the samples of a key. */
uint64_t groups_samples(const struct groups *groups, size_t group);

/* Sets a tally with blocks, which is all zeros or has another group's counts, to those of a
 * group. */
void groups_load(const struct groups *groups, size_t group, const struct histogram_spec *spec,
                 struct tally *tally);

/* Returns part i of the name of a group. */
struct key_name groups_part(const struct groups *groups, size_t group, unsigned i);

/* Writes a name as one printable line (name_text.h) to text, which has groups_name_capacity bytes:
 * its parts with GROUP_SEPARATOR between them. No first part of a key is
 * written as GROUP_REST or GROUP_MISSING, beside which other parts are empty. */
void groups_show_name(const struct groups *groups, size_t group, char *text);

/* Returns the offset of a block. */
uint64_t groups_offset(const struct groups *groups, size_t group);

/* Returns the room that the longest name needs. */
size_t groups_name_capacity(const struct groups *groups);

/* Prepares names of keys for a picture with `beside` characters beside them: they fit on the
 * screen, without a space at the end, and no two are the same; in ASCII if the screen has nothing
 * else. Sets `gaps`, which are to be freed: the text that stands in the middle of a longer name,
 * "..." for 0, or "~2~" for 2 where the first would not tell it apart. 0, or -1: memory is short.
 */
int groups_shorten_names(struct groups *groups, const struct screen *screen, size_t beside);

#endif

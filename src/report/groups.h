/* SPDX-License-Identifier: MIT */
/* The results of a run that has several: one for each group of its samples, such as a file of
 * --each. */
#ifndef GPUHISTO_GROUPS_H
#define GPUHISTO_GROUPS_H

#include "src/count/file_tallies.h"
#include "src/count/tally.h"

#include <stdbool.h>
#include <stddef.h>

/* A name as it was found; it need not be printable. */
struct group_name {
    const void *bytes;
    size_t len;
};

/* Groups in the order in which they are shown. Functions take `of`, and the number of a group below
 * `count`. */
struct groups {
    const char *column; /* what a group is, as headers call it */
    size_t count;
    bool skip_invalid; /* what is not a number is left out, also of the total */
    const void *of;
    struct group_name (*name)(const void *of, size_t group);
    /* As file_tallies_load. */
    void (*load)(const void *of, size_t group, struct tally *tally);
};

/* The files of --each, in order. */
struct file_groups {
    const struct file_tallies *tallies;
    char *const *names; /* as typed; NULL: the only one is standard input */
};

/* Makes groups of files, which must outlive them. */
struct groups groups_of_files(const struct file_groups *files);

#endif

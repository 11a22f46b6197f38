/* SPDX-License-Identifier: MIT */
/* A table of keys: a row for each, with the number of its samples. */
#ifndef GPUHISTO_GROUP_ROWS_H
#define GPUHISTO_GROUP_ROWS_H

#include "groups.h"

#include "src/tally/histogram_spec.h"

/* A histogram whose rows are groups. Only groups->name knows their names: labels are empty. */
struct group_rows {
    struct mode mode;
    struct histogram_spec spec;
    struct tally tally;
};

/* Makes rows of groups that are keys of a histogram without bins of its own. Free them. 0, or -1:
 * memory is short. */
int group_rows_make(struct group_rows *rows, const struct histogram_spec *spec,
                    const struct groups *groups);

void group_rows_free(struct group_rows *rows);

#endif

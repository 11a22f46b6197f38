/* SPDX-License-Identifier: MIT */
/* The order in which --sort shows keys: that of a column. */
#ifndef GPUHISTO_GROUP_ORDER_H
#define GPUHISTO_GROUP_ORDER_H

#include "groups.h"

#include "src/base/error.h"
#include "src/tally/statistics.h"

#include <stdbool.h>
#include <stddef.h>

#define GROUP_ORDER_KEY "key"     /* the column of names */
#define GROUP_ORDER_COUNT "count" /* of samples; with --stats, of numbers */

struct group_order {
    const char *column; /* NULL: --sort was not given */
    bool is_reversed;   /* the least number first, or the last key */
};

/* The columns that a table by key has besides its keys, to which all pointers refer. */
struct group_columns {
    const struct histogram_spec *spec; /* of any mode by key */
    bool has_numbers;                  /* GROUP_ORDER_COUNT is the count of numbers */
    size_t quantile_count;
    const struct probability *quantiles;
    const struct groups *before; /* the same keys of another table: the order is by how much their
                                  * numbers rose since; or NULL */
    bool is_by_size;             /* a number that fell counts as one that rose */
};

/* True if the order is by a statistic, for which numbers need moments. */
bool group_order_needs_moments(const struct group_order *order);

/* Checks that a table of numbers (is_binned) or of lines with these quantiles has the column. 0, or
 * -1 with an error that lists the columns there are. */
int group_order_check(const struct group_order *order, bool is_binned,
                      const struct probability *quantiles, size_t count, struct error *error);

/* Lists groups that are keys in ascending order by name, in the order of a column that was checked:
 * by the numbers that are printed, the greatest first unless it is reversed. Quantiles go by their
 * lower ends, then their upper ones. Keys with the same number are in order by name, and those
 * without one, as NaN, are last. At most groups->threads threads work on it. Sets *list, which is
 * to be freed. 0, or -1: memory is short. */
int group_order_list(const struct group_order *order, const struct group_columns *columns,
                     const struct groups *groups, size_t **list);

#endif

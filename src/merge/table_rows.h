/* SPDX-License-Identifier: MIT */
/* From the rows of a table that was read to those of a histogram. */
#ifndef GPUHISTO_TABLE_ROWS_H
#define GPUHISTO_TABLE_ROWS_H

#include "read_table.h"

#include "src/base/reason.h"
#include "src/count/tally.h"

/* Proves that the rows of a table are the histogram's, ascend, and add up to the table's totals;
 * stores in each row which of the histogram's it is; and reads the moments of each channel, if
 * the histogram has any. 0; or -1 with a reason, which does not depend on other tables. */
int table_rows_check(struct read_table *table, const struct histogram *histogram,
                     struct moments *moments, struct reason *why);

/* Adds the counts and moments of a table that was checked to a tally of the same histogram,
 * and marks its blocks, if it has them. No
 * count overflows if the tally's samples and the table's total together do not. */
void table_rows_add(const struct read_table *table, const struct histogram *histogram,
                    const struct moments *moments, struct tally *tally);

#endif

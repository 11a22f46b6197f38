/* From the rows of a table that was read to those of a histogram. */
#ifndef GPUHISTO_TABLE_ROWS_H
#define GPUHISTO_TABLE_ROWS_H

#include "read_table.h"

#include "src/base/reason.h"

/* Adds the counts and moments of a table in JSON to a tally of the histogram, after it was proved
 * that its rows are the histogram's, ascend, and add up to its totals, and that nothing overflows.
 * 0; or -1 with a reason, and the tally perhaps changed. */
int table_rows_add(const struct read_table *table, const struct histogram *histogram,
                   struct tally *tally, struct reason *why);

/* The row of the histogram, whose mode is_binned, that begins and ends with these edges, as texts;
 * SIZE_MAX if there is none. A bin that no value can be in has no row: edges that are the same. */
size_t table_rows_find(const struct histogram *histogram, const char *lo, const char *hi);

#endif

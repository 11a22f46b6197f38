/* SPDX-License-Identifier: MIT */
/* Lines of a table in TSV or CSV, cut into fields. */
#ifndef GPUHISTO_TABLE_LINES_H
#define GPUHISTO_TABLE_LINES_H

#include "read_table.h"

#include "src/base/reason.h"

/* Reads text[0..len), all lines of a table, of which the first may be a header. Each row of the
 * table has its name as `lo` and its third column, without quotes, as `hi`; "invalid", which is the
 * last one if it is there, becomes a total. All lines must have the columns of one channel, with or
 * without those of --percent. 0, or -1 with a reason that says in which line. */
int table_lines_read(struct read_table *table, const char *text, size_t len, struct reason *why);

/* Whether the first row of a table is called as that of letters: "a", or "a-d". */
bool table_lines_are_letters(const char *name, size_t len);

#endif

/* SPDX-License-Identifier: MIT */
/* Tables in TSV and CSV, which say nothing but their rows: what was counted is told from these. */
#ifndef GPUHISTO_TABLE_TEXT_H
#define GPUHISTO_TABLE_TEXT_H

#include "merge.h"

/* Reads text[0..len), all of a FILE, as one table, and makes its options and totals: those of a
 * histogram that prints these rows. If `merge` has tables already and the rows are its own, the
 * options are, too. Every row must be there, as they are without --nonzero. 0, or -1 with a reason
 * that says in which line.
 *
 * Bytes are told by their names, letters by theirs, without what --fold-case did and how many other
 * bytes there were, and bins by their edges: of --digits, --log=2:32 or --edges. */
int table_text_read(struct read_table *table, const char *text, size_t len,
                    const struct merge *merge, struct reason *why);

#endif

/* SPDX-License-Identifier: MIT */
/* Files of tables. */
#ifndef GPUHISTO_TABLE_FILE_H
#define GPUHISTO_TABLE_FILE_H

#include "merge.h"

#include "src/base/held.h"

/* Reads all tables of a file, which is then held no longer, and adds them. `table` is worked with.
 * 0, or -1 with a reason that names the file. */
int table_file_add(struct held *held, struct read_table *table, struct merge *merge,
                   struct reason *why);

#endif

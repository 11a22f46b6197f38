/* SPDX-License-Identifier: MIT */
/* FILEs of tables, read. */
#ifndef GPUHISTO_TABLE_FILE_H
#define GPUHISTO_TABLE_FILE_H

#include "merge.h"

#include "src/base/held.h"

/* Reads all tables of a FILE, which is then held no longer, and adds them. `table` is one to work
 * with. 0, or -1 with a reason that names the FILE. */
int table_file_add(struct held *held, struct read_table *table, struct merge *merge,
                   struct reason *why);

#endif

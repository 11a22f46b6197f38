/* SPDX-License-Identifier: MIT */
/* From a table that was read to the tallies of keys: one key and its numbers, or a key in each row.
 */
#ifndef GPUHISTO_TABLE_KEYS_H
#define GPUHISTO_TABLE_KEYS_H

#include "read_table.h"

#include "src/base/reason.h"
#include "src/count/key_tallies.h"

/* True if the options of a table have --by. */
bool table_keys_used(const struct words *options);

/* Checks that a table has the keys that its options, with or without --by, and its mode let it
 * have: all of them, as none are left out by --top. Rows of lines must also add up. 0; or -1 with a
 * reason. */
int table_keys_check(const struct read_table *table, const struct histogram *histogram,
                     struct reason *why);

/* Checks that the tables of one result follow each other, and none is missing: `table` is the next
 * one of a file after number `last` of `tables`, or after none or all of a result. 0; or -1 with a
 * reason. */
int table_keys_follow(const struct read_table *table, uint64_t last, uint64_t tables,
                      struct reason *why);

/* Adds a table that was checked: the rows of lines, or the numbers in `tally`, which has blocks. */
void table_keys_add(const struct read_table *table, const struct tally *tally,
                    struct key_tallies *keys);

#endif

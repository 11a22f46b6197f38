/* SPDX-License-Identifier: MIT */
/* FILEs of tables, added up side by side. */
#ifndef GPUHISTO_MERGE_FILES_H
#define GPUHISTO_MERGE_FILES_H

#include "merge.h"

#include "src/base/held.h"

/* Reads all tables of FILEs, at least one, which are then held no longer, and adds them, on
 * `threads` threads at most: one while it is the first FILE, if any of the others is a pipe or the
 * like, or if memory for more is too much (256 MiB); and one for each
 * `thread_bytes` of input, unless that is 0. 0; or -1 with a reason: what is wrong with the first
 * FILE, in this order, that anything is wrong with. Neither the sum nor the reason depends on how
 * many threads there are, and which of them is faster. */
int merge_files(const struct held_list *files, unsigned threads, uint64_t thread_bytes,
                struct merge *merge, struct reason *why);

#endif

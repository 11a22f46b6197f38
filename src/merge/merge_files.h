/* SPDX-License-Identifier: MIT */
/* Files of tables, added up side by side. */
#ifndef GPUHISTO_MERGE_FILES_H
#define GPUHISTO_MERGE_FILES_H

#include "merge.h"

#include "src/base/held.h"

/* Reads all tables of the files, at least one, which are then held no longer, and adds them. Uses
 * `threads` threads at most, and no more than one for each `thread_bytes` of input, unless that is
 * 0. The first file is read by one thread; so are all files if any of the others is a pipe or the
 * like, or if several threads would need over 256 MiB. Whether there are too many keys, merge->keys
 * knows. 0; or -1 with the reason of the first file, in their order, that is refused. Neither sum
 * nor reason depends on the threads. */
int merge_files(const struct held_list *files, unsigned threads, uint64_t thread_bytes,
                struct merge *merge, struct reason *why);

#endif

/* SPDX-License-Identifier: MIT */
/* Parses runs of zstd's blocks. */
#ifndef GPUHISTO_ZSTD_PARSE_H
#define GPUHISTO_ZSTD_PARSE_H

#include "block_loops.h"
#include "zstd_blocks.h"

/* Sets run->parsed to what the blocks of a complete run are. What libzstd refuses is doubtful, and
 * so is a little that it takes. Any thread; runs are independent of each other. */
void zstd_parse(struct zstd_run *run, const struct block_loops *loops);

#endif

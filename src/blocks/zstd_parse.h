/* SPDX-License-Identifier: MIT */
/* Parses runs of zstd's blocks. */
#ifndef GPUHISTO_ZSTD_PARSE_H
#define GPUHISTO_ZSTD_PARSE_H

#include "block_loops.h"
#include "zstd_blocks.h"

/* Parses the blocks of a complete run to run->parsed. Blocks that libzstd refuses need the
 * fallback, and so are a few that it accepts. Any thread; runs are independent of each other. */
void zstd_parse(struct zstd_run *run, const struct block_loops *loops);

/* The same, some blocks at a time: begins, and goes on. Returns true once run->parsed is complete.
 */
void zstd_parse_begin(struct zstd_run *run);
bool zstd_parse_blocks(struct zstd_run *run, const struct block_loops *loops, unsigned blocks);

#endif

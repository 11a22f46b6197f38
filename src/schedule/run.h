/* SPDX-License-Identifier: MIT */
/* The work of one worker: it takes an extent of the input, and a runner pushes the chunks of that
 * into the worker's sink, until nothing is left. */
#ifndef GPUHISTO_RUN_H
#define GPUHISTO_RUN_H

#include "source.h"

/* Reads the source beside other workers until nothing is left, or sink->is_surplus. Each chunk that
 * choose gave was counted, or given back with a len of 0. A chunk never holds bytes of two files.
 * Returns 0, or -1: an error, which source_error tells unless the sink knows it. Any thread. */
int run_worker(struct source *source, const struct sink *sink);

#endif

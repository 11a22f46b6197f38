/* SPDX-License-Identifier: MIT */
/* The engine of the CPU: the thread that submits a chunk counts it at once, in its core's cache. */
#ifndef GPUHISTO_CPU_ENGINE_H
#define GPUHISTO_CPU_ENGINE_H

#include "src/engine/engine.h"

/* The largest chunk, bytes: larger ones leave the L2 cache before they are counted, and a pipe of
 * 1 MiB gives no more than a few of these at a time. */
#define CPU_CHUNK_MAX ((size_t)256 << 10)

struct counter;
struct file_tallies;

/* An engine of `chunks` (at least 1; as many as are ever out at a time) chunks of `chunk_size`
 * bytes, cut to CPU_CHUNK_MAX, counted by a counter of count.h (NULL: the fastest). At most
 * `threads` (at least 1) of them are counted at a time; more wait if there are very many bins. What
 * `files`, unless it is NULL, gets is said at engine.files. By histogram->also each chunk is
 * counted too, into tally->also and file_tallies_also. The histograms must outlive it. NULL if
 * memory is short. It is never lost: loss is NULL, submit and finish are 0. */
struct engine *cpu_engine_open(const struct histogram *histogram, const struct counter *counter,
                               size_t chunk_size, unsigned chunks, unsigned threads,
                               struct file_tallies *files);

/* What its counter is, in a few words. A constant. */
const char *cpu_engine_counter(const struct engine *engine);

#endif

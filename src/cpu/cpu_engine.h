/* SPDX-License-Identifier: MIT */
/* The CPU's engine: the thread that submits a chunk counts it at once, in its core's cache. */
#ifndef GPUHISTO_CPU_ENGINE_H
#define GPUHISTO_CPU_ENGINE_H

#include "src/tally/tally.h"
#include "src/input/engine.h"

/* The largest chunk, bytes: a larger one would leave the L2 cache before it is counted, and a pipe
 * of 1 MiB holds only a few of these. */
#define CPU_CHUNK_MAX ((size_t)256 << 10)

struct cpu_kernels;
struct file_tallies;
struct key_tallies;
struct error;

struct cpu_engine_options {
    const struct cpu_kernels *kernels; /* NULL: the fastest */
    size_t chunk_size;                 /* bytes, reduced to CPU_CHUNK_MAX */
    unsigned chunks;                   /* as many as are ever out at a time, 1 or more */
    unsigned threads; /* that count at a time, 1 or more; with very many bins others wait */
    struct file_tallies *files; /* as engine.files, and file_tallies_also for further histograms;
                                 * with blocks, samples are whole where a block ends */
    struct key_tallies *keys;   /* as engine.keys; then there are no further histograms */
};

/* Opens an engine that counts each chunk by a histogram and those after it (spec->also), which
 * must outlive it, into a tally and those after it. NULL if memory is short. It is never lost: loss
 * returns NULL, submit and finish 0. */
struct engine *cpu_engine_open(const struct histogram_spec *spec,
                               const struct cpu_engine_options *options);

/* 0; or -1 with the error set once weights are too many, and counts mean nothing. Any thread. */
int cpu_engine_check(const struct engine *engine, struct error *error);

/* Returns a few words about the engine's kernels: a constant. */
const char *cpu_engine_kernels(const struct engine *engine);

#endif

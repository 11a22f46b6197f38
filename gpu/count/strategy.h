/* SPDX-License-Identifier: MIT */
/* The GPU counting strategies by name, in plain C: known in every build, with CUDA and without. */
#ifndef GPUHISTO_GPU_COUNT_STRATEGY_H
#define GPUHISTO_GPU_COUNT_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>

struct histogram_spec;

/* In the order in which --kernel=help lists them. */
enum strategy_id {
    STRATEGY_naive,
    STRATEGY_privatized,
    STRATEGY_shared,
    STRATEGY_contiguous,
    STRATEGY_interleaved,
    STRATEGY_aggregated,
    STRATEGY_clusters,
    STRATEGY_vectorized,
    STRATEGY_lanes,
    STRATEGY_bitsliced,
    STRATEGY_packed,
    STRATEGY_partitioned,
    STRATEGY_matched,
    STRATEGY_numbers,
    STRATEGY_fields,
    STRATEGY_pairs,
    STRATEGY_characters
};

/* How a strategy is launched. */
struct tuning {
    unsigned block;      /* threads */
    unsigned coarsening; /* samples a thread, in as many blocks as that takes; 0: blocks stay, as
                            many as the device holds at a time, and share the data */
    unsigned min;        /* bytes that are worth a thread of a block that stays: small data get
                            fewer blocks */
    unsigned second;     /* threads a block of the second kernel, if it has one */
};

/* Threads a block where the kernel's code depends on them; those of a second kernel. */
#define NUMBERS_BLOCK 256 /* of fields, too */
#define NUMBERS_REST_BLOCK 32
#define CHARACTERS_BLOCK 1024
#define PACKED_SUM_BLOCK 512
#define PARTITION_BLOCK 512 /* two fit on a multiprocessor with 64 registers a thread */

/* Memory of the device that a strategy needs while it counts. */
enum scratch_kind {
    SCRATCH_NONE,
    SCRATCH_OF_HISTOGRAMS, /* a word for each bin, for each block */
    SCRATCH_OF_TABLES,     /* a block's table, for each */
    SCRATCH_OF_PARTITION   /* sorted values: partitioned.cuh */
};

struct strategy {
    const char *name;  /* for --kernel */
    const char *about; /* one line */
    unsigned modes;    /* that it counts: the sum of 1 << enum mode_id */
    struct tuning tuning;
    enum scratch_kind scratch;
};

/* All strategies, by their enum strategy_id. */
extern const struct strategy strategies[];
extern const unsigned strategy_count;

/* Returns the strategy with this name, or NULL. */
const struct strategy *strategy_find(const char *name);

/* Returns what no strategy can do for a histogram, whatever its mode and type: "count channels".
 * NULL: there is no such thing. */
const char *strategy_cannot(const struct histogram_spec *spec);

/* True if the strategy counts such samples. None counts values of three bytes, as vectors of 16
 * bytes do not hold them whole. Numbers in fields of lines are counted by `fields` alone. */
bool strategy_counts(const struct strategy *strategy, const struct histogram_spec *spec);

/* Returns what --kernel=auto takes: the fastest for this histogram and chunks of chunk_size bytes.
 * NULL if none counts it. */
const struct strategy *strategy_best(const struct histogram_spec *spec, size_t chunk_size);

#endif

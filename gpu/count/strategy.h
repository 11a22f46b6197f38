/* SPDX-License-Identifier: MIT */
/* The GPU counting strategies by name, in plain C: known in every build, with CUDA and without. */
#ifndef GPUHISTO_STRATEGY_H
#define GPUHISTO_STRATEGY_H

#include "src/tally/histogram_spec.h"

#include <stddef.h>

/* A strategy is named by its index too. */
enum strategy_id {
#define STRATEGY(name, ...) STRATEGY_##name,
#include "strategies.def"
#undef STRATEGY
};

struct strategy {
    const char *name;  /* for --kernel */
    const char *about; /* one line */
    unsigned modes;    /* that it counts: the sum of 1 << enum mode_id */
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

/* True if strategy_best takes the strategy although it needs scratch memory on the device; and what
 * to take where there is none for it. */
bool strategy_has_scratch(const struct strategy *strategy);
const struct strategy *strategy_without_scratch(const struct histogram_spec *spec);

#endif

/* SPDX-License-Identifier: MIT */
/* Several workers of a source that take turns at random, one at a time: segments end in any order,
 * chunks are counted in any order, and what goes wrong comes back with the same seed. */
#ifndef GPUHISTO_TESTS_READERS_H
#define GPUHISTO_TESTS_READERS_H

#include "src/tally/tally.h"
#include "src/cpu/count.h"
#include "src/input/engine.h"
#include "src/schedule/schedule.h"

#define READERS_MAX 4

struct reading {
    const struct count_plan *plan;
    size_t chunk_size;             /* bytes, whole samples */
    unsigned readers;              /* workers, 1 to READERS_MAX */
    bool fill;                     /* chunks are worth filling */
    struct tally tally;            /* zeros at first: what was counted */
    struct error_locator *locator; /* gets all chunks, if not NULL */
};

/* Reads all of the source and counts it. Files are decoded in pieces if its options say how large
 * these are, and there are several workers. Files that are not regular must not make it wait: pipes
 * that are full, and closed. 0, or -1: source_error says why. Draws random numbers. */
int readers_read(struct source *source, struct reading *reading);

#endif

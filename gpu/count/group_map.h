/* SPDX-License-Identifier: MIT */
/* The map from characters to groups (struct character_groups), for the GPU's kernels. */
#ifndef GPUHISTO_GROUP_MAP_H
#define GPUHISTO_GROUP_MAP_H

#include "src/tally/histogram_spec.h"

#include <stddef.h>

struct group_map {
    unsigned shift, bits;  /* as in struct character_groups */
    unsigned units_at;     /* where the units begin in the table, after the pages */
    const uint16_t *table; /* group_table, on the device; NULL: characters have no groups */
};

/* Returns the map of a histogram, without its table; all zeros if it has no groups. */
struct group_map group_map_of(const struct histogram_spec *spec);

/* Allocates the table of a histogram that has groups, of *size bytes, for free(). NULL: out of
 * memory. */
void *group_table(const struct histogram_spec *spec, size_t *size);

#endif

/* SPDX-License-Identifier: MIT */
/* Ways to build bins, as rows of a table that a test goes through. */
#ifndef GPUHISTO_TESTS_LAYOUTS_H
#define GPUHISTO_TESTS_LAYOUTS_H

#include "src/bins/binning.h"

#define LAYOUT_EDGES_MAX 8

/* Bins of whole values: by edges if there are any; by powers of the base if it has one; otherwise
 * `bins` equal ones from min to max, or, if max is 0, one for each value. */
struct whole_layout {
    int128 min, max; /* max is not in the last bin */
    size_t bins;
    struct decimal base;
    size_t edge_count;
    int128 edges[LAYOUT_EDGES_MAX];
};

/* Bins of floating-point values, in the same order; without one for each value, but of so many
 * decimal digits if there are any. */
struct double_layout {
    unsigned digits;
    double min, max;
    size_t bins;
    struct decimal base;
    size_t edge_count;
    double edges[LAYOUT_EDGES_MAX];
};

/* Builds the bins; `singles`: values are floats. The binning is the caller's, to free with
 * binning_free, unless an error is returned. Any thread. */
enum binning_error layout_whole(const struct whole_layout *layout, struct binning *binning);
enum binning_error layout_double(const struct double_layout *layout, bool singles,
                                 struct binning *binning);

#endif

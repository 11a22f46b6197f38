/* SPDX-License-Identifier: MIT */
/* A table of decimal digits counted again in wider bins, exactly. */
#ifndef GPUHISTO_COARSEN_H
#define GPUHISTO_COARSEN_H

#include "histogram_spec.h"

#include <stddef.h>

/* Adds the count of each bin of `fine` to the bin of `coarse` that has its lower edge, and the
 * totals. The fine bins are those of binning_digits, and nest in the coarse ones. Both have the
 * same channels. */
void map_rows(const struct histogram_spec *fine, const struct tally *tally,
              const struct histogram_spec *coarse, struct tally *into);

enum coarsen_outcome {
    COARSEN_DONE,
    COARSEN_AS_COUNTED, /* no sample is in a bin, or the rows are few enough: nothing was made */
    COARSEN_NO_MEMORY,
};

/* Rows that are shown instead of those that were counted. */
struct coarse_rows {
    struct histogram_spec spec;
    struct tally tally;
};

/* Each of these counts a tally by binning_digits again in wider bins. Samples below, above and
 * invalid are kept, moments are not. After COARSEN_DONE, coarse_rows_free frees *rows; otherwise
 * there is nothing to free. */

/* Counts in at most `max` equal bins, or two if there are samples on both sides of zero, which is
 * always an edge. Bins are 1, 2 or 5 times a power of ten wide, as narrow as `max` and the counted
 * bins permit; but no narrower than 1 if several bins have samples and all of them begin at whole
 * numbers. Edges are multiples of the width. */
enum coarsen_outcome coarsen_equal(const struct histogram_spec *spec, const struct tally *tally,
                                   size_t max, struct coarse_rows *rows);

/* Counts in the bins of binning_decades. */
enum coarsen_outcome coarsen_decades(const struct histogram_spec *spec, const struct tally *tally,
                                     unsigned parts, struct coarse_rows *rows);

/* Chooses the rows of a picture: the counted ones if they are few enough, and otherwise equal bins.
 * If one of these would be crowded and decades spread its samples, it takes decades, in as many
 * parts as there is room for. */
struct picture_bins {
    size_t max;       /* rows that the picture may have */
    unsigned parts;   /* of a decade, at most: DECADE_PARTS or DECADE_PARTS_FINE */
    unsigned crowded; /* percent of the samples: a bin with more is crowded */
};
enum coarsen_outcome coarsen_picture(const struct histogram_spec *spec, const struct tally *tally,
                                     const struct picture_bins *bins, struct coarse_rows *rows);

void coarse_rows_free(struct coarse_rows *rows);

/* Finds the range of equal bins that tell apart what coarsen_equal does not: round edges, the first
 * not above any sample in a bin and the last above all. False: the bins are as narrow as `most`
 * permits, or all samples have one value. */
struct seen_range {
    double min, max;
};
bool coarsen_range(const struct histogram_spec *spec, const struct tally *tally, size_t max,
                   struct seen_range *range);

/* True if samples that differ, as far as is known, fill one bin or a few next to each other. */
bool coarsen_is_close(const struct histogram_spec *spec, const struct tally *tally);

/* Returns how many digits (--digits) tell whole numbers apart that share a bin, if at most `max`
 * bins have samples. 0: no bin is shared, or --digits cannot tell. */
unsigned coarsen_digits(const struct histogram_spec *spec, const struct tally *tally, size_t max);

#endif

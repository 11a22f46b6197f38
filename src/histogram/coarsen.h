/* SPDX-License-Identifier: MIT */
/* A table of decimal digits made coarser, exactly: equal bins with round edges over what was seen.
 */
#ifndef GPUHISTO_COARSEN_H
#define GPUHISTO_COARSEN_H

#include "histogram.h"

enum coarsen_outcome {
    COARSEN_DONE,
    COARSEN_LIMITED, /* done, but narrower bins than those counted would have been few enough */
    COARSEN_EMPTY,   /* no sample is in a bin: nothing was made */
    COARSEN_NO_MEMORY,
};

/* Lays equal bins, at most `most`, over the bins of a tally that are not empty; at least two if
 * there are samples on both sides of zero, which is always an edge. The bins are 1, 2 or 5 times a
 * power of ten wide, as narrow as `most` permits and the bins that were counted resolve; their
 * edges are multiples of that, so each is an edge of those bins too. The histogram's bins must be
 * those of binning_digits. Samples below, above and invalid are kept; moments are not.
 *
 * If it is done, *coarse is to be freed by binning_free(&coarse->binning), *sums by tally_close;
 * otherwise there is nothing to free. Any thread. */
enum coarsen_outcome coarsen(const struct histogram *histogram, const struct tally *tally,
                             size_t most, struct histogram *coarse, struct tally *sums);

#endif

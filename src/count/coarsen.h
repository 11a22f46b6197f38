/* SPDX-License-Identifier: MIT */
/* A table of decimal digits made coarser, exactly: bins with round edges over what was seen. */
#ifndef GPUHISTO_COARSEN_H
#define GPUHISTO_COARSEN_H

#include "tally.h"

enum coarsen_outcome {
    COARSEN_DONE,
    COARSEN_AS_COUNTED, /* no sample is in a bin, or the rows are few enough: nothing was made */
    COARSEN_NO_MEMORY,
};

/* Rows that are shown instead of those that were counted. */
struct coarse_rows {
    struct histogram histogram;
    struct tally tally;
};

/* Each of these lays wider bins over those of a tally and adds the counts up; samples below, above
 * and invalid are kept, moments are not. The histogram's bins must be those of binning_digits. If
 * it is done, *rows is to be freed by coarse_rows_free; otherwise there is nothing to free. */

/* Equal bins, at most `most`; at least two if there are samples on both sides of zero, which is
 * always an edge. They are 1, 2 or 5 times a power of ten wide, as narrow as `most` permits and the
 * bins that were counted resolve; but no narrower than 1 if all values are whole. Edges are
 * multiples of the width. */
enum coarsen_outcome coarsen_equal(const struct histogram *histogram, const struct tally *tally,
                                   size_t most, struct coarse_rows *rows);

/* The bins of binning_decades. */
enum coarsen_outcome coarsen_decades(const struct histogram *histogram, const struct tally *tally,
                                     unsigned parts, struct coarse_rows *rows);

/* For a picture of at most `most` rows: the rows that were counted if they are few enough;
 * otherwise equal bins, or decades, in as many parts as there is room for, where one of the equal
 * bins would have more than nine tenths of the samples and decades spread them. */
enum coarsen_outcome coarsen_picture(const struct histogram *histogram, const struct tally *tally,
                                     size_t most, struct coarse_rows *rows);

void coarse_rows_free(struct coarse_rows *rows);

/* The range of equal bins that tell apart what those of coarsen_equal do not: round edges, the
 * first not above any sample in a bin and the last above all of them. False: the bins are as narrow
 * as `most` permits, or all samples have one value. */
struct seen_range {
    double min, max;
};
bool coarsen_range(const struct histogram *histogram, const struct tally *tally, size_t most,
                   struct seen_range *range);

#endif

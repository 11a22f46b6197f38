/* SPDX-License-Identifier: MIT */
/* Quantiles of numbers that were counted in bins. */
#ifndef GPUHISTO_QUANTILE_H
#define GPUHISTO_QUANTILE_H

#include "tally.h"
#include "probability.h"

/* The interval in which the sample of a quantile lies. It is the sample's bin, but does not go
 * beyond the least and the greatest sample. Both ends are the sample itself if it is known: if it
 * is one of those two, or alone in its bin. The texts are edges as a table shows them, or samples
 * with all their digits; between the two, as decimals, is the sample. */
struct quantile {
    double lower, upper; /* of whole numbers the nearest doubles */
    double slack; /* by how much these may be off, relatively: 0 but for large whole numbers */
    char lower_text[ROW_TEXT], upper_text[ROW_TEXT];
    bool in_bin; /* the sample is finite */
};

/* One number for the sample of a quantile: |value - sample| <= error * |sample|, exactly. The value
 * has few digits, and the error three, rounded up; it is at most a tenth above the least that can
 * be promised. */
struct estimate {
    double value;
    double error; /* relative; 0: the very value, infinity: nothing is known */
};

/* Finds the q-quantile of all samples that are numbers: the one of rank ceil(q * n) by size, the
 * least for q = 0. All NaN if there are no samples. For a mode that is_binned, and a tally with
 * moments. */
struct quantile quantile(const struct histogram *histogram, const struct tally *tally,
                         const struct probability *q);

/* The number whose error is least, or little more, for any sample of the interval. NaN for NaN. */
struct estimate quantile_estimate(const struct quantile *found);

#endif

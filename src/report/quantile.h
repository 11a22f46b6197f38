/* Quantiles of doubles that were counted in bins. */
#ifndef GPUHISTO_QUANTILE_H
#define GPUHISTO_QUANTILE_H

#include "src/histogram/histogram.h"

/* A quantile and its error bound: |value - sample| <= error * |sample|, exactly. This also holds
 * for the decimal with the fewest digits that reads back as the error. */
struct quantile {
    double value;
    double error; /* relative; 0: the very value, infinity: nothing is known */
};

/* The q-quantile, q from 0 to 1, of all samples that are numbers: the one of rank ceil(q * n) by
 * size, the least for q = 0, as numpy's inverted_cdf has it. The value is chosen in the sample's
 * bin so that the greatest relative error is the least. Both NaN if there are no samples. */
struct quantile quantile(const struct binning *binning, const struct tally *tally, double q);

#endif

/* SPDX-License-Identifier: MIT */
/* Quantiles of numbers that were counted in bins. */
#ifndef GPUHISTO_QUANTILE_H
#define GPUHISTO_QUANTILE_H

#include "src/text/show_number.h"
#include "tally.h"

#define PROBABILITY_DIGITS 40 /* that can be told apart: a quantile's name has to fit a column */
#define PROBABILITY_NAME (1 + SHOW_DECIMAL(PROBABILITY_DIGITS))

/* The q of a q-quantile as it was typed, 0.DIGITS * 10^exponent from 0 to 1: 0.07 times 100 is 7,
 * which no double says. Digits neither begin nor end with 0, so that equal probabilities have equal
 * members; 0 has none, and the exponent 0. */
struct probability {
    char digits[PROBABILITY_DIGITS + 1];
    int exponent;
    char name[PROBABILITY_NAME]; /* of the quantile: p99 for 0.99, with all digits */
};

/* Returns the rank, from 1, of the q-quantile of n samples, n > 0: q * n rounded up, without any
 * error; for q = 0 the first. */
uint64_t probability_rank(const struct probability *q, uint64_t n);

/* The interval in which the sample of a quantile lies: its bin, within the least and the greatest
 * sample. Both ends are the sample itself if it is known: if it is one of those two, or alone in
 * its bin. The texts are edges as a table shows them, or samples with all their digits; as decimals
 * the sample is between the two. */
struct quantile {
    double lower, upper; /* of whole numbers the nearest doubles */
    double slack;        /* their relative error: 0 but for large whole numbers */
    char lower_text[ROW_TEXT], upper_text[ROW_TEXT];
    bool in_bin; /* the sample is finite */
};

/* One number for the sample of a quantile: |value - sample| <= error * |sample|, exactly. The value
 * has few digits, and the error three, rounded up; it is at most a tenth above the least that can
 * be promised. */
struct estimate {
    double value;
    double error; /* relative; 0: the value itself, infinity: nothing is known */
};

/* The least and the greatest that a sample can be. */
struct extremes {
    double min, max;
    int128 least, greatest;     /* of whole values, and of doubles that stand for whole numbers: */
    bool is_least, is_greatest; /* they do */
};

/* Quantiles of a tally. Rows are gone through once if each quantile is not below the one before. */
struct quantiles {
    const struct binning *binning;
    const struct tally *tally;
    uint64_t samples;         /* all numbers */
    struct extremes extremes; /* of these */
    size_t row;               /* rows before this one */
    uint64_t before;          /* have so many samples */
};

/* Begins with a tally with moments of a mode that is_binned. Both must outlive it, unchanged. */
struct quantiles quantiles_of(const struct histogram_spec *spec, const struct tally *tally);

/* Returns the q-quantile of all numbers: the one of rank ceil(q * n) by size, the least for q = 0.
 * All NaN if there are none. */
struct quantile quantiles_find(struct quantiles *quantiles, const struct probability *q);

/* Returns the number whose error is least, or little more, for any sample of the interval. NaN for
 * NaN. */
struct estimate quantile_estimate(const struct quantile *found);

#endif

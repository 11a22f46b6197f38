/* SPDX-License-Identifier: MIT */
/* Statistics of what was counted: quantiles of bins, a list of names and values for --stats, and
 * moments as text that reads back the same. */
#ifndef GPUHISTO_STATISTICS_H
#define GPUHISTO_STATISTICS_H

#include "tally.h"
#include "src/bins/sums.h"
#include "src/text/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binning;
struct histogram_spec;

/* Quantiles of numbers that were counted in bins. */

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

/* Summary statistics of what was counted, for --stats: a name and a value each. */

#define STATISTICS_MAX 96

struct quantile;

struct statistic {
    const char *name;     /* which must outlive it */
    char value[ROW_TEXT]; /* a number, "inf", "-inf" or "nan" */
    bool is_population;   /* a deviation whose variance is divided by n: JSON says so */
    bool is_interval;     /* from value to upper */
    char upper[ROW_TEXT]; /* empty if the ends are the same, or it is no interval */
};

struct statistics {
    size_t count;
    struct statistic list[STATISTICS_MAX];
};

/* Each adds a statistic: a count; a number, as the shortest text that reads back the same; a number
 * with `places` digits after the point; a number as text. */
void statistics_add_count(struct statistics *statistics, const char *name, uint64_t count);
void statistics_add_number(struct statistics *statistics, const char *name, double value);
void statistics_add_rounded(struct statistics *statistics, const char *name, double value,
                            int places);
void statistics_add_text(struct statistics *statistics, const char *name, const char *number);

/* Adds a quantile as an interval. */
void statistics_add_quantile(struct statistics *statistics, const char *name,
                             const struct quantile *found);

/* Returns the entropy of a distribution, given as counts, in bits; NaN if their sum is 0. */
double statistics_entropy(const uint64_t *counts, size_t count);

/* Moments as text that reads back the same, for tables that are merged. */

/* Bytes that are enough for an exact sum, with the end: 8 for each digit, a sign and an exponent.
 */
#define EXACT_SUM_TEXT (8 * EXACT_DIGITS + 16)

/* A sum is a whole number times a power of two, "-1f3p-1074": hexadecimal digits in lower case, of
 * which neither the first nor the last is 0, and the exponent; of nothing "0p0". */
struct moments_text {
    char least[ROW_TEXT], greatest[ROW_TEXT]; /* as a table shows numbers; "nan" before any */
    char sum[EXACT_SUM_TEXT], squares[EXACT_SUM_TEXT];
    char check[17]; /* FNV-1a of these texts, and of lowest and highest: 16 hexadecimal digits */
};

/* Writes the moments of whole numbers, or of doubles. */
void moments_show(const struct moments *moments, bool is_whole, struct moments_text *text);

/* Reads moments, of which lowest and highest are set already. False if moments_show does not write
 * the texts; only numbers may be written in another way. */
bool moments_read(const struct moments_text *text, bool is_whole, struct moments *moments);

#endif

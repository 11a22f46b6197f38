/* SPDX-License-Identifier: MIT */
/* Summary statistics of what was counted, for --stats: a name and a value each. */
#ifndef GPUHISTO_STATISTICS_H
#define GPUHISTO_STATISTICS_H

#include "tally.h"

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
 * with `places` digits after the point; the standard deviation of a population; a number as
 * text. */
void statistics_add_count(struct statistics *statistics, const char *name, uint64_t count);
void statistics_add_number(struct statistics *statistics, const char *name, double value);
void statistics_add_rounded(struct statistics *statistics, const char *name, double value,
                            int places);
void statistics_add_deviation(struct statistics *statistics, const char *name, double value);
void statistics_add_text(struct statistics *statistics, const char *name, const char *number);

/* Adds a quantile as an interval. */
void statistics_add_quantile(struct statistics *statistics, const char *name,
                             const struct quantile *found);

/* Returns the entropy of a distribution, given as counts, in bits; NaN if their sum is 0. */
double statistics_entropy(const uint64_t *counts, size_t count);

#endif

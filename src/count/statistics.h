/* SPDX-License-Identifier: MIT */
/* Statistics about what was counted, for --stats: a name and a value each. */
#ifndef GPUHISTO_STATISTICS_H
#define GPUHISTO_STATISTICS_H

#include "tally.h"

#define STATISTICS_MAX 96

struct probability;
struct quantile;

struct statistic {
    char name[ROW_TEXT];
    char value[ROW_TEXT]; /* a number, "inf", "-inf" or "nan" */
    bool is_population;   /* a deviation whose variance is divided by n: JSON says so */
    bool is_interval;     /* also where its ends are the same, and upper is empty */
    char upper[ROW_TEXT]; /* of an interval, which begins with value: its end; otherwise empty */
};

struct statistics {
    size_t count;
    struct statistic list[STATISTICS_MAX];
};

/* Each adds a statistic: a count; a number, as the shortest text that reads back the same; a number
 * with so many digits after the point; the standard deviation of all there is; a number as text; an
 * interval of texts. Names are of this
 * program's own. */
void statistics_add_count(struct statistics *statistics, const char *name, uint64_t count);
void statistics_add_number(struct statistics *statistics, const char *name, double value);
void statistics_add_rounded(struct statistics *statistics, const char *name, double value,
                            int places);
void statistics_add_deviation(struct statistics *statistics, const char *name, double value);
void statistics_add_text(struct statistics *statistics, const char *name, const char *number);
void statistics_add_interval(struct statistics *statistics, const char *name, const char *lower,
                             const char *upper);

/* The entropy of what `count` counts add up to, in bits; NaN if that is 0. */
double statistics_entropy(const uint64_t *counts, size_t count);

/* Adds the q-quantile as an interval. It is called p99 for a q of 0.99, with all digits of q. */
void statistics_add_quantile(struct statistics *statistics, const struct probability *q,
                             const struct quantile *found);

#endif

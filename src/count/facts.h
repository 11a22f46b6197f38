/* SPDX-License-Identifier: MIT */
/* Facts about what was counted, for --stats: a name and a value each. */
#ifndef GPUHISTO_FACTS_H
#define GPUHISTO_FACTS_H

#include "histogram.h"

#define FACTS_MAX 96

struct probability;
struct quantile;

struct fact {
    char name[ROW_TEXT];
    char value[ROW_TEXT]; /* a number, "inf", "-inf" or "nan" */
    bool is_population;   /* a deviation whose variance is divided by n: JSON says so */
    bool is_interval;     /* also where its ends are the same, and upper is empty */
    char upper[ROW_TEXT]; /* of an interval, which begins with value: its end; otherwise empty */
};

struct facts {
    size_t count;
    struct fact list[FACTS_MAX];
};

/* Each adds a fact: a count; a number, as the shortest text that reads back the same; a number with
 * so many digits after the point; the standard deviation of all there is; a number as text; an
 * interval of texts. Names are of this
 * program's own. */
void facts_add_count(struct facts *facts, const char *name, uint64_t count);
void facts_add_number(struct facts *facts, const char *name, double value);
void facts_add_rounded(struct facts *facts, const char *name, double value, int places);
void facts_add_deviation(struct facts *facts, const char *name, double value);
void facts_add_text(struct facts *facts, const char *name, const char *number);
void facts_add_interval(struct facts *facts, const char *name, const char *lower,
                        const char *upper);

/* The entropy of what `count` counts add up to, in bits; NaN if that is 0. */
double facts_entropy(const uint64_t *counts, size_t count);

/* Adds the q-quantile as an interval. It is called p99 for a q of 0.99, with all digits of q. */
void facts_add_quantile(struct facts *facts, const struct probability *q,
                        const struct quantile *found);

#endif

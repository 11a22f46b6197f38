/* Facts about what was counted, for --stats: a name and a value each. */
#ifndef GPUHISTO_FACTS_H
#define GPUHISTO_FACTS_H

#include "histogram.h"

#define FACTS_MAX 96

struct fact {
    char name[ROW_TEXT];
    char value[ROW_TEXT]; /* a number, "inf", "-inf" or "nan" */
    bool is_interval;     /* also where its ends are the same, and upper is empty */
    char upper[ROW_TEXT]; /* of an interval, which begins with value: its end; otherwise empty */
};

struct facts {
    size_t count;
    struct fact list[FACTS_MAX];
};

/* Each adds a fact: a count; a number, as the shortest text that reads back the same; a number with
 * so many digits after the point; a number as text; an interval of texts. Names are of this
 * program's own. */
void facts_add_count(struct facts *facts, const char *name, uint64_t count);
void facts_add_number(struct facts *facts, const char *name, double value);
void facts_add_rounded(struct facts *facts, const char *name, double value, int places);
void facts_add_text(struct facts *facts, const char *name, const char *number);
void facts_add_interval(struct facts *facts, const char *name, const char *lower,
                        const char *upper);

/* The entropy of what `count` counts add up to, in bits; NaN if that is 0. */
double facts_entropy(const uint64_t *counts, size_t count);

/* The rank, from 1, of the q-quantile, q from 0 to 1, of so many samples: ceil(q * n), but 1 for
 * q = 0, as numpy's inverted_cdf has it. */
uint64_t quantile_rank(double q, uint64_t samples);

/* The row of the sample of a rank among the counts of numbers: those of ROW_BELOW, the bins and
 * ROW_ABOVE. */
size_t quantile_row(const uint64_t *counts, uint64_t rank);

/* Adds the q-quantile, q from 0 to 1, of all samples that are numbers: the interval that holds the
 * sample of that rank by size. It is the sample's bin, but does not go beyond the least and the
 * greatest sample, and is only that sample if it is one of these. NaN without samples. For a mode
 * that is_binned, and a tally with moments. */
void facts_add_quantile(struct facts *facts, const struct histogram *histogram,
                        const struct tally *tally, double q);

#endif

/* SPDX-License-Identifier: MIT */
/* The loops that count on the CPU: one file for each set of instructions, chosen at run time. */
#ifndef GPUHISTO_COUNT_H
#define GPUHISTO_COUNT_H

#include "src/engine/chunk.h"
#include "src/count/row_plan.h"
#include "number_parser.h"
#include "paged_counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Vector loops for letters look up classes: each is one bit, a group has eight, and a bin that has
 * no simple shape takes several. */
#define CLASS_GROUPS 4

/* What is prepared once for a histogram. What the tables mean is known to the counter alone. Never
 * changes afterwards, so that any number of threads may count by it. */
struct count_plan {
    uint8_t table[CLASS_GROUPS][128];
    uint8_t bin_of_class[CLASS_GROUPS * 8];
    unsigned classes;
    const struct counter *counter;
    struct row_plan rows;               /* of values and numbers */
    const struct number_parser *parser; /* of numbers: the counter's, or one that runs here */
    struct field field;                 /* of numbers */
    const struct histogram *histogram;
    bool
        has_own; /* chunks overlap, but not its samples: those of a chunk's own bytes are counted */
};

/* A way of counting. These functions add the bins of data[0..len) to counts, one for each bin
 * of the histogram; any alignment, any length, nothing else is read; any thread. */
struct counter {
    const char *name;        /* for GPUHISTO_CPU */
    const char *about;       /* in a few words, for --verbose */
    bool (*runs_here)(void); /* whether this processor has the instructions */
    void (*prepare_letters)(struct count_plan *plan);
    void (*count_letters)(const struct count_plan *plan, const unsigned char *data, size_t len,
                          uint64_t *counts);
    void (*count_bytes)(const unsigned char *data, size_t len, uint64_t *counts);
    /* Values of more than a byte, len bytes of whole ones, and numbers in text: add samples, too,
     * moments if the tally has some, and newlines of text. Unless `paged` is NULL, rows are counted
     * there, and not in the tally. */
    void (*count_values)(const struct count_plan *plan, const unsigned char *data, size_t len,
                         struct tally *tally, struct paged_counts *paged);
    void (*count_numbers)(const struct count_plan *plan, const unsigned char *text, size_t len,
                          struct tally *tally, struct paged_counts *paged);
    /* Characters of UTF-8: as count_values. */
    void (*count_characters)(const struct count_plan *plan, const unsigned char *data, size_t len,
                             struct tally *tally, struct paged_counts *paged);
    const struct number_parser *parser; /* of its instructions, or of fewer */
};

/* Fastest first, the last runs anywhere; ends with NULL. */
extern const struct counter *const counters[];

/* The counter of that name if this processor can run it; NULL: the fastest that it can. NULL if
 * there is none. */
const struct counter *counter_find(const char *name);

/* A plan for counting this histogram, which must outlive it. */
struct count_plan count_plan(const struct counter *counter, const struct histogram *histogram);

/* Adds data[0..len), whole samples, to a tally of the plan's histogram: the counts of their bins,
 * how many they are, and of text its newlines. The tally's bytes are left as they are. */
void count_samples(const struct count_plan *plan, const unsigned char *data, size_t len,
                   struct tally *tally);

/* The same of a chunk's samples, without the header that it may begin with; its bytes are added.
 * Unless `paged` is NULL, the counts are added there; only if count_can_page. */
void count_chunk(const struct count_plan *plan, const struct chunk *chunk, struct tally *tally,
                 struct paged_counts *paged);

/* Whether samples of a histogram can be counted in pages: those that are counted row by row,
 * into many. */
bool count_can_page(const struct histogram *histogram);

/* Adds bytes or letters one at a time: for the few that a vector loop leaves. */
void count_byte_by_byte(const struct histogram *histogram, const unsigned char *data, size_t len,
                        uint64_t *counts);

/* The functions of counter_portable, for counters that have no faster ones. */
void portable_count_bytes(const unsigned char *data, size_t len, uint64_t *counts);
void portable_count_characters(const struct count_plan *plan, const unsigned char *data, size_t len,
                               struct tally *tally, struct paged_counts *paged);

extern const struct counter counter_avx512, counter_avx2, counter_neon, counter_portable;

#endif

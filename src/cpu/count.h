/* SPDX-License-Identifier: MIT */
/* Counts samples on the CPU, by the counter for the fastest instruction set that runs here. */
#ifndef GPUHISTO_COUNT_H
#define GPUHISTO_COUNT_H

#include "counter.h"
#include "src/engine/chunk.h"

/* All counters, fastest first; ends with NULL. The last one runs anywhere. */
extern const struct counter *const counters[];

/* Returns the counter of that name, or with NULL the fastest; NULL if this processor cannot run it.
 */
const struct counter *counter_find(const char *name);

/* Returns a plan for counting a histogram, which must outlive it. */
struct count_plan count_plan(const struct counter *counter, const struct histogram *histogram);

/* Adds data[0..len), whole samples, to a tally of the plan's histogram: counts, samples, and
 * newlines of text, but not bytes. */
void count_samples(const struct count_plan *plan, const unsigned char *data, size_t len,
                   struct tally *tally);

/* As count_samples, for the samples of a chunk without a header of columns; also adds bytes. Counts
 * go to `paged` unless it is NULL, which needs count_can_page. */
void count_chunk(const struct count_plan *plan, const struct chunk *chunk, struct tally *tally,
                 struct paged_counts *paged);

/* As count_chunk, of a histogram with keys; the tally gets bytes and newlines only. */
void count_chunk_by_key(const struct count_plan *plan, const struct chunk *chunk,
                        struct tally *tally, struct keyed_counts *keyed);

/* True if samples of the histogram can be counted in pages. */
bool count_can_page(const struct histogram *histogram);

#endif

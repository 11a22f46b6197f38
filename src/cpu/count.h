/* SPDX-License-Identifier: MIT */
/* Counts samples on the CPU, by the kernels for the fastest instruction set that runs here. */
#ifndef GPUHISTO_COUNT_H
#define GPUHISTO_COUNT_H

#include "cpu_kernels.h"
#include "src/input/engine.h"

/* All kernels, fastest first, ended by NULL. The last one runs anywhere. */
extern const struct cpu_kernels *const all_kernels[];

/* Returns the counter with this name, or the fastest for NULL; NULL if this processor cannot run
 * it. */
const struct cpu_kernels *cpu_kernels_find(const char *name);

/* Returns a plan for counting a histogram, which must outlive it. */
struct count_plan count_plan(const struct cpu_kernels *kernels, const struct histogram_spec *spec);

/* Adds data[0..len), whole samples, to a tally of the plan's histogram: counts, samples, and
 * newlines of text, but not bytes. */
void count_samples(const struct count_plan *plan, const unsigned char *data, size_t len,
                   struct tally *tally);

/* Counts the samples of a chunk, without its header of columns, as count_samples does, and adds its
 * bytes. Counts go to `paged` unless it is NULL, which needs count_can_page; with `keyed` those of
 * records by key go there, and the tally gets bytes and newlines only. */
void count_chunk(const struct count_plan *plan, const struct chunk *chunk, struct tally *tally,
                 struct paged_counts *paged, struct keyed_counts *keyed);

/* True if samples of the histogram can be counted in pages. */
bool count_can_page(const struct histogram_spec *spec);

#endif

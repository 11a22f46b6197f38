/* SPDX-License-Identifier: MIT */
/* Counts of very many rows, for threads that count side by side: one whole table for each would
 * take too much memory.
 *
 * Samples mostly belong to few of the rows, close together. So each thread has counts of its own in
 * pages, and takes a page when a row in it is first met. Rows of a page that it has not, because it
 * has no more, are counted in a table that all share, one atomic addition each. If that happens
 * often, the samples have moved on to other rows: then it adds its pages to that table, and begins
 * anew. */
#ifndef GPUHISTO_PAGED_COUNTS_H
#define GPUHISTO_PAGED_COUNTS_H

#include "src/base/cache_line.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

struct paged_set;

/* The counts of one thread. Not to be used by two at a time. */
struct paged_counts {
    alignas(CACHE_LINE) struct paged_set *set;
    uint32_t *place_of; /* by row / PAGED_ROWS: a row and this, modulo 2^32, is the index of its
                         * count; 0: there is no page */
    uint32_t *counts;   /* of all pages, after one that is not used, so that no place is 0 */
    uint32_t taken;     /* pages */
    uint32_t counted;   /* samples since the pages were emptied: no count is greater */
    uint64_t shared;    /* likewise, in the shared table */
    uint64_t last_once; /* the last row's count in pages that were emptied */
};

#define PAGED_ROWS 512

/* All-zero counts of so many rows for `members` threads. They take `size` bytes and the shared
 * table, or a little more if that would be hardly a page for each; most of it is not touched
 * before it is needed. NULL if memory is short. */
struct paged_set *paged_open(size_t rows, unsigned members, size_t size);

/* Frees them; does nothing with NULL. */
void paged_close(struct paged_set *set);

struct paged_counts *paged_member(struct paged_set *set, unsigned member);

/* Counts n rows. */
void paged_count(struct paged_counts *own, const uint32_t *rows, size_t n);

/* Counts a row so many times. */
void paged_count_times(struct paged_counts *own, uint32_t row, uint64_t times);

/* How often a member has counted the last row, which is never in the shared table before its pages
 * are emptied. */
uint64_t paged_count_of_last(const struct paged_counts *own);

/* Adds what all have counted to counts, one for each row. No thread may be counting. */
void paged_add(const struct paged_set *set, uint64_t *counts);

#endif

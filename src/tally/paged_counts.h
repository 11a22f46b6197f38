/* SPDX-License-Identifier: MIT */
/* Counts of very many rows, for threads that count side by side, where a whole table for each would
 * take too much memory.
 *
 * Most samples are in few rows that are close together. So each thread has counts of its own in
 * pages, and takes a page when it first meets a row in it. Once it has no more pages, it counts
 * rows without a page in a table that all share, by atomic additions. If that happens often,
 * samples have moved on to other rows: it then adds its pages to the table and starts over. */
#ifndef GPUHISTO_PAGED_COUNTS_H
#define GPUHISTO_PAGED_COUNTS_H

#include "src/base/memory.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

struct paged_set;

/* The counts of one thread. */
struct paged_counts {
    alignas(CACHE_LINE) struct paged_set *set;
    uint32_t *page_of;  /* by row / PAGED_ROWS: the index of a row's count is the row plus this,
                         * modulo 2^32; 0 if there is no page */
    uint32_t *counts;   /* of all pages, after one that is unused so that no place is 0 */
    uint32_t pages;     /* in use */
    uint32_t counted;   /* samples since the pages were emptied, so no count is greater */
    uint64_t shared;    /* samples in the shared table since then */
    uint64_t last_once; /* the last row's count in pages that were emptied */
};

#define PAGED_ROWS 512

/* Makes all-zero counts of `rows` rows for `members` threads. They take `size` bytes and the
 * shared table, or more if that would be hardly a page for each. Most memory is not touched before
 * it is needed. NULL if memory is short. */
struct paged_set *paged_open(size_t rows, unsigned members, size_t size);

/* Frees them. Does nothing with NULL. */
void paged_close(struct paged_set *set);

struct paged_counts *paged_member(struct paged_set *set, unsigned member);

/* Counts n rows. */
void paged_count(struct paged_counts *own, const uint32_t *rows, size_t n);

/* Counts a row `times` times. */
void paged_count_times(struct paged_counts *own, uint32_t row, uint64_t times);

/* Returns how often a member has counted the last row, which is in the shared table only after its
 * pages were emptied. */
uint64_t paged_count_of_last(const struct paged_counts *own);

/* Adds what all have counted to counts, one for each row. No thread may be counting. */
void paged_add(const struct paged_set *set, uint64_t *counts);

#endif

/* SPDX-License-Identifier: MIT */
/* Counts of samples by key and row. Where there are many keys, most pairs of a key and a row are
 * rare. So counts are appended to a list, which is sorted whenever it is full: memory is written in
 * order, where each access to a table of all pairs would miss the caches. One thread at a time. */
#ifndef GPUHISTO_KEY_COUNTS_H
#define GPUHISTO_KEY_COUNTS_H

#include "src/base/radix_sort.h"

#include <stdbool.h>

/* A list of counts. An empty one is all zeros but for row_bits. */
struct key_counts {
    struct radix_pair *list; /* a key and a row as one number, and a count */
    size_t sorted;           /* of the list, that are in order and differ */
    size_t count, capacity;
    unsigned row_bits; /* at least as many as the last row has; 32 at most */
};

/* Returns the number of bits that the rows below `end` need; `end` is at most 2^32. */
unsigned key_row_bits(size_t end);

/* Returns a key and a row as one number, which sorts by key and then by row. */
static inline uint64_t key_position(uint32_t key, uint32_t row, unsigned row_bits)
{
    return (uint64_t)key << row_bits | row;
}

static inline uint32_t key_of_position(uint64_t position, unsigned row_bits)
{
    return (uint32_t)(position >> row_bits);
}

static inline uint32_t row_of_position(uint64_t position, unsigned row_bits)
{
    return (uint32_t)(position & (((uint64_t)1 << row_bits) - 1));
}

/* Frees the memory of entries. */
void key_counts_close(struct key_counts *counts);

/* Adds to the count of a row of a key. False if memory is short. */
bool key_counts_add(struct key_counts *counts, uint32_t key, uint32_t row, uint64_t count);

/* Sorts entries by key and row, and adds up equal ones. False if memory is short. */
bool key_counts_sort(struct key_counts *counts);

/* --- samples --- */

/* A list of keys and rows, one pair for each sample, until they are added to counts. */
struct key_samples {
    uint64_t *list, *scratch; /* places */
    size_t count;
    size_t max; /* KEY_SAMPLES, or fewer: more are to be moved before */
    unsigned row_bits;
};

/* The most samples of a list: few enough to be sorted in the second cache of a core. */
#define KEY_SAMPLES ((size_t)1 << 17)

/* Makes room for samples. 0, or -1 if memory is short: key_samples_close is due in any case. */
int key_samples_open(struct key_samples *samples, unsigned row_bits);

/* Frees it. Does nothing with all-zero samples. */
void key_samples_close(struct key_samples *samples);

/* Adds a sample, for which there must be room. */
static inline void key_samples_add(struct key_samples *samples, uint32_t key, uint32_t row)
{
    samples->list[samples->count++] = key_position(key, row, samples->row_bits);
}

/* Sorts samples by key and row. */
void key_samples_sort(struct key_samples *samples);

#endif

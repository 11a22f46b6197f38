/* SPDX-License-Identifier: MIT */
/* Samples and counts of each key, for --by. Engines count into small tables of their own, and move
 * the contents here. So memory is that of the keys, and of a small table for each thread. */
#ifndef GPUHISTO_KEY_TALLIES_H
#define GPUHISTO_KEY_TALLIES_H

#include "src/base/radix_sort.h"
#include "key_table.h"
#include "src/base/error.h"
#include "tally.h"

#include <stdbool.h>

/* Counts of samples by key and row. Where there are many keys, most pairs of a key and a row are
 * rare. So counts are appended to a list, which is sorted whenever it is full: memory is written in
 * order, where each access to a table of all pairs would miss the caches. One thread at a time. */

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

#define KEY_PAGES (1 << 14)
#define KEY_PAGE_BITS 6 /* of its rows */
#define KEY_PLACE_BITS 21

/* Counts of the first keys, which have most samples if keys are few. Only what has samples takes
 * memory. A page has a place: the rows that it counts, and in key_bits the key. */
struct key_pages {
    unsigned key_bits;
    uint32_t last; /* page in use; page 0 has no place */
    uint16_t page_of[1 << KEY_PLACE_BITS];
    uint16_t last_of[1 << KEY_PLACE_BITS], next[KEY_PAGES]; /* pages of a key, a chain */
    uint32_t place_of[KEY_PAGES];
    uint32_t counts[KEY_PAGES][1 << KEY_PAGE_BITS];
};

/* A list of keys and rows, one pair for each sample, until they are added to counts. */
struct key_samples {
    uint64_t *list, *scratch;                       /* places; NULL if samples have weights: */
    struct radix_pair *weighted, *weighted_scratch; /* places and these; otherwise NULL */
    size_t count;
    size_t max; /* KEY_SAMPLES, or fewer: more are to be moved before */
    unsigned row_bits;
    struct key_pages *pages; /* samples that are not in the list; NULL before any */
};

/* The most samples of a list: few enough to be sorted in the second cache of a core. */
#define KEY_SAMPLES ((size_t)1 << 17)

/* Makes room for samples. 0, or -1 if memory is short: key_samples_close is due in any case. */
int key_samples_open(struct key_samples *samples, unsigned row_bits, bool has_weights);

/* Frees it. Does nothing with all-zero samples. */
void key_samples_close(struct key_samples *samples);

/* Adds a sample, for which there must be room. */
static inline void key_samples_add(struct key_samples *samples, uint32_t key, uint32_t row)
{
    samples->list[samples->count++] = key_position(key, row, samples->row_bits);
}

/* Adds one that has a weight. */
static inline void key_samples_add_weight(struct key_samples *samples, uint32_t key, uint32_t row,
                                          uint64_t weight)
{
    samples->weighted[samples->count++] =
        (struct radix_pair){key_position(key, row, samples->row_bits), weight};
}

/* Returns the place of sample i. */
static inline uint64_t key_samples_at(const struct key_samples *samples, size_t i)
{
    return samples->weighted ? samples->weighted[i].key : samples->list[i];
}

/* Makes room for pages, unless there is. False if memory is short. */
bool key_pages_open(struct key_samples *samples);

/* Gives a place a page. False if there is none left. */
bool key_pages_take(struct key_pages *pages, uint32_t key, size_t place);

/* Returns the count of a row of a key, which is prefetched; NULL if there is no page for it. */
static inline uint32_t *key_pages_find(struct key_pages *pages, uint32_t key, uint32_t row)
{
    const size_t place = (size_t)(row >> KEY_PAGE_BITS) << pages->key_bits | key;
    if (key >> pages->key_bits > 0 ||
        (!pages->page_of[place] && !key_pages_take(pages, key, place)))
        return NULL;
    uint32_t *count = &pages->counts[pages->page_of[place]][row & ((1 << KEY_PAGE_BITS) - 1)];
    __builtin_prefetch(count, 1);
    return count;
}

/* Sorts samples of the list by key and row. */
void key_samples_sort(struct key_samples *samples);

/* Samples and counts of each key, for --by. Engines count into small tables of their own, and move
 * the contents here. So memory is that of the keys, and of a small table for each thread. */

struct key_tallies;

enum key_tallies_state {
    KEYS_COMPLETE,
    KEYS_TOO_MANY,  /* more than max_keys: some are lost */
    KEYS_TOO_LARGE, /* more than max_bytes: as well */
    KEYS_NO_MEMORY,
};

enum key_order {
    KEYS_BY_NAME,  /* as in key_table.h */
    KEYS_BY_COUNT, /* most samples first; of as many, by name */
    KEYS_BY_VALID, /* the same without samples that are no numbers */
};

/* Makes tallies without keys by a histogram, which must outlive them. `max_bytes` limits names,
 * counts of rows, and sums of numbers that are far apart, together; `max_keys` limits what each key
 * takes in any case. NULL if memory is short. */
struct key_tallies *key_tallies_open(const struct histogram_spec *spec, size_t max_keys,
                                     uint64_t max_bytes);

/* Frees the tallies; does nothing with NULL. */
void key_tallies_close(struct key_tallies *keys);

/* Returns the state so far. Any thread. */
enum key_tallies_state key_tallies_state(const struct key_tallies *keys);

/* 0, or -1 with the error why keys were lost, so that no table is right. NULL: there are none. Any
 * thread. */
int key_tallies_check(const struct key_tallies *keys, struct error *error);

/* Records that samples are lost, as memory was short. Any thread. */
void key_tallies_lose(struct key_tallies *keys);

/* Returns the number of parts that each name has (key_parts_join). */
unsigned key_tallies_parts(const struct key_tallies *keys);

/* --- counting --- */

/* Makes a table, and samples of its keys, to be moved here. 0, or -1 if memory is short; close both
 * in either case. */
int key_tallies_open_table(const struct key_tallies *keys, struct key_table *table,
                           struct key_samples *samples);

/* Adds the samples of a table's keys, and empties them; the table keeps its keys. Adds nothing if
 * keys were lost before, as no result is right then. Any thread; table and samples belong to the
 * caller. */
void key_tallies_move_samples(struct key_tallies *keys, struct key_table *table,
                              struct key_samples *samples);

/* Adds samples as key_tallies_move_samples, and all that the table has of each key; empties
 * both. */
void key_tallies_move(struct key_tallies *keys, struct key_table *table,
                      struct key_samples *samples);

/* Adds the tally of a key. Any thread. */
void key_tallies_add(struct key_tallies *keys, struct key_name name, const struct tally *tally);

/* --- reading --- */

/* Sets *samples to those of all keys, and *invalid to those of them that are no numbers or, where
 * lines are counted, have no key. Nothing may be moved or added meanwhile. */
void key_tallies_add_up(const struct key_tallies *keys, uint64_t *samples, uint64_t *invalid);

/* Sorts the keys by as many threads, and numbers them from 0; numbers stay valid until something is
 * moved or added. Threads that would do so wait until key_tallies_thaw. 0, or -1 if memory is
 * short. */
int key_tallies_sort(struct key_tallies *keys, enum key_order order, unsigned threads);
void key_tallies_thaw(struct key_tallies *keys);

/* Puts the first `top` keys in order by name, once all are sorted by their samples. */
void key_tallies_sort_top(struct key_tallies *keys, size_t top);

/* Puts keys that are sorted in another order: key i is then the one that was list[i], of all keys.
 * 0, or -1 if memory is short. */
int key_tallies_reorder(struct key_tallies *keys, const size_t *list);

/* True if all names are numbers or points in time (key_table.h), once keys are sorted. */
bool key_tallies_are_sequence(const struct key_tallies *keys);

/* The following functions are for sorted keys. */

/* Returns the seed of the tables, for other tables of keys of the same input. */
struct key_seed key_tallies_seed(const struct key_tallies *keys);

/* Returns the number of keys without KEY_MISSING. That number is also the index of KEY_MISSING,
 * which has no name, and perhaps no samples. */
size_t key_tallies_count(const struct key_tallies *keys);

/* Returns the name, which lives until the keys are closed, and the samples of key i. */
struct key_name key_tallies_name(const struct key_tallies *keys, size_t i);
uint64_t key_tallies_samples(const struct key_tallies *keys, size_t i);

/* Sets the samples, counts and moments of a tally to those of key i, or to those of all keys from i
 * on together, and marks its blocks, which it must have. The tally is all zeros, or was set before.
 */
void key_tallies_load(const struct key_tallies *keys, size_t i, struct tally *tally);
void key_tallies_load_from(const struct key_tallies *keys, size_t i, struct tally *tally);

#endif

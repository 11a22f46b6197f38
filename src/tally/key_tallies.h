/* SPDX-License-Identifier: MIT */
/* Samples and counts of each key, for --by. Engines count into small tables of their own, and move
 * the contents to tallies of all threads. So memory is that of the keys, and of a small table for
 * each thread. */
#ifndef GPUHISTO_KEY_TALLIES_H
#define GPUHISTO_KEY_TALLIES_H

#include "src/base/byte_word.h"
#include "src/text/field.h"
#include "radix_sort.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct histogram_spec;
struct moments;
struct tally;

/* --- sums of the numbers of a key --- */

/* Moments of the numbers of a key, in a twentieth of the memory: exact sums with as many bits as
 * similar numbers need. A key whose numbers are further apart gets a struct moments. */

#define KEY_SUM_WORDS 3     /* of 64 bits */
#define KEY_SQUARES_WORDS 5 /* twice the bits of numbers need twice the width */

/* Exact sums, all zeros before any number. They are whole numbers in words of 64 bits, the lowest
 * first. */
struct key_sums {
    struct moments
        *moments; /* all numbers so far, and nothing below counts; NULL: they are below */
    double min, max;
    uint64_t sum[KEY_SUM_WORDS];         /* times 2^exponent; two's complement */
    uint64_t squares[KEY_SQUARES_WORDS]; /* times 2^(2 * exponent) */
    int exponent;                        /* if has_exponent */
    bool has_exponent;                   /* a number that is not 0 was added */
    bool any;
};

/* Adds a number, which may be infinite. False if memory is short: the number is lost. */
bool key_sums_add(struct key_sums *sums, double value);

/* The same, 1 or more times. All numbers of a run together are added less than 2^64 times. */
bool key_sums_add_times(struct key_sums *sums, double value, uint64_t times);

/* Adds a whole number of at most 64 bits, of MOMENTS_LARGE at least, and the double nearest to it,
 * so many times. False if memory is short. */
bool key_sums_add_large(struct key_sums *sums, double nearest, int128 number, uint64_t times);

/* Adds other sums, and makes `from` all zeros. False if memory is short. */
bool key_sums_move(struct key_sums *into, struct key_sums *from);

/* Adds moments. False if memory is short. */
bool key_sums_add_moments(struct key_sums *sums, const struct moments *moments);

/* Adds the sums to moments. */
void key_sums_add_to(const struct key_sums *sums, struct moments *moments);

/* Frees the memory of sums. */
void key_sums_close(struct key_sums *sums);

/* --- sums of numbers of similar size, added in a few instructions --- */

/* A sum of numbers below the limit [1], and of others [0], as whole numbers of 64 bits. */
struct quick_sum {
    int128 sum[2];
    uint128 squares[2];
    uint64_t carries[2]; /* above the squares */
    double min, max;
};

/* Sums by the number of a key, all zeros at first; the caller frees the list. The first numbers
 * decide how far the decimals of others reach, for all keys. */
struct quick_sums {
    struct quick_sum *list;
    size_t count; /* keys that have room; 0: no scale was chosen */
    double scale[2], limit;
    int exponent;    /* scale[1] is 2^-exponent */
    uint64_t others; /* numbers that were not added since then */
};

/* Makes room for `count` keys, `max` at most, once one of n numbers, or of others before, tells a
 * scale. Where there is no room, numbers are not added. */
void quick_sums_prepare(struct quick_sums *quick, size_t count, size_t max, const double *values,
                        size_t n);

/* Adds a number. False if it is too large, or has bits that are too low. */
static inline bool quick_sums_add(struct quick_sums *quick, uint32_t key, double value)
{
    const bool part = fabs(value) < quick->limit;
    const double scaled = value * quick->scale[part];
    if (key >= quick->count || !(fabs(scaled) < 0x1p63) || (double)(int64_t)scaled != scaled) {
        quick->others++;
        return false;
    }
    const int64_t whole = (int64_t)scaled;
    struct quick_sum *sum = &quick->list[key];
    const uint128 square = (uint128)((int128)whole * whole);
    sum->sum[part] += whole;
    sum->squares[part] += square;
    sum->carries[part] += sum->squares[part] < square;
    sum->min = value < sum->min ? value : sum->min;
    sum->max = value > sum->max ? value : sum->max;
    return true;
}

/* Moves the sums of all keys to those of a list; then another scale is chosen. False if memory is
 * short. */
bool quick_sums_move(struct quick_sums *quick, struct key_sums *into);

/* --- tables of keys --- */

/* Records without a key have this number in every table, and no name. */
#define KEY_MISSING 0

/* A number that no key has. */
#define KEY_FAILED UINT32_MAX

/* Makes keys' places in tables unpredictable, so that nobody can choose keys that meet there. All
 * tables of a run share it. */
struct key_seed {
    uint64_t words[2];
};

/* The last 16 bytes of a name: the last eight as a number, and those before them. Of a shorter name
 * there are zeros above. So short names are hashed and compared without a branch. */
struct key_words {
    uint64_t last, before;
};

struct key_entry {
    uint64_t hash;
    struct key_words words;    /* of the name */
    const unsigned char *name; /* of the table; NULL for KEY_MISSING */
    uint64_t samples;
    uint32_t len;
    uint32_t moved; /* its number where it is moved to, once that is known; 0: not yet */
};

struct name_block;

/* A table of keys: for each its samples and, of numbers, sums. One thread at a time. */
struct key_table {
    struct key_seed seed;
    struct key_entry *entries; /* by number; the first is KEY_MISSING */
    struct key_sums *sums;     /* by number; NULL: none are wanted */
    size_t count, capacity;    /* keys, with KEY_MISSING */
    uint64_t *slots;           /* the upper half of a hash, and the number of the key; 0: empty */
    size_t slot_count;         /* a power of two */
    struct name_block *names;
    size_t name_bytes; /* of all names */
    bool has_sums;
};

/* Makes a table without keys. 0, or -1 if memory is short; close it in either case. */
int key_table_open(struct key_table *table, const struct key_seed *seed, bool has_sums);

/* Frees the memory of a table. Does nothing with an all-zero one. */
void key_table_close(struct key_table *table);

/* Removes all keys, but keeps the memory for new ones. */
void key_table_clear(struct key_table *table);

/* Returns the first bytes of a word, which are its highest, as many as are given: up to 8. */
static inline uint64_t key_low_bytes(uint64_t word, size_t count)
{
    const size_t half = 4 * (8 - count);
    return word >> half >> half;
}

/* Returns the words of a name; 16 bytes before its end can be read, whatever they are. */
static inline struct key_words key_words_behind(const unsigned char *name, size_t len)
{
    const unsigned char *end = name + len;
    const size_t last = len < 8 ? len : 8, before = len < 16 ? len - last : 8;
    return (struct key_words){key_low_bytes(byte_word(end - 8), last),
                              key_low_bytes(byte_word(end - 16), before)};
}

/* Returns the words of any name. */
struct key_words key_words_of(const unsigned char *name, size_t len);

/* True if a name with these words is another one of the same length. */
static inline bool key_is_same(struct key_words a, const unsigned char *name, struct key_words b,
                               const unsigned char *other, size_t len)
{
    return a.last == b.last && a.before == b.before &&
           (len <= 16 || memcmp(name, other, len - 16) == 0);
}

/* Words that are multiplied are neither 0 nor known, as the seed is in them. */
static inline uint64_t key_mix(uint64_t a, uint64_t b)
{
    const uint128 product = (uint128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns the hash of a name with these words by a seed. */
static inline uint64_t key_hash_words(const struct key_seed *seed, struct key_words words,
                                      const unsigned char *name, size_t len)
{
    uint64_t hash = seed->words[0] ^ len;
    for (; len > 16; len -= 16, name += 16)
        hash = key_mix(byte_word(name) ^ seed->words[1], byte_word(name + 8) ^ hash);
    hash = key_mix(words.last ^ seed->words[1], words.before ^ hash);
    return key_mix(hash ^ UINT64_C(0x9e3779b97f4a7c15), seed->words[1]);
}

/* Returns the hash of a name by a seed. */
uint64_t key_hash(const struct key_seed *seed, const unsigned char *name, size_t len);

/* Prefetches the slot that key_table_find looks at first. */
static inline void key_table_prefetch(const struct key_table *table, uint64_t hash)
{
    __builtin_prefetch(&table->slots[hash & (table->slot_count - 1)]);
}

/* Returns the number of the key that probably has this hash, once the slot has come, and prefetches
 * its entry and sums; KEY_MISSING if there is none. */
static inline uint32_t key_table_prefetch_entry(const struct key_table *table, uint64_t hash)
{
    const size_t mask = table->slot_count - 1;
    size_t at = hash & mask;
    while (table->slots[at] && table->slots[at] >> 32 != hash >> 32)
        at = (at + 1) & mask;
    const uint32_t key = (uint32_t)table->slots[at];
    __builtin_prefetch(&table->entries[key]);
    if (table->sums) {
        __builtin_prefetch(&table->sums[key]);
        __builtin_prefetch((const char *)&table->sums[key] + 64);
    }
    return key;
}

/* Prefetches the name of a key, once the entry has come, unless its words say all. */
static inline void key_table_prefetch_name(const struct key_table *table, uint32_t key)
{
    if (table->entries[key].len > 16)
        __builtin_prefetch(table->entries[key].name);
}

/* Each returns the number of the key with this hash, and words, and name, which is added if it is
 * new. KEY_FAILED if memory is short. */
uint32_t key_table_find_words(struct key_table *table, uint64_t hash, struct key_words words,
                              const unsigned char *name, size_t len);
uint32_t key_table_find(struct key_table *table, uint64_t hash, const unsigned char *name,
                        size_t len);

/* --- their order --- */

/* Keys in the order of their names: by bytes as in the C locale, or by value if all are numbers. */

/* Keys of several tables, in order. */
struct key_list {
    struct radix_pair *list; /* the value is what key_position_table and key_position_key take */
    size_t count;
};

static inline uint32_t key_position_table(const struct radix_pair *position)
{
    return (uint32_t)(position->value >> 32);
}

static inline uint32_t key_position_key(const struct radix_pair *position)
{
    return (uint32_t)position->value;
}

/* Lists the keys of `count` tables, by as many threads as are given; names have so many `parts`
 * (key_parts_join), the first of which comes first, and each is ordered like a name of one part.
 * All keys differ, except for KEY_MISSING. The caller frees the list. 0, or -1 if memory is short,
 * and there is no list. */
int key_list_make(struct key_list *keys, const struct key_table *const *tables, size_t count,
                  unsigned parts, unsigned threads);

/* Sorts the first `top` keys of a list by name, which has one part. After number_prepare. */
void key_list_sort_first(struct key_list *keys, const struct key_table *const *tables, size_t top);

/* True if a name is a number, or a point in time such as 10:05 or 2026-11-22T10:05. After
 * number_prepare. */
bool key_is_number_or_time(const struct key_entry *entry);

/* --- counts by key and row --- */

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

/* --- samples and counts of all threads --- */

struct key_tallies;

enum key_tallies_state {
    KEYS_COMPLETE,
    KEYS_TOO_MANY,  /* more than max_keys: some are lost */
    KEYS_TOO_LARGE, /* more than max_bytes: as well */
    KEYS_NO_MEMORY,
};

enum key_order {
    KEYS_BY_NAME,  /* as key_list_make lists them */
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

/* Where keys hardly repeat, a table of a thread's own gains nothing: samples are gathered, and many
 * at a time are added to the tables of all threads, of which each has the keys with its share of
 * hashes. One thread at a time. */
struct key_shares;

/* Makes room for samples to be added to `keys`, which must outlive them. NULL if memory is short.
 */
struct key_shares *key_shares_open(struct key_tallies *keys);

/* Frees the room; does nothing with NULL. What was not moved is lost. */
void key_shares_close(struct key_shares *shares);

/* Adds a sample of the key with this name, which is copied, and hash: a row, and a value, unless it
 * is NaN; where lines are counted, neither matters. A name without bytes is that of KEY_MISSING. */
void key_shares_add(struct key_shares *shares, uint64_t hash, struct key_name name, uint32_t row,
                    double value);

/* Adds the samples to the tallies, unless keys were lost before. */
void key_shares_move(struct key_shares *shares);

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

/* True if all names are numbers or points in time (key_is_number_or_time), once keys are sorted. */
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

/* --- times among keys --- */

/* Keys that are beginnings of buckets of time, as in --by=FIELD:5m. While counting, each offset
 * from UTC has keys of its own, as fine as buckets in UTC need (time_floor_twice). Once all is
 * counted, they are joined: to buckets in the offset of all times if it is the same, and otherwise
 * in UTC. So a result does not depend on what a thread, a share or a table has seen. */

enum key_times {
    KEY_TIMES_SAME,   /* the keys are what is shown */
    KEY_TIMES_JOINED, /* *joined is; close it */
    KEY_TIMES_IN_UTC, /* as well, as there were several offsets */
    KEY_TIMES_COARSE, /* as there are several, no key says in which bucket of UTC its samples are */
    KEY_TIMES_NO_MEMORY,
};

/* True if there may be keys to join. */
bool key_times_are_used(const struct histogram_spec *spec);

/* Joins keys, which are sorted and stay as they are. `are_fine`: they were not joined before. The
 * tally is worked with. */
enum key_times key_times_join(const struct key_tallies *keys, const struct histogram_spec *spec,
                              bool are_fine, struct tally *tally, struct key_tallies **joined);

#endif

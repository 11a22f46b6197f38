/* SPDX-License-Identifier: MIT */
/* The keys of samples: a table of their names, and their order. */
#ifndef GPUHISTO_KEY_TABLE_H
#define GPUHISTO_KEY_TABLE_H

#include "src/text/key.h"
#include "key_sums.h"
#include "src/base/byte_word.h"
#include "src/base/radix_sort.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table of keys: for each its samples and, of numbers, sums. One thread at a time. */

/* Records without a key have this number in every table, and no name. */
#define KEY_MISSING 0

/* A number that no key has. */
#define KEY_FAILED UINT32_MAX

/* Makes keys' places in tables unpredictable, so that nobody can choose keys that meet there. All
 * tables of a run share it. */
struct key_seed {
    uint64_t words[2];
};

struct key_entry {
    uint64_t hash;
    const unsigned char *name; /* of the table; NULL for KEY_MISSING */
    size_t len;
    uint64_t samples;
    uint32_t moved; /* its number where it is moved to, once that is known; 0: not yet */
};

struct name_block;

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

/* The last 16 bytes of a name: the last eight as a number, and those before them. Of a shorter name
 * there are zeros above. So short names are hashed and compared without a branch. */
struct key_words {
    uint64_t last, before;
};

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

/* Prefetches the entry that key_table_find probably looks at next, and the key's sums, once the
 * slot has come. */
static inline void key_table_prefetch_entry(const struct key_table *table, uint64_t hash)
{
    const uint64_t slot = table->slots[hash & (table->slot_count - 1)];
    if (slot >> 32 != hash >> 32)
        return;
    __builtin_prefetch(&table->entries[(uint32_t)slot]);
    if (table->sums)
        __builtin_prefetch(&table->sums[(uint32_t)slot]);
}

/* Each returns the number of the key with this hash, and words, and name, which is added if it is
 * new. KEY_FAILED if memory is short. */
uint32_t key_table_find_words(struct key_table *table, uint64_t hash, struct key_words words,
                              const unsigned char *name, size_t len);
uint32_t key_table_find(struct key_table *table, uint64_t hash, const unsigned char *name,
                        size_t len);

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

#endif

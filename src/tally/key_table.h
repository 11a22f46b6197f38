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
    uint32_t last;     /* the key that was found last */
    bool has_sums;
};

/* Makes a table without keys. 0, or -1 if memory is short; close it in either case. */
int key_table_open(struct key_table *table, const struct key_seed *seed, bool has_sums);

/* Frees the memory of a table. Does nothing with an all-zero one. */
void key_table_close(struct key_table *table);

/* Removes all keys, but keeps the memory for new ones. */
void key_table_clear(struct key_table *table);

/* True if `len` bytes of two names are the same. Inline, as most names are short. */
static inline bool key_has_same_bytes(const unsigned char *one, const unsigned char *other,
                                      size_t len)
{
    if (len < 4 || len > 16)
        return len == 0 || memcmp(one, other, len) == 0;
    const size_t last = len - (len < 8 ? 4 : 8);
    const uint64_t begin =
        len < 8 ? byte_word_of_4(one) ^ byte_word_of_4(other) : byte_word(one) ^ byte_word(other);
    const uint64_t end = len < 8 ? byte_word_of_4(one + last) ^ byte_word_of_4(other + last)
                                 : byte_word(one + last) ^ byte_word(other + last);
    return (begin | end) == 0;
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

/* Returns the number of the key with this hash and name, which is added if it is new. KEY_FAILED if
 * memory is short. */
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

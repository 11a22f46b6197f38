/* SPDX-License-Identifier: MIT */
#include "key_table.h"
#include "src/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 64
#define BLOCK_SIZE ((size_t)64 << 10) /* of names, bytes; a longer name has a block of its own */

/* --- names --- */

struct name_block {
    struct name_block *next;
    size_t used, size;
    unsigned char bytes[];
};

/* Copies a name. NULL if memory is short. */
static unsigned char *keep_name(struct key_table *table, const unsigned char *name, size_t len)
{
    struct name_block *block = table->names;
    if (!block || block->size - block->used < len) {
        const size_t size = len > BLOCK_SIZE / 4 ? len : BLOCK_SIZE - sizeof *block;
        block = malloc(sizeof *block + size);
        if (!block)
            return NULL;
        *block = (struct name_block){.size = size};
        /* A block that is full at once stands behind the one that is being filled. */
        struct name_block **at = table->names && size == len ? &table->names->next : &table->names;
        block->next = *at;
        *at = block;
    }
    unsigned char *kept = block->bytes + block->used;
    if (len > 0)
        memcpy(kept, name, len);
    block->used += len;
    table->name_bytes += len;
    return kept;
}

static void free_names(struct key_table *table)
{
    while (table->names) {
        struct name_block *next = table->names->next;
        free(table->names);
        table->names = next;
    }
    table->name_bytes = 0;
}

/* --- hashes --- */

/* Words that are multiplied are neither 0 nor known, as the seed is in them. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
    const uint128 product = (uint128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns up to 16 bytes as two words, which differ for names that do. */
static inline void short_words(const unsigned char *name, size_t len, uint64_t words[2])
{
    if (len >= 8) {
        words[0] = byte_word(name);
        words[1] = byte_word(name + len - 8);
    } else if (len >= 4) {
        words[0] = byte_word_of_4(name);
        words[1] = byte_word_of_4(name + len - 4);
    } else {
        words[0] =
            len > 0 ? (uint64_t)name[0] << 16 | (uint64_t)name[len / 2] << 8 | name[len - 1] : 0;
        words[1] = 0;
    }
}

uint64_t key_hash(const struct key_seed *seed, const unsigned char *name, size_t len)
{
    uint64_t hash = seed->words[0] ^ len, words[2];
    for (; len > 16; len -= 16, name += 16)
        hash = mix(byte_word(name) ^ seed->words[1], byte_word(name + 8) ^ hash);
    short_words(name, len, words);
    hash = mix(words[0] ^ seed->words[1], words[1] ^ hash);
    return mix(hash ^ UINT64_C(0x9e3779b97f4a7c15), seed->words[1]);
}

/* --- the table --- */

int key_table_open(struct key_table *table, const struct key_seed *seed, bool has_sums)
{
    *table = (struct key_table){.seed = *seed, .has_sums = has_sums};
    table->slot_count = SLOTS_FIRST;
    table->slots = calloc(table->slot_count, sizeof table->slots[0]);
    table->capacity = SLOTS_FIRST / 2;
    table->entries = calloc(table->capacity, sizeof table->entries[0]);
    if (has_sums)
        table->sums = calloc(table->capacity, sizeof table->sums[0]);
    table->count = 1;
    return table->slots && table->entries && (table->sums || !has_sums) ? 0 : -1;
}

static void close_sums(struct key_table *table)
{
    for (size_t i = 0; table->sums && i < table->count; i++)
        key_sums_close(&table->sums[i]);
}

void key_table_close(struct key_table *table)
{
    close_sums(table);
    free_names(table);
    free(table->slots);
    free(table->entries);
    free(table->sums);
    *table = (struct key_table){.count = 0};
}

void key_table_clear(struct key_table *table)
{
    close_sums(table);
    free_names(table);
    memset(table->slots, 0, table->slot_count * sizeof table->slots[0]);
    table->entries[KEY_MISSING].samples = 0;
    table->count = 1;
    table->last = KEY_MISSING;
}

/* Puts keys into twice as many slots. */
static bool grow_slots(struct key_table *table)
{
    const size_t count = 2 * table->slot_count;
    uint64_t *slots = calloc(count, sizeof slots[0]);
    if (!slots)
        return false;
    for (size_t i = 1; i < table->count; i++) {
        const uint64_t hash = table->entries[i].hash;
        size_t slot = hash & (count - 1);
        while (slots[slot])
            slot = (slot + 1) & (count - 1);
        slots[slot] = (hash >> 32 << 32) | i;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = count;
    return true;
}

/* Makes room for another key. */
static bool grow_entries(struct key_table *table)
{
    size_t capacity = table->capacity;
    struct key_entry *entries =
        grow_list(table->entries, &capacity, table->count + 1, sizeof entries[0]);
    if (!entries)
        return false;
    table->entries = entries;
    if (table->has_sums) {
        struct key_sums *sums = realloc(table->sums, capacity * sizeof sums[0]);
        if (!sums)
            return false;
        table->sums = sums;
    }
    table->capacity = capacity;
    return true;
}

/* Adds a key that is not there. Its slot was found free. */
static uint32_t add_key(struct key_table *table, uint64_t hash, const unsigned char *name,
                        size_t len)
{
    if (2 * (table->count + 1) > table->slot_count && !grow_slots(table))
        return KEY_FAILED;
    if (table->count == table->capacity && !grow_entries(table))
        return KEY_FAILED;
    const unsigned char *kept = keep_name(table, name, len);
    if (!kept)
        return KEY_FAILED;
    const size_t mask = table->slot_count - 1, number = table->count++;
    size_t slot = hash & mask;
    while (table->slots[slot])
        slot = (slot + 1) & mask;
    table->slots[slot] = (hash >> 32 << 32) | number;
    table->entries[number] = (struct key_entry){.hash = hash, .name = kept, .len = len};
    if (table->has_sums)
        table->sums[number] = (struct key_sums){.moments = NULL};
    return table->last = (uint32_t)number;
}

static bool is_same(const struct key_entry *entry, const unsigned char *name, size_t len)
{
    return entry->len == len && entry->name && key_has_same_bytes(entry->name, name, len);
}

uint32_t key_table_find(struct key_table *table, uint64_t hash, const unsigned char *name,
                        size_t len)
{
    const size_t mask = table->slot_count - 1;
    for (size_t slot = hash & mask; table->slots[slot]; slot = (slot + 1) & mask) {
        const uint32_t number = (uint32_t)table->slots[slot];
        if (table->slots[slot] >> 32 == hash >> 32 && is_same(&table->entries[number], name, len))
            return table->last = number;
    }
    return add_key(table, hash, name, len);
}

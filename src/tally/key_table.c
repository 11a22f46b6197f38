/* SPDX-License-Identifier: MIT */
/* The keys of samples: a table of their names, and their order. */
#include "key_table.h"
#include "src/base/grow.h"
#include "src/base/parallel.h"

#include <math.h>
#include <stdbool.h>
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

/* Names are sorted by the eight bytes that follow what all begin with, as one number, and only
 * those that are alike there are compared. */

/* The facts about the keys of a table that decide their order. */
struct part {
    size_t begin;  /* in the list */
    size_t common; /* bytes that all names have at the beginning */
    bool are_numbers;
};

struct sorting {
    const struct key_table *const *tables;
    struct part *parts; /* one of each table */
    size_t count;       /* tables */
    const struct key_entry *first;
    struct part all; /* of all tables */
    struct key_list *keys;
};

/* --- names --- */

static int compare_bytes(const struct key_entry *a, const struct key_entry *b)
{
    const size_t len = a->len < b->len ? a->len : b->len;
    const int order = len > 0 ? memcmp(a->name, b->name, len) : 0;
    return order != 0 ? order : a->len < b->len ? -1 : a->len > b->len;
}

static double number_of(const struct key_entry *entry)
{
    const unsigned char *end = entry->name + entry->len;
    return entry->len == 0 || entry->len > NUMBER_MAX || number_token_end(entry->name, end) != end
               ? NAN
               : number_of_token(entry->name, end, end);
}

/* Compares numbers whose doubles are equal. Whole numbers that are rounded to the same double are
 * as long, so their digits are compared. */
static int compare_digits(const struct key_entry *a, const struct key_entry *b)
{
    return number_of(a) < 0 ? compare_bytes(b, a) : compare_bytes(a, b);
}

/* Returns how many of the first `max` bytes are those of another name. */
static size_t common_bytes(const struct key_entry *a, const struct key_entry *b, size_t max)
{
    size_t len = 0;
    max = a->len < max ? a->len : max;
    max = b->len < max ? b->len : max;
    while (len < max && a->name[len] == b->name[len])
        len++;
    return len;
}

/* --- ranks: numbers that are less if keys are shown before --- */

static uint64_t rank_of_number(double value)
{
    uint64_t bits;
    value += 0.0; /* not -0 */
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static uint64_t rank_of_bytes(const struct key_entry *entry, size_t from)
{
    uint64_t rank = 0;
    for (size_t i = from; i < from + 8; i++)
        rank = rank << 8 | (i < entry->len ? entry->name[i] : 0);
    return rank;
}

/* Finds out about the keys of a table. */
static void look_at(void *arg, size_t number)
{
    struct sorting *sorting = arg;
    struct part *part = &sorting->parts[number];
    const struct key_table *table = sorting->tables[number];
    part->are_numbers = true;
    part->common = sorting->first->len;
    for (size_t key = 1; key < table->count; key++) {
        const struct key_entry *entry = &table->entries[key];
        part->are_numbers = part->are_numbers && !isnan(number_of(entry));
        part->common = common_bytes(sorting->first, entry, part->common);
    }
}

/* Lists the keys of a table with their ranks by name. */
static void rank(void *arg, size_t number)
{
    const struct sorting *sorting = arg;
    const struct key_table *table = sorting->tables[number];
    const struct part *all = &sorting->all;
    struct radix_pair *list = sorting->keys->list + sorting->parts[number].begin;
    for (size_t key = 1; key < table->count; key++) {
        const struct key_entry *entry = &table->entries[key];
        list[key - 1].value = (uint64_t)number << 32 | key;
        list[key - 1].key =
            all->are_numbers ? rank_of_number(number_of(entry)) : rank_of_bytes(entry, all->common);
    }
}

/* --- sorting --- */

static const struct key_entry *entry_of(const struct sorting *sorting,
                                        const struct radix_pair *position)
{
    return &sorting->tables[key_position_table(position)]->entries[key_position_key(position)];
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct sorting *sorting = arg;
    const struct key_entry *left = entry_of(sorting, a), *right = entry_of(sorting, b);
    return sorting->all.are_numbers ? compare_digits(left, right) : compare_bytes(left, right);
}

/* Compares two keys as compare does, without their ranks. */
static int compare_names(const void *a, const void *b, void *arg)
{
    const struct sorting *sorting = arg;
    const struct key_entry *left = entry_of(sorting, a), *right = entry_of(sorting, b);
    const double one = number_of(left), other = number_of(right);
    return sorting->all.are_numbers && one < other   ? -1
           : sorting->all.are_numbers && one > other ? 1
                                                     : compare(a, b, arg);
}

void key_list_sort_first(struct key_list *keys, const struct key_table *const *tables, size_t top)
{
    struct sorting sorting = {.tables = tables, .keys = keys, .all = {.are_numbers = true}};
    for (size_t i = 0; i < top; i++)
        sorting.all.are_numbers =
            sorting.all.are_numbers && !isnan(number_of(entry_of(&sorting, &keys->list[i])));
    qsort_r(keys->list, top, sizeof keys->list[0], compare_names, &sorting);
}

bool key_is_number_or_time(const struct key_entry *entry)
{
    bool has_mark = false;
    if (!isnan(number_of(entry)))
        return true;
    for (size_t i = 0; i < entry->len; i++) {
        const unsigned char c = entry->name[i];
        const bool is_mark = c == ':' || c == '-' || c == '/';
        if (!number_is_digit(c) && (i == 0 || !(is_mark || strchr("T.,+Z ", c))))
            return false;
        has_mark |= is_mark;
    }
    return has_mark;
}

static void sort_by_rank(struct key_list *keys, struct radix_pair **scratch)
{
    struct radix_pair *sorted = radix_sort_pairs(keys->list, *scratch, keys->count);
    *scratch = sorted == keys->list ? *scratch : keys->list;
    keys->list = sorted;
}

/* Sorts those of a list in order that have the same rank. */
static void sort_alike(struct sorting *sorting)
{
    const struct key_list *keys = sorting->keys;
    for (size_t at = 0, end = 0; at < keys->count; at = end) {
        while (end < keys->count && keys->list[end].key == keys->list[at].key)
            end++;
        if (end - at > 1)
            qsort_r(keys->list + at, end - at, sizeof keys->list[0], compare, sorting);
    }
}

/* Sets where the keys of each table begin in the list, and what is common to all names. */
static void prepare(struct sorting *sorting, unsigned threads)
{
    struct part *all = &sorting->all;
    number_prepare();
    parallel_loop(threads, sorting->count, look_at, sorting);
    *all = (struct part){.common = sorting->first->len, .are_numbers = true};
    for (size_t i = 0; i < sorting->count; i++) {
        struct part *part = &sorting->parts[i];
        part->begin = all->begin;
        all->begin += sorting->tables[i]->count - 1;
        all->common = part->common < all->common ? part->common : all->common;
        all->are_numbers = all->are_numbers && part->are_numbers;
    }
}

static void sort(struct sorting *sorting, struct radix_pair **scratch, unsigned threads)
{
    prepare(sorting, threads);
    parallel_loop(threads, sorting->count, rank, sorting);
    sort_by_rank(sorting->keys, scratch);
    sort_alike(sorting);
}

int key_list_make(struct key_list *keys, const struct key_table *const *tables, size_t count,
                  unsigned threads)
{
    struct sorting sorting = {.tables = tables, .count = count, .keys = keys};
    *keys = (struct key_list){.count = 0};
    for (size_t i = 0; i < count; i++) {
        sorting.first = tables[i]->count > 1 ? &tables[i]->entries[1] : sorting.first;
        keys->count += tables[i]->count - 1;
    }
    /* One more than there are, as a list of none has to be there, too. */
    struct radix_pair *scratch = malloc((keys->count + 1) * sizeof scratch[0]);
    sorting.parts = malloc(count * sizeof sorting.parts[0]);
    keys->list = malloc((keys->count + 1) * sizeof keys->list[0]);
    const bool is_there = scratch && sorting.parts && keys->list;
    if (is_there && keys->count > 0)
        sort(&sorting, &scratch, threads);
    if (!is_there) {
        free(keys->list);
        keys->list = NULL;
    }
    free(scratch);
    free(sorting.parts);
    return is_there ? 0 : -1;
}

/* SPDX-License-Identifier: MIT */
/* The keys of samples: a table of their names, and their order. */
#include "key_tallies.h"
#include "src/base/memory.h"
#include "src/base/system.h"
#include "src/text/field.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 64
#define FEW_KEYS 4096
#define ALIKE_MANY 256                /* keys that are sorted by ranks of their next part */
#define BLOCK_SIZE ((size_t)64 << 10) /* of names, bytes; a longer name has a block of its own */

/* --- names --- */

/* What is before the bytes has 16 of them, so that key_words_behind reads any name. */
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

struct key_words key_words_of(const unsigned char *name, size_t len)
{
    unsigned char bytes[32];
    if (len >= 16)
        return key_words_behind(name, len);
    memcpy(bytes + 16, len > 0 ? name : bytes, len);
    return key_words_behind(bytes + 16, len);
}

uint64_t key_hash(const struct key_seed *seed, const unsigned char *name, size_t len)
{
    return key_hash_words(seed, key_words_of(name, len), name, len);
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
static uint32_t add_key(struct key_table *table, uint64_t hash, struct key_words words,
                        const unsigned char *name, size_t len)
{
    if ((table->count < FEW_KEYS ? 4 : 2) * (table->count + 1) > table->slot_count &&
        !grow_slots(table))
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
    table->entries[number] =
        (struct key_entry){.hash = hash, .words = words, .name = kept, .len = (uint32_t)len};
    if (table->has_sums)
        table->sums[number] = (struct key_sums){.moments = NULL};
    return (uint32_t)number;
}

uint32_t key_table_find_words(struct key_table *table, uint64_t hash, struct key_words words,
                              const unsigned char *name, size_t len)
{
    const size_t mask = table->slot_count - 1;
    for (size_t slot = hash & mask; table->slots[slot]; slot = (slot + 1) & mask) {
        const uint32_t number = (uint32_t)table->slots[slot];
        const struct key_entry *entry = &table->entries[number];
        if (table->slots[slot] >> 32 == hash >> 32 && entry->len == len &&
            key_is_same(entry->words, entry->name, words, name, len))
            return number;
    }
    return add_key(table, hash, words, name, len);
}

uint32_t key_table_find(struct key_table *table, uint64_t hash, const unsigned char *name,
                        size_t len)
{
    return key_table_find_words(table, hash, key_words_of(name, len), name, len);
}

/* Names are sorted by the eight bytes that follow what all begin with, as one number, and only
 * those that are alike there are compared. */

/* The facts about the keys of a table that decide their order. */
struct facts {
    size_t begin;                    /* in the list */
    size_t common;                   /* bytes that all first parts have at the beginning */
    bool are_numbers[KEY_PARTS_MAX]; /* of all names, the parts that one key made */
};

struct sorting {
    const struct key_table *const *tables;
    struct facts *facts; /* of each table */
    size_t count;        /* tables */
    unsigned parts;      /* of each name */
    const struct key_entry *first;
    struct facts all; /* of all tables */
    struct key_list *keys;
    struct radix_pair *scratch; /* as long as the list */
};

/* --- names --- */

static struct key_name part_of(const struct sorting *sorting, const struct key_entry *entry,
                               unsigned part)
{
    return key_parts_get((struct key_name){entry->name, entry->len}, sorting->parts, part);
}

static int compare_bytes(struct key_name a, struct key_name b)
{
    const size_t len = a.len < b.len ? a.len : b.len;
    const int order = len > 0 ? memcmp(a.bytes, b.bytes, len) : 0;
    return order != 0 ? order : a.len < b.len ? -1 : a.len > b.len;
}

static double number_of(struct key_name name)
{
    const unsigned char *end = name.bytes + name.len;
    return name.len == 0 || name.len > NUMBER_MAX || number_token_end(name.bytes, end) != end
               ? NAN
               : number_of_token(name.bytes, end, end);
}

/* Compares numbers. Whole numbers that are rounded to the same double are as long, so their digits
 * are compared. */
static int compare_numbers(struct key_name a, struct key_name b)
{
    const double one = number_of(a), other = number_of(b);
    if (one != other)
        return one < other ? -1 : 1;
    return one < 0 ? compare_bytes(b, a) : compare_bytes(a, b);
}

/* Returns how many of the first `max` bytes are those of another name. */
static size_t common_bytes(struct key_name a, struct key_name b, size_t max)
{
    size_t len = 0;
    max = a.len < max ? a.len : max;
    max = b.len < max ? b.len : max;
    while (len < max && a.bytes[len] == b.bytes[len])
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

static uint64_t rank_of_bytes(struct key_name name, size_t from)
{
    uint64_t rank = 0;
    for (size_t i = from; i < from + 8; i++)
        rank = rank << 8 | (i < name.len ? name.bytes[i] : 0);
    return rank;
}

/* Finds out about the keys of a table. */
static void look_at(void *arg, size_t number)
{
    struct sorting *sorting = arg;
    struct facts *facts = &sorting->facts[number];
    const struct key_table *table = sorting->tables[number];
    const struct key_name first = part_of(sorting, sorting->first, 0);
    *facts = (struct facts){.common = first.len};
    for (unsigned part = 0; part < sorting->parts; part++) {
        bool are_numbers = true;
        for (size_t key = 1; key < table->count && are_numbers; key++)
            are_numbers = !isnan(number_of(part_of(sorting, &table->entries[key], part)));
        facts->are_numbers[part] = are_numbers;
    }
    for (size_t key = 1; key < table->count; key++)
        facts->common =
            common_bytes(first, part_of(sorting, &table->entries[key], 0), facts->common);
}

/* Lists the keys of a table with the ranks of their first parts. */
static void rank(void *arg, size_t number)
{
    const struct sorting *sorting = arg;
    const struct key_table *table = sorting->tables[number];
    const struct facts *all = &sorting->all;
    struct radix_pair *list = sorting->keys->list + sorting->facts[number].begin;
    for (size_t key = 1; key < table->count; key++) {
        const struct key_name name = part_of(sorting, &table->entries[key], 0);
        list[key - 1].value = (uint64_t)number << 32 | key;
        list[key - 1].key = all->are_numbers[0] ? rank_of_number(number_of(name))
                                                : rank_of_bytes(name, all->common);
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
    int order = 0;
    for (unsigned part = 0; part < sorting->parts && order == 0; part++) {
        const struct key_name one = part_of(sorting, left, part);
        const struct key_name other = part_of(sorting, right, part);
        order = compare_bytes(one, other);
        if (order != 0 && sorting->all.are_numbers[part])
            order = compare_numbers(one, other);
    }
    return order;
}

void key_list_sort_first(struct key_list *keys, const struct key_table *const *tables, size_t top)
{
    struct sorting sorting = {
        .tables = tables, .parts = 1, .keys = keys, .all = {.are_numbers = {true}}};
    bool *are_numbers = &sorting.all.are_numbers[0];
    for (size_t i = 0; i < top && *are_numbers; i++)
        *are_numbers = !isnan(number_of(part_of(&sorting, entry_of(&sorting, &keys->list[i]), 0)));
    qsort_r(keys->list, top, sizeof keys->list[0], compare, &sorting);
}

bool key_is_number_or_time(const struct key_entry *entry)
{
    bool has_mark = false;
    if (!isnan(number_of((struct key_name){entry->name, entry->len})))
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

/* Sorts keys [begin, end) of the list by their ranks. */
static void sort_by_rank(const struct sorting *sorting, size_t begin, size_t end)
{
    struct radix_pair *list = sorting->keys->list + begin;
    const struct radix_pair *sorted = radix_sort_pairs(list, sorting->scratch, end - begin);
    if (sorted != list)
        memcpy(list, sorted, (end - begin) * sizeof list[0]);
}

static void sort_by_part(struct sorting *sorting, size_t begin, size_t end, unsigned part);

/* Sorts those of the keys [begin, end), which are in order by their ranks of a part, that have the
 * same rank: by the next part if many have this one, such as a status. */
static void sort_alike(struct sorting *sorting, size_t begin, size_t end, unsigned part)
{
    struct radix_pair *list = sorting->keys->list;
    for (size_t at = begin, next = begin; at < end; at = next) {
        while (next < end && list[next].key == list[at].key)
            next++;
        const struct key_name first = part_of(sorting, entry_of(sorting, &list[at]), part);
        bool are_same = part + 1 < sorting->parts && next - at >= ALIKE_MANY;
        for (size_t i = at + 1; i < next && are_same; i++)
            are_same =
                compare_bytes(first, part_of(sorting, entry_of(sorting, &list[i]), part)) == 0;
        if (are_same)
            sort_by_part(sorting, at, next, part + 1);
        else if (next - at > 1)
            qsort_r(list + at, next - at, sizeof list[0], compare, sorting);
    }
}

/* Sorts keys [begin, end) of the list, whose parts before this one are the same. */
static void sort_by_part(struct sorting *sorting, size_t begin, size_t end, unsigned part)
{
    struct radix_pair *list = sorting->keys->list;
    const struct key_name first = part_of(sorting, entry_of(sorting, &list[begin]), part);
    const bool are_numbers = sorting->all.are_numbers[part];
    size_t common = are_numbers ? 0 : first.len;
    for (size_t i = begin + 1; i < end && common > 0; i++)
        common = common_bytes(first, part_of(sorting, entry_of(sorting, &list[i]), part), common);
    for (size_t i = begin; i < end; i++) {
        const struct key_name name = part_of(sorting, entry_of(sorting, &list[i]), part);
        list[i].key = are_numbers ? rank_of_number(number_of(name)) : rank_of_bytes(name, common);
    }
    sort_by_rank(sorting, begin, end);
    sort_alike(sorting, begin, end, part);
}

/* Sorts the keys, of which there are some. */
static void sort(struct sorting *sorting, unsigned threads)
{
    struct facts *all = &sorting->all;
    number_prepare();
    parallel_loop(threads, sorting->count, look_at, sorting);
    *all = (struct facts){.common = sorting->first->len};
    for (unsigned part = 0; part < sorting->parts; part++)
        all->are_numbers[part] = true;
    for (size_t i = 0; i < sorting->count; i++) {
        struct facts *facts = &sorting->facts[i];
        facts->begin = all->begin;
        all->begin += sorting->tables[i]->count - 1;
        all->common = facts->common < all->common ? facts->common : all->common;
        for (unsigned part = 0; part < sorting->parts; part++)
            all->are_numbers[part] &= facts->are_numbers[part];
    }
    parallel_loop(threads, sorting->count, rank, sorting);
    sort_by_rank(sorting, 0, sorting->keys->count);
    sort_alike(sorting, 0, sorting->keys->count, 0);
}

int key_list_make(struct key_list *keys, const struct key_table *const *tables, size_t count,
                  unsigned parts, unsigned threads)
{
    struct sorting sorting = {.tables = tables, .count = count, .parts = parts, .keys = keys};
    *keys = (struct key_list){.count = 0};
    for (size_t i = 0; i < count; i++) {
        sorting.first = tables[i]->count > 1 ? &tables[i]->entries[1] : sorting.first;
        keys->count += tables[i]->count - 1;
    }
    /* One more than there are, as a list of none has to be there, too. */
    sorting.scratch = malloc((keys->count + 1) * sizeof sorting.scratch[0]);
    sorting.facts = malloc(count * sizeof sorting.facts[0]);
    keys->list = malloc((keys->count + 1) * sizeof keys->list[0]);
    const bool is_there = sorting.scratch && sorting.facts && keys->list;
    if (is_there && keys->count > 0)
        sort(&sorting, threads);
    if (!is_there) {
        free(keys->list);
        keys->list = NULL;
    }
    free(sorting.scratch);
    free(sorting.facts);
    return is_there ? 0 : -1;
}

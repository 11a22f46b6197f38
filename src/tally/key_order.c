/* SPDX-License-Identifier: MIT */
/* Names are sorted by the eight bytes that follow what all begin with, as one number, and only
 * those that are alike there are compared. */
#include "key_order.h"
#include "src/base/parallel.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

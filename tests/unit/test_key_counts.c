/* SPDX-License-Identifier: MIT */
/* Sorting by digits, beside qsort: lists of all lengths and of numbers that differ in any bits; and
 * cells of keys and rows, beside plain arrays. */
#include "src/tally/key_tallies.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 20000
#define KEYS 300
#define ROWS_HERE 70

static unsigned long tried, wrong;

static void check_that(bool holds, const char *what, size_t n)
{
    tried++;
    if (!holds && wrong++ < 20)
        printf("%s: %zu\n", what, n);
}

/* --- sorting --- */

static int compare_pairs(const void *a, const void *b)
{
    const struct radix_pair *left = a, *right = b;
    const uint64_t one = left->key == right->key ? left->value : left->key;
    const uint64_t other = left->key == right->key ? right->value : right->key;
    return one < other ? -1 : one > other;
}

/* Numbers that differ at most in the bits of a mask. Values are in order, so that it is seen
 * whether equal keys stay in order. */
static void check_sorting(size_t count, uint64_t mask)
{
    static struct radix_pair pairs[MOST], pair_scratch[MOST], expected[MOST];
    static uint64_t words[MOST], word_scratch[MOST];
    const uint64_t others = random_word() & ~mask;
    for (size_t i = 0; i < count; i++) {
        words[i] = (random_word() & mask) | others;
        pairs[i] = expected[i] = (struct radix_pair){words[i], i};
    }
    qsort(expected, count, sizeof expected[0], compare_pairs);
    const uint64_t *sorted_words = radix_sort(words, word_scratch, count);
    const struct radix_pair *sorted = radix_sort_pairs(pairs, pair_scratch, count);
    bool same = true;
    for (size_t i = 0; i < count; i++)
        same &= sorted_words[i] == expected[i].key && sorted[i].key == expected[i].key &&
                sorted[i].value == expected[i].value;
    check_that(same, "sorting", count);
}

static void check_all_sorting(void)
{
    static const size_t counts[] = {0, 1, 2, 3, 50, 4095, 4096, 4097, MOST};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_sorting(counts[i], 0);
        check_sorting(counts[i], UINT64_MAX);
        for (unsigned bit = 0; bit < 64; bit++) {
            check_sorting(counts[i], (uint64_t)1 << bit);
            check_sorting(counts[i], UINT64_MAX << bit);
            check_sorting(counts[i], UINT64_MAX >> bit);
        }
        for (unsigned round = 0; round < 20; round++)
            check_sorting(counts[i], random_word() & random_word());
    }
}

/* --- cells --- */

static void compare_counts(const struct key_counts *entries, uint64_t (*counts)[ROWS_HERE],
                           uint32_t first_row)
{
    size_t at = 0;
    bool same = true;
    for (uint32_t key = 0; key < KEYS; key++)
        for (uint32_t row = 0; row < ROWS_HERE; row++) {
            if (counts[key][row] == 0)
                continue;
            same &= at < entries->count &&
                    key_of_position(entries->list[at].key, entries->row_bits) == key &&
                    row_of_position(entries->list[at].key, entries->row_bits) == first_row + row &&
                    entries->list[at].value == counts[key][row];
            at++;
        }
    check_that(same && at == entries->count && entries->sorted == at, "cells", at);
}

/* Counts so many times, and looks now and then. */
static void check_counts(unsigned samples, unsigned keys, uint32_t first_row)
{
    static uint64_t counts[KEYS][ROWS_HERE];
    struct key_counts entries = {.row_bits = key_row_bits((size_t)first_row + ROWS_HERE)};
    memset(counts, 0, sizeof counts);
    for (unsigned i = 0; i < samples; i++) {
        const uint32_t key = random_below(keys), row = random_below(ROWS_HERE);
        const uint64_t count = random_below(50) ? 1 : (uint64_t)1 << random_below(50);
        counts[key][row] += count;
        (void)need(key_counts_add(&entries, key, first_row + row, count) ? &entries : NULL);
        if (random_below(samples) < 5) {
            (void)need(key_counts_sort(&entries) ? &entries : NULL);
            compare_counts(&entries, counts, first_row);
        }
    }
    (void)need(key_counts_sort(&entries) ? &entries : NULL);
    compare_counts(&entries, counts, first_row);
    check_that(entries.capacity <= 64 || entries.capacity <= 4 * entries.count, "room",
               entries.capacity);
    key_counts_close(&entries);
}

/* The same by way of samples. */
static void check_samples(void)
{
    struct key_samples samples;
    (void)need(key_samples_open(&samples, key_row_bits(ROWS_HERE), false) == 0 ? &samples : NULL);
    for (unsigned round = 0; round < 3; round++) {
        const size_t count = round == 0 ? 0 : round == 1 ? 1000 : KEY_SAMPLES;
        uint64_t sum = 0, sorted_sum = 0;
        bool in_order = true;
        for (size_t i = 0; i < count; i++) {
            key_samples_add(&samples, random_below(KEYS), random_below(ROWS_HERE));
            sum += samples.list[i] * samples.list[i];
        }
        key_samples_sort(&samples);
        for (size_t i = 0; i < count; i++) {
            in_order &= i == 0 || samples.list[i - 1] <= samples.list[i];
            sorted_sum += samples.list[i] * samples.list[i];
        }
        check_that(in_order && sum == sorted_sum && samples.count == count, "samples", count);
        samples.count = 0;
    }
    key_samples_close(&samples);
}

static void check_row_bits(void)
{
    check_that(key_row_bits(0) == 1 && key_row_bits(1) == 1 && key_row_bits(2) == 1, "bits", 2);
    for (unsigned bits = 2; bits < 32; bits++) {
        check_that(key_row_bits((size_t)1 << bits) == bits, "bits", (size_t)1 << bits);
        check_that(key_row_bits(((size_t)1 << bits) + 1) == bits + 1, "bits", bits + 1);
    }
    check_that(key_row_bits((size_t)1 << 32) == 32, "bits", 32);
}

int main(void)
{
    static const unsigned samples[] = {0, 1, 63, 64, 65, 1000, 100000};
    static const unsigned keys[] = {1, 2, KEYS};
    static const uint32_t first_rows[] = {0, 5000, UINT32_MAX - ROWS_HERE + 1};
    check_all_sorting();
    for (size_t s = 0; s < sizeof samples / sizeof samples[0]; s++)
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            for (size_t r = 0; r < sizeof first_rows / sizeof first_rows[0]; r++)
                check_counts(samples[s], keys[k], first_rows[r]);
    check_samples();
    check_row_bits();
    printf("%lu checks, %lu wrong\n", tried, wrong);
    return wrong > 0;
}

/* SPDX-License-Identifier: MIT */
#include "key_counts.h"

#include <stdlib.h>
#include <string.h>

#define COUNTS_FIRST 64

unsigned key_row_bits(size_t end)
{
    unsigned bits = 1;
    while (bits < 32 && end > (size_t)1 << bits)
        bits++;
    return bits;
}

void key_counts_close(struct key_counts *counts)
{
    free(counts->list);
    *counts = (struct key_counts){.row_bits = counts->row_bits};
}

/* Adds up equal ones of a list in order. Returns how many are left. */
static size_t add_up(struct radix_pair *list, size_t count)
{
    size_t last = 0;
    for (size_t i = 1; i < count; i++)
        if (list[i].key == list[last].key)
            list[last].value += list[i].value;
        else
            list[++last] = list[i];
    return count > 0 ? last + 1 : 0;
}

/* Merges a list in order into the entries that are sorted, behind which is room for it: from the
 * end on, so that none is overwritten that is still needed. */
static void merge(struct key_counts *counts, const struct radix_pair *list, size_t count)
{
    struct radix_pair *into = counts->list;
    size_t left = counts->sorted, at = counts->sorted + count;
    const size_t end = at;
    while (count > 0) {
        if (left > 0 && into[left - 1].key >= list[count - 1].key) {
            into[--at] = into[--left];
            if (into[at].key == list[count - 1].key)
                into[at].value += list[--count].value;
        } else {
            into[--at] = list[--count];
        }
    }
    memmove(into + left, into + at, (end - at) * sizeof into[0]);
    counts->count = counts->sorted = left + end - at;
}

bool key_counts_sort(struct key_counts *counts)
{
    const size_t count = counts->count - counts->sorted;
    if (count == 0)
        return true;
    struct radix_pair *tail = counts->list + counts->sorted;
    struct radix_pair *scratch = malloc(count * sizeof scratch[0]);
    if (!scratch)
        return false;
    if (radix_sort_pairs(tail, scratch, count) == tail)
        memcpy(scratch, tail, count * sizeof scratch[0]);
    merge(counts, scratch, add_up(scratch, count));
    free(scratch);
    return true;
}

/* Makes room for another entry: where sorting leaves less than half of it, twice as much. */
static bool make_room(struct key_counts *counts)
{
    if (!key_counts_sort(counts))
        return false;
    if (counts->count < counts->capacity - counts->capacity / 2)
        return true;
    const size_t capacity = counts->capacity > 0 ? 2 * counts->capacity : COUNTS_FIRST;
    struct radix_pair *list = realloc(counts->list, capacity * sizeof list[0]);
    if (!list)
        return false;
    counts->list = list;
    counts->capacity = capacity;
    return true;
}

bool key_counts_add(struct key_counts *counts, uint32_t key, uint32_t row, uint64_t count)
{
    if (counts->count == counts->capacity && !make_room(counts))
        return false;
    counts->list[counts->count++] =
        (struct radix_pair){key_position(key, row, counts->row_bits), count};
    return true;
}

/* --- samples --- */

int key_samples_open(struct key_samples *samples, unsigned row_bits)
{
    *samples = (struct key_samples){.max = KEY_SAMPLES, .row_bits = row_bits};
    samples->list = malloc(KEY_SAMPLES * sizeof samples->list[0]);
    samples->scratch = malloc(KEY_SAMPLES * sizeof samples->scratch[0]);
    return samples->list && samples->scratch ? 0 : -1;
}

void key_samples_close(struct key_samples *samples)
{
    free(samples->list);
    free(samples->scratch);
    *samples = (struct key_samples){.count = 0};
}

void key_samples_sort(struct key_samples *samples)
{
    uint64_t *sorted = radix_sort(samples->list, samples->scratch, samples->count);
    samples->scratch = sorted == samples->list ? samples->scratch : samples->list;
    samples->list = sorted;
}

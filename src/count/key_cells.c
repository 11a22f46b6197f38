/* SPDX-License-Identifier: MIT */
#include "key_cells.h"

#include <stdlib.h>
#include <string.h>

#define CELLS_FIRST 64

unsigned key_row_bits(size_t end)
{
    unsigned bits = 1;
    while (bits < 32 && end > (size_t)1 << bits)
        bits++;
    return bits;
}

void key_cells_close(struct key_cells *cells)
{
    free(cells->list);
    *cells = (struct key_cells){.row_bits = cells->row_bits};
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

/* Merges a list in order into the cells that are sorted, behind which is room for it: from the end
 * on, so that none is overwritten that is still needed. */
static void merge(struct key_cells *cells, const struct radix_pair *list, size_t count)
{
    struct radix_pair *into = cells->list;
    size_t left = cells->sorted, at = cells->sorted + count;
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
    cells->count = cells->sorted = left + end - at;
}

bool key_cells_sort(struct key_cells *cells)
{
    const size_t count = cells->count - cells->sorted;
    if (count == 0)
        return true;
    struct radix_pair *tail = cells->list + cells->sorted;
    struct radix_pair *scratch = malloc(count * sizeof scratch[0]);
    if (!scratch)
        return false;
    if (radix_sort_pairs(tail, scratch, count) == tail)
        memcpy(scratch, tail, count * sizeof scratch[0]);
    merge(cells, scratch, add_up(scratch, count));
    free(scratch);
    return true;
}

/* Makes room for another cell: where sorting leaves less than half of it, twice as much. */
static bool make_room(struct key_cells *cells)
{
    if (!key_cells_sort(cells))
        return false;
    if (cells->count < cells->capacity - cells->capacity / 2)
        return true;
    const size_t capacity = cells->capacity > 0 ? 2 * cells->capacity : CELLS_FIRST;
    struct radix_pair *list = realloc(cells->list, capacity * sizeof list[0]);
    if (!list)
        return false;
    cells->list = list;
    cells->capacity = capacity;
    return true;
}

bool key_cells_add(struct key_cells *cells, uint32_t key, uint32_t row, uint64_t count)
{
    if (cells->count == cells->capacity && !make_room(cells))
        return false;
    cells->list[cells->count++] = (struct radix_pair){key_place(key, row, cells->row_bits), count};
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

/* SPDX-License-Identifier: MIT */
#include "keyed_counts.h"
#include "large_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a table may have before it is moved: a few megabytes, as much as a core's cache. */
#define KEYS_MOST ((size_t)1 << 14)
#define CELLS_MOST ((size_t)3 << 15)
#define NAMES_MOST ((size_t)1 << 20) /* bytes */

int keyed_open(struct keyed_counts *keyed, struct key_tallies *keys)
{
    *keyed = (struct keyed_counts){.keys = keys};
    return key_tallies_open_table(keys, &keyed->table);
}

void keyed_close(struct keyed_counts *keyed)
{
    key_table_close(&keyed->table);
    free(keyed->room);
    *keyed = (struct keyed_counts){.keys = NULL};
}

void keyed_move(struct keyed_counts *keyed)
{
    key_tallies_move(keyed->keys, &keyed->table);
}

static bool is_full(const struct key_table *table)
{
    return table->count > KEYS_MOST || table->cells.count > CELLS_MOST ||
           table->name_bytes > NAMES_MOST;
}

/* Returns the key of a field. No bytes if memory is short. */
static struct key_name name_of(struct keyed_counts *keyed, const struct key *key,
                               const struct key_span *span)
{
    if (!key_is_part(key, span->from, span->from + span->len))
        return (struct key_name){span->from, span->len};
    if (!keyed->room)
        keyed->room = malloc(FIELD_RECORD_MAX);
    if (!keyed->room)
        return (struct key_name){NULL, 0};
    return key_of_field(key, span->from, span->from + span->len, keyed->room);
}

static uint32_t number_of(struct keyed_counts *keyed, const struct key *key,
                          const struct key_span *span)
{
    struct key_table *table = &keyed->table;
    if (!span->from) {
        keyed->invalid++;
        return KEY_MISSING;
    }
    const struct key_name name = name_of(keyed, key, span);
    const struct key_entry *last = &table->entries[table->last];
    if (last->name && last->len == name.len && memcmp(last->name, name.bytes, name.len) == 0)
        return table->last;
    const uint32_t number =
        name.bytes ? key_table_find(table, key_hash(&table->seed, name.bytes, name.len), name.bytes,
                                    name.len)
                   : KEY_FAILED;
    if (number != KEY_FAILED)
        return number;
    key_tallies_lose(keyed->keys);
    return KEY_MISSING;
}

void keyed_count(struct keyed_counts *keyed, const struct key *key, const struct key_span *spans,
                 size_t n, uint32_t *numbers)
{
    if (is_full(&keyed->table))
        keyed_move(keyed);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = number_of(keyed, key, &spans[i]);
        keyed->table.entries[numbers[i]].samples++;
    }
}

void keyed_count_rows(struct keyed_counts *keyed, const uint32_t *numbers, const uint32_t *rows,
                      size_t n)
{
    bool done = true;
    for (size_t i = 0; i < n; i++)
        done &= key_cells_add(&keyed->table.cells, numbers[i], rows[i], 1);
    if (!done)
        key_tallies_lose(keyed->keys);
}

void keyed_add_values(struct keyed_counts *keyed, const uint32_t *numbers, const double *values,
                      const struct listed_number *wholes, size_t n)
{
    struct key_sums *sums = keyed->table.sums;
    bool done = true;
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i])) {
            keyed->invalid++;
            continue;
        }
        struct key_sums *of_key = sums ? &sums[numbers[i]] : NULL;
        if (!of_key)
            continue;
        if (wholes && wholes[i].is_whole && fabs(values[i]) >= MOMENTS_LARGE)
            done &= key_sums_add_large(of_key, values[i], wholes[i].number);
        else
            done &= key_sums_add(of_key, values[i]);
    }
    if (!done)
        key_tallies_lose(keyed->keys);
}

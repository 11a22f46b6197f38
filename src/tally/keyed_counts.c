/* SPDX-License-Identifier: MIT */
#include "keyed_counts.h"
#include "large_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits of a table before it is moved. Full sums take 256 MiB in all tables together. */
#define KEYS_MAX ((size_t)1 << 15)
#define WIDE_OF_ALL (((size_t)256 << 20) / sizeof(struct moments))
#define WIDE_MIN ((size_t)1 << 11)
#define NAMES_MAX ((size_t)1 << 20) /* bytes */

/* Records ahead for which memory is fetched. */
#define AHEAD 16

/* Records whose keys are prepared together. */
#define AT_ONCE 128

int keyed_open(struct keyed_counts *keyed, struct key_tallies *keys, unsigned tables)
{
    const size_t wide = WIDE_OF_ALL / tables;
    *keyed = (struct keyed_counts){.keys = keys, .wide_max = wide < WIDE_MIN ? WIDE_MIN : wide};
    return key_tallies_open_table(keys, &keyed->table, &keyed->samples);
}

void keyed_close(struct keyed_counts *keyed)
{
    key_table_close(&keyed->table);
    key_samples_close(&keyed->samples);
    free(keyed->scratch);
    *keyed = (struct keyed_counts){.keys = NULL};
}

void keyed_move(struct keyed_counts *keyed)
{
    key_tallies_move(keyed->keys, &keyed->table, &keyed->samples);
    keyed->wide = 0;
}

static bool is_full(const struct keyed_counts *keyed)
{
    const struct key_table *table = &keyed->table;
    return table->count > KEYS_MAX || keyed->wide > keyed->wide_max ||
           table->name_bytes > NAMES_MAX;
}

/* Returns the key of a field. No bytes if memory is short. */
static struct key_name name_of(struct keyed_counts *keyed, const struct key *key,
                               const struct key_span *span)
{
    if (!key_is_part(key, span->from, span->from + span->len))
        return (struct key_name){span->from, span->len};
    if (!keyed->scratch)
        keyed->scratch = malloc(KEY_SIZE_MAX);
    if (!keyed->scratch)
        return (struct key_name){NULL, 0};
    return key_of_field(key, span->from, span->from + span->len, keyed->scratch);
}

/* A key that is going to be found. */
struct wanted {
    struct key_name name; /* in the text, as `room` is used again; no bytes: the number is known */
    uint64_t hash;
    bool is_repeated; /* it is that of the record before */
};

static uint32_t find_number(struct keyed_counts *keyed, const struct wanted *wanted)
{
    const uint32_t number =
        key_table_find(&keyed->table, wanted->hash, wanted->name.bytes, wanted->name.len);
    if (number != KEY_FAILED)
        return number;
    key_tallies_lose(keyed->keys);
    return KEY_MISSING;
}

static bool is_same_name(const struct key_name *one, const struct key_name *other)
{
    return one->bytes && other->bytes && one->len == other->len &&
           key_has_same_bytes(one->bytes, other->bytes, one->len);
}

/* Prepares the key of a record: sets its number if that is known at once. `before` is what was
 * prepared before, or NULL. */
static void prepare(struct keyed_counts *keyed, const struct key *key, const struct key_span *span,
                    const struct wanted *before, struct wanted *wanted, uint32_t *number)
{
    *wanted = (struct wanted){.hash = 0};
    *number = KEY_MISSING;
    if (!span->from) {
        keyed->invalid++;
        return;
    }
    wanted->name = name_of(keyed, key, span);
    if (!wanted->name.bytes) {
        key_tallies_lose(keyed->keys);
        return;
    }
    if (before && is_same_name(&wanted->name, &before->name)) {
        wanted->name = before->name;
        wanted->is_repeated = true;
        return;
    }
    wanted->hash = key_hash(&keyed->table.seed, wanted->name.bytes, wanted->name.len);
    /* A key in `room` is there only until the next one. */
    if (keyed->scratch && wanted->name.bytes >= keyed->scratch &&
        wanted->name.bytes < keyed->scratch + KEY_SIZE_MAX) {
        *number = find_number(keyed, wanted);
        wanted->name.bytes = NULL;
        return;
    }
    key_table_prefetch(&keyed->table, wanted->hash);
}

/* Counts n records, AT_ONCE at most. */
static void count_some(struct keyed_counts *keyed, const struct key *key,
                       const struct key_span *spans, size_t n, uint32_t *numbers)
{
    struct wanted wanted[AT_ONCE];
    for (size_t i = 0; i < n; i++)
        prepare(keyed, key, &spans[i], i > 0 ? &wanted[i - 1] : NULL, &wanted[i], &numbers[i]);
    for (size_t i = 0; i < n; i++) {
        if (wanted[i].is_repeated)
            numbers[i] = numbers[i - 1];
        else if (wanted[i].name.bytes)
            numbers[i] = find_number(keyed, &wanted[i]);
        keyed->table.entries[numbers[i]].samples++;
    }
}

void keyed_count(struct keyed_counts *keyed, const struct key *key, const struct key_span *spans,
                 size_t n, uint32_t *numbers)
{
    if (is_full(keyed))
        keyed_move(keyed);
    for (size_t i = 0; i < n; i += AT_ONCE)
        count_some(keyed, key, spans + i, n - i < AT_ONCE ? n - i : AT_ONCE, numbers + i);
}

void keyed_count_rows(struct keyed_counts *keyed, const uint32_t *numbers, const uint32_t *rows,
                      size_t n)
{
    struct key_samples *samples = &keyed->samples;
    if (samples->count + n > samples->max)
        key_tallies_move_samples(keyed->keys, &keyed->table, samples);
    for (size_t i = 0; i < n; i++)
        key_samples_add(samples, numbers[i], rows[i]);
}

void keyed_add_values(struct keyed_counts *keyed, const uint32_t *numbers, const double *values,
                      const struct listed_number *wholes, size_t n)
{
    struct key_sums *sums = keyed->table.sums;
    bool done = true;
    for (size_t i = 0; i < n; i++) {
        if (sums && i + AHEAD < n) /* which has two lines */
            __builtin_prefetch((const char *)&sums[numbers[i + AHEAD]] + 64);
        if (isnan(values[i])) {
            keyed->invalid++;
            continue;
        }
        struct key_sums *of_key = sums ? &sums[numbers[i]] : NULL;
        if (!of_key)
            continue;
        keyed->wide -= of_key->moments != NULL;
        if (wholes && wholes[i].is_whole && fabs(values[i]) >= MOMENTS_LARGE)
            done &= key_sums_add_large(of_key, values[i], wholes[i].number);
        else
            done &= key_sums_add(of_key, values[i]);
        keyed->wide += of_key->moments != NULL;
    }
    if (!done)
        key_tallies_lose(keyed->keys);
}

/* SPDX-License-Identifier: MIT */
#include "keyed_counts.h"
#include "src/bins/sums.h"

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

/* Numbers of each key that are worth quick sums. */
#define REPEATS_MIN 4

/* Numbers for each key that quick sums do not take before they are moved, to choose a new scale. */
#define OTHERS_MAX 16

/* Samples that are shared where keys hardly repeat, before a table shows if they still do. */
#define SHARED_AT_ONCE ((uint64_t)1 << 20)

/* Bytes of the scratch before any key, so that key_words_behind reads it. */
#define SCRATCH_BEGIN 16

/* Records whose keys are prepared together. */
#define AT_ONCE 128

int keyed_open(struct keyed_counts *keyed, struct key_tallies *keys, unsigned tables,
               bool has_weights)
{
    const size_t wide = WIDE_OF_ALL / tables;
    *keyed = (struct keyed_counts){.keys = keys,
                                   .parts = key_tallies_parts(keys),
                                   .wide_max = wide < WIDE_MIN ? WIDE_MIN : wide};
    keyed->spans = malloc((keyed->parts + 1) * sizeof keyed->spans[0]);
    keyed->weights = has_weights ? malloc(LINES_MAX * sizeof keyed->weights[0]) : NULL;
    const int rc = key_tallies_open_table(keys, &keyed->table, &keyed->samples);
    return keyed->spans && (keyed->weights || !has_weights) ? rc : -1;
}

void keyed_close(struct keyed_counts *keyed)
{
    key_table_close(&keyed->table);
    key_samples_close(&keyed->samples);
    key_shares_close(keyed->shares);
    free(keyed->quick.list);
    free(keyed->scratch);
    free(keyed->spans);
    free(keyed->weights);
    *keyed = (struct keyed_counts){.keys = NULL};
}

/* Moves quick sums to those of the table, some of which may become moments. */
static void move_quick(struct keyed_counts *keyed)
{
    if (keyed->quick.count == 0)
        return;
    if (!quick_sums_move(&keyed->quick, keyed->table.sums))
        key_tallies_lose(keyed->keys);
    for (size_t i = keyed->wide = 0; i < keyed->table.count; i++)
        keyed->wide += keyed->table.sums[i].moments != NULL;
}

void keyed_move(struct keyed_counts *keyed)
{
    move_quick(keyed);
    if (keyed->shares)
        key_shares_move(keyed->shares);
    keyed->is_spread = keyed->rows < REPEATS_MIN * keyed->table.count;
    key_tallies_move(keyed->keys, &keyed->table, &keyed->samples);
    keyed->wide = keyed->rows = 0;
}

/* Returns the bytes of the scratch, of which only those that are used take memory. Parts are made
 * there, and then joined behind. */
static size_t scratch_size(const struct keyed_counts *keyed)
{
    return SCRATCH_BEGIN + (keyed->parts > 1
                                ? 2 * key_parts_size(keyed->parts, keyed->parts * KEY_SIZE_MAX)
                                : KEY_SIZE_MAX);
}

/* True if the scratch has room for the key of record i. */
static bool has_room(const struct keyed_counts *keyed, const struct line_batch *batch, size_t i)
{
    size_t len = 0;
    for (unsigned part = 0; part < keyed->parts; part++) {
        const struct key_span *span = &batch->keys[part][i];
        len += span->from ? key_scratch_size(span->len) : 0;
    }
    const size_t size = keyed->parts > 1 ? 2 * key_parts_size(keyed->parts, len) : len;
    return scratch_size(keyed) - keyed->scratch_used >= size;
}

/* Returns the key of record i. Without a key its bytes are NULL. */
static struct key_name make_name(struct keyed_counts *keyed, const struct line_batch *batch,
                                 size_t i)
{
    struct key_name parts[KEY_PARTS_MAX];
    unsigned char *scratch;
    for (unsigned part = 0; part < keyed->parts; part++) {
        const struct key *key = &batch->spec->keys[part];
        const struct key_span *span = &batch->keys[part][i];
        const unsigned char *from = span->from, *to = from ? from + span->len : NULL;
        struct key_memo *memo = &keyed->memos[part];
        struct key_name *made = &parts[part];
        *made = (struct key_name){from, span->len};
        if (!from)
            return *made;
        if (!key_is_part(key, from, to))
            continue;
        if (memo->from && key_memo_has(memo, from, to)) {
            *made = memo->name;
        } else {
            scratch = keyed->scratch + keyed->scratch_used;
            *made = key_of_field(key, from, to, scratch, memo);
            if (made->bytes >= scratch && made->bytes < keyed->scratch + scratch_size(keyed))
                keyed->scratch_used = (size_t)(made->bytes + made->len - keyed->scratch);
        }
        if (!made->bytes)
            return *made;
    }
    if (keyed->parts == 1)
        return parts[0];
    scratch = keyed->scratch + keyed->scratch_used;
    const struct key_name name = key_parts_join(parts, keyed->parts, scratch);
    keyed->scratch_used += name.len;
    return name;
}

/* A key that is going to be found. */
struct wanted {
    struct key_name name; /* in the text or the scratch; no bytes: the number is known */
    struct key_words words;
    uint64_t hash;
    bool is_repeated; /* it is that of the record before */
};

/* Returns the words of a name. Those before its end are in the text from `begin` on, or in the
 * scratch. */
static struct key_words words_of(const struct keyed_counts *keyed, struct key_name name,
                                 const unsigned char *begin)
{
    const size_t in_scratch = (size_t)((uintptr_t)name.bytes - (uintptr_t)keyed->scratch);
    const uintptr_t end = (uintptr_t)name.bytes + name.len;
    return in_scratch < scratch_size(keyed) || end - (uintptr_t)begin >= 16
               ? key_words_behind(name.bytes, name.len)
               : key_words_of(name.bytes, name.len);
}

/* Prepares the key of a record. `before` is what was prepared before, or NULL. */
static inline void prepare(struct keyed_counts *keyed, const struct line_batch *batch, size_t i,
                           const unsigned char *begin, const struct wanted *before,
                           struct wanted *wanted)
{
    wanted->is_repeated = false;
    if (batch->weights && batch->weights[i] == 0) {
        wanted->name.bytes = NULL;
        return;
    }
    wanted->name = make_name(keyed, batch, i);
    if (!wanted->name.bytes) {
        keyed->invalid++;
        return;
    }
    const unsigned char *name = wanted->name.bytes;
    const size_t len = wanted->name.len;
    wanted->words = words_of(keyed, wanted->name, begin);
    if (before && before->name.bytes && len == before->name.len &&
        key_is_same(wanted->words, name, before->words, before->name.bytes, len)) {
        wanted->is_repeated = true;
        return;
    }
    wanted->hash = key_hash_words(&keyed->table.seed, wanted->words, name, len);
    key_table_prefetch(&keyed->table, wanted->hash);
}

static uint32_t find_number(struct keyed_counts *keyed, const struct wanted *wanted)
{
    if (!wanted->name.bytes)
        return KEY_MISSING;
    const uint32_t number = key_table_find_words(&keyed->table, wanted->hash, wanted->words,
                                                 wanted->name.bytes, wanted->name.len);
    if (number != KEY_FAILED)
        return number;
    key_tallies_lose(keyed->keys);
    return KEY_MISSING;
}

/* Prepares the keys of records from `first` on: AT_ONCE, or those that the scratch has room for.
 * Returns how many these are. */
static size_t prepare_some(struct keyed_counts *keyed, const struct line_batch *batch, size_t first,
                           struct wanted wanted[AT_ONCE])
{
    const unsigned char *begin = batch->keys[0][first].from;
    size_t count = 0, n = batch->count - first;
    keyed->scratch_used = SCRATCH_BEGIN;
    for (unsigned part = 0; part < keyed->parts; part++)
        keyed->memos[part] = (struct key_memo){.from = NULL}; /* its text may be gone */
    for (; count < n && count < AT_ONCE && has_room(keyed, batch, first + count); count++) {
        begin = begin ? begin : batch->keys[0][first + count].from;
        prepare(keyed, batch, first + count, begin, count > 0 ? &wanted[count - 1] : NULL,
                &wanted[count]);
    }
    return count;
}

/* Counts records in the table, and sets the numbers of their keys. */
static void count_in_table(struct keyed_counts *keyed, const struct line_batch *batch,
                           uint32_t *numbers)
{
    struct wanted wanted[AT_ONCE];
    const struct key_table *table = &keyed->table;
    const size_t others = keyed->quick.others < table->count ? keyed->quick.others : table->count;
    if (table->count > KEYS_MAX || keyed->wide + others > keyed->wide_max ||
        table->name_bytes > NAMES_MAX || keyed->rows > UINT32_MAX - LINES_MAX) {
        keyed_move(keyed);
        if (keyed->is_spread && !keyed->weights) {
            keyed->shares = keyed->shares ? keyed->shares : key_shares_open(keyed->keys);
            keyed->shared = keyed->shares ? SHARED_AT_ONCE : 0;
        }
    }
    for (size_t first = 0, count; first < batch->count; first += count) {
        count = prepare_some(keyed, batch, first, wanted);
        for (size_t i = 0; i < count; i++) {
            uint32_t *number = &numbers[first + i];
            *number = wanted[i].is_repeated ? number[-1] : find_number(keyed, &wanted[i]);
            keyed->table.entries[*number].samples += batch->weights ? batch->weights[first + i] : 1;
        }
    }
    keyed->rows += batch->count;
}

/* Counts records without the table. */
static void count_shared(struct keyed_counts *keyed, const struct line_batch *batch,
                         const uint32_t *rows)
{
    struct wanted wanted[AT_ONCE];
    for (size_t first = 0, count; first < batch->count; first += count) {
        count = prepare_some(keyed, batch, first, wanted);
        for (size_t i = 0; i < count; i++) {
            const double value = batch->values ? batch->values[first + i] : 0;
            if (wanted[i].is_repeated)
                wanted[i].hash = wanted[i - 1].hash;
            keyed->invalid += isnan(value) != 0;
            key_shares_add(keyed->shares, wanted[i].name.bytes ? wanted[i].hash : 0, wanted[i].name,
                           rows ? rows[first + i] : 0, value);
        }
    }
    keyed->shared -= keyed->shared < batch->count ? keyed->shared : batch->count;
}

static void count_rows(struct keyed_counts *keyed, const struct line_batch *batch,
                       const uint32_t *numbers, const uint32_t *rows)
{
    struct key_samples *samples = &keyed->samples;
    const uint64_t *weights = batch->weights;
    const size_t n = batch->count;
    if (samples->count + n > samples->max)
        key_tallies_move_samples(keyed->keys, &keyed->table, samples);
    for (size_t i = 0; i < n && weights; i++)
        if (weights[i] > 0)
            key_samples_add_weight(samples, numbers[i], rows[i], weights[i]);
    if (weights)
        return;
    uint32_t *counts[LINES_MAX], unused = 0;
    if (!key_pages_open(samples)) {
        key_tallies_lose(keyed->keys);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        counts[i] = key_pages_find(samples->pages, numbers[i], rows[i]);
        if (!counts[i]) {
            key_samples_add(samples, numbers[i], rows[i]);
            counts[i] = &unused;
        }
    }
    for (size_t i = 0; i < n; i++)
        ++*counts[i];
}

static void add_values(struct keyed_counts *keyed, const struct line_batch *batch,
                       const uint32_t *numbers, const struct listed_number *listed)
{
    const double *values = batch->values;
    const uint64_t *weights = batch->weights;
    const size_t n = batch->count;
    struct key_sums *sums = keyed->table.sums;
    struct quick_sums *quick = &keyed->quick;
    bool done = true;
    if (sums && quick->others > OTHERS_MAX * quick->count)
        move_quick(keyed);
    if (sums && !keyed->is_spread && !weights)
        quick_sums_prepare(quick, keyed->table.count, KEYS_MAX + 1 + LINES_MAX, values, n);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n && numbers[i + AHEAD] < quick->count) /* which has two lines */
            __builtin_prefetch((const char *)&quick->list[numbers[i + AHEAD]] + 64);
        const uint64_t weight = weights ? weights[i] : 1;
        if (weight == 0)
            continue;
        if (isnan(values[i])) {
            keyed->invalid++;
            continue;
        }
        const bool is_large = listed && listed[i].is_whole && fabs(values[i]) >= MOMENTS_LARGE;
        if (!sums || (!is_large && !weights && quick_sums_add(quick, numbers[i], values[i])))
            continue;
        struct key_sums *of_key = &sums[numbers[i]];
        keyed->wide -= of_key->moments != NULL;
        if (is_large)
            done &= key_sums_add_large(of_key, values[i], listed[i].number, weight);
        else
            done &= weights ? key_sums_add_times(of_key, values[i], weight)
                            : key_sums_add(of_key, values[i]);
        keyed->wide += of_key->moments != NULL;
    }
    if (!done)
        key_tallies_lose(keyed->keys);
}

void keyed_count(struct keyed_counts *keyed, const struct line_batch *batch, const uint32_t *rows,
                 const struct listed_number *listed)
{
    uint32_t numbers[LINES_MAX];
    if (!keyed->scratch && !(keyed->scratch = malloc(scratch_size(keyed)))) {
        key_tallies_lose(keyed->keys);
        return;
    }
    if (keyed->shared > 0 && !listed) {
        count_shared(keyed, batch, rows);
        return;
    }
    count_in_table(keyed, batch, numbers);
    if (rows)
        count_rows(keyed, batch, numbers, rows);
    if (batch->values)
        add_values(keyed, batch, numbers, listed);
}

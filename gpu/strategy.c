/* SPDX-License-Identifier: MIT */
#include "gpu/line_field.h"
#include "gpu/count/tuning.h"

#include <string.h>

const struct strategy strategies[] = {
#define STRATEGY(name, about, modes, bytes, letters, values, numbers, second, table, scratch)      \
    {#name, about, modes},
#define STRATEGY_ALONE(name, about, modes, kernel, table) {#name, about, modes},
#include "gpu/strategies.def"
#undef STRATEGY
#undef STRATEGY_ALONE
};

const unsigned strategy_count = sizeof strategies / sizeof strategies[0];

const struct strategy *strategy_find(const char *name)
{
    for (unsigned i = 0; i < strategy_count; i++)
        if (strcmp(strategies[i].name, name) == 0)
            return &strategies[i];
    return NULL;
}

bool strategy_counts(const struct strategy *strategy, const struct histogram *histogram)
{
    bool has_kernels =
        histogram->type.size != 3 && !histogram->has_moments && !histogram->also &&
        !(histogram->binning.is_whole && histogram->binning.kind == BINNING_DIGITS) &&
        !histogram->field.has_units && histogram_channels(histogram) == 1;
    bool has_field = histogram->field.kind != FIELD_NONE;
    bool takes_field = strategy == &strategies[STRATEGY_fields];
    return (strategy->modes >> histogram->mode->id & 1) && has_kernels &&
           has_field == takes_field && (!has_field || line_field_takes(&histogram->field));
}

static enum strategy_id best_of_bytes(const struct histogram *histogram, size_t chunk_size)
{
    (void)histogram, (void)chunk_size;
    return STRATEGY_lanes;
}

static enum strategy_id best_of_letters(const struct histogram *histogram, size_t chunk_size)
{
    (void)chunk_size;
    return histogram->width >= BITSLICED_WIDTH_MIN ? STRATEGY_bitsliced : STRATEGY_lanes;
}

static enum strategy_id best_of_values(const struct histogram *histogram, size_t chunk_size)
{
    if (histogram->type.size == 1 || histogram->bins <= LANES_ROWS_MAX)
        return STRATEGY_lanes;
    if (histogram->bins <= PACKED_ROWS_MAX)
        return STRATEGY_packed;
    return chunk_size >= PARTITIONED_CHUNK_LEAST ? STRATEGY_partitioned : STRATEGY_matched;
}

static enum strategy_id best_of_numbers(const struct histogram *histogram, size_t chunk_size)
{
    (void)chunk_size;
    return histogram->field.kind == FIELD_NONE ? STRATEGY_numbers : STRATEGY_fields;
}

static enum strategy_id best_of_pairs(const struct histogram *histogram, size_t chunk_size)
{
    (void)histogram, (void)chunk_size;
    return STRATEGY_pairs;
}

static enum strategy_id best_of_characters(const struct histogram *histogram, size_t chunk_size)
{
    (void)histogram, (void)chunk_size;
    return STRATEGY_characters;
}

/* NULL: no strategy counts the mode. */
static enum strategy_id (*const best_of_mode[MODES])(const struct histogram *histogram,
                                                     size_t chunk_size) = {
    [MODE_BYTES] = best_of_bytes,           [MODE_LETTERS] = best_of_letters,
    [MODE_VALUES] = best_of_values,         [MODE_NUMBERS] = best_of_numbers,
    [MODE_PAIRS] = best_of_pairs,           [MODE_CHARACTERS] = best_of_characters,
    [MODE_CATEGORIES] = best_of_characters, [MODE_BLOCKS] = best_of_characters,
};

const struct strategy *strategy_best(const struct histogram *histogram, size_t chunk_size)
{
    if (!best_of_mode[histogram->mode->id])
        return NULL;
    const struct strategy *best =
        &strategies[best_of_mode[histogram->mode->id](histogram, chunk_size)];
    return strategy_counts(best, histogram) ? best : NULL;
}

bool strategy_has_scratch(const struct strategy *strategy)
{
    return strategy == &strategies[STRATEGY_packed] ||
           strategy == &strategies[STRATEGY_partitioned];
}

const struct strategy *strategy_without_scratch(const struct histogram *histogram)
{
    const struct strategy *matched = &strategies[STRATEGY_matched];
    return strategy_counts(matched, histogram) ? matched : NULL;
}

/* SPDX-License-Identifier: MIT */
#include "line_field.h"
#include "gpu/count/tuning.h"

#include <string.h>

const struct strategy strategies[] = {
#define STRATEGY(name, about, modes, ...) {#name, about, modes},
#include "strategies.def"
#undef STRATEGY
};

const unsigned strategy_count = sizeof strategies / sizeof strategies[0];

const struct strategy *strategy_find(const char *name)
{
    for (unsigned i = 0; i < strategy_count; i++)
        if (strcmp(strategies[i].name, name) == 0)
            return &strategies[i];
    return NULL;
}

const char *strategy_cannot(const struct histogram_spec *spec)
{
    const struct binning *binning = &spec->binning;
    const struct field *field = &spec->lines.field;
    if (spec->lines.key_count > 0)
        return "count by key";
    if (spec->has_moments)
        return "sum numbers for --stats and --quantiles";
    if (spec->also)
        return "count several histograms in one pass";
    if (histogram_spec_channels(spec) > 1)
        return "count channels";
    if (binning->is_whole && binning->kind == BINNING_DIGITS)
        return "count integers with --digits";
    if (field->has_units)
        return "read --units";
    if (field->has_comma)
        return "read --decimal";
    if (field->is_time)
        return "read times as numbers";
    if (spec->lines.has_weight)
        return "read --weight";
    if (field_is_list(field))
        return "read lists of numbers";
    if (line_filter_is_used(&spec->lines.filter))
        return "leave lines out";
    if (field->kind == FIELD_LINE)
        return "read --line";
    return field->kind == FIELD_NONE || line_field_takes(field)
               ? NULL
               : "count CSV, JSON, named columns or what follows a long STRING";
}

bool strategy_counts(const struct strategy *strategy, const struct histogram_spec *spec)
{
    const bool has_field = spec->lines.field.kind != FIELD_NONE;
    const bool takes_field = strategy == &strategies[STRATEGY_fields];
    return (strategy->modes >> spec->mode->id & 1) && spec->type.size != 3 &&
           has_field == takes_field && !strategy_cannot(spec);
}

static enum strategy_id best_of_values(const struct histogram_spec *spec, size_t chunk_size)
{
    if (spec->type.size == 1 || spec->bins <= LANES_ROWS_MAX)
        return STRATEGY_lanes;
    if (spec->bins <= PACKED_ROWS_MAX)
        return STRATEGY_packed;
    return chunk_size >= PARTITIONED_CHUNK_MIN ? STRATEGY_partitioned : STRATEGY_matched;
}

/* Returns the only strategy that counts the histogram, or NULL. */
static const struct strategy *only_strategy(const struct histogram_spec *spec)
{
    for (unsigned i = 0; i < strategy_count; i++)
        if (strategy_counts(&strategies[i], spec))
            return &strategies[i];
    return NULL;
}

const struct strategy *strategy_best(const struct histogram_spec *spec, size_t chunk_size)
{
    const struct strategy *best;
    switch (spec->mode->id) {
    case MODE_BYTES:
        best = &strategies[STRATEGY_lanes];
        break;
    case MODE_LETTERS:
        best =
            &strategies[spec->width >= BITSLICED_WIDTH_MIN ? STRATEGY_bitsliced : STRATEGY_lanes];
        break;
    case MODE_VALUES:
        best = &strategies[best_of_values(spec, chunk_size)];
        break;
    default:
        return only_strategy(spec);
    }
    return strategy_counts(best, spec) ? best : NULL;
}

bool strategy_has_scratch(const struct strategy *strategy)
{
    return strategy == &strategies[STRATEGY_packed] ||
           strategy == &strategies[STRATEGY_partitioned];
}

const struct strategy *strategy_without_scratch(const struct histogram_spec *spec)
{
    const struct strategy *matched = &strategies[STRATEGY_matched];
    return strategy_counts(matched, spec) ? matched : NULL;
}

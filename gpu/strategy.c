/* SPDX-License-Identifier: MIT */
#include "gpu/line_field.h"
#include "gpu/count/tuning.h"

#include <string.h>

const struct strategy strategies[] = {
#define STRATEGY(name, about, modes, ...) {#name, about, modes},
#include "gpu/strategies.def"
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

static enum strategy_id best_of_values(const struct histogram *histogram, size_t chunk_size)
{
    if (histogram->type.size == 1 || histogram->bins <= LANES_ROWS_MAX)
        return STRATEGY_lanes;
    if (histogram->bins <= PACKED_ROWS_MAX)
        return STRATEGY_packed;
    return chunk_size >= PARTITIONED_CHUNK_LEAST ? STRATEGY_partitioned : STRATEGY_matched;
}

/* Returns the only strategy that counts the histogram, or NULL. */
static const struct strategy *only_strategy(const struct histogram *histogram)
{
    for (unsigned i = 0; i < strategy_count; i++)
        if (strategy_counts(&strategies[i], histogram))
            return &strategies[i];
    return NULL;
}

const struct strategy *strategy_best(const struct histogram *histogram, size_t chunk_size)
{
    const struct strategy *best;
    switch (histogram->mode->id) {
    case MODE_BYTES:
        best = &strategies[STRATEGY_lanes];
        break;
    case MODE_LETTERS:
        best = &strategies[histogram->width >= BITSLICED_WIDTH_MIN ? STRATEGY_bitsliced
                                                                   : STRATEGY_lanes];
        break;
    case MODE_VALUES:
        best = &strategies[best_of_values(histogram, chunk_size)];
        break;
    default:
        return only_strategy(histogram);
    }
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

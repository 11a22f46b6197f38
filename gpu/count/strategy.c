/* SPDX-License-Identifier: MIT */
#include "strategy.h"
#include "gpu/count/sample_map.h"

#include <string.h>

/* Values are counted by lanes up to as many rows as it counts in one pass, then by packed, which
 * takes the more passes the more rows there are, then by matched, or if chunks are so large that
 * sorting pays, by partitioned (measured: doc/kernels.md). */
#define LANES_ROWS_MAX 58111
#define PACKED_ROWS_MAX 300000
#define PARTITIONED_CHUNK_MIN ((size_t)32 << 20)

/* Letters in ranges of at least so many are counted by bitsliced, narrower ones by lanes. Where
 * both reach the read ceiling, bitsliced has less to set up (measured: doc/kernels.md). */
#define BITSLICED_WIDTH_MIN 4

#define VALUES (1u << MODE_VALUES)
#define SAMPLES (1u << MODE_BYTES | 1u << MODE_LETTERS | VALUES)
#define CHARACTERS (1u << MODE_CHARACTERS | 1u << MODE_CATEGORIES | 1u << MODE_BLOCKS)

/* All were tuned on an H200 (compute capability 9.0) and hold for all devices; what differs most,
 * how many blocks fit, is asked of the device. Each number was the best, or as good as the best, of
 * those tried by bench/kernels: bench/results/h200-tuning.csv. gpu/count/kernel_table.cu has the
 * kernels. */
const struct strategy strategies[] = {
    [STRATEGY_naive] = {.name = "naive",
                        .about = "one thread per sample, atomics on one histogram in global memory",
                        .modes = SAMPLES,
                        .tuning = {.block = 1024, .coarsening = 1}},
    [STRATEGY_privatized] = {.name = "privatized",
                             .about = "one copy of the histogram per block, in global memory",
                             .modes = SAMPLES,
                             .tuning = {.block = 64, .min = 64},
                             .scratch = SCRATCH_OF_HISTOGRAMS},
    [STRATEGY_shared] = {.name = "shared",
                         .about = "one thread per sample, a copy per block in shared memory",
                         .modes = SAMPLES,
                         .tuning = {.block = 1024, .coarsening = 1},
                         .table = TABLE_A_BLOCK},
    [STRATEGY_contiguous] =
        {.name = "contiguous",
         .about = "16 adjacent samples per thread, a copy per block in shared memory",
         .modes = SAMPLES,
         .tuning = {.block = 1024, .coarsening = 16},
         .table = TABLE_A_BLOCK},
    [STRATEGY_interleaved] = {.name = "interleaved",
                              .about =
                                  "every n-th sample per thread, a copy per block in shared memory",
                              .modes = SAMPLES,
                              .tuning = {.block = 256, .coarsening = 128},
                              .table = TABLE_A_BLOCK},
    [STRATEGY_aggregated] = {.name = "aggregated",
                             .about = "interleaved; a run of one bin is added at once",
                             .modes = SAMPLES,
                             .tuning = {.block = 256, .coarsening = 64},
                             .table = TABLE_A_BLOCK},
    [STRATEGY_clusters] = {.name = "clusters",
                           .about =
                               "interleaved, a copy per thread block cluster, in its shared memory",
                           .modes = SAMPLES,
                           .tuning = {.block = 1024, .min = 64},
                           .table = TABLE_A_CLUSTER},
    [STRATEGY_vectorized] = {.name = "vectorized",
                             .about =
                                 "interleaved, 16-byte loads, a copy per warp in shared memory",
                             .modes = SAMPLES,
                             .tuning = {.block = 512, .min = 64},
                             .table = TABLE_A_WARP},
    [STRATEGY_lanes] = {.name = "lanes",
                        .about = "a column of counters per lane, so that atomics never conflict",
                        .modes = SAMPLES,
                        .tuning = {.block = 1024, .min = 64},
                        .table = TABLE_OF_COLUMNS},
    [STRATEGY_bitsliced] = {.name = "bitsliced",
                            .about = "letters, by logic on bit planes in registers",
                            .modes = 1u << MODE_LETTERS,
                            .tuning = {.block = 256, .min = 128}},
    [STRATEGY_packed] = {.name = "packed",
                         .about = "one-byte counters in shared memory; overflows are carried over",
                         .modes = VALUES,
                         .tuning = {.block = 1024, .min = 64, .second = PACKED_SUM_BLOCK},
                         .table = TABLE_OF_BYTES,
                         .scratch = SCRATCH_OF_TABLES},
    [STRATEGY_partitioned] = {.name = "partitioned",
                              .about =
                                  "values sorted into ranges of bins, then counted range by range",
                              .modes = VALUES,
                              .tuning = {.block = PARTITION_BLOCK, .min = 64, .second = 512},
                              .table = TABLE_OF_A_TILE,
                              .scratch = SCRATCH_OF_PARTITION},
    [STRATEGY_matched] = {.name = "matched",
                          .about = "one histogram in global memory, one atomic per bin and warp",
                          .modes = VALUES,
                          .tuning = {.block = 512, .min = 64}},
    [STRATEGY_numbers] =
        {.name = "numbers",
         .about = "decimal numbers, a token per lane; rows in shared memory on demand",
         .modes = 1u << MODE_NUMBERS,
         .tuning = {.block = NUMBERS_BLOCK, .min = 64, .second = NUMBERS_REST_BLOCK},
         .table = TABLE_OF_ROWS},
    [STRATEGY_fields] = {.name = "fields",
                         .about = "a field of each line, a line per lane; rows as in numbers",
                         .modes = 1u << MODE_NUMBERS,
                         .tuning = {.block = NUMBERS_BLOCK,
                                    .min = 64,
                                    .second = NUMBERS_REST_BLOCK},
                         .table = TABLE_OF_ROWS},
    [STRATEGY_pairs] = {.name = "pairs",
                        .about = "pairs of bytes, all counters in a block's shared memory",
                        .modes = 1u << MODE_PAIRS,
                        .tuning = {.block = 1024, .min = 128},
                        .table = TABLE_OF_PAIRS},
    [STRATEGY_characters] = {.name = "characters",
                             .about = "characters, in bit planes; a counter for each that occurs",
                             .modes = CHARACTERS,
                             .tuning = {.block = CHARACTERS_BLOCK, .min = 64},
                             .table = TABLE_OF_CHARACTERS},
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
    return strategy->scratch != SCRATCH_NONE;
}

const struct strategy *strategy_without_scratch(const struct histogram_spec *spec)
{
    const struct strategy *matched = &strategies[STRATEGY_matched];
    return strategy_counts(matched, spec) ? matched : NULL;
}

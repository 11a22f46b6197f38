/* SPDX-License-Identifier: MIT */
#include "strategy.h"
#include "gpu/count/sample_map.h"
#include "src/tally/histogram_spec.h"

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
/* clang-format off */
const struct strategy strategies[] = {
    [STRATEGY_naive] = {.name = "naive", .modes = SAMPLES,
        .about = "one thread per sample, atomics on one histogram in global memory",
        .tuning = {.block = 1024, .coarsening = 1}},
    [STRATEGY_privatized] = {.name = "privatized", .modes = SAMPLES,
        .about = "one copy of the histogram per block, in global memory",
        .tuning = {.block = 64, .min = 64}, .scratch = SCRATCH_OF_HISTOGRAMS},
    [STRATEGY_shared] = {.name = "shared", .modes = SAMPLES,
        .about = "one thread per sample, a copy per block in shared memory",
        .tuning = {.block = 1024, .coarsening = 1}},
    [STRATEGY_contiguous] = {.name = "contiguous", .modes = SAMPLES,
        .about = "16 adjacent samples per thread, a copy per block in shared memory",
        .tuning = {.block = 1024, .coarsening = 16}},
    [STRATEGY_interleaved] = {.name = "interleaved", .modes = SAMPLES,
        .about = "every n-th sample per thread, a copy per block in shared memory",
        .tuning = {.block = 256, .coarsening = 128}},
    [STRATEGY_aggregated] = {.name = "aggregated", .modes = SAMPLES,
        .about = "interleaved; a run of one bin is added at once",
        .tuning = {.block = 256, .coarsening = 64}},
    [STRATEGY_clusters] = {.name = "clusters", .modes = SAMPLES,
        .about = "interleaved, a copy per thread block cluster, in its shared memory",
        .tuning = {.block = 1024, .min = 64}},
    [STRATEGY_vectorized] = {.name = "vectorized", .modes = SAMPLES,
        .about = "interleaved, 16-byte loads, a copy per warp in shared memory",
        .tuning = {.block = 512, .min = 64}},
    [STRATEGY_lanes] = {.name = "lanes", .modes = SAMPLES,
        .about = "a column of counters per lane, so that atomics never conflict",
        .tuning = {.block = 1024, .min = 64}},
    [STRATEGY_bitsliced] = {.name = "bitsliced", .modes = 1u << MODE_LETTERS,
        .about = "letters, by logic on bit planes in registers",
        .tuning = {.block = 256, .min = 128}},
    [STRATEGY_packed] = {.name = "packed", .modes = VALUES,
        .about = "one-byte counters in shared memory; overflows are carried over",
        .tuning = {.block = 1024, .min = 64, .second = PACKED_SUM_BLOCK},
        .scratch = SCRATCH_OF_TABLES},
    [STRATEGY_partitioned] = {.name = "partitioned", .modes = VALUES,
        .about = "values sorted into ranges of bins, then counted range by range",
        .tuning = {.block = PARTITION_BLOCK, .min = 64, .second = 512},
        .scratch = SCRATCH_OF_PARTITION},
    [STRATEGY_matched] = {.name = "matched", .modes = VALUES,
        .about = "one histogram in global memory, one atomic per bin and warp",
        .tuning = {.block = 512, .min = 64}},
    [STRATEGY_numbers] = {.name = "numbers", .modes = 1u << MODE_NUMBERS,
        .about = "decimal numbers, a token per lane; rows in shared memory on demand",
        .tuning = {.block = NUMBERS_BLOCK, .min = 64, .second = NUMBERS_REST_BLOCK}},
    [STRATEGY_fields] = {.name = "fields", .modes = 1u << MODE_NUMBERS,
        .about = "a field of each line, a line per lane; rows as in numbers",
        .tuning = {.block = NUMBERS_BLOCK, .min = 64, .second = NUMBERS_REST_BLOCK}},
    [STRATEGY_pairs] = {.name = "pairs", .modes = 1u << MODE_PAIRS,
        .about = "pairs of bytes, all counters in a block's shared memory",
        .tuning = {.block = 1024, .min = 128}},
    [STRATEGY_characters] = {.name = "characters", .modes = CHARACTERS,
        .about = "characters, in bit planes; a counter for each that occurs",
        .tuning = {.block = CHARACTERS_BLOCK, .min = 64}},
};
/* clang-format on */

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
        best = &strategies[spec->type.size == 1 || spec->bins <= LANES_ROWS_MAX ? STRATEGY_lanes
                           : spec->bins <= PACKED_ROWS_MAX                      ? STRATEGY_packed
                           : chunk_size >= PARTITIONED_CHUNK_MIN ? STRATEGY_partitioned
                                                                 : STRATEGY_matched];
        break;
    default: /* the only one that counts it */
        for (unsigned i = 0; i < strategy_count; i++)
            if (strategy_counts(&strategies[i], spec))
                return &strategies[i];
        return NULL;
    }
    return strategy_counts(best, spec) ? best : NULL;
}

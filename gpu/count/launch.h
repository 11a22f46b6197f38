/* SPDX-License-Identifier: MIT */
// The kernels of the strategies, and how they are launched: for the device, its emulation and the
// benchmarks.
#ifndef GPUHISTO_LAUNCH_H
#define GPUHISTO_LAUNCH_H

#include "gpu/count/counting.cuh"

extern "C" {
#include "gpu/engine/row_pages.h"
#include "gpu/count/tuning.h"
#include "src/tally/characters.h"
}

using counting_kernel = void (*)(count_args args);

// What a block keeps its counters in.
enum table_kind {
    TABLE_NONE,       // nothing of its own, or nothing whose size depends on the bins
    TABLE_A_BLOCK,    // 32-bit counters in shared memory, one for each bin
    TABLE_A_WARP,     // as many for each warp
    TABLE_OF_COLUMNS, // as struct table_shape says; for samples of a byte, as lanes.cuh does
    TABLE_OF_BYTES,   // as struct table_shape says, in one column of bytes: packed.cuh
    TABLE_OF_A_TILE,  // sorted values, and a range's counters in the second kernel: partitioned.cuh
    TABLE_OF_ROWS,    // of rows that come up, and each warp's text: numbers.cuh
    TABLE_OF_PAIRS,   // of as many pairs as fit: pairs.cuh
    TABLE_OF_CHARACTERS // ASCII, and as many rows that come up as there is room for: characters.cuh
};

// What memory of the device a strategy needs while it counts.
enum scratch_kind {
    SCRATCH_NONE,
    SCRATCH_OF_HISTOGRAMS, // map.bins words a block
    SCRATCH_OF_TABLES,     // a block's table, for each
    SCRATCH_OF_PARTITION   // as struct partition_shape says
};

// What a strategy brings with it.
struct strategy_kernels {
    counting_kernel (*kernel_of)(const struct histogram_spec *spec); // of a mode that it counts
    counting_kernel (*second_of)(unsigned bins); // gives what is launched after it, or null
    enum table_kind table;
    enum scratch_kind scratch;
};

// By enum strategy_id; from kernel_table.cu.
extern const struct strategy_kernels strategy_kernels[];

// What gathers pages for a snapshot, by blocks of row_pages_block: row_pages.cuh.
constexpr unsigned row_pages_block = 256;

struct row_pages_args {
    const unsigned long long *counts; // row_pages_of(rows) * ROW_PAGE of them
    unsigned pages;
    unsigned *positions;       // of each page: 1 and its place, or 0
    unsigned long long *words; // row_pages_words(pages)
};

static inline unsigned row_pages_grid(unsigned pages)
{
    return (pages + row_pages_block / 32 - 1) / (row_pages_block / 32);
}

extern void (*const row_pages_kernel)(row_pages_args args);

// A kernel, and how it is launched on one device.
struct launch {
    counting_kernel kernel, second;  // the second is launched after it, if not null
    unsigned block, coarsening, min; // as in struct tuning
    unsigned second_block;
    unsigned sample; // bytes
    bool is_text;
    unsigned long long shared, second_shared; // dynamic shared memory, bytes a block
    enum scratch_kind scratch;
    struct table_shape shape;
    struct partition_shape partition;
};

// The fewest passes whose bins, of `size` bytes each, fit into `max` bytes with `spare` bins more.
static inline struct table_shape passes_for(unsigned bins, unsigned size, unsigned spare,
                                            unsigned max)
{
    const unsigned rows = max / size - spare;
    const unsigned passes = (bins + rows - 1) / rows;
    return {(bins + passes - 1) / passes, passes, 0};
}

// And as many columns of 32-bit counters as fit then, with a row for what belongs to another pass.
static inline struct table_shape columns_for(unsigned bins, unsigned max)
{
    struct table_shape shape = passes_for(bins, 4, 1, max);
    while (shape.columns_log < LANES_COLUMNS_LOG_MAX &&
           ((shape.bins + 1) * 4ull << (shape.columns_log + 1)) <= max)
        shape.columns_log++;
    return shape;
}

// All pairs at once; or the fewest passes over as many first bytes each as fit into `max` bytes.
static inline struct table_shape shape_of_pairs(unsigned max)
{
    if (max >= PAIRS_SHARED)
        return {256 * 256, 1, 0};
    const unsigned firsts = max / (4 * PAIRS_STRIDE), passes = (256 + firsts - 1) / firsts;
    return {(256 + passes - 1) / passes * 256, passes, 0};
}

// As many places for characters as fit into `max` bytes, a power of two; for groups of them, a row
// for each.
static inline struct table_shape shape_for_characters(const struct histogram_spec *spec,
                                                      unsigned max)
{
    struct table_shape shape = {CHARACTERS_SLOTS_MAX, 1, 0};
    while (shape.bins > 1 && CHARACTERS_SHARED + shape.bins * 8 > max)
        shape.bins /= 2;
    if (spec->groups)
        shape.bins = CHARACTER_GROUPS_MAX;
    return shape;
}

// And of counters of a byte, in whole vectors, besides PACKED_SHARED bytes.
static inline struct table_shape bytes_for(unsigned bins, unsigned max)
{
    struct table_shape shape = passes_for(bins, 1, PACKED_SHARED + 15, max);
    shape.bins = (shape.bins + 15) / 16 * 16;
    return shape;
}

// But for the tiles. Quotients are of numbers up to 2^21, so that an error of less than 1 in the
// reciprocal, times these, is less than 2^32 over the number of ranges.
static inline struct partition_shape partition_shape_for(unsigned bins)
{
    const unsigned wanted = bins / PARTITION_ROWS_MIN | 1;
    const unsigned ranges = wanted < 3 ? 3 : wanted > PARTITION_RANGES ? PARTITION_RANGES : wanted;
    const unsigned groups = (bins + 7) / 8, rows = (groups + ranges - 1) / ranges * 8;
    const unsigned reciprocal = static_cast<unsigned>((0x100000000ull + ranges - 1) / ranges);
    return {ranges, reciprocal, (rows + 15) / 16 * 16, 0, 0, 0};
}

// For values of `sample` bytes, in pieces of up to `max` bytes.
static inline struct partition_shape partition_for(unsigned bins, unsigned sample,
                                                   unsigned long long max)
{
    struct partition_shape shape = partition_shape_for(bins);
    shape.tile_values = PARTITION_BLOCK * (sample == 8 ? PARTITION_VALUES / 2 : PARTITION_VALUES);
    shape.tile = shape.tile_values + 8 * shape.ranges; // each run is filled up to a multiple of 8
    const unsigned long long tiles = max / (1ull * shape.tile_values * sample) + 1;
    shape.tiles = tiles < PARTITION_TILES_MIN   ? PARTITION_TILES_MIN
                  : tiles > PARTITION_TILES_MAX ? PARTITION_TILES_MAX
                                                : static_cast<unsigned>((tiles + 3) / 4 * 4);
    return shape;
}

// What a device gives a launch.
struct launch_limits {
    unsigned shared;          // bytes of shared memory, to a block
    unsigned long long chunk; // bytes, at most
};

// Sets what a block keeps its counters in.
static inline void launch_set_table(struct launch *how, enum table_kind table,
                                    const struct histogram_spec *spec,
                                    const struct launch_limits &limits)
{
    const unsigned bins = static_cast<unsigned>(spec->bins);
    how->shape = {bins, 1, 0};
    switch (table) {
    case TABLE_NONE:
        break;
    case TABLE_A_BLOCK:
        how->shared = bins * 4ull;
        break;
    case TABLE_A_WARP:
        how->shared = how->block / 32 * 4ull * bins;
        break;
    case TABLE_OF_ROWS:
        how->shared = NUMBERS_SHARED + how->block / 32 * NUMBERS_SHARED_A_WARP;
        break;
    case TABLE_OF_PAIRS:
        how->shape = shape_of_pairs(limits.shared);
        how->shared =
            how->shape.passes > 1 ? how->shape.bins / 256 * 4ull * PAIRS_STRIDE : PAIRS_SHARED;
        break;
    case TABLE_OF_CHARACTERS:
        how->shape = shape_for_characters(spec, limits.shared);
        how->shared = CHARACTERS_SHARED + how->shape.bins * 8ull;
        break;
    case TABLE_OF_COLUMNS:
        if (how->sample == 1) {
            how->shared = LANES_SHARED;
            break;
        }
        how->shape = columns_for(bins, limits.shared);
        how->shared = (how->shape.bins + 1) * 4ull << how->shape.columns_log;
        break;
    case TABLE_OF_BYTES:
        how->shape = bytes_for(bins, limits.shared);
        how->shared = how->shape.bins + 128;
        break;
    case TABLE_OF_A_TILE:
        how->partition = partition_for(bins, how->sample, limits.chunk);
        how->shared = 2ull * how->partition.tile;
        // And a word for what fills up runs.
        how->second_shared =
            4 + (how->partition.rows <= PARTITION_WORDS_MAX ? how->partition.rows * 4ull
                                                            : how->partition.rows);
        if (how->second_shared > PARTITION_TABLE_LARGE)
            how->second_block *= 2;
        break;
    }
}

// How a strategy is launched. launch_fits tells whether the shared memory is enough.
static inline struct launch launch_with(const struct tuning *tuning,
                                        const struct histogram_spec *spec,
                                        const struct launch_limits &limits)
{
    const struct strategy_kernels *of = &strategy_kernels[tuning->strategy];
    struct launch how = {};
    how.kernel = of->kernel_of(spec);
    how.second = of->second_of(static_cast<unsigned>(spec->bins));
    how.block = tuning->block;
    how.coarsening = tuning->coarsening;
    how.min = tuning->min;
    how.second_block = tuning->second;
    how.sample = static_cast<unsigned>(histogram_spec_sample_size(spec));
    how.is_text = spec->mode->is_text;
    how.scratch = of->scratch;
    launch_set_table(&how, of->table, spec, limits);
    // Counters cost what as many bytes of data do: to be zeroed, and added up.
    if ((of->table == TABLE_OF_COLUMNS && how.sample > 1) || of->table == TABLE_OF_BYTES)
        if (how.min * how.block < how.shared)
            how.min = static_cast<unsigned>(how.shared / how.block);
    return how;
}

// Bytes of shared memory that a block of either kernel takes, at most.
static inline unsigned long long launch_shared(const struct launch *launch)
{
    const unsigned long long second =
        launch->second_shared ? launch->second_shared + PARTITION_STATIC : 0;
    return launch->shared > second ? launch->shared : second;
}

static inline bool launch_fits(const struct launch *launch, unsigned shared_max)
{
    return launch_shared(launch) <= shared_max;
}

// The blocks for len bytes, where the device holds `resident` at a time.
static inline unsigned grid_for(const struct launch *launch, unsigned resident,
                                unsigned long long len)
{
    if (launch->coarsening) {
        const unsigned long long each = 1ull * launch->block * launch->coarsening * launch->sample;
        return static_cast<unsigned>((len + each - 1) / each) + (len == 0);
    }
    const unsigned passes = launch->shape.passes;
    const unsigned max = resident > passes ? resident / passes : 1;
    const unsigned long long worth = len / (1ull * launch->block * launch->min) + 1;
    return passes * (worth < max ? static_cast<unsigned>(worth) : max);
}

// The scratch memory of a launch, in bytes.
static inline size_t launch_scratch(const struct launch *launch, unsigned resident, unsigned bins)
{
    const struct partition_shape *parts = &launch->partition;
    const size_t blocks = resident > launch->shape.passes ? resident : launch->shape.passes;
    switch (launch->scratch) {
    case SCRATCH_OF_HISTOGRAMS:
        return blocks * bins * sizeof(unsigned);
    case SCRATCH_OF_TABLES:
        return blocks * launch->shape.bins;
    case SCRATCH_OF_PARTITION:
        return (PARTITION_RANGES_MAX + 1ull * parts->ranges * parts->tiles) * sizeof(unsigned) +
               2ull * parts->tiles * parts->tile;
    case SCRATCH_NONE:
        break;
    }
    return 0;
}

// Makes do with half of that, where the strategy can. True if it can.
static inline bool launch_take_less(struct launch *launch)
{
    if (launch->scratch != SCRATCH_OF_PARTITION || launch->partition.tiles < 8)
        return false;
    launch->partition.tiles = launch->partition.tiles / 8 * 4;
    return true;
}

// The most bytes that one launch takes.
static inline unsigned long long launch_capacity(const struct launch *launch)
{
    const struct partition_shape *parts = &launch->partition;
    return launch->scratch == SCRATCH_OF_PARTITION
               ? 1ull * parts->tiles * parts->tile_values * launch->sample
               : ~0ull;
}

// The blocks of each kernel that the device holds at a time.
struct launch_resident {
    unsigned first, second;
};

// Enqueues counting args.data[0..args.len). zero(words, number) and run(kernel, grid, block,
// shared, args) enqueue one thing each. False if one of them could not.
template <class Zero, class Run>
static inline bool launch_all(const struct launch *how, const struct launch_resident &resident,
                              struct count_args args, const Zero &zero, const Run &run)
{
    const unsigned long long len = args.len, max = launch_capacity(how);
    // Numbers need few of the second.
    const unsigned second_grid = how->is_text ? resident.first : resident.second;
    unsigned long long done = 0;
    do {
        args.len = len - done < max ? len - done : max;
        args.blocks = grid_for(how, resident.first, args.len);
        if ((how->is_text && !zero(args.rest, 1)) ||
            (how->scratch == SCRATCH_OF_PARTITION && !zero(args.scratch, PARTITION_RANGES_MAX)) ||
            !run(how->kernel, args.blocks, how->block, how->shared, args) ||
            (how->second &&
             !run(how->second, second_grid, how->second_block, how->second_shared, args)))
            return false;
        args.data += args.len;
        done += args.len;
    } while (done < len);
    return true;
}

#endif

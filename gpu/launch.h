// The kernels of the strategies, and how they are launched: for the device, its emulation and the
// benchmarks.
#ifndef GPUHISTO_LAUNCH_H
#define GPUHISTO_LAUNCH_H

#include "gpu/counting.cuh"

extern "C" {
#include "gpu/row_pages.h"
#include "gpu/tuning.h"
#include "src/histogram/characters.h"
}

using counting_kernel = void (*)(count_args args);

// What a block keeps its counters in.
enum table_kind {
    TABLE_NONE,         // nothing of its own, or nothing whose size depends on the bins
    TABLE_A_BLOCK,      // 32-bit counters in shared memory, one for each bin
    TABLE_A_WARP,       // as many for each warp
    TABLE_OF_COLUMNS,   // as struct table_shape says; for samples of a byte, as lanes.cuh does
    TABLE_OF_ROWS,      // of rows that come up, and each warp's text: numbers.cuh
    TABLE_OF_PAIRS,     // of as many pairs as fit: pairs.cuh
    TABLE_OF_CHARACTERS // ASCII, and as many rows that come up as there is room for: characters.cuh
};

// What a strategy brings with it.
struct strategy_kernels {
    // By enum mode_id: the kernel for a histogram of that mode, null if the strategy counts none.
    counting_kernel (*kernel_of[MODES])(const struct histogram *histogram);
    enum table_kind table;
    bool scratch; // wants map.bins words a block in global memory
};

// By enum strategy_id; from kernel_table.cu.
extern const struct strategy_kernels strategy_kernels[];

// Counts the numbers that a kernel for them put off, with blocks of NUMBERS_REST_BLOCK;
// args.rest[0] is to be 0 before these two.
extern const counting_kernel rest_of_numbers, rest_of_fields;

// What gathers pages for a snapshot, by blocks of row_pages_block: row_pages.cuh.
constexpr unsigned row_pages_block = 256;

struct row_pages_args {
    const unsigned long long *counts; // row_pages_of(rows) * ROW_PAGE of them
    unsigned pages;
    unsigned *places;          // of each page: 1 and its place, or 0
    unsigned long long *words; // row_pages_words(pages)
};

static inline unsigned row_pages_grid(unsigned pages)
{
    return (pages + row_pages_block / 32 - 1) / (row_pages_block / 32);
}

extern void (*const row_pages_kernel)(row_pages_args args);

// A kernel, and how it is launched on one device.
struct launch {
    counting_kernel kernel, rest;      // rest is launched after it, if not null
    unsigned block, coarsening, least; // as in struct tuning
    unsigned sample;                   // bytes
    unsigned long long shared;         // dynamic shared memory, bytes a block
    bool scratch;
    struct table_shape shape;
};

// The fewest passes whose bins fit into `most` bytes, and as many columns as fit then.
static inline struct table_shape shape_for(unsigned bins, unsigned most)
{
    const unsigned rows = most / 4 - 1; // and one for what belongs to another pass
    const unsigned passes = (bins + rows - 1) / rows;
    struct table_shape shape = {(bins + passes - 1) / passes, passes, 0};
    while (shape.columns_log < LANES_COLUMNS_LOG_MAX &&
           ((shape.bins + 1) * 4ull << (shape.columns_log + 1)) <= most)
        shape.columns_log++;
    return shape;
}

// All pairs at once; or the fewest passes over as many first bytes each as fit into `most` bytes.
static inline struct table_shape shape_of_pairs(unsigned most)
{
    if (most >= PAIRS_SHARED)
        return {256 * 256, 1, 0};
    const unsigned firsts = most / (4 * PAIRS_STRIDE), passes = (256 + firsts - 1) / firsts;
    return {(256 + passes - 1) / passes * 256, passes, 0};
}

// As many places for characters as fit into `most` bytes, a power of two; for groups of them, a row
// for each.
static inline struct table_shape shape_for_characters(const struct histogram *histogram,
                                                      unsigned most)
{
    struct table_shape shape = {CHARACTERS_PLACES_MAX, 1, 0};
    while (shape.bins > 1 && CHARACTERS_SHARED + shape.bins * 8 > most)
        shape.bins /= 2;
    if (histogram->groups)
        shape.bins = CHARACTER_GROUPS_MAX;
    return shape;
}

// For a device that gives a block `shared_most` bytes of shared memory; launch_fits tells whether
// that is enough.
static inline struct launch launch_with(const struct tuning *tuning,
                                        const struct histogram *histogram, unsigned shared_most)
{
    const struct strategy_kernels *of = &strategy_kernels[tuning->strategy];
    const unsigned bins = static_cast<unsigned>(histogram->bins);
    struct launch how = {};
    how.kernel = of->kernel_of[histogram->mode->id](histogram);
    how.rest = !histogram->mode->is_text             ? nullptr
               : histogram->field.kind == FIELD_NONE ? rest_of_numbers
                                                     : rest_of_fields;
    how.block = tuning->block;
    how.coarsening = tuning->coarsening;
    how.least = tuning->least;
    how.sample = static_cast<unsigned>(histogram_sample_size(histogram));
    how.scratch = of->scratch;
    how.shape = {bins, 1, 0};
    if (of->table == TABLE_A_BLOCK)
        how.shared = bins * 4ull;
    else if (of->table == TABLE_A_WARP)
        how.shared = tuning->block / 32 * 4ull * bins;
    else if (of->table == TABLE_OF_COLUMNS && how.sample == 1)
        how.shared = LANES_SHARED;
    else if (of->table == TABLE_OF_ROWS)
        how.shared = NUMBERS_SHARED + tuning->block / 32 * NUMBERS_SHARED_A_WARP;
    else if (of->table == TABLE_OF_PAIRS) {
        how.shape = shape_of_pairs(shared_most);
        how.shared =
            how.shape.passes > 1 ? how.shape.bins / 256 * 4ull * PAIRS_STRIDE : PAIRS_SHARED;
    } else if (of->table == TABLE_OF_CHARACTERS) {
        how.shape = shape_for_characters(histogram, shared_most);
        how.shared = CHARACTERS_SHARED + how.shape.bins * 8ull;
    } else if (of->table == TABLE_OF_COLUMNS) {
        how.shape = shape_for(bins, shared_most);
        how.shared = (how.shape.bins + 1) * 4ull << how.shape.columns_log;
        // Counters cost what as many bytes of data do: to be zeroed, and added up.
        if (how.least * how.block < how.shared)
            how.least = static_cast<unsigned>(how.shared / how.block);
    }
    return how;
}

static inline bool launch_fits(const struct launch *launch, unsigned shared_most)
{
    return launch->shared <= shared_most;
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
    const unsigned most = resident > passes ? resident / passes : 1;
    const unsigned long long worth = len / (1ull * launch->block * launch->least) + 1;
    return passes * (worth < most ? static_cast<unsigned>(worth) : most);
}

#endif

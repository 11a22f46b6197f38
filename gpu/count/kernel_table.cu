// SPDX-License-Identifier: MIT
// The kernels of the strategies, and how each is launched. The tests compile this for the host as
// well.
#include "gpu/count/bitsliced.cuh"
#include "gpu/count/characters.cuh"
#include "gpu/count/fields.cuh"
#include "gpu/count/lanes.cuh"
#include "gpu/count/launch.h"
#include "gpu/count/numbers.cuh"
#include "gpu/count/packed.cuh"
#include "gpu/count/pairs.cuh"
#include "gpu/count/partitioned.cuh"
#include "gpu/count/textbook/aggregated.cuh"
#include "gpu/count/textbook/clusters.cuh"
#include "gpu/count/textbook/contiguous.cuh"
#include "gpu/count/textbook/interleaved.cuh"
#include "gpu/count/textbook/naive.cuh"
#include "gpu/count/textbook/privatized.cuh"
#include "gpu/count/textbook/shared.cuh"

#include <utility>

// --- the kernels of a strategy ---

// Returns the kernel of `lanes` for values: equal bins have kernels of their own.
static counting_kernel lanes_of(const row_map &map)
{
    switch (map.size) {
    case 1:
        return lanes<byte_value_samples>;
    case 2:
        return map.way == ROWS_BY_16_BITS   ? lanes_values<2, ROWS_BY_16_BITS>
               : map.way == ROWS_BY_32_BITS ? lanes_values<2, ROWS_BY_32_BITS>
                                            : lanes_values<2, ANY_WAY>;
    case 4:
        return map.way == ROWS_BY_32_BITS   ? lanes_values<4, ROWS_BY_32_BITS>
               : map.way == ROWS_OF_FLOATS  ? lanes_values<4, ROWS_OF_FLOATS>
               : map.way == ROWS_OF_DOUBLES ? lanes_values<4, ROWS_OF_DOUBLES>
                                            : lanes_values<4, ANY_WAY>;
    default:
        return map.way == ROWS_BY_64_BITS   ? lanes_values<8, ROWS_BY_64_BITS>
               : map.way == ROWS_OF_DOUBLES ? lanes_values<8, ROWS_OF_DOUBLES>
                                            : lanes_values<8, ANY_WAY>;
    }
}

// Values of a size, whose rows are found one way.
template <unsigned Size, int Way> struct values {
    static constexpr unsigned size = Size;
    static constexpr int way = Way;
};

// Returns what `kernel_of` gives for values in many bins, by what comes up with many: bins of their
// own, equal ones of doubles, and log-linear ones.
template <class KernelOf>
static counting_kernel by_many_bins(const row_map &map, const KernelOf &kernel_of)
{
    switch (map.size) {
    case 1:
        return kernel_of(values<1, ANY_WAY>());
    case 2:
        return map.way == ROWS_BY_16_BITS ? kernel_of(values<2, ROWS_BY_16_BITS>())
                                          : kernel_of(values<2, ANY_WAY>());
    case 4:
        return map.way == ROWS_BY_32_BITS && !map.reciprocal ? kernel_of(values<4, OWN_WAY>())
               : map.way == ROWS_BY_32_BITS ? kernel_of(values<4, ROWS_BY_32_BITS>())
               : map.way == ROWS_OF_DOUBLES ? kernel_of(values<4, ROWS_OF_DOUBLES>())
               : map.way == ROWS_LOG_LINEAR ? kernel_of(values<4, ROWS_LOG_LINEAR>())
                                            : kernel_of(values<4, ANY_WAY>());
    default:
        return map.way == ROWS_BY_64_BITS   ? kernel_of(values<8, ROWS_BY_64_BITS>())
               : map.way == ROWS_OF_DOUBLES ? kernel_of(values<8, ROWS_OF_DOUBLES>())
               : map.way == ROWS_LOG_LINEAR ? kernel_of(values<8, ROWS_LOG_LINEAR>())
                                            : kernel_of(values<8, ANY_WAY>());
    }
}

// Returns the kernel of `bitsliced` for letters in ranges of a width.
template <unsigned... Index>
static counting_kernel bitsliced_of(unsigned width, std::integer_sequence<unsigned, Index...>)
{
    static const counting_kernel by_width[] = {bitsliced<Index + 1>...};
    return by_width[width - 1];
}

struct kernels {
    counting_kernel first, second = nullptr;
};

// Returns the kernels of a strategy for a histogram: the first is null if it does not count it, and
// the second if there is none.
static struct kernels kernels_for(enum strategy_id strategy, const struct histogram_spec *spec)
{
    const auto each = [spec](const auto &kernel_of) {
        return spec->mode->id == MODE_BYTES     ? kernel_of(byte_samples())
               : spec->mode->id == MODE_LETTERS ? kernel_of(letter_samples())
               : spec->mode->id == MODE_VALUES  ? kernel_of(value_samples())
                                                : nullptr;
    };
    const row_map map = spec->mode->is_binned ? row_map_of(spec) : row_map();
    switch (strategy) {
    case STRATEGY_naive:
        return {each([](auto of) -> counting_kernel { return naive<decltype(of)>; })};
    case STRATEGY_privatized:
        return {each([](auto of) -> counting_kernel { return privatized<decltype(of)>; })};
    case STRATEGY_shared:
        return {each([](auto of) -> counting_kernel { return shared<decltype(of)>; })};
    case STRATEGY_contiguous:
        return {each([](auto of) -> counting_kernel { return contiguous<decltype(of)>; })};
    case STRATEGY_interleaved:
        return {each([](auto of) -> counting_kernel { return interleaved<decltype(of)>; })};
    case STRATEGY_aggregated:
        return {each([](auto of) -> counting_kernel { return aggregated<decltype(of)>; })};
    case STRATEGY_clusters:
        return {each([](auto of) -> counting_kernel { return clusters<decltype(of)>; })};
    case STRATEGY_vectorized:
        return {each([](auto of) -> counting_kernel { return vectorized<decltype(of)>; })};
    case STRATEGY_lanes:
        return {spec->mode->id == MODE_VALUES    ? lanes_of(map)
                : spec->mode->id == MODE_LETTERS ? lanes<letter_samples>
                : spec->mode->id == MODE_BYTES   ? lanes<byte_samples>
                                                 : nullptr};
    case STRATEGY_bitsliced:
        return {bitsliced_of(spec->width, std::make_integer_sequence<unsigned, LETTERS>())};
    case STRATEGY_packed:
        return {
            by_many_bins(map, [](auto of) -> counting_kernel { return packed<of.size, of.way>; }),
            packed_sum};
    case STRATEGY_partitioned:
        return {by_many_bins(map,
                             [](auto of) -> counting_kernel { return partition<of.size, of.way>; }),
                partition_shape_for(static_cast<unsigned>(spec->bins)).rows <= partition_words_max
                    ? partition_count<false>
                    : partition_count<true>};
    case STRATEGY_matched:
        return {matched<value_samples>};
    case STRATEGY_numbers:
        return {numbers<number_tokens>, numbers_rest<number_tokens>};
    case STRATEGY_fields:
        return {numbers<number_lines>, numbers_rest<number_lines>};
    case STRATEGY_pairs:
        return {spec->is_aligned ? pairs<true> : pairs<false>};
    case STRATEGY_characters:
        return {spec->groups ? characters<true> : characters<false>};
    }
    return {nullptr};
}

// --- how they are launched ---

struct launch launch_with(enum strategy_id strategy, const struct histogram_spec *spec,
                          const struct launch_limits &limits, const struct tuning &tuning)
{
    const struct kernels kernels = kernels_for(strategy, spec);
    const unsigned bins = static_cast<unsigned>(spec->bins);
    bool costs_bins = false; // counters cost as many bytes of data: to be zeroed, and added up
    struct launch how = {};
    how.strategy = strategy;
    how.kernel = kernels.first;
    how.second = kernels.second;
    how.block = tuning.block;
    how.coarsening = tuning.coarsening;
    how.min = tuning.min;
    how.second_block = tuning.second;
    how.sample = static_cast<unsigned>(histogram_spec_sample_size(spec));
    how.is_text = spec->mode->is_text;
    how.scratch = strategies[strategy].scratch;
    how.shape = {bins, 1, 0};
    // The tables that a block keeps its counters in.
    switch (strategy) {
    case STRATEGY_naive:
    case STRATEGY_privatized:
    case STRATEGY_bitsliced:
    case STRATEGY_matched:
        break;
    case STRATEGY_shared:
    case STRATEGY_contiguous:
    case STRATEGY_interleaved:
    case STRATEGY_aggregated:
        how.shared = bins * 4ull;
        break;
    case STRATEGY_clusters:
        how.cluster = 1;
        while (bins > how.cluster * (limits.shared / 4) && how.cluster < limits.cluster)
            how.cluster *= 2;
        how.shared = (bins + how.cluster - 1) / how.cluster * 4ull;
        costs_bins = true;
        break;
    case STRATEGY_vectorized:
        how.shared = how.block / 32 * 4ull * bins;
        break;
    case STRATEGY_numbers:
    case STRATEGY_fields:
        how.shared = sizeof(row_cache) + how.block / 32 * sizeof(warp_text);
        break;
    case STRATEGY_pairs:
        how.shape = shape_of_pairs(limits.shared);
        how.shared =
            how.shape.passes > 1 ? how.shape.bins / 256 * 4ull * pairs_stride : pairs_shared;
        break;
    case STRATEGY_characters:
        how.shape = shape_for_characters(spec, limits.shared);
        how.shared = sizeof(character_table) + how.shape.bins * 8ull;
        break;
    case STRATEGY_lanes:
        how.shared = lanes_shared;
        if (how.sample > 1) {
            how.shape = columns_for(bins, limits.shared);
            how.shared = (how.shape.bins + 1) * 4ull << how.shape.columns_log;
            costs_bins = true;
        }
        break;
    case STRATEGY_packed:
        how.shape = bytes_for(bins, limits.shared);
        how.shared = how.shape.bins + 128;
        costs_bins = true;
        break;
    case STRATEGY_partitioned:
        how.partition = partition_for(bins, how.sample, limits.chunk);
        how.shared = 2ull * how.partition.tile;
        // And a word for what fills up runs.
        how.second_shared =
            4 + (how.partition.rows <= partition_words_max ? how.partition.rows * 4ull
                                                           : how.partition.rows);
        if (how.second_shared > partition_table_large)
            how.second_block *= 2;
        break;
    }
    how.shared_max = how.shared;
    if (how.second_shared + partition_static > how.shared_max && how.second_shared)
        how.shared_max = how.second_shared + partition_static;
    if (costs_bins && how.min * how.block < how.shared)
        how.min = static_cast<unsigned>(how.shared / how.block);
    return how;
}

// --- pages of rows ---

// Copies the pages of rows in which anything was counted side by side, for a snapshot: device.h.
//
// A warp looks at a page, which is 2 KiB of counts. The first time that it finds a count there, the
// page gets the next place, and keeps it. Blocks of any whole number of warps; no shared memory.
static __global__ void gather_row_pages(row_pages_args args)
{
    constexpr unsigned each = ROW_PAGE / 32; // counts of a lane
    const unsigned lane = threadIdx.x % 32, all = 0xffffffffu;
    const unsigned page = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    unsigned long long counts[each], any = 0;
    if (page >= args.pages)
        return;
    UNROLL for (unsigned i = 0; i < each; i++)
    {
        counts[i] = args.counts[page * ROW_PAGE + i * 32 + lane];
        any |= counts[i];
    }
    unsigned position = __shfl_sync(all, lane == 0 ? args.positions[page] : 0, 0);
    if (position == 0 && !__any_sync(all, any != 0))
        return;
    if (position == 0) {
        if (lane == 0)
            args.positions[page] = position =
                1 + static_cast<unsigned>(atomicAdd(&args.words[0], 1ull));
        position = __shfl_sync(all, position, 0);
    }
    unsigned long long *const to = args.words + 1 + (position - 1ull) * ROW_PAGE_WORDS;
    if (lane == 0)
        to[0] = page;
    UNROLL for (unsigned i = 0; i < each; i++) to[1 + i * 32 + lane] = counts[i];
}

void (*const row_pages_kernel)(row_pages_args args) = gather_row_pages;

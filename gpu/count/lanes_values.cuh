// SPDX-License-Identifier: MIT
// lanes, for values: as many columns of counters as there is shared memory for.
//
// The table has a row for every bin, and in it a column for every lane: then a counter's bank is
// its lane's number, and no atomic waits for another. Where shared memory does not hold 32 columns
// there are 16, 8, and down to one; lanes of a column meet if their values are alike, and those of
// one bank take turns. Where it does not hold one column the bins are counted in several passes:
// block 0 counts the first range of bins, block 1 the second, and so on, and all blocks of a range
// share the data. They read at about the same time, so that most of it comes from the L2 cache.
#ifndef GPUHISTO_LANES_VALUES_CUH
#define GPUHISTO_LANES_VALUES_CUH

#include "gpu/count/value_rows.cuh"

// The fewest passes whose bins, of `size` bytes each, fit into `max` bytes with `spare` bins more.
static inline struct table_shape passes_for(unsigned bins, unsigned size, unsigned spare,
                                            unsigned max)
{
    const unsigned rows = max / size - spare;
    const unsigned passes = (bins + rows - 1) / rows;
    return {(bins + passes - 1) / passes, passes, 0};
}

// And as many columns of 32-bit counters as fit then, with a row for what belongs to another pass.
// With 8, at most 4 lanes of a warp meet in a bank, whatever the data. More columns take longer to
// zero and add up; fewer have no such bound (measured: doc/kernels.md).
static inline struct table_shape columns_for(unsigned bins, unsigned max)
{
    struct table_shape shape = passes_for(bins, 4, 1, max);
    while (shape.columns_log < 3 && ((shape.bins + 1) * 4ull << (shape.columns_log + 1)) <= max)
        shape.columns_log++;
    return shape;
}

// Rows are added up a thread each. Where a thread begins in its row is shifted, so that threads
// whose rows lie in the same banks do not meet there.
static __device__ __forceinline__ void merge_columns(const count_args &args, const unsigned *table,
                                                     unsigned first)
{
    const unsigned columns = 1u << args.shape.columns_log;
    for (unsigned row = threadIdx.x; row < args.shape.bins && first + row < args.map.bins;
         row += blockDim.x) {
        const unsigned begin = row << args.shape.columns_log, shift = begin / 32;
        unsigned sum = 0;
        for (unsigned i = 0; i < columns; i++)
            sum += table[begin + ((i + shift) & (columns - 1))];
        add_to_counts(args, first + row, sum);
    }
}

template <unsigned Size, int Way>
__global__ void __launch_bounds__(1024, 1) lanes_values(count_args args)
{
    DYNAMIC_SHARED(unsigned, table);
    constexpr unsigned values = 16 / Size; // in a vector
    constexpr bool guessed = Way == ROWS_OF_FLOATS || Way == ROWS_OF_DOUBLES;
    const row_map &map = args.map.rows;
    const unsigned bins = args.shape.bins, columns_log = args.shape.columns_log;
    zero(table, (bins + 1) << columns_log);
    __syncthreads();

    // The blocks of this one's pass, and this one's place among them.
    const unsigned passes = args.shape.passes, first = blockIdx.x % passes * bins;
    const unsigned stride = gridDim.x / passes * blockDim.x;
    const unsigned thread = blockIdx.x / passes * blockDim.x + threadIdx.x;
    const unsigned columns = 1u << columns_log, row_size = 4 * columns;
    unsigned char *const column =
        reinterpret_cast<unsigned char *>(table + (threadIdx.x & (columns - 1)));
    // What does not belong to the pass is counted too, in a row after it, without a branch. A
    // product, not a shift, as the multiplier has more time left than the shifter.
    const auto count = [=](unsigned bin) {
        const unsigned row = min(bin - first, bins);
        atomicAdd(reinterpret_cast<unsigned *>(column + row * row_size), 1u);
    };
    const vector_span span = vectors_of(args);
    for (unsigned long long i = thread; i < span.vectors; i += 4ull * stride) {
        unsigned position = 0, not_known = 0; // values, and a bit for each whose row is not proven
        const auto count_bits = [&](auto bits) {
            const unsigned bin = row_by<Size, Way>(map, bits);
            if (guessed && bin == not_proven)
                not_known |= 1u << position;
            position++;
            count(bin);
        };
        uint4 vectors[4];
        if (i + 3ull * stride < span.vectors) {
            UNROLL for (unsigned k = 0; k < 4; k++) vectors[k] = span.body[i + k * 1ull * stride];
            UNROLL for (unsigned k = 0; k < 4; k++) each_value<Size>(vectors[k], map, count_bits);
        } else {
            for (unsigned long long k = i; k < span.vectors; k += stride)
                each_value<Size>(span.body[k], map, count_bits);
        }
        for (; not_known; not_known &= not_known - 1) {
            const unsigned n = static_cast<unsigned>(__ffs(static_cast<int>(not_known))) - 1;
            const uint4 *const vector = &span.body[i + n / values * 1ull * stride];
            const auto *const data = reinterpret_cast<const unsigned char *>(vector);
            count(row_of_bits(map, value_bits_at(map, data, n % values)));
        }
    }
    each_outside<value_samples>(args, span, thread, count);
    __syncthreads();
    merge_columns(args, table, first);
}

#endif

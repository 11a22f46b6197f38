// lanes, for values: as many columns of counters as there is shared memory for.
//
// The table has a row for every bin, and in it a column for every lane: then a counter's bank is
// its lane's number, and no atomic waits for another. Where shared memory does not hold 32 columns
// there are 16, or 8, or but one; lanes of a column meet if their values are alike, and those of
// one bank take turns. Where it does not hold one column the bins are counted in several passes:
// block 0 counts the first range of bins, block 1 the second, and so on, and all blocks of a range
// share the data. They read at about the same time, so that most of it comes from the L2 cache.
#ifndef GPUHISTO_LANES_VALUES_CUH
#define GPUHISTO_LANES_VALUES_CUH

#include "gpu/counting.cuh"

// The rows of values of Size bytes: found one way alone, or by whichever the map says.
constexpr int ANY_WAY = -1;

template <unsigned Size, int Way, class Bits>
static __device__ __forceinline__ unsigned row_by(const row_map &map, Bits bits)
{
    if constexpr (Way == ROWS_BY_32_BITS)
        return row_by_32_bits(map, bits);
    else if constexpr (Way == ROWS_BY_64_BITS)
        return row_by_64_bits(map, bits);
    else if constexpr (Way == ROWS_OF_DOUBLES && Size == 4)
        return row_of_double(map, static_cast<double>(__uint_as_float(bits)));
    else if constexpr (Way == ROWS_OF_DOUBLES)
        return row_of_double(map, __longlong_as_double(static_cast<long long>(bits)));
    else
        return row_of_bits(map, bits);
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
    zero(table, args.shape.bins << args.shape.columns_log);
    __syncthreads();

    // The blocks of this one's pass, and this one's place among them.
    const unsigned passes = args.shape.passes, first = blockIdx.x % passes * args.shape.bins;
    const unsigned stride = gridDim.x / passes * blockDim.x;
    const unsigned thread = blockIdx.x / passes * blockDim.x + threadIdx.x;
    const unsigned column = threadIdx.x & ((1u << args.shape.columns_log) - 1);
    const auto count = [&](unsigned bin) {
        const unsigned row = bin - first;
        if (row < args.shape.bins)
            atomicAdd(&table[(row << args.shape.columns_log) + column], 1u);
    };
    const auto count_bits = [&](auto bits) { count(row_by<Size, Way>(args.map.rows, bits)); };
    const vector_span span = vectors_of(args);
    unsigned long long i = thread;
    for (; i + 3ull * stride < span.vectors; i += 4ull * stride) {
        const uint4 a = span.body[i], b = span.body[i + stride];
        const uint4 c = span.body[i + 2ull * stride], d = span.body[i + 3ull * stride];
        each_value<Size>(a, args.map.rows.swapped, count_bits);
        each_value<Size>(b, args.map.rows.swapped, count_bits);
        each_value<Size>(c, args.map.rows.swapped, count_bits);
        each_value<Size>(d, args.map.rows.swapped, count_bits);
    }
    for (; i < span.vectors; i += stride)
        each_value<Size>(span.body[i], args.map.rows.swapped, count_bits);
    each_outside<value_samples>(args, span, thread, count);
    __syncthreads();
    merge_columns(args, table, first);
}

#endif

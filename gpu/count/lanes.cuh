// SPDX-License-Identifier: MIT
// lanes: one column of counters per lane, so that no atomic ever waits for another of its warp.
//
// Shared memory has 32 banks of 4 bytes, and a warp's atomics are done at once as long as they fall
// into different banks. The table has a row of 64 counters for every byte value: the even warps'
// lanes count in the first 32, the odd warps' in the others, and a counter's bank is its lane's
// number whatever the byte: how fast it goes does not depend on the data. A row is 256 bytes long,
// so the byte value and the column's offset are simply two neighbouring bytes of the counter's
// offset, which one PRMT puts together. Letters are counted as bytes, and mapped when the rows are
// summed.
#ifndef GPUHISTO_LANES_CUH
#define GPUHISTO_LANES_CUH

#include "gpu/count/counting.cuh"

constexpr unsigned lanes_columns = 64;
constexpr unsigned lanes_shared = 256 * lanes_columns * 4; // bytes

// Counts the four bytes of a word; column is this thread's offset in a row, below 256.
static __device__ __forceinline__ void count_word(unsigned char *table, unsigned word,
                                                  unsigned column)
{
    // From the lowest byte: the column's, the sample's, and twice the column's second, a zero.
    UNROLL for (unsigned byte = 0; byte < 4; byte++)
    {
        const unsigned offset = __byte_perm(word, column, 0x5504 | byte << 4);
        atomicAdd(reinterpret_cast<unsigned *>(table + offset), 1u);
    }
}

static __device__ __forceinline__ void count_words(unsigned char *table, const uint4 &vector,
                                                   unsigned column)
{
    count_word(table, vector.x, column);
    count_word(table, vector.y, column);
    count_word(table, vector.z, column);
    count_word(table, vector.w, column);
}

// Eight rows a warp at a time, four lanes a row: lane 4r + q sums quarter q of row r, and the first
// lane of each four adds to the row's bin, so that eight neighbouring bins go out together. Where a
// lane begins is shifted by r and q / 2, or lanes would meet in a bank. Rows have to be a multiple
// of 8, and bin_of gives the bin of each; add(bin, sum) may be called for no_bin, with 0.
template <unsigned Rows, class BinOf, class Add>
static __device__ __forceinline__ void sum_rows(const unsigned *table, const BinOf &bin_of,
                                                const Add &add)
{
    constexpr unsigned quarter_columns = lanes_columns / 4;
    const unsigned row_of_warp = threadIdx.x % 32 / 4, quarter = threadIdx.x % 4;
    for (unsigned base = threadIdx.x / 32 * 8; base < Rows; base += blockDim.x / 32 * 8) {
        const unsigned value = base + row_of_warp, bin = bin_of(value);
        const unsigned *const part = table + value * lanes_columns + quarter * quarter_columns;
        unsigned sum = 0;
        if (bin != no_bin)
            UNROLL for (unsigned i = 0; i < quarter_columns; i++) sum +=
                part[(i + row_of_warp + quarter / 2 * 8) % quarter_columns];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        if (quarter == 0)
            add(bin, sum);
    }
}

template <class Samples>
static __device__ __forceinline__ void merge_rows(const count_args &args, const unsigned *table)
{
    sum_rows<256>(
        table, [&args](unsigned value) { return Samples::bin_of(value, args.map); },
        [&args](unsigned bin, unsigned sum) { add_to_counts(args, bin, sum); });
}

template <class Samples>
__global__ void __launch_bounds__(1024, resident_of_1024) lanes(count_args args)
{
    DYNAMIC_SHARED(unsigned, table);
    zero(table, 256 * lanes_columns);
    __syncthreads();

    unsigned char *const bytes = reinterpret_cast<unsigned char *>(table);
    const unsigned column = threadIdx.x % lanes_columns * 4;
    const vector_span span = vectors_of(args);
    const unsigned thread = static_cast<unsigned>(grid_thread());
    const unsigned stride = static_cast<unsigned>(grid_threads());
    unsigned long long i = thread;
    for (; i + stride < span.vectors; i += 2ull * stride) {
        const uint4 a = span.body[i], b = span.body[i + stride];
        count_words(bytes, a, column);
        count_words(bytes, b, column);
    }
    if (i < span.vectors)
        count_words(bytes, span.body[i], column);
    each_outside<byte_samples>(args, span, thread, [table, column](unsigned byte) {
        atomicAdd(&table[byte * lanes_columns + column / 4], 1u);
    });
    __syncthreads();
    merge_rows<Samples>(args, table);
}

#endif

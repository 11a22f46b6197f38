// SPDX-License-Identifier: MIT
// lanes, for bytes and for values, and what came before it, vectorized: counters in shared memory
// that few lanes of a warp meet at, and loads of 16 bytes.
#ifndef GPUHISTO_GPU_COUNT_LANES_CUH
#define GPUHISTO_GPU_COUNT_LANES_CUH

#include "gpu/count/counting.cuh"

// --- vectorized: interleaved, 16 bytes a load, a shared histogram per warp ---
//
// Neighbouring threads read neighbouring 16-byte vectors, so a warp's load is 512 bytes in one
// piece; each thread has four such loads on their way before it counts the first. Counting goes to
// a histogram in shared memory that only the thread's own warp adds to (privatization, one step
// below the block), and each block adds its warps' sums to the global histogram once. After Hwu,
// Kirk and El Hajj, Programming Massively Parallel Processors, chapter 9.

template <class Samples> __global__ void vectorized(count_args args)
{
    DYNAMIC_SHARED(unsigned, bins); // [warps][args.map.bins]
    const unsigned warps = blockDim.x / 32;
    zero(bins, warps * args.map.bins);
    __syncthreads();

    unsigned *const own = bins + threadIdx.x / 32 * args.map.bins;
    const auto count = [own](unsigned bin) { count_bin(own, bin); };
    const vector_span span = vectors_of(args);
    const unsigned thread = static_cast<unsigned>(grid_thread());
    const unsigned stride = static_cast<unsigned>(grid_threads());
    unsigned long long i = thread;
    for (; i + 3ull * stride < span.vectors; i += 4ull * stride) {
        uint4 vectors[4];
        UNROLL for (unsigned k = 0; k < 4; k++) vectors[k] = span.body[i + k * 1ull * stride];
        UNROLL for (const uint4 &vector : vectors) Samples::each(vector, args.map, count);
    }
    for (; i < span.vectors; i += stride)
        Samples::each(span.body[i], args.map, count);
    each_outside<Samples>(args, span, thread, count);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x) {
        unsigned sum = 0;
        for (unsigned warp = 0; warp < warps; warp++)
            sum += bins[warp * args.map.bins + bin];
        add_to_counts(args, bin, sum);
    }
}

// --- lanes: one column of counters per lane ---
//
// No atomic ever waits for another of its warp: shared memory has 32 banks of 4 bytes, and a warp's
// atomics are done at once as long as they fall into different banks. The table has a row of 64
// counters for every byte value: the even warps' lanes count in the first 32, the odd warps' in the
// others, and a counter's bank is its lane's number whatever the byte: how fast it goes does not
// depend on the data. A row is 256 bytes long, so the byte value and the column's offset are simply
// two neighbouring bytes of the counter's offset, which one PRMT puts together. Letters are counted
// as bytes, and mapped when the rows are summed.

constexpr unsigned lanes_columns = 64;
constexpr unsigned lanes_shared = 256 * lanes_columns * 4; // bytes

// Counts the bytes of a vector; column is this thread's offset in a row, below 256.
DEVICE_INLINE void count_words(unsigned char *table, const uint4 &vector, unsigned column)
{
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
    // From the lowest byte: the column's, the sample's, and twice the column's second, a zero.
    UNROLL for (unsigned word : words) UNROLL for (unsigned byte = 0; byte < 4; byte++)
    {
        const unsigned offset = __byte_perm(word, column, 0x5504 | byte << 4);
        atomicAdd(reinterpret_cast<unsigned *>(table + offset), 1u);
    }
}

// Eight rows a warp at a time, four lanes a row: lane 4r + q sums quarter q of row r, and the first
// lane of each four adds to the row's bin, so that eight neighbouring bins go out together. Where a
// lane begins is shifted by r and q / 2, or lanes would meet in a bank. Rows have to be a multiple
// of 8, and bin_of gives the bin of each; add(bin, sum) may be called for no_bin, with 0.
template <unsigned Rows, class BinOf, class Add>
DEVICE_INLINE void sum_rows(const unsigned *table, const BinOf &bin_of, const Add &add)
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
    sum_rows<256>(
        table, [&args](unsigned value) { return Samples::bin_of(value, args.map); },
        [&args](unsigned bin, unsigned sum) { add_to_counts(args, bin, sum); });
}

// --- lanes, for values: as many columns of counters as there is shared memory for ---
//
// The table has a row for every bin, and in it a column for every lane: then a counter's bank is
// its lane's number, and no atomic waits for another. Where shared memory does not hold 32 columns
// there are 16, 8, and down to one; lanes of a column meet if their values are alike, and those of
// one bank take turns. Where it does not hold one column the bins are counted in several passes:
// block 0 counts the first range of bins, block 1 the second, and so on, and all blocks of a range
// share the data. They read at about the same time, so that most of it comes from the L2 cache.

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
    // Rows are added up a thread each. Where a thread begins in its row is shifted, so that threads
    // whose rows lie in the same banks do not meet there.
    for (unsigned row = threadIdx.x; row < args.shape.bins && first + row < args.map.bins;
         row += blockDim.x) {
        const unsigned begin = row << args.shape.columns_log, shift = begin / 32;
        unsigned sum = 0;
        for (unsigned i = 0; i < 1u << args.shape.columns_log; i++)
            sum += table[begin + ((i + shift) & ((1u << args.shape.columns_log) - 1))];
        add_to_counts(args, first + row, sum);
    }
}

#endif

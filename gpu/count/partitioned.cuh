// SPDX-License-Identifier: MIT
// partitioned: values are sorted into ranges of bins first, then counted a range at a time.
//
// For more bins than the multiprocessors have room for. A bin's range is that of its group of eight
// neighbours modulo the number of ranges, so that data which lie close together are spread over
// all ranges. Within the range 16 bits tell which bin it is.
//
//     data      | tile 0         | tile 1         | ...       16 or 8 thousand values each
//     scratch   | 0 0 1 2 2 ...  | 0 1 1 1 2 ...  | ...       as many, by range, 2 bytes each
//     runs      range 0: [begin, length of its run in tile 0], [in tile 1], ...
//               range 1: ...
//
// The first kernel sorts each tile by itself, and leaves it in a place of its own: there is room
// for it, whatever the data are. A block counts how many values of the tile each range has, and
// then gives each value the next place of its range. A range's run is filled up to whole vectors.
// The second kernel counts the runs of a range in a table in shared memory. A range that has more
// than its share of the values is counted by as many blocks as it has shares, which take its tiles
// in turn.
#ifndef GPUHISTO_GPU_COUNT_PARTITIONED_CUH
#define GPUHISTO_GPU_COUNT_PARTITIONED_CUH

#include "gpu/count/counting.cuh"

// The ranges that values are sorted into. Their number is odd, so that values with a power of two
// between them go to all of them, and at most about that of the blocks of the second kernel that
// stay on a device of 132 multiprocessors; but with so many rows a range at least, and 65536 at
// most.
constexpr unsigned partition_ranges = 263, partition_rows_min = 4096;

// Rows of a range that are counted by words; more by bytes.
constexpr unsigned partition_words_max = 16384;

// Values a thread sorts; half as many of 8 bytes.
constexpr unsigned partition_values = 32;

// Tiles that there is room for: at least so many, whatever the size of chunks, as decompressed data
// come in larger pieces; and at most, some 620 MB.
constexpr unsigned partition_tiles_min = 1024, partition_tiles_max = 16384;

// Bytes of shared memory that the second kernel has beside its table, at most; and those of a table
// beyond which half as many blocks of twice as many threads count.
constexpr unsigned partition_static = 11 * 1024, partition_table_large = 48 * 1024;

// Returns the shape but for the tiles. Quotients are of numbers up to 2^21, so that an error of
// less than 1 in the reciprocal, times these, is less than 2^32 over the number of ranges.
static inline struct partition_shape partition_shape_for(unsigned bins)
{
    const unsigned wanted = bins / partition_rows_min | 1;
    const unsigned ranges = wanted < 3 ? 3 : wanted > partition_ranges ? partition_ranges : wanted;
    const unsigned groups = (bins + 7) / 8, rows = (groups + ranges - 1) / ranges * 8;
    const unsigned reciprocal = static_cast<unsigned>((0x100000000ull + ranges - 1) / ranges);
    return {ranges, reciprocal, (rows + 15) / 16 * 16, 0, 0, 0};
}

// For values of `sample` bytes, in pieces of up to `max` bytes.
static inline struct partition_shape partition_for(unsigned bins, unsigned sample,
                                                   unsigned long long max)
{
    struct partition_shape shape = partition_shape_for(bins);
    shape.tile_values = PARTITION_BLOCK * (sample == 8 ? partition_values / 2 : partition_values);
    shape.tile = shape.tile_values + 8 * shape.ranges; // each run is filled up to a multiple of 8
    const unsigned long long tiles = max / (1ull * shape.tile_values * sample) + 1;
    shape.tiles = tiles < partition_tiles_min   ? partition_tiles_min
                  : tiles > partition_tiles_max ? partition_tiles_max
                                                : static_cast<unsigned>((tiles + 3) / 4 * 4);
    return shape;
}

// The scratch memory: the number of values in each range, zero before the first kernel; the runs;
// the sorted tiles.
struct partition_memory {
    unsigned *totals, *runs;
    unsigned short *tiles;
};

DEVICE_INLINE partition_memory partition_memory_of(const count_args &args)
{
    unsigned *const runs = args.scratch + partition_ranges_max;
    return {args.scratch, runs,
            reinterpret_cast<unsigned short *>(runs + 1ull * args.partition.ranges *
                                                          args.partition.tiles)};
}

// Gives an exclusive prefix sum over the block's threads below partition_ranges_max, of numbers in
// shared memory, one a thread, each rounded up to a multiple of Multiple. No barrier.
template <unsigned Multiple> DEVICE_INLINE unsigned sum_before(const unsigned *numbers)
{
    const unsigned lane = threadIdx.x % 32, warp_begin = threadIdx.x - lane;
    const auto number = [=](unsigned i) {
        return (numbers[i] + Multiple - 1) / Multiple * Multiple;
    };
    const unsigned own = number(threadIdx.x);
    unsigned before = 0;
    for (unsigned i = lane; i < warp_begin; i += 32)
        before += number(i);
    UNROLL for (int by = 16; by > 0; by /= 2) before += __shfl_xor_sync(0xffffffffu, before, by);
    return before + warp_sum(own) - own;
}

// --- the first kernel ---

// Returns the place of a value, but for the tile: its range from bit 18 on, and below that which
// bin of the range it is.
DEVICE_INLINE unsigned slot_of(const partition_shape &shape, unsigned row)
{
    const unsigned group = row / 8, share = __umulhi(group, shape.reciprocal);
    // (group - share * ranges) << 18 | share * 8 | row % 8, modulo 2^32.
    return share * (8 - (shape.ranges << 18)) + (group << 18 | row % 8);
}

// Returns the number that the range of a place has in a table of them.
DEVICE_INLINE unsigned &number_at(unsigned *numbers, unsigned slot)
{
    unsigned char *const bytes = reinterpret_cast<unsigned char *>(numbers);
    return *reinterpret_cast<unsigned *>(bytes + (slot >> 16)); // 4 bytes for each range
}

// A thread's part of a tile: its vectors, and then the places of their values. `held` has a bit for
// each vector that is sorted.
template <unsigned Size> struct partition_share {
    static constexpr unsigned values = 16 / Size; // of a vector
    static constexpr unsigned vectors =
        (Size == 8 ? partition_values / 2 : partition_values) * Size / 16;
    static constexpr unsigned tile_vectors = PARTITION_BLOCK * vectors; // of all threads
    uint4 loaded[vectors];
    unsigned slots[vectors * values];
    unsigned held;
};

template <unsigned Size>
DEVICE_INLINE void load_share(const vector_span &span, unsigned tile, partition_share<Size> &share)
{
    UNROLL for (unsigned k = 0; k < share.vectors; k++)
    {
        const unsigned at = tile * share.tile_vectors + k * PARTITION_BLOCK + threadIdx.x;
        share.loaded[k] = at < span.vectors ? span.body[at] : make_uint4(0, 0, 0, 0);
    }
}

// Finds the places of the thread's share, and adds its values to the lengths of their ranges; runs
// are counted instead.
template <unsigned Size, int Way>
DEVICE_INLINE void place_share(const count_args &args, const vector_span &span, unsigned tile,
                               run_cache &runs, unsigned *lengths, partition_share<Size> &share)
{
    constexpr unsigned values = partition_share<Size>::values;
    share.held = 0;
    UNROLL for (unsigned k = 0; k < share.vectors; k++)
    {
        const unsigned at = tile * share.tile_vectors + k * PARTITION_BLOCK + threadIdx.x;
        const bool in = at < span.vectors;
        unsigned rows[values];
        rows_of_vector<Size, Way>(share.loaded[k], args.map.rows, rows);
        UNROLL for (unsigned i = 0; i < values; i++) share.slots[k * values + i] =
            slot_of(args.partition, rows[i]);
        if (!acquire_run(runs, args, rows, in) && in) {
            share.held |= 1u << k;
            UNROLL for (unsigned i = 0; i < values; i++)
                atomicAdd(&number_at(lengths, share.slots[k * values + i]), 1u);
        }
    }
}

template <unsigned Size, int Way>
__global__ void __launch_bounds__(PARTITION_BLOCK, 1024 / PARTITION_BLOCK)
    partition(const __grid_constant__ count_args args)
{
    DYNAMIC_SHARED(unsigned short, sorted);
    __shared__ unsigned lengths[partition_ranges_max], next[partition_ranges_max];
    __shared__ run_cache runs;
    const partition_shape &shape = args.partition;
    const partition_memory memory = partition_memory_of(args);
    const vector_span span = vectors_of(args);
    const bool has_range = threadIdx.x < partition_ranges_max;
    unsigned total = 0; // of this thread's range
    partition_share<Size> share;
    const unsigned tiles = (span.vectors + share.tile_vectors - 1) / share.tile_vectors;
    load_share(span, blockIdx.x, share);
    open_cache(runs);
    if (has_range)
        lengths[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        place_share<Size, Way>(args, span, tile, runs, lengths, share);
        __syncthreads();
        if (has_range) {
            const unsigned length = lengths[threadIdx.x], begin = sum_before<8>(lengths);
            const unsigned vectors = (length + 7) / 8;
            next[threadIdx.x] = begin;
            total += length;
            for (unsigned i = length; i < vectors * 8; i++)
                sorted[begin + i] = static_cast<unsigned short>(shape.rows);
            if (threadIdx.x < shape.ranges)
                memory.runs[1ull * threadIdx.x * shape.tiles + tile] = vectors << 16 | begin / 8;
        }
        __syncthreads();
        // Each value goes to the next free place of its range.
        UNROLL for (unsigned k = 0; k < share.vectors; k++) if (share.held >> k & 1)
            UNROLL for (unsigned i = k * share.values; i < (k + 1) * share.values; i++)
        {
            const unsigned slot = share.slots[i];
            sorted[atomicAdd(&number_at(next, slot), 1u)] = static_cast<unsigned short>(slot);
        }
        load_share(span, tile + gridDim.x, share); // while the sorted ones are written
        if (has_range)
            lengths[threadIdx.x] = 0;
        __syncthreads();
        // Where the last one begins, of a range that does not exist, all others end.
        const unsigned end = next[partition_ranges_max - 1] / 8;
        uint4 *const there = reinterpret_cast<uint4 *>(memory.tiles + 1ull * tile * shape.tile);
        for (unsigned i = threadIdx.x; i < end; i += PARTITION_BLOCK)
            there[i] = reinterpret_cast<const uint4 *>(sorted)[i];
    }
    if (threadIdx.x < shape.ranges && total)
        atomicAdd(&memory.totals[threadIdx.x], total);
    each_outside<value_samples>(args, span, grid_thread(),
                                [&](unsigned row) { atomicAdd(&args.counts[row], 1ull); });
    __syncthreads();
    merge_cache(runs, args);
}

// --- the second kernel ---

// The division of ranges among blocks: ranges that have values have a part or more each, in order.
struct partition_parts {
    unsigned parts[partition_ranges_max], firsts[partition_ranges_max];
    unsigned all, range;
};

// The block together, with a barrier at its end: divides the ranges among the blocks. All parts are
// counted at the same time, if each range has one and there are blocks left for more; otherwise a
// range has about its share of the blocks.
DEVICE_INLINE void share_out(const count_args &args, const unsigned *totals,
                             partition_parts &shared)
{
    const unsigned ranges = args.partition.ranges, blocks = gridDim.x;
    const bool has_range = threadIdx.x < partition_ranges_max;
    const unsigned long long total = threadIdx.x < ranges ? totals[threadIdx.x] : 0;
    if (threadIdx.x == 0)
        shared.all = 0;
    if (has_range)
        shared.parts[threadIdx.x] = 0;
    __syncthreads();
    if (total)
        atomicAdd(&shared.all, static_cast<unsigned>(total));
    __syncthreads();
    if (total) {
        const unsigned long long all = shared.all;
        shared.parts[threadIdx.x] =
            2 * blocks > 3 * ranges
                ? 1 + static_cast<unsigned>(total * (blocks - ranges) / all)
                : max(1u, static_cast<unsigned>((total * blocks + all / 2) / all));
    }
    __syncthreads();
    if (has_range) {
        const unsigned first = sum_before<1>(shared.parts);
        shared.firsts[threadIdx.x] = first;
        if (threadIdx.x == partition_ranges_max - 1)
            shared.all = first + shared.parts[threadIdx.x];
    }
    __syncthreads();
}

// Tables of 32-bit counters, or of bytes if these would not fit. What fills up a run is counted
// too, in a word after the counters of the range.
struct word_table {
    unsigned *words;

    __device__ __forceinline__ void count(const unsigned (&indices)[8]) const
    {
        UNROLL for (unsigned index : indices) atomicAdd(&words[index], 1u);
    }

    // Returns two counters, from an even one on.
    __device__ __forceinline__ uint2 pair_at(unsigned index) const
    {
        return *reinterpret_cast<const uint2 *>(&words[index]);
    }
};

struct byte_table {
    unsigned *words;

    __device__ __forceinline__ void count(const unsigned (&indices)[8]) const
    {
        UNROLL for (unsigned index : indices) atomicAdd(&words[index / 4], one_at(index));
    }

    __device__ __forceinline__ uint2 pair_at(unsigned index) const
    {
        const unsigned pair = reinterpret_cast<const unsigned short *>(words)[index / 2];
        return make_uint2(pair & 255, pair >> 8);
    }
};

// The same counters, of which each says when it is full: that takes more than twice as long.
struct carrying_table {
    byte_counters counters;

    __device__ __forceinline__ void count(const unsigned (&indices)[8]) const
    {
        counters_before<8> before;
        UNROLL for (unsigned i = 0; i < 8; i++) before.indices[i] = indices[i];
        add_to_counters<false>(counters, before);
        record_all_carries(counters, before);
    }
};

template <class Table> DEVICE_INLINE void count_vector(const Table &table, const uint4 &vector)
{
    const unsigned indices[8] = {vector.x & 0xffff, vector.x >> 16,    vector.y & 0xffff,
                                 vector.y >> 16,    vector.z & 0xffff, vector.z >> 16,
                                 vector.w & 0xffff, vector.w >> 16};
    table.count(indices);
}

// The part of a range that a block counts, which is every parts-th tile.
struct range_part {
    unsigned range, part, parts;
};

// Counts of the part those tiles that are from `first`, a multiple of the number of parts, up to
// `end`. Eight lanes take a run. Gives how many values this thread has counted, with what fills up
// runs.
template <class Table>
DEVICE_INLINE unsigned count_part(const Table &table, const count_args &args, const range_part &of,
                                  unsigned first, unsigned end)
{
    const partition_memory memory = partition_memory_of(args);
    const unsigned lane = threadIdx.x % 8, stride = blockDim.x / 8 * of.parts;
    const unsigned *const runs = memory.runs + 1ull * of.range * args.partition.tiles;
    unsigned tile = first + threadIdx.x / 8 * of.parts + of.part, counted = 0;
    unsigned next = tile < end ? runs[tile] : 0;
    for (; tile < end; tile += stride) {
        const unsigned run = next, run_end = run >> 16;
        next = tile + stride < end ? runs[tile + stride] : 0;
        const uint4 *const vectors =
            reinterpret_cast<const uint4 *>(memory.tiles + 1ull * tile * args.partition.tile) +
            (run & 0xffff);
        unsigned i = lane;
        for (; i + 8 < run_end; i += 16) {
            const uint4 one = vectors[i], other = vectors[i + 8];
            count_vector(table, one);
            count_vector(table, other);
            counted += 16;
        }
        if (i < run_end) {
            count_vector(table, vectors[i]);
            counted += 8;
        }
    }
    return counted;
}

// The block together, with a barrier. True if counters of a byte, and the word after them, hold as
// much as all threads have counted: one that was full has given 1 to its neighbour for 256, or has
// lost these. `sum` is 0 before, and afterwards if they do.
DEVICE_INLINE bool adds_up(const byte_table &table, unsigned rows, unsigned counted, unsigned &sum)
{
    unsigned held = threadIdx.x == 0 ? table.words[rows / 4] : 0;
    for (unsigned i = threadIdx.x; i < rows / 4; i += blockDim.x)
        held = __dp4a(table.words[i], 0x01010101u, held);
    held -= counted;
    UNROLL for (int by = 16; by > 0; by /= 2) held += __shfl_xor_sync(0xffffffffu, held, by);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum, held);
    __syncthreads();
    return sum == 0;
}

// Adds the counters of a range to the histogram, two of neighbouring rows at a time: those of a
// range that one block counts alone without atomics.
template <class Table>
DEVICE_INLINE void merge_range(const Table &table, const count_args &args, unsigned range,
                               bool alone)
{
    const unsigned pairs = args.partition.rows / 2;
    UNROLL_BY(4)
    for (unsigned i = threadIdx.x; i < pairs; i += blockDim.x) {
        const unsigned row = (range + i / 4 * args.partition.ranges) * 8 + i % 4 * 2;
        const uint2 pair = table.pair_at(2 * i);
        if (pair.x + pair.y == 0)
            continue;
        if (alone && row + 1 < args.map.bins) {
            // Past the L1 cache, as atomics went there.
            ulonglong2 *const there = reinterpret_cast<ulonglong2 *>(&args.counts[row]);
            ulonglong2 sum = __ldcg(there);
            sum.x += pair.x;
            sum.y += pair.y;
            *there = sum;
        } else {
            if (row < args.map.bins)
                add_to_counts(args, row, pair.x);
            if (row + 1 < args.map.bins)
                add_to_counts(args, row + 1, pair.y);
        }
    }
}

template <bool Bytes>
__global__ void __launch_bounds__(1024, resident_of_1024)
    partition_count(const __grid_constant__ count_args args)
{
    DYNAMIC_SHARED(unsigned, words);
    __shared__ partition_parts shared;
    const partition_shape &shape = args.partition;
    const unsigned values = vectors_of(args).vectors * (16 >> args.map.rows.size_log);
    const unsigned tiles = (values + shape.tile_values - 1) / shape.tile_values;
    share_out(args, partition_memory_of(args).totals, shared);
    for (unsigned item = blockIdx.x; item < shared.all; item += gridDim.x) {
        if (threadIdx.x < partition_ranges_max &&
            item - shared.firsts[threadIdx.x] < shared.parts[threadIdx.x])
            shared.range = threadIdx.x;
        zero(words, (Bytes ? shape.rows / 4 : shape.rows) + 1);
        __syncthreads();
        const unsigned range = shared.range, parts = shared.parts[range];
        const range_part of = {range, item - shared.firsts[range], parts};
        if constexpr (Bytes) {
            __shared__ unsigned sum;
            __shared__ carry_cache carries;
            const byte_table table = {words};
            // An eighth of the tiles tells of most data whether a counter will be full.
            const unsigned eighth = tiles / 8 / parts * parts;
            if (threadIdx.x == 0)
                sum = 0;
            unsigned counted = count_part(table, args, of, 0, eighth);
            __syncthreads();
            bool is_right = adds_up(table, shape.rows, counted, sum);
            if (is_right) {
                counted += count_part(table, args, of, eighth, tiles);
                __syncthreads();
                is_right = adds_up(table, shape.rows, counted, sum);
            }
            if (!is_right) { // once more, with carries
                const table_rows rows = {range, shape.ranges, args.map.bins};
                const carrying_table carrying = {{words, shape.rows, &carries, rows, args.counts}};
                open_cache(carries);
                zero(words, shape.rows / 4 + 1);
                __syncthreads();
                count_part(carrying, args, of, 0, tiles);
                __syncthreads();
                finish_all_carries(carrying.counters);
                __syncthreads();
            }
            merge_range(table, args, range, parts == 1);
        } else {
            const word_table table = {words};
            count_part(table, args, of, 0, tiles);
            __syncthreads();
            merge_range(table, args, range, parts == 1);
        }
        __syncthreads();
    }
}

#endif

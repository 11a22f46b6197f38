// SPDX-License-Identifier: MIT
// packed and matched: values in more bins than the columns of lanes have room for.
//
// packed: a counter of a byte for each bin, in shared memory, a table a block.
//
// Four times as many bins fit as with counters of 32 bits, up to 215,000. What a counter cannot
// hold is carried, as counting.cuh says. More bins are counted in several passes, as lanes
// does. To add up a table costs as much as so many bytes of data do: each block leaves its table in
// global memory, where a second kernel adds up the counters of each bin, and adds to the histogram
// once.
#ifndef GPUHISTO_GPU_COUNT_PACKED_CUH
#define GPUHISTO_GPU_COUNT_PACKED_CUH

#include "gpu/count/counting.cuh"
#include "gpu/count/lanes.cuh"

// Bytes of shared memory besides the counters: caches of carries and of runs, and a word a lane.
constexpr unsigned packed_shared = sizeof(carry_cache) + sizeof(run_cache) + 128;

// As many counters of a byte as fit into `max` bytes, in whole vectors.
static inline struct table_shape bytes_for(unsigned bins, unsigned max)
{
    struct table_shape shape = passes_for(bins, 1, packed_shared + 15, max);
    shape.bins = (shape.bins + 15) / 16 * 16;
    return shape;
}

// The counters of a block in a pass, and the pass's first bin.
struct packed_pass {
    const byte_counters &counters;
    run_cache &runs;
    unsigned first;
};

// Counts the values of a vector, but for noting carries; if Checked, those that belong to the pass,
// and none if it is not `in` the data.
template <bool Checked, unsigned Size, int Way>
DEVICE_INLINE void count_packed(const packed_pass &pass, const count_args &args,
                                const uint4 &vector, bool in, counters_before<16 / Size> &before)
{
    const byte_counters &counters = pass.counters;
    const unsigned first = pass.first;
    unsigned rows[16 / Size];
    rows_of_vector<Size, Way>(vector, args.map.rows, rows);
    const bool own = !Checked || (in && rows[0] - first < counters.size);
    if (acquire_run(pass.runs, args, rows, own)) {
        UNROLL for (unsigned i = 0; i < 16 / Size; i++) before.words[i] = before.indices[i] = 0;
        return;
    }
    UNROLL for (unsigned i = 0; i < 16 / Size; i++) before.indices[i] =
        in ? rows[i] - first : no_bin;
    add_to_counters<Checked>(counters, before);
}

// Counts four vectors, noting the carries of each while the next one is counted, if there are
// registers for that.
template <bool Checked, unsigned Size, int Way>
DEVICE_INLINE void count_four_packed(const packed_pass &pass, const count_args &args,
                                     const uint4 (&vectors)[4])
{
    constexpr unsigned later = Size >= 4 ? 1 : 0;
    counters_before<16 / Size> before[4];
    UNROLL for (unsigned k = 0; k < 4 + later; k++)
    {
        if (k < 4)
            count_packed<Checked, Size, Way>(pass, args, vectors[k], true, before[k]);
        if (k + 1 > later)
            record_all_carries(pass.counters, before[k - later]);
    }
}

template <unsigned Size, int Way>
__global__ void __launch_bounds__(1024, 1) packed(const __grid_constant__ count_args args)
{
    DYNAMIC_SHARED(unsigned, table);
    __shared__ carry_cache carries;
    __shared__ run_cache runs;
    const unsigned passes = args.shape.passes, first = blockIdx.x % passes * args.shape.bins;
    const byte_counters counters = {
        table, args.shape.bins, &carries, {first / 8, 1, args.map.bins}, args.counts};
    zero(table, args.shape.bins / 4 + 32);
    open_cache(carries);
    open_cache(runs);
    __syncthreads();

    // The blocks of this one's pass, and this one's place among them. A warp goes on as one.
    const unsigned stride = gridDim.x / passes * blockDim.x, lane = threadIdx.x % 32;
    const unsigned thread = blockIdx.x / passes * blockDim.x + threadIdx.x;
    const vector_span span = vectors_of(args);
    for (unsigned long long warp = thread - lane; warp < span.vectors; warp += 4ull * stride) {
        uint4 vectors[4];
        if (warp + 3ull * stride + 31 < span.vectors) {
            UNROLL for (unsigned k = 0; k < 4; k++) vectors[k] =
                span.body[warp + lane + k * 1ull * stride];
            if (passes == 1)
                count_four_packed<false, Size, Way>({counters, runs, 0}, args, vectors);
            else
                count_four_packed<true, Size, Way>({counters, runs, first}, args, vectors);
        } else {
            for (unsigned long long k = warp; k < span.vectors; k += stride) {
                const bool in = k + lane < span.vectors;
                const uint4 vector = in ? span.body[k + lane] : make_uint4(0, 0, 0, 0);
                counters_before<16 / Size> before;
                count_packed<true, Size, Way>({counters, runs, first}, args, vector, in, before);
                record_all_carries(counters, before);
            }
        }
    }
    each_outside<value_samples>(args, span, thread, [&](unsigned row) {
        if (row - first < counters.size)
            atomicAdd(&args.counts[row], 1ull);
    });
    __syncthreads();
    finish_all_carries(counters);
    merge_cache(runs, args);
    const unsigned vectors = args.shape.bins / 16; // of the table, which is left for packed_sum
    uint4 *const there = reinterpret_cast<uint4 *>(args.scratch) + 1ull * blockIdx.x * vectors;
    for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x)
        there[i] = reinterpret_cast<const uint4 *>(table)[i];
}

// Adds up what the blocks left. A block takes 32 words of counters at a time, each warp those of
// some tables; then there are sums of each warp to add up.
static __global__ void __launch_bounds__(PACKED_SUM_BLOCK)
    packed_sum(const __grid_constant__ count_args args)
{
    constexpr unsigned warps = PACKED_SUM_BLOCK / 32;
    __shared__ uint4 sums[warps][32];
    const unsigned passes = args.shape.passes, words = args.shape.bins / 4;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned begin = blockIdx.x * 32; begin < words * passes; begin += gridDim.x * 32) {
        const unsigned pass = (begin + lane) / words, word = (begin + lane) % words;
        uint4 sum = make_uint4(0, 0, 0, 0);
        UNROLL for (unsigned block = pass + warp * passes; block < args.blocks && pass < passes;
                    block += warps * passes)
        {
            const unsigned counters = args.scratch[1ull * block * words + word];
            sum.x += counters & 255;
            sum.y += counters >> 8 & 255;
            sum.z += counters >> 16 & 255;
            sum.w += counters >> 24;
        }
        sums[warp][lane] = sum;
        __syncthreads();
        const unsigned bin = begin * 4 + threadIdx.x;
        if (threadIdx.x < 128 && bin < args.map.bins) {
            unsigned all = 0;
            for (unsigned k = 0; k < warps; k++)
                all += reinterpret_cast<const unsigned *>(sums[k])[threadIdx.x];
            if (all)
                args.counts[bin] += all;
        }
        __syncthreads();
    }
}

// --- matched: one histogram in global memory, with the first bins of a block kept nearer ---
//
// For more bins than shared memory holds. A block has a cache of counters in it, each for the first
// bin that asked for its place; so what is frequent is mostly counted there. The lanes of a warp
// whose bins have no place find out which of them are alike, and one of these adds for all: however
// few bins the data have, or turn to, no warp asks for a counter of the one histogram twice.

using matched_cache = bin_cache<4096>;

template <class Samples> __global__ void matched(count_args args)
{
    __shared__ matched_cache cache;
    open_cache(cache);
    __syncthreads();

    const vector_span span = vectors_of(args);
    const unsigned lane = threadIdx.x % 32;
    const unsigned stride = static_cast<unsigned>(grid_threads());
    for (unsigned long long warp = grid_thread() - lane; warp < span.vectors; warp += stride) {
        const bool in = warp + lane < span.vectors;
        const uint4 vector = in ? span.body[warp + lane] : make_uint4(0, 0, 0, 0);
        Samples::each(vector, args.map, [&](unsigned bin) {
            bin = in ? bin : no_bin;
            const bool done = bin == no_bin || count_at(cache, bin % matched_cache::slots, bin);
            if (!__all_sync(0xffffffffu, done))
                add_alike(args, done ? no_bin : bin);
        });
    }
    each_outside<Samples>(args, span, grid_thread(),
                          [&](unsigned bin) { atomicAdd(&args.counts[bin], 1ull); });
    __syncthreads();
    merge_cache(cache, args);
}

#endif

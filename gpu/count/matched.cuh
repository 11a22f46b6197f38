// SPDX-License-Identifier: MIT
// matched: one histogram in global memory, with the first bins of a block kept nearer.
//
// For more bins than shared memory holds. A block has a cache of counters in it, each for the first
// bin that asked for its place; so what is frequent is mostly counted there. The lanes of a warp
// whose bins have no place find out which of them are alike, and one of these adds for all: however
// few bins the data have, or turn to, no warp asks for a counter of the one histogram twice.
#ifndef GPUHISTO_MATCHED_CUH
#define GPUHISTO_MATCHED_CUH

#include "gpu/count/bin_cache.cuh"
#include "gpu/count/counting.cuh"

using matched_cache = bin_cache<4096>;

static __device__ __forceinline__ void add_matched(const count_args &args, matched_cache &cache,
                                                   unsigned bin)
{
    const bool done = bin == no_bin || count_at(cache, bin % matched_cache::slots, bin);
    if (!__all_sync(0xffffffffu, done))
        add_alike(args, done ? no_bin : bin);
}

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
        Samples::each(vector, args.map,
                      [&](unsigned bin) { add_matched(args, cache, in ? bin : no_bin); });
    }
    each_outside<Samples>(args, span, grid_thread(),
                          [&](unsigned bin) { atomicAdd(&args.counts[bin], 1ull); });
    __syncthreads();
    merge_cache(cache, args);
}

#endif

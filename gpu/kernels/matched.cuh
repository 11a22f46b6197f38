// matched: one histogram in global memory, with the first bins of a block kept nearer.
//
// For more bins than shared memory holds. A block has a cache of counters in it, each for the first
// bin that asked for its place; so what is frequent is mostly counted there. The lanes of a warp
// whose bins have no place find out which of them are alike, and one of these adds for all: however
// few bins the data have, or turn to, no warp asks for a counter of the one histogram twice.
#ifndef GPUHISTO_MATCHED_CUH
#define GPUHISTO_MATCHED_CUH

#include "gpu/counting.cuh"

struct bin_cache {
    static constexpr unsigned places = 4096;
    unsigned bins[places]; // no_bin: free
    unsigned counts[places];
};

// Counts a bin in the cache. Whether it has a place there.
static __device__ __forceinline__ bool count_cached(bin_cache &cache, unsigned bin)
{
    const unsigned place = bin % bin_cache::places;
    unsigned owner = load_relaxed(&cache.bins[place]);
    if (owner == no_bin) {
        owner = atomicCAS(&cache.bins[place], no_bin, bin);
        owner = owner == no_bin ? bin : owner;
    }
    if (owner == bin)
        atomicAdd(&cache.counts[place], 1u);
    return owner == bin;
}

// The warp together, those without a sample with no_bin: one of the lanes whose bins are alike adds
// for all.
static __device__ __forceinline__ void add_alike(const count_args &args, unsigned bin)
{
    const unsigned alike = __match_any_sync(0xffffffffu, bin);
    const unsigned lanes_below = (1u << threadIdx.x % 32) - 1;
    if (bin != no_bin && !(alike & lanes_below))
        atomicAdd(&args.counts[bin], static_cast<unsigned long long>(__popc(alike)));
}

static __device__ __forceinline__ void add_matched(const count_args &args, bin_cache &cache,
                                                   unsigned bin)
{
    const bool done = bin == no_bin || count_cached(cache, bin);
    if (!__all_sync(0xffffffffu, done))
        add_alike(args, done ? no_bin : bin);
}

template <class Samples> __global__ void matched(count_args args)
{
    __shared__ bin_cache cache;
    for (unsigned place = threadIdx.x; place < bin_cache::places; place += blockDim.x) {
        cache.bins[place] = no_bin;
        cache.counts[place] = 0;
    }
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
    for (unsigned place = threadIdx.x; place < bin_cache::places; place += blockDim.x)
        if (cache.counts[place])
            atomicAdd(&args.counts[cache.bins[place]],
                      static_cast<unsigned long long>(cache.counts[place]));
}

#endif

// SPDX-License-Identifier: MIT
// A block's cache of counters, in shared memory: each for the first bin that asked for its place.
#ifndef GPUHISTO_BIN_CACHE_CUH
#define GPUHISTO_BIN_CACHE_CUH

#include "gpu/count/counting.cuh"

template <unsigned Slots> struct bin_cache {
    static constexpr unsigned slots = Slots;
    unsigned bins[slots]; // no_bin: free
    unsigned counts[slots];
};

// The block together: empties the cache; a barrier after it is the caller's.
template <unsigned Slots> static __device__ __forceinline__ void open_cache(bin_cache<Slots> &cache)
{
    for (unsigned slot = threadIdx.x; slot < Slots; slot += blockDim.x) {
        cache.bins[slot] = no_bin;
        cache.counts[slot] = 0;
    }
}

// Counts a bin so many times in a counter, if that is its own or free. True if it is counted.
static __device__ __forceinline__ bool count_if_own(unsigned *owner, unsigned *counter,
                                                    unsigned bin, unsigned count = 1)
{
    unsigned own = load_relaxed(owner);
    if (own == no_bin) {
        own = atomicCAS(owner, no_bin, bin);
        own = own == no_bin ? bin : own;
    }
    if (own == bin)
        atomicAdd(counter, count);
    return own == bin;
}

// Counts a bin at a place of the cache, as count_if_own does.
template <unsigned Slots>
static __device__ __forceinline__ bool count_at(bin_cache<Slots> &cache, unsigned slot,
                                                unsigned bin, unsigned count = 1)
{
    return count_if_own(&cache.bins[slot], &cache.counts[slot], bin, count);
}

// The block together: adds what was counted to the histogram; a barrier before it is the caller's.
template <unsigned Slots>
static __device__ __forceinline__ void merge_cache(const bin_cache<Slots> &cache,
                                                   const count_args &args)
{
    for (unsigned slot = threadIdx.x; slot < Slots; slot += blockDim.x)
        add_to_counts(args, cache.bins[slot], cache.counts[slot]); // a free slot has no count
}

// The warp together: adds the lanes' bins to the histogram, once for all lanes whose bins are
// alike. Lanes without a sample have no_bin.
static __device__ __forceinline__ void add_alike(const count_args &args, unsigned bin)
{
    const unsigned alike = __match_any_sync(0xffffffffu, bin);
    const unsigned lanes_below = (1u << threadIdx.x % 32) - 1;
    if (bin != no_bin && !(alike & lanes_below))
        atomicAdd(&args.counts[bin], static_cast<unsigned long long>(__popc(alike)));
}

#endif

// SPDX-License-Identifier: MIT
// Runs of a value in the data: counted by one lane for all of a warp.
//
// Runs would have the lanes of a warp meet at one counter again and again. They are counted in a
// cache of the block, each for the first bin that asked for its place, and where the place is
// taken, in the histogram, which then takes one addition for many values.
#ifndef GPUHISTO_RUNS_CUH
#define GPUHISTO_RUNS_CUH

#include "gpu/count/bin_cache.cuh"
#include "gpu/count/counting.cuh"

using run_cache = bin_cache<1024>;

// Lanes with a run that are worth the search for those that are alike.
constexpr unsigned run_lanes_min = 8;

// The warp together. Counts the values of lanes that have but one, if there are many such lanes.
// True if those of this lane have been counted; never if they are not `in` what is to be counted.
template <unsigned Number>
static __device__ __forceinline__ bool acquire_run(run_cache &runs, const count_args &args,
                                                   const unsigned (&rows)[Number], bool in)
{
    // Few lanes have two values alike, where there are no runs.
    const unsigned maybe = __ballot_sync(0xffffffffu, in && rows[1] == rows[0]);
    if (static_cast<unsigned>(__popc(maybe)) < run_lanes_min)
        return false;
    bool alike = in;
    UNROLL for (unsigned i = 1; i < Number; i++) alike &= rows[i] == rows[0];
    const unsigned same = __match_any_sync(0xffffffffu, alike ? rows[0] : no_bin);
    if (alike && !(same & ((1u << threadIdx.x % 32) - 1))) {
        const unsigned count = Number * static_cast<unsigned>(__popc(same));
        if (!count_at(runs, rows[0] % run_cache::slots, rows[0], count))
            atomicAdd(&args.counts[rows[0]], static_cast<unsigned long long>(count));
    }
    return alike;
}

#endif

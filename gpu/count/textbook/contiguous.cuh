// SPDX-License-Identifier: MIT
// contiguous: each thread counts a piece of `coarsening` samples that lie side by side.
//
// Fewer blocks, so fewer copies to zero and merge. A warp's threads read `coarsening` bytes apart,
// so every load of the warp touches as many sectors as the pieces span, but one after the other
// they use all of each sector, out of the L1 cache.
#ifndef GPUHISTO_CONTIGUOUS_CUH
#define GPUHISTO_CONTIGUOUS_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void contiguous(count_args args)
{
    DYNAMIC_SHARED(unsigned, bins);
    zero(bins, args.map.bins);
    __syncthreads();
    const unsigned long long begin = grid_thread() * args.coarsening;
    const unsigned long long end = begin + args.coarsening;
    const unsigned long long samples = Samples::count(args.map, args.len);
    for (unsigned long long i = begin; i < end && i < samples; i++)
        count_bin(bins, Samples::bin_at(args, i));
    __syncthreads();
    merge(args, bins);
}

#endif

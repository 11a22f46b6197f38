// SPDX-License-Identifier: MIT
// interleaved: each thread counts every n-th sample, n being the threads of the grid.
//
// A warp reads 32 neighbouring bytes at a time: one sector, coalesced, but only a byte a thread.
#ifndef GPUHISTO_INTERLEAVED_CUH
#define GPUHISTO_INTERLEAVED_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void interleaved(count_args args)
{
    DYNAMIC_SHARED(unsigned, bins);
    zero(bins, args.map.bins);
    __syncthreads();
    const unsigned long long samples = Samples::count(args.map, args.len);
    for (unsigned long long i = grid_thread(); i < samples; i += grid_threads())
        count_bin(bins, Samples::bin_at(args, i));
    __syncthreads();
    merge(args, bins);
}

#endif

// SPDX-License-Identifier: MIT
// naive: a thread per sample, and every one of them adds to the one histogram in global memory.
//
// Correct, and as slow as can be: samples of the same bin wait for each other in the L2 cache.
#ifndef GPUHISTO_NAIVE_CUH
#define GPUHISTO_NAIVE_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void naive(count_args args)
{
    const unsigned long long i = grid_thread();
    if (i >= Samples::count(args.map, args.len))
        return;
    const unsigned bin = Samples::bin_at(args, i);
    if (bin != no_bin)
        atomicAdd(&args.counts[bin], 1ull);
}

#endif

// SPDX-License-Identifier: MIT
// naive: a thread for each sample, and one histogram in global memory.
//
// Two threads that add to one bin at the same time must not read the same old count: then one
// addition would be lost. atomicAdd reads, adds and writes without another thread in between.
//
// What limits it: additions to one bin are done one after the other, in the L2 cache. If all
// samples are in one bin, a sample takes as long as an atomic does (section 9.3); the rarer the
// most frequent bin is, the more atomics are under way at a time.
//
// Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 4th edition, section 9.2.
//
// Samples says what is counted, bytes or values: Samples::count gives their number, Samples::bin_at
// the bin of one, or no_bin if it belongs to none. args.counts is the histogram, of args.map.bins
// bins. The host starts as many blocks as have a thread for every sample.
#ifndef GPUHISTO_GPU_COUNT_TEXTBOOK_NAIVE_CUH
#define GPUHISTO_GPU_COUNT_TEXTBOOK_NAIVE_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void naive(count_args args)
{
    const unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x;
    if (i < Samples::count(args.map, args.len)) {
        const unsigned bin = Samples::bin_at(args, i);
        if (bin != no_bin)
            atomicAdd(&args.counts[bin], 1ull);
    }
}

#endif

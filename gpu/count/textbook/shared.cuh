// SPDX-License-Identifier: MIT
// shared: a thread for each sample, and a copy of the histogram for each block, in shared memory.
//
// The block's copy is on the multiprocessor that runs the block: an atomic takes a fraction of the
// time that one in global memory takes, and no other block is in the way.
//
// What limits it: each block zeroes and merges a whole copy for one sample of each of its threads,
// and copies are merged into the same counters, one after the other: that takes ten times as long
// as the counting. The bins have to fit into a block's shared memory.
//
// Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 4th edition, section 9.4.
//
// Samples says what is counted, bytes or values: Samples::count gives their number, Samples::bin_at
// the bin of one, or no_bin if it belongs to none. args.counts is the histogram, of args.map.bins
// bins. The host starts as many blocks as have a thread for every sample.
#ifndef GPUHISTO_GPU_COUNT_TEXTBOOK_SHARED_CUH
#define GPUHISTO_GPU_COUNT_TEXTBOOK_SHARED_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void shared(count_args args)
{
    DYNAMIC_SHARED(unsigned, bins); // extern __shared__ unsigned bins[]: the block's copy
    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x)
        bins[bin] = 0;
    __syncthreads();

    const unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x;
    if (i < Samples::count(args.map, args.len)) {
        const unsigned bin = Samples::bin_at(args, i);
        if (bin != no_bin)
            atomicAdd(&bins[bin], 1u);
    }

    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x)
        if (bins[bin] > 0)
            atomicAdd(&args.counts[bin], 1ull * bins[bin]);
}

#endif

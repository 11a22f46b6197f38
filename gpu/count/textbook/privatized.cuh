// SPDX-License-Identifier: MIT
// privatized: a copy of the histogram for each block, in global memory, merged at its end.
//
// Samples of a bin wait for those of their own block alone. Each block zeroes its copy, counts into
// it, and adds it to the histogram. (In the book block 0 counts into the histogram itself and the
// others add to it.) Copies take memory, so there are only as many blocks as the device holds at a
// time, and each thread counts every n-th sample, n being the number of threads.
//
// What limits it: the copies are in global memory, too, so every sample is an atomic of the L2
// cache, of which it does some 100 billion a second. With many bins the copies do not fit into it.
//
// Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 4th edition, section 9.4.
//
// Samples says what is counted, bytes or values: Samples::count gives their number, Samples::bin_at
// the bin of one, or no_bin if it belongs to none. args.counts is the histogram, of args.map.bins
// bins.
#ifndef GPUHISTO_GPU_COUNT_TEXTBOOK_PRIVATIZED_CUH
#define GPUHISTO_GPU_COUNT_TEXTBOOK_PRIVATIZED_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void privatized(count_args args)
{
    // The block's copy; args.scratch has one for each block.
    unsigned *const bins = args.scratch + 1ull * blockIdx.x * args.map.bins;
    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x)
        bins[bin] = 0;
    __syncthreads();

    const unsigned long long samples = Samples::count(args.map, args.len);
    const unsigned long long threads = 1ull * gridDim.x * blockDim.x;
    for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < samples;
         i += threads) {
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

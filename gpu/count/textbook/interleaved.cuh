// SPDX-License-Identifier: MIT
// interleaved: shared, with every n-th sample for a thread, n being the number of threads.
//
// As in `contiguous` there are fewer blocks, and fewer copies to zero and merge. But neighbouring
// threads load neighbouring samples, so that a warp's load is coalesced.
//
// What limits it: a warp loads 32 samples at a time. If samples are bytes that is one sector of
// memory, and the warp waits for each load; those of 16 bytes a thread are what makes the fast
// kernels fast. Atomics of a warp to one bin, or to one bank of shared memory, take turns.
//
// Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 4th edition, section 9.5.
//
// Samples says what is counted, bytes or values: Samples::count gives their number, Samples::bin_at
// the bin of one, or no_bin if it belongs to none. args.counts is the histogram, of args.map.bins
// bins.
#ifndef GPUHISTO_GPU_COUNT_TEXTBOOK_INTERLEAVED_CUH
#define GPUHISTO_GPU_COUNT_TEXTBOOK_INTERLEAVED_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void interleaved(count_args args)
{
    DYNAMIC_SHARED(unsigned, bins); // extern __shared__ unsigned bins[]: the block's copy
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

// SPDX-License-Identifier: MIT
// contiguous: shared, with `coarsening` samples for each thread that lie side by side.
//
// Fewer blocks zero and merge fewer copies: each copy counts args.coarsening times as many samples.
//
// What limits it: the threads of a warp load samples that lie args.coarsening apart, so a load is
// not coalesced but touches many sectors of memory. On CPUs such a partition is right; on a GPU all
// of these sectors have to stay in the L1 cache until the thread's other samples are loaded. As
// long as they do, with up to 32 bytes a thread, it is even faster than `interleaved`.
//
// Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 4th edition, section 9.5.
//
// Samples says what is counted, bytes or values: Samples::count gives their number, Samples::bin_at
// the bin of one, or no_bin if it belongs to none. args.counts is the histogram, of args.map.bins
// bins. The host starts as many blocks as have a thread for every args.coarsening samples.
#ifndef GPUHISTO_GPU_COUNT_TEXTBOOK_CONTIGUOUS_CUH
#define GPUHISTO_GPU_COUNT_TEXTBOOK_CONTIGUOUS_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void contiguous(count_args args)
{
    DYNAMIC_SHARED(unsigned, bins); // extern __shared__ unsigned bins[]: the block's copy
    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x)
        bins[bin] = 0;
    __syncthreads();

    const unsigned long long samples = Samples::count(args.map, args.len);
    const unsigned long long thread = 1ull * blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long begin = thread * args.coarsening, end = begin + args.coarsening;
    for (unsigned long long i = begin; i < end && i < samples; i++) {
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

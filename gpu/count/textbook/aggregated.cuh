// SPDX-License-Identifier: MIT
// aggregated: interleaved, and a run of samples of one bin is added at once.
//
// A thread keeps the bin that it saw last and how often, and only goes to shared memory when the
// bin changes: fewer atomics where the data have long runs, and contention is at its worst.
//
// What limits it: a comparison for each sample, also where there are no runs; and threads of a warp
// that branch differently wait for each other.
//
// Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 4th edition, section 9.6.
//
// Samples says what is counted, bytes or values: Samples::count gives their number, Samples::bin_at
// the bin of one, or no_bin if it belongs to none. args.counts is the histogram, of args.map.bins
// bins.
#ifndef GPUHISTO_GPU_COUNT_TEXTBOOK_AGGREGATED_CUH
#define GPUHISTO_GPU_COUNT_TEXTBOOK_AGGREGATED_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void aggregated(count_args args)
{
    DYNAMIC_SHARED(unsigned, bins); // extern __shared__ unsigned bins[]: the block's copy
    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x)
        bins[bin] = 0;
    __syncthreads();

    const unsigned long long samples = Samples::count(args.map, args.len);
    const unsigned long long threads = 1ull * gridDim.x * blockDim.x;
    unsigned last = no_bin, run = 0; // a bin, and how many samples of it in a row
    for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < samples;
         i += threads) {
        const unsigned bin = Samples::bin_at(args, i);
        if (bin != last) {
            if (last != no_bin)
                atomicAdd(&bins[last], run);
            last = bin;
            run = 0;
        }
        run++;
    }
    if (last != no_bin)
        atomicAdd(&bins[last], run);

    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x)
        if (bins[bin] > 0)
            atomicAdd(&args.counts[bin], 1ull * bins[bin]);
}

#endif

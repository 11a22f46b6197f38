// SPDX-License-Identifier: MIT
// aggregated: interleaved, with runs of one bin added at once.
//
// A thread keeps the bin it saw last and how often, and goes to shared memory only when the bin
// changes: good where neighbouring samples (here: a grid's width apart) are alike, a branch too
// many where not.
#ifndef GPUHISTO_AGGREGATED_CUH
#define GPUHISTO_AGGREGATED_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void aggregated(count_args args)
{
    DYNAMIC_SHARED(unsigned, bins);
    zero(bins, args.map.bins);
    __syncthreads();
    const unsigned long long samples = Samples::count(args.map, args.len);
    unsigned last = no_bin, run = 0; // samples that belong to no bin never begin a run
    for (unsigned long long i = grid_thread(); i < samples; i += grid_threads()) {
        const unsigned bin = Samples::bin_at(args, i);
        if (bin == last) {
            run++;
            continue;
        }
        if (last != no_bin)
            atomicAdd(&bins[last], run);
        last = bin;
        run = 1;
    }
    if (last != no_bin)
        atomicAdd(&bins[last], run);
    __syncthreads();
    merge(args, bins);
}

#endif

// SPDX-License-Identifier: MIT
// privatized: a copy of the histogram per block, in global memory, merged when the block is done.
//
// Samples of one bin now wait for those of their own block alone. As published, every block but the
// first merges, so the first block's copy has to be the histogram itself, and a first block that
// merges too counts twice; here every block has a copy of its own, zeroes it, and merges it. There
// are only as many blocks as the device holds at a time, for their copies take memory.
#ifndef GPUHISTO_PRIVATIZED_CUH
#define GPUHISTO_PRIVATIZED_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void privatized(count_args args)
{
    unsigned *const own =
        args.scratch + static_cast<unsigned long long>(blockIdx.x) * args.map.bins;
    zero(own, args.map.bins);
    __syncthreads();
    const unsigned long long samples = Samples::count(args.map, args.len);
    for (unsigned long long i = grid_thread(); i < samples; i += grid_threads())
        count_bin(own, Samples::bin_at(args, i));
    __syncthreads();
    // volatile: atomics went past the L1 cache, and so must these reads.
    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x)
        add_to_counts(args, bin, static_cast<const volatile unsigned *>(own)[bin]);
}

#endif

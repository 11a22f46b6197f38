// contiguous: each thread counts a piece of `coarsening` samples that lie side by side.
//
// Fewer blocks, so fewer copies to zero and merge. A warp's threads read `coarsening` bytes apart,
// so every load of the warp touches as many sectors as the pieces span, but one after the other
// they use all of each sector, out of the L1 cache.
#ifndef GPUHISTO_CONTIGUOUS_CUH
#define GPUHISTO_CONTIGUOUS_CUH

#include "gpu/counting.cuh"

template <class Samples> __global__ void contiguous(count_args args)
{
    __shared__ unsigned bins[Samples::most];
    zero(bins, Samples::most);
    __syncthreads();
    const unsigned long long begin = grid_thread() * args.coarsening;
    const unsigned long long end = begin + args.coarsening;
    for (unsigned long long i = begin; i < end && i < args.len; i++)
        count_byte<Samples>(bins, args.data[i], args.map);
    __syncthreads();
    merge(args, bins);
}

#endif

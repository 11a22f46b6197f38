// interleaved: each thread counts every n-th sample, n being the threads of the grid.
//
// A warp reads 32 neighbouring bytes at a time: one sector, coalesced, but only a byte a thread.
#ifndef GPUHISTO_INTERLEAVED_CUH
#define GPUHISTO_INTERLEAVED_CUH

#include "gpu/counting.cuh"

template <class Samples> __global__ void interleaved(count_args args)
{
    __shared__ unsigned bins[Samples::most];
    zero(bins, Samples::most);
    __syncthreads();
    for (unsigned long long i = grid_thread(); i < args.len; i += grid_threads())
        count_byte<Samples>(bins, args.data[i], args.map);
    __syncthreads();
    merge(args, bins);
}

#endif

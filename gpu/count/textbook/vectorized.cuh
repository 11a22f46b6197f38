// SPDX-License-Identifier: MIT
// vectorized: interleaved, 16 bytes a load, a shared histogram per warp.
//
// Neighbouring threads read neighbouring 16-byte vectors, so a warp's load is 512 bytes in one
// piece; each thread has four such loads on their way before it counts the first. Counting goes to
// a histogram in shared memory that only the thread's own warp adds to (privatization, one step
// below the block), and each block adds its warps' sums to the global histogram once. After Hwu,
// Kirk and El Hajj, Programming Massively Parallel Processors, chapter 9.
#ifndef GPUHISTO_VECTORIZED_CUH
#define GPUHISTO_VECTORIZED_CUH

#include "gpu/count/counting.cuh"

template <class Samples> __global__ void vectorized(count_args args)
{
    DYNAMIC_SHARED(unsigned, bins); // [warps][args.map.bins]
    const unsigned warps = blockDim.x / 32;
    zero(bins, warps * args.map.bins);
    __syncthreads();

    unsigned *const own = bins + threadIdx.x / 32 * args.map.bins;
    const auto count = [own](unsigned bin) { count_bin(own, bin); };
    const vector_span span = vectors_of(args);
    const unsigned thread = static_cast<unsigned>(grid_thread());
    const unsigned stride = static_cast<unsigned>(grid_threads());
    unsigned long long i = thread;
    for (; i + 3ull * stride < span.vectors; i += 4ull * stride) {
        const uint4 a = span.body[i], b = span.body[i + stride];
        const uint4 c = span.body[i + 2ull * stride], d = span.body[i + 3ull * stride];
        Samples::each(a, args.map, count);
        Samples::each(b, args.map, count);
        Samples::each(c, args.map, count);
        Samples::each(d, args.map, count);
    }
    for (; i < span.vectors; i += stride)
        Samples::each(span.body[i], args.map, count);
    each_outside<Samples>(args, span, thread, count);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x) {
        unsigned sum = 0;
        for (unsigned warp = 0; warp < warps; warp++)
            sum += bins[warp * args.map.bins + bin];
        add_to_counts(args, bin, sum);
    }
}

#endif

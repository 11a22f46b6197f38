// vectorized: interleaved, 16 bytes a load, a shared histogram per warp.
//
// Neighbouring threads read neighbouring 16-byte vectors, so a warp's load is 512 bytes in one
// piece; each thread has four such loads on their way before it counts the first. Counting goes to
// a histogram in shared memory that only the thread's own warp adds to (privatization, one step
// below the block), and each block adds its warps' sums to the global histogram once. After Hwu,
// Kirk and El Hajj, Programming Massively Parallel Processors, chapter 9.
#ifndef GPUHISTO_VECTORIZED_CUH
#define GPUHISTO_VECTORIZED_CUH

#include "gpu/counting.cuh"

template <class Samples>
static __device__ __forceinline__ void count_vector(unsigned *bins, const uint4 &vector,
                                                    const sample_map &map)
{
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
    UNROLL for (unsigned word : words) UNROLL for (unsigned shift = 0; shift < 32; shift += 8)
        count_byte<Samples>(bins, word >> shift & 0xff, map);
}

template <class Samples> __global__ void vectorized(count_args args)
{
    DYNAMIC_SHARED(unsigned, bins); // [warps][most]
    const unsigned warps = blockDim.x / 32;
    zero(bins, warps * Samples::most);
    __syncthreads();

    unsigned *const own = bins + threadIdx.x / 32 * Samples::most;
    const vector_span span = vectors_of(args);
    const unsigned thread = static_cast<unsigned>(grid_thread());
    const unsigned stride = static_cast<unsigned>(grid_threads());
    unsigned long long i = thread;
    for (; i + 3ull * stride < span.vectors; i += 4ull * stride) {
        const uint4 a = span.body[i], b = span.body[i + stride];
        const uint4 c = span.body[i + 2ull * stride], d = span.body[i + 3ull * stride];
        count_vector<Samples>(own, a, args.map);
        count_vector<Samples>(own, b, args.map);
        count_vector<Samples>(own, c, args.map);
        count_vector<Samples>(own, d, args.map);
    }
    for (; i < span.vectors; i += stride)
        count_vector<Samples>(own, span.body[i], args.map);
    if (thread < span.head)
        count_byte<Samples>(own, args.data[thread], args.map);
    if (thread < span.tail)
        count_byte<Samples>(own, span.tail_data[thread], args.map);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x) {
        unsigned sum = 0;
        for (unsigned warp = 0; warp < warps; warp++)
            sum += bins[warp * Samples::most + bin];
        add_to_counts(args, bin, sum);
    }
}

#endif

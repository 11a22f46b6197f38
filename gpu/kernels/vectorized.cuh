// vectorized: interleaved partitioning and coarsening, 16 bytes a load, a shared histogram per
// warp.
//
// Neighbouring threads read neighbouring 16-byte vectors, so a warp's load is 512 bytes in one
// piece; each thread has four such loads on their way before it counts the first. Counting goes to
// a histogram in shared memory that only the thread's own warp adds to (privatization, one step
// below the block), and each block adds its warps' sums to the global histogram once. After Hwu,
// Kirk and El Hajj, Programming Massively Parallel Processors, chapter 9.
#ifndef GPUHISTO_VECTORIZED_CUH
#define GPUHISTO_VECTORIZED_CUH

#include "gpu/samples.cuh"

template <class Samples>
static __device__ __forceinline__ void count_byte(unsigned *bins, unsigned byte,
                                                  const sample_map &map)
{
    unsigned bin = Samples::bin_of(byte, map);
    if (bin < Samples::most)
        atomicAdd(&bins[bin], 1u);
}

template <class Samples>
static __device__ __forceinline__ void count_vector(unsigned *bins, const uint4 &vector,
                                                    const sample_map &map)
{
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
    for (unsigned word : words)
        for (unsigned shift = 0; shift < 32; shift += 8)
            count_byte<Samples>(bins, word >> shift & 0xff, map);
}

template <class Samples, unsigned Block>
__global__ void __launch_bounds__(Block)
    vectorized(const unsigned char *data, unsigned long long len, sample_map map,
               unsigned long long *counts)
{
    constexpr unsigned warps = Block / 32;
    __shared__ unsigned bins[warps * Samples::most];
    for (unsigned i = threadIdx.x; i < warps * Samples::most; i += Block)
        bins[i] = 0;
    __syncthreads();

    unsigned *own = bins + threadIdx.x / 32 * Samples::most;
    const unsigned long long misaligned = reinterpret_cast<unsigned long long>(data) % 16;
    const unsigned long long to_align = (16 - misaligned) % 16;
    const unsigned long long head = to_align < len ? to_align : len;
    const unsigned long long vectors = (len - head) / 16, tail = head + vectors * 16;
    const unsigned long long thread =
        static_cast<unsigned long long>(blockIdx.x) * Block + threadIdx.x;
    const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * Block;
    const uint4 *body = reinterpret_cast<const uint4 *>(data + head);

    unsigned long long i = thread;
    for (; i + 3 * stride < vectors; i += 4 * stride) {
        const uint4 a = body[i], b = body[i + stride];
        const uint4 c = body[i + 2 * stride], d = body[i + 3 * stride];
        count_vector<Samples>(own, a, map);
        count_vector<Samples>(own, b, map);
        count_vector<Samples>(own, c, map);
        count_vector<Samples>(own, d, map);
    }
    for (; i < vectors; i += stride)
        count_vector<Samples>(own, body[i], map);
    // Fewer than 16 bytes before the first whole vector, and after the last.
    if (thread < head)
        count_byte<Samples>(own, data[thread], map);
    if (thread < len - tail)
        count_byte<Samples>(own, data[tail + thread], map);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < map.bins; bin += Block) {
        unsigned long long sum = 0;
        for (unsigned warp = 0; warp < warps; warp++)
            sum += bins[warp * Samples::most + bin];
        if (sum)
            atomicAdd(&counts[bin], sum);
    }
}

#endif

// SPDX-License-Identifier: MIT
// What the benchmarks of kernels share: checked CUDA calls, how many blocks are resident, and the
// ceiling.
#ifndef GPUHISTO_BENCH_DEVICE_CUH
#define GPUHISTO_BENCH_DEVICE_CUH

#include "gpu/count/launch.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

// If a call failed, prints what the program was doing and exits.
static void check(cudaError_t code, const char *doing)
{
    if (code == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, doing,
                 cudaGetErrorString(code));
    std::exit(1);
}

// The limits of a device, for launches of up to `chunk` bytes.
static struct launch_limits limits_of(const cudaDeviceProp &properties, size_t chunk)
{
    return {static_cast<unsigned>(properties.sharedMemPerBlockOptin), chunk,
            properties.major >= 9 ? cluster_max : 0};
}

// The most blocks of a kernel that the multiprocessors can hold at a time.
static unsigned resident_of(counting_kernel kernel, unsigned block, unsigned cluster, size_t shared,
                            int multiprocessors)
{
    unsigned resident = 0;
    check(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)),
          "shared memory");
    check(launch_find_resident(kernel, block, cluster, shared, multiprocessors, &resident),
          "occupancy");
    return resident;
}

static unsigned resident_blocks(const struct launch &how, int multiprocessors)
{
    return resident_of(how.kernel, how.block, how.cluster, how.shared, multiprocessors);
}

// And of its second kernel; 0 if it has none.
static unsigned second_blocks(const struct launch &how, int multiprocessors)
{
    return how.second
               ? resident_of(how.second, how.second_block, 0, how.second_shared, multiprocessors)
               : 0;
}

// Enqueues counting args.data[0..args.len) as device_launch does.
static void enqueue(const struct launch &how, unsigned resident, unsigned second,
                    const struct count_args &args)
{
    launch_all(
        &how, {resident, second}, args,
        [](unsigned *words, size_t number) {
            check(cudaMemsetAsync(words, 0, number * sizeof *words, 0), "zero");
            return true;
        },
        [&how](counting_kernel kernel, unsigned grid, unsigned block, size_t shared,
               struct count_args given) {
            check(launch_kernel(kernel, grid, block, how.cluster, shared, given, nullptr),
                  "launch");
            return true;
        });
}

// The ceiling: a kernel that only reads.
static __global__ void __launch_bounds__(512)
    read_only(const uint4 *vectors, size_t count, unsigned *sink)
{
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (; i + 3 * stride < count; i += 4 * stride) {
        const uint4 a = vectors[i], b = vectors[i + stride];
        const uint4 c = vectors[i + 2 * stride], d = vectors[i + 3 * stride];
        sum += (a.x ^ a.y ^ a.z ^ a.w) + (b.x ^ b.y ^ b.z ^ b.w) + (c.x ^ c.y ^ c.z ^ c.w) +
               (d.x ^ d.y ^ d.z ^ d.w);
    }
    for (; i < count; i += stride)
        sum += vectors[i].x ^ vectors[i].y ^ vectors[i].z ^ vectors[i].w;
    if (sum == 0x9e3779b9)
        *sink = sum; // never, but the compiler cannot know
}

#endif

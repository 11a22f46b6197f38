// SPDX-License-Identifier: MIT
// clusters: interleaved, with one copy of the histogram for a cluster of blocks.
//
// More bins than the shared memory of one block holds. The blocks of a thread block cluster run at
// the same time, on multiprocessors that are near each other, and can access each other's shared
// memory: together that is distributed shared memory. Each block holds a part of the cluster's
// copy: of n blocks the first holds bins 0, n, 2n and so on, so that neighbouring bins, which are
// often used together, are in different blocks.
//
// What limits it: with several blocks most atomics go to another multiprocessor, over a network
// that is slower than shared memory, though still nearer than global memory. Multiprocessors come
// in groups of different sizes, and a cluster stays in one group: some of them may have no work.
//
// The book ends with one block's shared memory (section 9.4). Thread block clusters came with
// compute capability 9.0: CUDA C++ Programming Guide, "Distributed Shared Memory". The host refuses
// to launch this kernel on older devices.
//
// Samples says what is counted, bytes or values: Samples::count gives their number, Samples::bin_at
// the bin of one, or no_bin if it belongs to none. args.counts is the histogram, of args.map.bins
// bins.
#ifndef GPUHISTO_GPU_COUNT_TEXTBOOK_CLUSTERS_CUH
#define GPUHISTO_GPU_COUNT_TEXTBOOK_CLUSTERS_CUH

#include "gpu/count/counting.cuh"

#ifdef __CUDACC__
#include <cooperative_groups.h>
#endif

template <class Samples> __global__ void clusters([[maybe_unused]] count_args args)
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    // of the cluster
    const unsigned blocks = cluster.num_blocks(), rank = cluster.block_rank();
    const unsigned part_bins = (args.map.bins + blocks - 1) / blocks;
    DYNAMIC_SHARED(unsigned, part); // extern __shared__ unsigned part[]: part_bins counters
    for (unsigned i = threadIdx.x; i < part_bins; i += blockDim.x)
        part[i] = 0;
    cluster.sync(); // now all blocks have started, and all parts are zero

    const unsigned long long samples = Samples::count(args.map, args.len);
    const unsigned long long threads = 1ull * gridDim.x * blockDim.x;
    for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < samples;
         i += threads) {
        const unsigned bin = Samples::bin_at(args, i);
        if (bin != no_bin)
            atomicAdd(cluster.map_shared_rank(part, bin % blocks) + bin / blocks, 1u);
    }

    cluster.sync(); // no block ends, or merges its part, before all others have added to it
    for (unsigned i = threadIdx.x; i < part_bins; i += blockDim.x)
        if (part[i] > 0) // a counter beyond the last bin is 0
            atomicAdd(&args.counts[i * blocks + rank], 1ull * part[i]);
#endif
}

#endif

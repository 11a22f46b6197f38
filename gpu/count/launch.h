/* SPDX-License-Identifier: MIT */
// The kernels of the strategies, and how they are launched: for the device, its emulation and the
// benchmarks.
#ifndef GPUHISTO_GPU_COUNT_LAUNCH_H
#define GPUHISTO_GPU_COUNT_LAUNCH_H

#include "gpu/count/counting.cuh"

extern "C" {
#include "gpu/engine/device.h"
}

using counting_kernel = void (*)(count_args args);

// What gathers pages for a snapshot, by blocks of row_pages_block.
constexpr unsigned row_pages_block = 256;

struct row_pages_args {
    const unsigned long long *counts; // row_pages_of(rows) * ROW_PAGE of them
    unsigned pages;
    unsigned *positions;       // of each page: 1 and its place, or 0
    unsigned long long *words; // row_pages_words(pages)
};

static inline unsigned row_pages_grid(unsigned pages)
{
    return (pages + row_pages_block / 32 - 1) / (row_pages_block / 32);
}

extern void (*const row_pages_kernel)(row_pages_args args);

// A kernel, and how it is launched on one device.
struct launch {
    enum strategy_id strategy;
    counting_kernel kernel, second;  // the second is launched after it, if not null
    unsigned block, coarsening, min; // as in struct tuning
    unsigned second_block;
    unsigned sample; // bytes
    bool is_text;
    unsigned cluster; // blocks that are a thread block cluster of the first kernel, or 0
    unsigned long long shared, second_shared; // dynamic shared memory, bytes a block
    unsigned long long shared_max;            // all of it that a block of either kernel takes
    enum scratch_kind scratch;
    struct table_shape shape;
    struct partition_shape partition;
};

// What a device gives a launch.
struct launch_limits {
    unsigned shared;          // bytes of shared memory, to a block
    unsigned long long chunk; // bytes, at most
    unsigned cluster;         // blocks of a thread block cluster, at most; 0: it has none
};

// Blocks of a cluster, at most, on devices of compute capability 9.0 and later. Up to 8 fit on all
// of these; 16 have to be allowed for a kernel, and the device may have no room for them.
constexpr unsigned cluster_max = 16, cluster_portable_max = 8;

// Returns the kernels of a strategy for a histogram that it counts, and how they are launched: as
// tuned for the strategy, or otherwise. From kernel_table.cu.
struct launch launch_with(enum strategy_id strategy, const struct histogram_spec *spec,
                          const struct launch_limits &limits, const struct tuning &tuning);

static inline struct launch launch_with(enum strategy_id strategy,
                                        const struct histogram_spec *spec,
                                        const struct launch_limits &limits)
{
    return launch_with(strategy, spec, limits, strategies[strategy].tuning);
}

// True if the device has what the launch needs. If not, sets the error.
static inline bool launch_fits(const struct launch *how, const struct launch_limits &limits,
                               struct error *error)
{
    const char *const name = strategies[how->strategy].name;
    if (how->cluster && !limits.cluster)
        error_set(error, "--kernel=%s needs a GPU of compute capability 9.0 or later", name);
    else if (how->shared_max > limits.shared)
        error_set(error,
                  "--kernel=%s needs %llu bytes of a block's shared memory, and the GPU has %u",
                  name, how->shared_max, limits.shared);
    else
        return true;
    return false;
}

// The blocks for len bytes, where the device holds `resident` at a time.
static inline unsigned grid_for(const struct launch *launch, unsigned resident,
                                unsigned long long len)
{
    if (launch->coarsening) {
        const unsigned long long each = 1ull * launch->block * launch->coarsening * launch->sample;
        return static_cast<unsigned>((len + each - 1) / each) + (len == 0);
    }
    const unsigned passes = launch->cluster ? launch->cluster : launch->shape.passes;
    const unsigned max = resident > passes ? resident / passes : 1;
    const unsigned long long worth = len / (1ull * launch->block * launch->min) + 1;
    return passes * (worth < max ? static_cast<unsigned>(worth) : max);
}

// The scratch memory of a launch, in bytes.
static inline size_t launch_scratch(const struct launch *launch, unsigned resident, unsigned bins)
{
    const struct partition_shape *parts = &launch->partition;
    const size_t blocks = resident > launch->shape.passes ? resident : launch->shape.passes;
    switch (launch->scratch) {
    case SCRATCH_OF_HISTOGRAMS:
        return blocks * bins * sizeof(unsigned);
    case SCRATCH_OF_TABLES:
        return blocks * launch->shape.bins;
    case SCRATCH_OF_PARTITION:
        return (partition_ranges_max + 1ull * parts->ranges * parts->tiles) * sizeof(unsigned) +
               2ull * parts->tiles * parts->tile;
    case SCRATCH_NONE:
        break;
    }
    return 0;
}

// Makes do with half of that, where the strategy can. True if it can.
static inline bool launch_take_less(struct launch *launch)
{
    if (launch->scratch != SCRATCH_OF_PARTITION || launch->partition.tiles < 8)
        return false;
    launch->partition.tiles = launch->partition.tiles / 8 * 4;
    return true;
}

// The blocks of each kernel that the device holds at a time.
struct launch_resident {
    unsigned first, second;
};

// Enqueues counting args.data[0..args.len). zero(words, number) and run(kernel, grid, block,
// shared, args) enqueue one thing each. False if one of them could not.
template <class Zero, class Run>
static inline bool launch_all(const struct launch *how, const struct launch_resident &resident,
                              struct count_args args, const Zero &zero, const Run &run)
{
    const struct partition_shape *parts = &how->partition;
    const unsigned long long len = args.len;
    const unsigned long long max = how->scratch == SCRATCH_OF_PARTITION
                                       ? 1ull * parts->tiles * parts->tile_values * how->sample
                                       : ~0ull; // bytes of one launch
    // Numbers need few of the second.
    const unsigned second_grid = how->is_text ? resident.first : resident.second;
    unsigned long long done = 0;
    do {
        args.len = len - done < max ? len - done : max;
        args.blocks = grid_for(how, resident.first, args.len);
        if ((how->is_text && !zero(args.rest, 1)) ||
            (how->scratch == SCRATCH_OF_PARTITION && !zero(args.scratch, partition_ranges_max)) ||
            !run(how->kernel, args.blocks, how->block, how->shared, args) ||
            (how->second &&
             !run(how->second, second_grid, how->second_block, how->second_shared, args)))
            return false;
        args.data += args.len;
        done += args.len;
    } while (done < len);
    return true;
}

#ifdef __CUDACC__
// Enqueues a kernel; its blocks in clusters of so many, if that is not 0. With `clusters` it only
// sets that to how many clusters the device holds at a time.
static inline cudaError_t launch_kernel(counting_kernel kernel, unsigned grid, unsigned block,
                                        unsigned cluster, size_t shared, struct count_args args,
                                        cudaStream_t stream, int *clusters = nullptr)
{
    const void *const function = reinterpret_cast<const void *>(kernel);
    void *params[] = {&args};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(grid);
    config.blockDim = dim3(block);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = cluster ? 1 : 0;
    return clusters ? cudaOccupancyMaxActiveClusters(clusters, function, &config)
                    : cudaLaunchKernelExC(&config, function, params);
}

// Sets *resident to how many blocks of a kernel the device holds at a time.
static inline cudaError_t launch_find_resident(counting_kernel kernel, unsigned block,
                                               unsigned cluster, size_t shared, int multiprocessors,
                                               unsigned *resident)
{
    const void *const function = reinterpret_cast<const void *>(kernel);
    int fit = 0;
    cudaError_t code = cudaSuccess;
    if (cluster > cluster_portable_max)
        code = cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (code == cudaSuccess)
        code = cluster ? launch_kernel(kernel, cluster, block, cluster, shared, {}, nullptr, &fit)
                       : cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                             &fit, function, static_cast<int>(block), shared);
    *resident =
        static_cast<unsigned>(fit * (cluster ? static_cast<int>(cluster) : multiprocessors));
    return code;
}
#endif

#endif

// SPDX-License-Identifier: MIT
// pair_kernels [--repeats=N] [--size=MIB]...
//
// Measures how fast pairs of bytes on the device are counted, next to a kernel that only reads
// them, for each kind of data and size (1024, 64 and 8 MiB unless some are given), as CSV.
//
// Results are verified first; times are medians of CUDA-event time.
#include "bench/device.cuh"

extern "C" {
#include "bench/data.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <vector>

struct bench {
    std::vector<size_t> sizes; // bytes
    size_t max;
    int repeats = 9;
    cudaDeviceProp properties;
    unsigned char *data;
    unsigned long long *counts;
    cudaEvent_t begin, end;
};

// A way to count pairs.
struct task {
    const char *name;
    struct histogram_spec spec;
    struct launch how;
    struct count_args args;
    unsigned resident;
};

static void launch(const struct task &task, size_t len)
{
    struct count_args args = task.args;
    args.len = len;
    void *params[] = {&args};
    check(cudaLaunchKernel(reinterpret_cast<const void *>(task.how.kernel),
                           dim3(grid_for(&task.how, task.resident, len)), dim3(task.how.block),
                           params, task.how.shared, 0),
          "launch");
}

// The median seconds of a pass.
template <class Pass> static double measure(struct bench *bench, const Pass &pass)
{
    std::vector<double> seconds;
    pass();
    for (int i = 0; i < bench->repeats; i++) {
        float ms;
        check(cudaEventRecord(bench->begin), "event");
        pass();
        check(cudaEventRecord(bench->end), "event");
        check(cudaEventSynchronize(bench->end), "running");
        check(cudaEventElapsedTime(&ms, bench->begin, bench->end), "event");
        seconds.push_back(ms / 1e3);
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

// Bytes a second.
static double ceiling(struct bench *bench)
{
    double best = 0;
    for (int blocks = 2; blocks <= 16; blocks *= 2) {
        const double seconds = measure(bench, [=] {
            read_only<<<blocks * bench->properties.multiProcessorCount, 512>>>(
                reinterpret_cast<const uint4 *>(bench->data), bench->max / 16,
                reinterpret_cast<unsigned *>(bench->counts));
        });
        best = std::max(best, static_cast<double>(bench->max) / seconds);
    }
    return best;
}

static bool is_right(struct bench *bench, const struct task &task,
                     const std::vector<unsigned char> &data)
{
    std::vector<unsigned long long> due(PAIR_ROWS), is(PAIR_ROWS);
    for (size_t i = 0; i + 1 < data.size(); i += task.spec.is_aligned ? 2 : 1)
        due[data[i] << 8 | data[i + 1]]++;
    check(cudaMemset(bench->counts, 0, PAIR_ROWS * sizeof is[0]), "zeroing");
    launch(task, data.size());
    check(cudaMemcpy(is.data(), bench->counts, PAIR_ROWS * sizeof is[0], cudaMemcpyDeviceToHost),
          "counting");
    return is == due;
}

static bool measure_kind(struct bench *bench, enum data_kind kind, const std::vector<task> &tasks)
{
    std::vector<unsigned char> data(bench->max);
    data_fill(kind, data.data(), data.size());
    check(cudaMemcpy(bench->data, data.data(), data.size(), cudaMemcpyHostToDevice), "copy");
    const double max = ceiling(bench);
    std::printf("%s,read,%zu,%.3f,%.1f,1\n", data_name(kind), bench->max,
                static_cast<double>(bench->max) / max * 1e6, max / 1e9);
    for (const struct task &task : tasks) {
        if (!is_right(bench, task, data)) {
            std::fprintf(stderr, "pair_kernels: %s, %s: wrong counts\n", data_name(kind),
                         task.name);
            return false;
        }
        for (size_t size : bench->sizes) {
            const double seconds = measure(bench, [&] { launch(task, size); });
            const double rate = static_cast<double>(size) / seconds;
            std::printf("%s,%s,%zu,%.3f,%.1f,%.4f\n", data_name(kind), task.name, size,
                        seconds * 1e6, rate / 1e9, rate / max);
        }
    }
    return true;
}

static struct task task_of(const struct bench *bench, const char *name, bool is_aligned)
{
    struct task task = {name, {}, {}, {}, 0};
    histogram_spec_pairs(&task.spec, is_aligned);
    task.how = launch_with(STRATEGY_pairs, &task.spec, limits_of(bench->properties, 0));
    task.args.map = sample_map_of(&task.spec);
    task.args.shape = task.how.shape;
    task.args.data = bench->data;
    task.args.counts = bench->counts;
    task.resident = resident_blocks(task.how, bench->properties.multiProcessorCount);
    return task;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"size", required_argument, nullptr, 's'},
                                          {"repeats", required_argument, nullptr, 'r'},
                                          {nullptr, 0, nullptr, 0}};
    struct bench bench = {};
    for (int code; (code = getopt_long(argc, argv, "", names, nullptr)) != -1;) {
        if (code == 's')
            bench.sizes.push_back(std::strtoull(optarg, nullptr, 10) << 20);
        else if (code == 'r')
            bench.repeats = std::max(1, std::atoi(optarg));
        else
            return 2;
    }
    if (bench.sizes.empty())
        bench.sizes = {(size_t)1 << 30, (size_t)64 << 20, (size_t)8 << 20};
    bench.max = *std::max_element(bench.sizes.begin(), bench.sizes.end());
    check(cudaGetDeviceProperties(&bench.properties, 0), "no GPU");
    check(cudaMalloc(&bench.data, bench.max), "memory");
    check(cudaMalloc(&bench.counts, PAIR_ROWS * sizeof *bench.counts), "memory");
    check(cudaEventCreate(&bench.begin), "event");
    check(cudaEventCreate(&bench.end), "event");
    std::printf("# %s, %d multiprocessors, medians of %d\n", bench.properties.name,
                bench.properties.multiProcessorCount, bench.repeats);
    std::printf("data,pairs,bytes,microseconds,GBps,share\n");
    const std::vector<task> tasks = {task_of(&bench, "overlapping", false),
                                     task_of(&bench, "aligned", true)};
    bool right = true;
    for (int kind = 0; kind < DATA_KINDS; kind++)
        right = measure_kind(&bench, static_cast<enum data_kind>(kind), tasks) && right;
    return right ? 0 : 1;
}

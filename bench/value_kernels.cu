// SPDX-License-Identifier: MIT
// value_kernels: measures the strategies that count values on data that is already on the device,
// next to a kernel that only reads it and CUB's DeviceHistogram.
//
// Data are made on the device. Each result is verified over the first 16 MiB before it is timed;
// times are medians of samples of CUDA-event time. --many has what --kernel=auto takes for many
// bins beside CUB, or the strategies of --only on more kinds of data. --published repeats three
// published experiments with every strategy.
//
// For another CUB than that of the toolkit: make bench/value_kernels CUDA_CPPFLAGS=-IFOLDER
// NVCCFLAGS=-Xcompiler=-fexceptions; FOLDER is the one that has cub/ in it.
#include "bench/device.cuh"

extern "C" {
#include "src/cpu/count.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/device/device_histogram.cuh>
#include <getopt.h>
#include <string>
#include <type_traits>
#include <vector>

struct options {
    size_t size = (size_t)1 << 30; // bytes
    int repeats = 9;
    const char *only = nullptr; // one strategy
    unsigned block = 0;         // of lanes; 0: as tuned
    int columns_log = -1;       // the most that lanes may use; -1: as many as fit
    unsigned bins = 1024;       // equal bins for each type
    size_t chunk = 0;           // bytes a launch; 0: all
    bool published = false;
    bool many = false;  // only values that are their own bin, and many of these
    bool quick = false; // only the cases that have a required speed
    FILE *csv = nullptr;
};

constexpr size_t verified = (size_t)16 << 20;
constexpr size_t rows_max = BINS_MAX + 3;
constexpr size_t scratch_max = (size_t)4 << 30;

struct bench {
    struct options options;
    cudaDeviceProp properties;
    unsigned char *data;
    unsigned *sink, *scratch, *cub_counts;
    unsigned long long *counts;
    void *cub_storage;
    size_t cub_size;
    cudaEvent_t begin, end;
    double ceiling; // bytes a second
};

// One table to fill.
struct task {
    const char *experiment, *data;
    struct histogram_spec spec;
    unsigned cub_bins, cub_max; // whole values over [0, cub_max); 0: not for CUB
    size_t len;
};

// --- data ---

enum data_kind { UNIFORM, BELL, CONSTANT, ZIPF, RUNS, SORTED, DATA_KINDS };

static const char *const data_names[] = {"uniform", "bell", "constant", "zipf", "runs", "sorted"};

// A mixing of bits, splitmix64 (Steele, Lea, Flood).
static __device__ unsigned long long mix(unsigned long long x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

// In [0, 1), the i-th of `count`, of `range` different ones. A bell is the mean of eight uniform
// numbers; of zipf's, the k-th is some k times rarer than the first; runs are 1000 of a number.
static __device__ double draw(enum data_kind kind, size_t i, size_t count, double range)
{
    const double one = static_cast<double>(mix((kind == RUNS ? i / 1000 : i) * 8) >> 11) * 0x1p-53;
    if (kind == CONSTANT)
        return 0.3;
    if (kind == ZIPF)
        return fmin((pow(range + 1, one) - 1) / range, 1 - 0x1p-53);
    if (kind == RUNS)
        return one;
    if (kind == SORTED)
        return static_cast<double>(i) / static_cast<double>(count);
    double sum = 0;
    const int draws = kind == BELL ? 8 : 1;
    for (int k = 0; k < draws; k++)
        sum += static_cast<double>(mix(i * 8 + k) >> 11) * 0x1p-53;
    return sum / draws;
}

template <class Value>
static __global__ void fill_values(Value *values, size_t count, enum data_kind kind, double min,
                                   double range)
{
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride)
        values[i] = static_cast<Value>(min + draw(kind, i, count, range) * range);
}

static void fill(struct bench *bench, const struct value_type *type, enum data_kind kind,
                 double min, double range)
{
    const size_t count = bench->options.size / type->size;
    if (type->kind == 'f' && type->size == 4)
        fill_values<<<2048, 256>>>(reinterpret_cast<float *>(bench->data), count, kind, min, range);
    else if (type->kind == 'f')
        fill_values<<<2048, 256>>>(reinterpret_cast<double *>(bench->data), count, kind, min,
                                   range);
    else if (type->size == 2)
        fill_values<<<2048, 256>>>(reinterpret_cast<unsigned short *>(bench->data), count, kind,
                                   min, range);
    else if (type->size == 4)
        fill_values<<<2048, 256>>>(reinterpret_cast<unsigned *>(bench->data), count, kind, min,
                                   range);
    else if (type->size == 1)
        fill_values<<<2048, 256>>>(bench->data, count, kind, min, range);
    else
        fill_values<<<2048, 256>>>(reinterpret_cast<unsigned long long *>(bench->data), count, kind,
                                   min, range);
    check(cudaDeviceSynchronize(), "data");
}

// --- what is measured ---

// One way to count, or only to read.
struct contender {
    std::string name;
    struct launch how = {}; // ours
    struct count_args args = {};
    unsigned resident = 0;    // the number of our blocks that fit at a time
    unsigned second = 0;      // and of those of the second kernel
    unsigned read_blocks = 0; // if not 0: only reads, with this many blocks a multiprocessor
    bool cub = false;
};

template <class Sample>
static cudaError_t cub_even(const struct bench *bench, const struct task &task, void *storage,
                            size_t *size, size_t len)
{
    using level = std::conditional_t<sizeof(Sample) == 8, unsigned long long, unsigned>;
    return cub::DeviceHistogram::HistogramEven(
        storage, *size, reinterpret_cast<const Sample *>(bench->data), bench->cub_counts,
        static_cast<int>(task.cub_bins + 1), level{0}, static_cast<level>(task.cub_max),
        static_cast<int>(len / sizeof(Sample)));
}

// Has CUB count, or with null for storage say how much it needs.
static cudaError_t run_cub(const struct bench *bench, const struct task &task, void *storage,
                           size_t *size, size_t len)
{
    switch (task.spec.type.size) {
    case 1:
        return cub_even<unsigned char>(bench, task, storage, size, len);
    case 2:
        return cub_even<unsigned short>(bench, task, storage, size, len);
    case 4:
        return cub_even<unsigned>(bench, task, storage, size, len);
    default:
        return cub_even<unsigned long long>(bench, task, storage, size, len);
    }
}

// The most memory that CUB's counters can be in: more of them than 32 bits number, and CUB 3.0.1
// writes to memory that is not its own.
constexpr size_t cub_memory_max = static_cast<size_t>(4) << 32;

// Gives CUB the memory that it needs for a task. False if it cannot count it.
static bool prepare_cub(struct bench *bench, const struct task &task)
{
    size_t size = 0;
    cudaError_t code = run_cub(bench, task, nullptr, &size, task.len);
    if (code == cudaSuccess && size > cub_memory_max)
        code = cudaErrorNotSupported;
    if (code == cudaSuccess && size > bench->cub_size) {
        check(cudaFree(bench->cub_storage), "memory");
        bench->cub_storage = nullptr;
        bench->cub_size = 0;
        code = cudaMalloc(&bench->cub_storage, size);
        if (code == cudaSuccess)
            bench->cub_size = size;
    }
    if (code == cudaSuccess)
        return true;
    std::printf("# CUB, %u bins of %s: %s, %zu bytes of memory\n", task.cub_bins,
                task.spec.type.name, cudaGetErrorString(code), size);
    (void)cudaGetLastError();
    return false;
}

static void run(struct bench *bench, const struct contender &c, const struct task &task, size_t len)
{
    if (c.read_blocks) {
        read_only<<<c.read_blocks * bench->properties.multiProcessorCount, 512>>>(
            reinterpret_cast<const uint4 *>(bench->data), len / 16, bench->sink);
    } else if (c.cub) {
        check(run_cub(bench, task, bench->cub_storage, &bench->cub_size, len), "CUB");
    } else {
        struct count_args args = c.args;
        const size_t chunk = bench->options.chunk ? bench->options.chunk : len;
        for (size_t done = 0; done < len; done += chunk) {
            args.data = bench->data + done;
            args.len = std::min(chunk, len - done);
            enqueue(c.how, c.resident, c.second, args);
        }
    }
    check(cudaGetLastError(), c.name.c_str());
}

static double time_launches(struct bench *bench, const struct contender &c, const struct task &task,
                            int launches)
{
    check(cudaEventRecord(bench->begin), "event");
    for (int i = 0; i < launches; i++)
        run(bench, c, task, task.len);
    check(cudaEventRecord(bench->end), "event");
    check(cudaEventSynchronize(bench->end), c.name.c_str());
    float ms;
    check(cudaEventElapsedTime(&ms, bench->begin, bench->end), "event");
    return ms / 1e3;
}

// Seconds of a launch. A sample takes some two milliseconds, or one launch.
static double measure(struct bench *bench, const struct contender &c, const struct task &task)
{
    time_launches(bench, c, task, 1);
    const double once = time_launches(bench, c, task, 1);
    const int launches = static_cast<int>(std::min(1000.0, std::max(1.0, 2e-3 / once)));
    const int repeats = once < 0.02 ? bench->options.repeats : 1;
    std::vector<double> seconds;
    for (int sample = 0; sample < repeats; sample++)
        seconds.push_back(time_launches(bench, c, task, launches) / launches);
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

static void measure_ceiling(struct bench *bench)
{
    struct task task = {};
    task.len = bench->options.size;
    double best = 1e9;
    for (unsigned blocks = 2; blocks <= 16; blocks *= 2) {
        struct contender reader;
        reader.read_blocks = blocks;
        best = std::min(best, measure(bench, reader, task));
    }
    bench->ceiling = static_cast<double>(task.len) / best;
    std::printf("# %s; only reading: %.1f GB/s; CUB %d.%d.%d\n", bench->properties.name,
                bench->ceiling / 1e9, CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
}

// --- verification ---

// The CPU's counts of the first len bytes. CUB has only the rows of the bins.
static std::vector<uint64_t> expect(const struct bench *bench, const struct task &task, size_t len)
{
    std::vector<unsigned char> host(len);
    check(cudaMemcpy(host.data(), bench->data, len, cudaMemcpyDeviceToHost), "copy");
    std::vector<uint64_t> expected(task.spec.bins);
    const struct count_plan plan = count_plan(cpu_kernels_find(nullptr), &task.spec);
    struct tally tally = {};
    tally.bins = expected.size();
    tally.counts = expected.data();
    count_samples(&plan, host.data(), len, &tally);
    return expected;
}

static std::vector<uint64_t> result(struct bench *bench, const struct contender &c,
                                    const struct task &task, size_t len)
{
    const size_t bins = task.spec.bins;
    std::vector<uint64_t> got(bins);
    check(cudaMemset(bench->counts, 0, bins * sizeof *bench->counts), "zeroing");
    run(bench, c, task, len);
    if (!c.cub) {
        check(cudaMemcpy(got.data(), bench->counts, bins * sizeof got[0], cudaMemcpyDeviceToHost),
              c.name.c_str());
        return got;
    }
    std::vector<unsigned> narrow(task.cub_bins);
    check(cudaMemcpy(narrow.data(), bench->cub_counts, task.cub_bins * sizeof narrow[0],
                     cudaMemcpyDeviceToHost),
          "CUB");
    std::copy(narrow.begin(), narrow.end(), got.begin() + 1);
    return got;
}

// --- tables ---

// The strategy as tuned for the device; its kernel is null if it does not fit.
static struct contender ours(struct bench *bench, enum strategy_id strategy,
                             const struct histogram_spec *histogram, const void *table)
{
    const struct launch_limits limits = limits_of(
        bench->properties, bench->options.chunk ? bench->options.chunk : bench->options.size);
    struct tuning tuning = strategies[strategy].tuning;
    struct error error;
    struct contender c;
    c.name = strategies[strategy].name;
    if (strategy == STRATEGY_lanes && bench->options.block)
        tuning.block = bench->options.block;
    c.how = launch_with(strategy, histogram, limits, tuning);
    if (!launch_fits(&c.how, limits, &error)) {
        c.how.kernel = nullptr;
        return c;
    }
    while (bench->options.columns_log >= 0 &&
           c.how.shape.columns_log > static_cast<unsigned>(bench->options.columns_log)) {
        c.how.shape.columns_log--;
        c.how.shared /= 2;
    }
    c.args.map = sample_map_of(histogram);
    c.args.map.rows.table = table;
    c.args.shape = c.how.shape;
    c.args.partition = c.how.partition;
    c.args.counts = bench->counts;
    c.args.scratch = bench->scratch;
    c.args.coarsening = c.how.coarsening;
    c.resident = resident_blocks(c.how, bench->properties.multiProcessorCount);
    c.second = second_blocks(c.how, bench->properties.multiProcessorCount);
    if (launch_scratch(&c.how, c.resident, c.args.map.bins) > scratch_max)
        c.how.kernel = nullptr;
    return c;
}

static bool measure_one(struct bench *bench, const struct contender &c, const struct task &task,
                        const std::vector<uint64_t> &expected)
{
    const bool right = result(bench, c, task, std::min(task.len, verified)) == expected;
    const double seconds = measure(bench, c, task);
    const double rate = static_cast<double>(task.len) / seconds;
    const size_t bins = task.spec.binning.bins;
    std::printf("%-10s %-9s %-4s %9zu %11zu %-12s %12.2f us %8.1f GB/s %6.2f %%%s\n",
                task.experiment, task.data, task.spec.type.name, bins, task.len, c.name.c_str(),
                seconds * 1e6, rate / 1e9, 100 * rate / bench->ceiling, right ? "" : "  WRONG");
    if (bench->options.csv)
        std::fprintf(bench->options.csv, "%s,%s,%s,%zu,%zu,%s,%.3f,%.3f,%.5f\n", task.experiment,
                     task.data, task.spec.type.name, bins, task.len, c.name.c_str(), seconds * 1e6,
                     rate / 1e9, rate / bench->ceiling);
    return right;
}

// Measures the strategies that are named, or the one that --kernel=auto takes, and CUB.
static bool measure_task(struct bench *bench, const struct task &task, const char *only)
{
    const struct strategy *const best = strategy_best(
        &task.spec, bench->options.chunk ? bench->options.chunk : bench->options.size);
    const std::vector<uint64_t> expected = expect(bench, task, std::min(task.len, verified));
    size_t size;
    void *here = row_table(&task.spec, &size), *there = nullptr;
    if (size) {
        check(cudaMalloc(&there, size), "memory");
        check(cudaMemcpy(there, here, size, cudaMemcpyHostToDevice), "copy");
    }
    std::free(here);
    bool right = true;
    for (unsigned i = 0; i < strategy_count; i++) {
        if (!strategy_counts(&strategies[i], &task.spec) ||
            (only ? !strstr(only, strategies[i].name) : &strategies[i] != best))
            continue;
        const struct contender c = ours(bench, static_cast<enum strategy_id>(i), &task.spec, there);
        if (c.how.kernel)
            right = measure_one(bench, c, task, expected) && right;
    }
    if (task.cub_bins && prepare_cub(bench, task)) {
        struct contender cub;
        cub.name = "CUB";
        cub.cub = true;
        right = measure_one(bench, cub, task, expected) && right;
    }
    check(cudaFree(there), "memory");
    return right;
}

static const struct value_type *type_named(const char *name)
{
    const struct value_type *type = value_types;
    while (std::strcmp(type->name, name) != 0)
        type++;
    return type;
}

// Equal bins over [min, max); max 0: each value its own bin.
static struct task equal_task(const char *experiment, enum data_kind kind, const char *type_name,
                              long long min, long long max, size_t bins, size_t len)
{
    struct task task = {};
    struct binning binning;
    const struct value_type *type = type_named(type_name);
    task.experiment = experiment;
    task.data = data_names[kind];
    task.len = len;
    enum binning_error error = BINNING_OK;
    if (max == 0)
        binning_own(&binning, bins);
    else if (type->kind == 'f')
        error = binning_equal(&binning, (double)min, (double)max, bins);
    else
        error = binning_equal_whole(&binning, min, max, bins);
    if (error != BINNING_OK)
        std::exit(2);
    histogram_spec_values(&task.spec, type, &binning);
    return task;
}

// --- types of values ---

static bool measure_types(struct bench *bench)
{
    static const struct {
        const char *type;
        long long max;
    } types[] = {{"u32", 1073741824}, {"u16", 65536}, {"u64", 1099511627776},
                 {"f32", 1000},       {"f64", 1000},  {"u8", 256}};
    bool right = true;
    for (const auto &t : types)
        for (int kind = UNIFORM; kind <= CONSTANT; kind++) {
            fill(bench, type_named(t.type), static_cast<enum data_kind>(kind), 0, (double)t.max);
            struct task task = equal_task("types", static_cast<enum data_kind>(kind), t.type, 0,
                                          t.max, bench->options.bins, bench->options.size);
            if (&t == types)
                task.cub_bins = bench->options.bins, task.cub_max = 1u << 30;
            right =
                measure_task(bench, task, bench->options.only ? bench->options.only : "lanes") &&
                right;
            if (bench->options.quick && &t != types)
                break;
        }
    return right;
}

// Values that are their own bin, with more and more bins.
static bool measure_bins(struct bench *bench, const char *only)
{
    static const size_t bins[] = {16,    64,    256,    1024,   4096,    16384,
                                  32768, 65536, 131072, 262144, 1 << 20, 1 << 24};
    bool right = true;
    for (size_t n : bins)
        for (int kind = UNIFORM; kind <= CONSTANT; kind += 2) {
            fill(bench, type_named("u32"), static_cast<enum data_kind>(kind), 0,
                 static_cast<double>(n));
            struct task task = equal_task("own", static_cast<enum data_kind>(kind), "u32", 0, 0, n,
                                          bench->options.size);
            task.cub_bins = task.cub_max = static_cast<unsigned>(n);
            right = measure_task(bench, task, only) && right;
        }
    return right;
}

// The same of all sizes, in many bins: the strategies of `only` on all kinds of data, or on three
// kinds the one that auto takes, beside CUB. 57,344 is about what lanes has room for.
static bool measure_many(struct bench *bench, const char *only)
{
    static const size_t all_bins[] = {256,     1 << 10, 1 << 12, 1 << 14, 57344,   1 << 16,
                                      1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 22, 1 << 24};
    bool right = true;
    for (const char *type : {"u8", "u16", "u32", "u64"})
        for (size_t bins : all_bins)
            for (int kind = UNIFORM; kind < DATA_KINDS; kind++) {
                const size_t size = type_named(type)->size;
                if ((bench->options.bins != 1024 && bench->options.bins != bins) ||
                    (!only && kind != UNIFORM && kind != ZIPF && kind != CONSTANT) ||
                    (size == 1) != (bins == 256) || (size == 2 && bins > 65536))
                    continue;
                fill(bench, type_named(type), static_cast<enum data_kind>(kind), 0,
                     static_cast<double>(bins));
                struct task task = equal_task("many", static_cast<enum data_kind>(kind), type, 0, 0,
                                              bins, bench->options.size);
                if (!only)
                    task.cub_bins = task.cub_max = static_cast<unsigned>(bins);
                right = measure_task(bench, task, only) && right;
            }
    return right;
}

// --- the published experiments ---

static bool measure_published(struct bench *bench)
{
    std::string names;
    for (unsigned i = 0; i < strategy_count; i++)
        names += strategies[i].name;
    const char *const every = names.c_str();
    fill(bench, type_named("u32"), UNIFORM, 1, 100);
    bool right =
        measure_task(bench, equal_task("5-of-20", UNIFORM, "u32", 1, 101, 5, 32768 * 4), every);
    for (int kind = UNIFORM; kind <= CONSTANT; kind++) {
        fill(bench, type_named("u32"), static_cast<enum data_kind>(kind), 0, 1 << 30);
        struct task task = equal_task("matrix", static_cast<enum data_kind>(kind), "u32", 0,
                                      1073741824, 1024, (size_t)3984 * 4096 * 4);
        task.cub_bins = 1024, task.cub_max = 1u << 30;
        right = measure_task(bench, task, every) && right;
    }
    return measure_bins(bench, every) && right;
}

// --- the run ---

static void open_bench(struct bench *bench)
{
    check(cudaGetDeviceProperties(&bench->properties, 0), "no GPU");
    check(cudaMalloc(&bench->data, bench->options.size), "memory");
    check(cudaMalloc(&bench->counts, rows_max * sizeof *bench->counts), "memory");
    check(cudaMalloc(&bench->cub_counts, rows_max * sizeof *bench->cub_counts), "memory");
    check(cudaMalloc(&bench->scratch, scratch_max), "memory");
    check(cudaMalloc(&bench->sink, sizeof *bench->sink), "memory");
    check(cudaEventCreate(&bench->begin), "event");
    check(cudaEventCreate(&bench->end), "event");
    bench->cub_size = (size_t)256 << 20;
    check(cudaMalloc(&bench->cub_storage, bench->cub_size), "memory");
}

static void parse(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {{"size", required_argument, nullptr, 's'},
                                          {"repeats", required_argument, nullptr, 'r'},
                                          {"only", required_argument, nullptr, 'o'},
                                          {"block", required_argument, nullptr, 'b'},
                                          {"columns-log", required_argument, nullptr, 'l'},
                                          {"bins", required_argument, nullptr, 'n'},
                                          {"csv", required_argument, nullptr, 'c'},
                                          {"chunk", required_argument, nullptr, 'k'},
                                          {"many", no_argument, nullptr, 'm'},
                                          {"published", no_argument, nullptr, 'p'},
                                          {"quick", no_argument, nullptr, 'q'},
                                          {nullptr, 0, nullptr, 0}};
    for (int code; (code = getopt_long(argc, argv, "", names, nullptr)) != -1;) {
        if (code == 's')
            options->size = std::strtoull(optarg, nullptr, 10) << 20;
        else if (code == 'r')
            options->repeats = std::max(1, std::atoi(optarg));
        else if (code == 'o')
            options->only = optarg;
        else if (code == 'b')
            options->block = static_cast<unsigned>(std::atoi(optarg));
        else if (code == 'l')
            options->columns_log = std::atoi(optarg);
        else if (code == 'n')
            options->bins = static_cast<unsigned>(std::max(1, std::atoi(optarg)));
        else if (code == 'c')
            options->csv = std::fopen(optarg, "w");
        else if (code == 'k')
            options->chunk = std::strtoull(optarg, nullptr, 10) << 20;
        else if (code == 'm')
            options->many = true;
        else if (code == 'p')
            options->published = true;
        else if (code == 'q')
            options->quick = true;
        else
            std::exit(2);
    }
    if (options->csv)
        std::fprintf(options->csv,
                     "experiment,data,type,bins,bytes,strategy,microseconds,GBps,share\n");
}

// value_kernels [--size=MIB] [--repeats=N] [--only=STRATEGIES] [--block=N] [--columns-log=N]
//               [--bins=N] [--chunk=MIB] [--csv=FILE] [--published] [--quick] [--many]
int main(int argc, char **argv)
{
    static struct bench bench;
    parse(argc, argv, &bench.options);
    open_bench(&bench);
    measure_ceiling(&bench);
    bool right;
    if (bench.options.published)
        right = measure_published(&bench);
    else if (bench.options.many)
        right = measure_many(&bench, bench.options.only);
    else
        right = measure_types(&bench) &&
                (bench.options.quick ||
                 measure_bins(&bench, bench.options.only ? bench.options.only
                                                         : "lanes packed partitioned matched"));
    if (bench.options.csv && std::fclose(bench.options.csv) != 0)
        return 1;
    return right ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// number_kernels [--size=MIB] [--chunk=MIB] [--repeats=N] [--data=KIND] [--csv=FILE]
//
// Measures how fast decimal text on the device is parsed and counted, into bins of three
// digits, log-linear ones and 1024 equal ones, next to a kernel that only reads it: all at once, or
// in chunks as in the filter.
//
// The text is made on the host, and copied as often as it takes to fill the device's buffer.
// Results are verified first; times are medians of CUDA-event time.
#include "bench/device.cuh"

extern "C" {
#include "bench/texts.h"
#include "src/text/field_parser.h"
#include "src/text/number.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <vector>

constexpr size_t made = (size_t)16 << 20; // bytes on the host
constexpr size_t piece = (size_t)256 << 10;

struct bench {
    size_t size = (size_t)1 << 30, chunk = 0; // bytes; chunk is that of a launch, 0: all at once
    int repeats = 9;
    cudaDeviceProp properties;
    unsigned char *text;
    unsigned long long *counts;
    unsigned *rest;
    struct power *powers;
    cudaEvent_t begin, end;
    double ceiling; // bytes a second
    FILE *csv = nullptr;
};

// A histogram, and how it is counted.
struct task {
    const char *name;
    struct histogram_spec spec;
    struct launch how;
    struct count_args args;
    unsigned resident;
};

// --- running ---

static void launch(struct bench *bench, const struct task &task, size_t begin, size_t len)
{
    struct count_args args = task.args;
    args.data = bench->text + begin;
    args.len = len;
    enqueue(task.how, task.resident, 0, args);
}

static void run(struct bench *bench, const struct task &task, size_t size)
{
    const size_t max = bench->chunk ? bench->chunk : size;
    for (size_t begin = 0; begin < size; begin += max)
        launch(bench, task, begin, std::min(max, size - begin));
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

static void measure_ceiling(struct bench *bench)
{
    bench->ceiling = 0;
    for (int blocks = 2; blocks <= 16; blocks *= 2) {
        const double seconds = measure(bench, [=] {
            read_only<<<blocks * bench->properties.multiProcessorCount, 512>>>(
                reinterpret_cast<const uint4 *>(bench->text), bench->size / 16, bench->rest);
        });
        bench->ceiling = std::max(bench->ceiling, static_cast<double>(bench->size) / seconds);
    }
    std::printf("%-12s %-10s %8.1f GB/s\n", "-", "read only", bench->ceiling / 1e9);
}

// --- verification ---

static std::vector<unsigned long long>
expect(const struct histogram_spec *spec, const std::vector<unsigned char> &text, size_t *tokens)
{
    std::vector<unsigned long long> counts(spec->bins + 1); // and newlines
    std::vector<double> values(4096);
    *tokens = 0;
    for (size_t at = 0, used; at < text.size(); at += used) {
        const size_t count = number_parser_find(nullptr)->parse(
            text.data() + at, text.size() - at, values.data(), values.size(), &used);
        for (size_t i = 0; i < count; i++)
            counts[binning_row(&spec->binning, values[i])]++;
        *tokens += count;
    }
    counts.back() = static_cast<unsigned long long>(std::count(text.begin(), text.end(), '\n'));
    return counts;
}

static bool measure_task(struct bench *bench, const struct text_kind *kind, const struct task &task,
                         const std::vector<unsigned char> &text)
{
    size_t tokens;
    const size_t words = task.spec.bins + 1;
    const std::vector<unsigned long long> due = expect(&task.spec, text, &tokens);
    std::vector<unsigned long long> is(words);
    check(cudaMemset(bench->counts, 0, words * sizeof *bench->counts), "zeroing");
    run(bench, task, made);
    check(cudaMemcpy(is.data(), bench->counts, words * sizeof is[0], cudaMemcpyDeviceToHost),
          "counting");
    if (is != due) {
        std::fprintf(stderr, "number_kernels: %s, %s: wrong counts\n", kind->name, task.name);
        return false;
    }
    const double rate =
        static_cast<double>(bench->size) / measure(bench, [&] { run(bench, task, bench->size); });
    const double numbers = rate / static_cast<double>(made) * static_cast<double>(tokens);
    std::printf("%-12s %-10s %8.1f GB/s %7.2f G/s %5.1f %%\n", kind->name, task.name, rate / 1e9,
                numbers / 1e9, 100 * rate / bench->ceiling);
    if (bench->csv)
        std::fprintf(bench->csv, "%s,%s,%zu,%.2f,%.3f,%.4f\n", kind->name, task.name,
                     bench->chunk ? bench->chunk : bench->size, rate / 1e9, numbers / 1e9,
                     rate / bench->ceiling);
    return true;
}

// --- the run ---

// The table that goes with a row map, on the device; it stays there. NULL: it needs none.
static const void *table_of(const struct histogram_spec *spec)
{
    size_t size;
    void *table = row_table(spec, &size), *copy = nullptr;
    if (!table)
        return nullptr;
    check(cudaMalloc(&copy, size), "memory");
    check(cudaMemcpy(copy, table, size, cudaMemcpyHostToDevice), "copy");
    std::free(table);
    return copy;
}

static struct task task_of(struct bench *bench, const char *name, const struct binning *binning)
{
    struct task task = {name, {}, {}, {}, 0};
    histogram_spec_numbers(&task.spec, binning);
    task.how = launch_with(STRATEGY_numbers, &task.spec, limits_of(bench->properties, 0));
    task.args.map = sample_map_of(&task.spec);
    task.args.map.rows.table = table_of(&task.spec);
    task.args.counts = bench->counts;
    task.args.rest = bench->rest;
    task.args.powers = bench->powers;
    task.resident = resident_blocks(task.how, bench->properties.multiProcessorCount);
    return task;
}

static void open_bench(struct bench *bench)
{
    constexpr size_t powers = (POWER_MAX - POWER_MIN + 1) * sizeof(struct power);
    number_prepare();
    check(cudaGetDeviceProperties(&bench->properties, 0), "no GPU");
    check(cudaMalloc(&bench->text, bench->size), "memory");
    check(cudaMalloc(&bench->counts, (DIGITS_BINS(900) + 4) * sizeof *bench->counts), "memory");
    check(cudaMalloc(&bench->rest, words_for_rest(bench->size) * sizeof *bench->rest), "memory");
    check(cudaMalloc(&bench->powers, powers), "memory");
    check(cudaMemcpy(bench->powers, number_powers(), powers, cudaMemcpyHostToDevice), "copy");
    check(cudaEventCreate(&bench->begin), "event");
    check(cudaEventCreate(&bench->end), "event");
    std::printf("# %s, %d multiprocessors, medians of %d, chunks of %zu bytes\n",
                bench->properties.name, bench->properties.multiProcessorCount, bench->repeats,
                bench->chunk ? bench->chunk : bench->size);
}

static bool measure_kind(struct bench *bench, const struct text_kind *kind)
{
    struct binning digits, log_linear, equal;
    std::vector<unsigned char> text(made);
    text_fill(kind, text.data(), made, piece);
    for (size_t at = 0; at < bench->size; at += made)
        check(cudaMemcpy(bench->text + at, text.data(), made, cudaMemcpyHostToDevice), "copy");
    if (bench->ceiling == 0)
        measure_ceiling(bench);
    binning_log_linear(&log_linear);
    if (binning_equal(&equal, 0, 1000, 1024) != 0 || binning_digits(&digits, 3, false) != 0)
        return false;
    return measure_task(bench, kind, task_of(bench, "3 digits", &digits), text) &&
           measure_task(bench, kind, task_of(bench, "log-linear", &log_linear), text) &&
           measure_task(bench, kind, task_of(bench, "1024 equal", &equal), text);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"size", required_argument, nullptr, 's'},    {"chunk", required_argument, nullptr, 'k'},
        {"repeats", required_argument, nullptr, 'r'}, {"data", required_argument, nullptr, 'd'},
        {"csv", required_argument, nullptr, 'c'},     {nullptr, 0, nullptr, 0}};
    static struct bench bench;
    const char *only = nullptr;
    for (int code; (code = getopt_long(argc, argv, "", names, nullptr)) != -1;) {
        if (code == 's')
            bench.size = std::strtoull(optarg, nullptr, 10) << 20;
        else if (code == 'k')
            bench.chunk = std::strtoull(optarg, nullptr, 10) << 20;
        else if (code == 'r')
            bench.repeats = std::max(1, std::atoi(optarg));
        else if (code == 'd')
            only = optarg;
        else if (code == 'c')
            bench.csv = std::fopen(optarg, "w");
        else
            return 2;
    }
    if (bench.size < made || bench.size % made != 0) {
        std::fprintf(stderr, "number_kernels: --size: must be a multiple of 16\n");
        return 2;
    }
    open_bench(&bench);
    if (bench.csv)
        std::fprintf(bench.csv, "data,bins,chunk,GBps,Gnumbersps,share\n");
    bool right = true;
    for (size_t i = 0; i < text_kind_count; i++)
        if (!only || std::strcmp(only, text_kinds[i].name) == 0)
            right = measure_kind(&bench, &text_kinds[i]) && right;
    if (bench.csv && std::fclose(bench.csv) != 0)
        return 1;
    return right ? 0 : 1;
}

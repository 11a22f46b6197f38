// SPDX-License-Identifier: MIT
// character_kernels [--size=MIB] [--repeats=N] [--data=KIND] [--csv=FILE]
//
// Measures how fast characters on the device are counted, each by itself, by category and by block,
// all at once and in chunks of 8 MiB as in the filter, next to a kernel that only reads them.
//
// The text is made on the host, and copied as often as it takes to fill the device's buffer.
// Results are verified first; times are medians of CUDA-event time.
#include "bench/device.cuh"

extern "C" {
#include "src/tally/characters.h"
#include "tests/helpers/random.h"
}

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <string>
#include <vector>

constexpr size_t made = static_cast<size_t>(32) << 20; // bytes on the host
constexpr size_t chunk = static_cast<size_t>(8) << 20;

struct bench {
    size_t size = static_cast<size_t>(1) << 30;
    int repeats = 9;
    cudaDeviceProp properties;
    unsigned char *text;
    unsigned long long *counts;
    cudaEvent_t begin, end;
    double ceiling; // bytes a second
    FILE *csv = nullptr;
};

// --- texts ---

// A letter of so many, the more often the earlier: as 1 / rank.
static unsigned frequent(unsigned letters)
{
    const double fraction = (random_below(1u << 30) + 0.5) / (1u << 30);
    return std::min(letters - 1, static_cast<unsigned>(std::pow(letters + 1.0, fraction)) - 1);
}

// One of 8000 Chinese characters, of which frequent ones are not side by side.
static unsigned chinese()
{
    return 0x4e00 + frequent(8000) * 7919 % 20992;
}

static unsigned spaced(unsigned first, unsigned letters)
{
    return random_below(7) ? first + frequent(letters) : ' ';
}

static unsigned of_any_script()
{
    static unsigned script, left;
    if (left-- == 0) {
        script = random_below(5);
        left = 20;
    }
    return script == 0   ? 'a' + frequent(26)
           : script == 1 ? 0x430 + frequent(32)
           : script == 2 ? chinese()
           : script == 3 ? 0x1f300 + random_below(200)
                         : 0x900 + frequent(100);
}

static unsigned of_all_planes()
{
    const unsigned point = random_below(0x110000);
    return point - 0xd800 < 0x800 ? 0x20ac : point;
}

// What a text is made of: characters, or bytes.
static const struct text {
    const char *name;
    unsigned (*next)();
    bool is_bytes;
} texts[] = {
    {"ascii", [] { return spaced('a', 26); }, false},
    {"western", [] { return random_below(50) ? spaced('a', 26) : 0xe0 + random_below(30); }, false},
    {"cyrillic", [] { return spaced(0x430, 32); }, false},
    {"greek", [] { return spaced(0x3b1, 25); }, false},
    {"chinese", chinese, false},
    {"chinese-uniform", [] { return 0x4e00 + random_below(20992); }, false},
    {"emoji", [] { return random_below(4) ? 0x1f300 + random_below(1000) : ' '; }, false},
    {"mixed", of_any_script, false},
    {"planes", of_all_planes, false},
    {"random-bytes", [] { return random_below(256); }, true},
    {"one-byte", [] { return 0u + 'e'; }, true},
    {"one-invalid", [] { return 0x80u; }, true},
    {"one-character", [] { return 0x4e2du; }, false},
};

static void add_character(std::string &text, unsigned point)
{
    const unsigned size = character_size(point);
    static const unsigned marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (unsigned i = size; i-- > 0;)
        text += static_cast<char>((i + 1 == size ? marks[size] : 0x80u) |
                                  (i + 1 == size ? point >> 6 * i : point >> 6 * i & 0x3f));
}

// The last characters may be spaces.
static std::string make(const struct text &kind)
{
    std::string text;
    while (text.size() + CHARACTER_SIZE_MAX <= made)
        if (kind.is_bytes)
            text += static_cast<char>(kind.next());
        else
            add_character(text, kind.next());
    text.resize(made, ' ');
    return text;
}

// --- running ---

struct task {
    const char *name;
    struct histogram_spec spec;
    struct launch how;
    struct count_args args;
    unsigned resident;
};

static void run(const struct task &task, const unsigned char *text, size_t size, size_t max)
{
    for (size_t begin = 0; begin < size; begin += max) {
        struct count_args args = task.args;
        args.data = text + begin;
        args.len = std::min(max, size - begin);
        void *params[] = {&args};
        check(cudaLaunchKernel(reinterpret_cast<const void *>(task.how.kernel),
                               dim3(grid_for(&task.how, task.resident, args.len)),
                               dim3(task.how.block), params, task.how.shared, 0),
              "launch");
    }
}

// The median bytes a second of a pass.
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
    return static_cast<double>(bench->size) / seconds[seconds.size() / 2];
}

static bool is_right(struct bench *bench, const struct task &task, const std::string &text)
{
    const struct histogram_spec *spec = &task.spec;
    const unsigned char *data = reinterpret_cast<const unsigned char *>(text.data());
    std::vector<unsigned long long> due(spec->bins), is(spec->bins);
    uint32_t row;
    for (size_t at = 0; at < made;) {
        at += character_decode(data + at, made - at, &row);
        due[spec->groups ? character_group(spec->groups, row) : row]++;
    }
    check(cudaMemset(bench->counts, 0, due.size() * sizeof due[0]), "zeroing");
    run(task, bench->text, made, made);
    check(cudaMemcpy(is.data(), bench->counts, is.size() * sizeof is[0], cudaMemcpyDeviceToHost),
          "counting");
    return is == due;
}

static bool measure_task(struct bench *bench, const struct text &kind, const struct task &task,
                         const std::string &text)
{
    if (!is_right(bench, task, text)) {
        std::fprintf(stderr, "character_kernels: %s, %s: wrong counts\n", kind.name, task.name);
        return false;
    }
    for (const size_t max : {bench->size, chunk}) {
        const double rate = measure(bench, [&] { run(task, bench->text, bench->size, max); });
        std::printf("%-16s %-10s %10zu %8.1f GB/s %5.1f %%\n", kind.name, task.name, max,
                    rate / 1e9, 100 * rate / bench->ceiling);
        if (bench->csv)
            std::fprintf(bench->csv, "%s,%s,%zu,%.1f\n", kind.name, task.name, max, rate / 1e9);
    }
    return true;
}

// --- the run ---

static struct task task_of(struct bench *bench, const char *name,
                           void (*build)(struct histogram_spec *spec))
{
    struct task task = {name, {}, {}, {}, 0};
    build(&task.spec);
    task.how = launch_with(STRATEGY_characters, &task.spec, limits_of(bench->properties, 0));
    task.args.map = sample_map_of(&task.spec);
    task.args.counts = bench->counts;
    task.args.shape = task.how.shape;
    if (task.spec.groups) {
        size_t size;
        void *there = nullptr, *here = group_table(&task.spec, &size);
        check(cudaMalloc(&there, size), "memory");
        check(cudaMemcpy(there, here, size, cudaMemcpyHostToDevice), "copy");
        std::free(here);
        task.args.map.groups.table = static_cast<const uint16_t *>(there);
    }
    task.resident = resident_blocks(task.how, bench->properties.multiProcessorCount);
    return task;
}

static void open_bench(struct bench *bench)
{
    check(cudaGetDeviceProperties(&bench->properties, 0), "no GPU");
    check(cudaMalloc(&bench->text, bench->size), "memory");
    check(cudaMalloc(&bench->counts, CHARACTER_ROWS * sizeof *bench->counts), "memory");
    check(cudaEventCreate(&bench->begin), "event");
    check(cudaEventCreate(&bench->end), "event");
    bench->ceiling = 0;
    for (int blocks = 2; blocks <= 16; blocks *= 2)
        bench->ceiling =
            std::max(bench->ceiling, measure(bench, [=] {
                         read_only<<<blocks * bench->properties.multiProcessorCount, 512>>>(
                             reinterpret_cast<const uint4 *>(bench->text), bench->size / 16,
                             reinterpret_cast<unsigned *>(bench->counts));
                     }));
    std::printf("# %s, medians of %d; only reading: %.0f GB/s\n", bench->properties.name,
                bench->repeats, bench->ceiling / 1e9);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"size", required_argument, nullptr, 's'},
                                          {"repeats", required_argument, nullptr, 'r'},
                                          {"data", required_argument, nullptr, 'd'},
                                          {"csv", required_argument, nullptr, 'c'},
                                          {nullptr, 0, nullptr, 0}};
    static struct bench bench;
    const char *only = nullptr;
    for (int code; (code = getopt_long(argc, argv, "", names, nullptr)) != -1;) {
        if (code == 's')
            bench.size = std::strtoull(optarg, nullptr, 10) << 20;
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
        std::fprintf(stderr, "character_kernels: --size: must be a multiple of 32\n");
        return 2;
    }
    open_bench(&bench);
    const struct task tasks[] = {task_of(&bench, "characters", histogram_spec_characters),
                                 task_of(&bench, "categories", histogram_spec_categories),
                                 task_of(&bench, "blocks", histogram_spec_blocks)};
    if (bench.csv)
        std::fprintf(bench.csv, "data,rows,chunk,GBps\n");
    bool right = true;
    random_seed(1);
    for (const struct text &kind : texts) {
        if (only && std::strcmp(only, kind.name) != 0)
            continue;
        const std::string text = make(kind);
        for (size_t at = 0; at < bench.size; at += made)
            check(cudaMemcpy(bench.text + at, text.data(), made, cudaMemcpyHostToDevice), "copy");
        for (const struct task &task : tasks)
            right = measure_task(&bench, kind, task, text) && right;
    }
    if (bench.csv && std::fclose(bench.csv) != 0)
        return 1;
    return right ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// kernels: measures every counting strategy on data that is already on the device, next to a kernel
// that only reads it, CUB's DeviceHistogram and one CPU core.
//
// Each result is verified before it is timed. A measurement is `repeats` samples of CUDA-event
// time, each over enough launches to be precise. Data smaller than the buffer are taken from
// another place in it each time, so that they come from memory and not from the cache. The ceiling,
// the time of a kernel that only reads, is measured in the same run at the same size.
#include "bench/data.h"
#include "bench/device.cuh"

extern "C" {
#include "gpu/count/strategy.h"
#include "src/cpu/count.h"
}

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/device/device_histogram.cuh>
#include <getopt.h>
#include <string>
#include <vector>

struct options {
    size_t size = 1u << 30, largest = 0; // bytes; a sweep goes up to largest
    int repeats = 15;
    const char *data = nullptr;           // one kind
    const char *only = nullptr;           // one strategy
    std::vector<unsigned> blocks{0};      // threads a block; 0: as tuned
    std::vector<unsigned> coarsenings{0}; // samples a thread; 0: as tuned
    bool widths = false;                  // letters in ranges of every width
    FILE *csv = nullptr;
    bool published = false;
};

struct timing {
    double median, min, max; // seconds a pass over the data
};

// The device's buffers, and what runs on them.
struct bench {
    struct options options;
    int multiprocessors;
    struct launch_limits limits;
    unsigned char *data;
    size_t capacity;
    unsigned long long *counts; // 256
    unsigned *cub_counts;       // 32 bits: with 64 CUB is far slower
    unsigned *scratch;
    unsigned *sink;
    void *cub_storage;
    size_t cub_size;
    cudaEvent_t begin, end;
    std::vector<unsigned char> host;
    uint64_t host_counts[256]; // of the current kind and size
    double ceiling;            // bytes a second, of the current size
};

// --- what is measured ---

// One way to count, or only to read.
struct contender {
    std::string name;
    struct launch how = {}; // ours
    struct count_args args = {};
    bool cub = false, letters = false;
    unsigned resident = 0;    // the number of our blocks that fit at a time
    unsigned read_blocks = 0; // if not 0: only reads, with this many blocks a multiprocessor
};

// A contender takes less than 4 GiB in one launch.
constexpr size_t launch_max = (size_t)1 << 30;

static void run_piece(struct bench *bench, const struct contender &c, const unsigned char *data,
                      size_t len)
{
    if (c.read_blocks) {
        read_only<<<c.read_blocks * bench->multiprocessors, 512>>>(
            reinterpret_cast<const uint4 *>(data), len / 16, bench->sink);
    } else if (c.cub && c.letters) {
        // Evenly from 'a': the last of the seven bins has y, z and two characters after them.
        check(cub::DeviceHistogram::HistogramEven(bench->cub_storage, bench->cub_size, data,
                                                  bench->cub_counts, 8, 97, 125, len),
              "CUB");
    } else if (c.cub) {
        check(cub::DeviceHistogram::HistogramEven(bench->cub_storage, bench->cub_size, data,
                                                  bench->cub_counts, 257, 0, 256, len),
              "CUB");
    } else {
        struct count_args args = c.args;
        args.data = data;
        args.len = len;
        enqueue(c.how, c.resident, 0, args);
    }
    check(cudaGetLastError(), c.name.c_str());
}

static void run(struct bench *bench, const struct contender &c, const unsigned char *data,
                size_t len)
{
    for (size_t done = 0; done < len; done += launch_max)
        run_piece(bench, c, data + done, std::min(launch_max, len - done));
}

static double median_of(std::vector<double> &values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Seconds that the launches take, each over another part of the buffer.
static double time_launches(struct bench *bench, const struct contender &c, size_t len,
                            int launches)
{
    static size_t position;
    const size_t positions = bench->capacity / len;
    check(cudaEventRecord(bench->begin), "event");
    for (int i = 0; i < launches; i++)
        run(bench, c, bench->data + position++ % positions * len, len);
    check(cudaEventRecord(bench->end), "event");
    check(cudaEventSynchronize(bench->end), c.name.c_str());
    float ms;
    check(cudaEventElapsedTime(&ms, bench->begin, bench->end), "event");
    return ms / 1e3;
}

// A sample lasts some two milliseconds; strategies that take longer for one launch get fewer.
static struct timing measure(struct bench *bench, const struct contender &c, size_t len)
{
    time_launches(bench, c, len, 1); // warm up
    const double once = time_launches(bench, c, len, 1);
    const int launches = static_cast<int>(std::min(200.0, std::max(1.0, 2e-3 / once)));
    const int repeats = once < 0.05 ? bench->options.repeats : 3;
    std::vector<double> seconds;
    for (int sample = 0; sample < repeats; sample++)
        seconds.push_back(time_launches(bench, c, len, launches) / launches);
    const double median = median_of(seconds);
    return {median, seconds.front(), seconds.back()};
}

// --- verification ---

static void expect(const struct bench *bench, const struct histogram_spec *histogram,
                   const struct contender &c, std::vector<uint64_t> &expected)
{
    const uint64_t *bytes = bench->host_counts;
    expected.assign(256, 0);
    if (c.cub && c.letters)
        for (unsigned value = 97; value < 125; value++)
            expected[(value - 97) / 4] += bytes[value];
    else
        histogram_spec_map(histogram, bytes, expected.data());
}

static bool verify(struct bench *bench, const struct histogram_spec *histogram,
                   const struct contender &c, size_t len)
{
    std::vector<uint64_t> expected, got(256);
    expect(bench, histogram, c, expected);
    check(cudaMemset(bench->counts, 0, 256 * sizeof *bench->counts), "zeroing");
    check(cudaMemset(bench->cub_counts, 0, 256 * sizeof *bench->cub_counts), "zeroing");
    run(bench, c, bench->data, len);
    if (c.cub) {
        std::vector<unsigned> narrow(256);
        check(cudaMemcpy(narrow.data(), bench->cub_counts, 256 * sizeof narrow[0],
                         cudaMemcpyDeviceToHost),
              "CUB");
        got.assign(narrow.begin(), narrow.end());
    } else {
        check(cudaMemcpy(got.data(), bench->counts, 256 * sizeof got[0], cudaMemcpyDeviceToHost),
              c.name.c_str());
    }
    if (got == expected)
        return true;
    std::fprintf(stderr, "kernels: %s: wrong counts\n", c.name.c_str());
    return false;
}

// --- tables ---

static void print_row(struct bench *bench, const char *mode, const char *data, const char *name,
                      size_t len, const struct timing &t)
{
    const double rate = static_cast<double>(len) / t.median;
    std::printf("%-10s %-9s %11zu  %-12s %9.1f  (%8.1f to %8.1f)  %5.1f %%\n", mode, data, len,
                name, rate / 1e9, static_cast<double>(len) / t.max / 1e9,
                static_cast<double>(len) / t.min / 1e9, 100 * rate / bench->ceiling);
    if (bench->options.csv)
        std::fprintf(bench->options.csv, "%s,%s,%zu,%s,%.3f,%.3f,%.3f,%.4f\n", mode, data, len,
                     name, rate / 1e9, static_cast<double>(len) / t.max / 1e9,
                     static_cast<double>(len) / t.min / 1e9, rate / bench->ceiling);
}

// The ceiling is the best of a few shapes.
static void measure_ceiling(struct bench *bench, size_t len, const char *data)
{
    struct timing best = {1e9, 1e9, 1e9};
    for (unsigned blocks = 2; blocks <= 16; blocks *= 2) {
        struct contender reader;
        reader.name = "read";
        reader.read_blocks = blocks;
        const struct timing t = measure(bench, reader, len);
        if (t.median < best.median)
            best = t;
    }
    bench->ceiling = static_cast<double>(len) / best.median;
    print_row(bench, "-", data, "read only", len, best);
}

static void measure_cpu(struct bench *bench, const char *data, size_t len)
{
    struct histogram_spec histogram;
    histogram_spec_bytes(&histogram);
    const struct count_plan plan = count_plan(cpu_kernels_find(nullptr), &histogram);
    std::vector<double> seconds;
    for (int sample = 0; sample < 3; sample++) {
        uint64_t bytes[256] = {0};
        const auto begin = std::chrono::steady_clock::now();
        struct tally tally = {};
        tally.bins = histogram.bins;
        tally.counts = bytes;
        count_samples(&plan, bench->host.data(), len, &tally);
        seconds.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    const double median = median_of(seconds);
    print_row(bench, "bytes", data, "CPU (1 core)", len, {median, seconds.front(), seconds.back()});
}

// As tuned for the device.
static struct contender ours(struct bench *bench, enum strategy_id strategy,
                             const struct histogram_spec *histogram, unsigned block = 0,
                             unsigned coarsening = 0)
{
    struct tuning tuning = strategies[strategy].tuning;
    struct contender c;
    c.name = strategies[strategy].name;
    if (block || coarsening)
        c.name += " " + std::to_string(block ? block : tuning.block) + "x" +
                  std::to_string(coarsening ? coarsening : tuning.coarsening);
    if (block)
        tuning.block = block;
    if (coarsening)
        tuning.coarsening = coarsening;
    c.how = launch_with(strategy, histogram, bench->limits, tuning);
    c.args.map = sample_map_of(histogram);
    c.args.shape = c.how.shape;
    c.args.counts = bench->counts;
    c.args.scratch = bench->scratch;
    c.args.coarsening = c.how.coarsening;
    c.letters = histogram->mode == &mode_letters;
    c.resident = resident_blocks(c.how, bench->multiprocessors);
    return c;
}

// Whether a kernel may be launched with this many threads a block and samples a thread. A factor of
// 0 or 1 belongs to the strategy and cannot be changed.
static bool can_run(const struct bench *bench, enum strategy_id strategy,
                    const struct histogram_spec *histogram, unsigned block, unsigned coarsening)
{
    const struct launch how = launch_with(strategy, histogram, bench->limits);
    struct error error;
    if (!launch_fits(&how, bench->limits, &error))
        return false;
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(how.kernel)), "kernel");
    return block % 32 == 0 && block <= static_cast<unsigned>(attributes.maxThreadsPerBlock) &&
           (!coarsening || how.coarsening > 1);
}

// Measures a strategy with every block size and coarsening factor that was requested.
static bool measure_strategy(struct bench *bench, enum strategy_id strategy,
                             const struct histogram_spec *histogram, const char *mode,
                             const char *data, size_t len)
{
    bool right = true;
    for (unsigned block : bench->options.blocks)
        for (unsigned coarsening : bench->options.coarsenings) {
            if (!can_run(bench, strategy, histogram, block, coarsening))
                continue;
            const struct contender c = ours(bench, strategy, histogram, block, coarsening);
            right = verify(bench, histogram, c, len) && right;
            print_row(bench, mode, data, c.name.c_str(), len, measure(bench, c, len));
        }
    return right;
}

static bool measure_mode(struct bench *bench, const struct histogram_spec *histogram,
                         const char *mode, const char *data, size_t len, bool with_cub)
{
    bool right = true;
    for (unsigned i = 0; i < strategy_count; i++)
        if (strategy_counts(&strategies[i], histogram) &&
            (!bench->options.only || strcmp(bench->options.only, strategies[i].name) == 0))
            right = measure_strategy(bench, static_cast<enum strategy_id>(i), histogram, mode, data,
                                     len) &&
                    right;
    // CUB does not add to what is there, so it cannot count in pieces.
    if (!with_cub || len > launch_max)
        return right;
    struct contender cub;
    cub.name = "CUB";
    cub.cub = true;
    cub.letters = histogram->mode == &mode_letters;
    right = verify(bench, histogram, cub, len) && right;
    print_row(bench, mode, data, "CUB", len, measure(bench, cub, len));
    return right;
}

// Fills the buffers with a kind of data; the first len bytes are those that results are verified
// on.
static void load(struct bench *bench, enum data_kind kind, size_t len)
{
    bench->host.resize(bench->capacity);
    data_fill(kind, bench->host.data(), bench->capacity);
    check(cudaMemcpy(bench->data, bench->host.data(), bench->capacity, cudaMemcpyHostToDevice),
          "copy");
    std::fill(bench->host_counts, bench->host_counts + 256, 0);
    portable_count_bytes(bench->host.data(), len, bench->host_counts);
}

struct letter_mode {
    std::string name;
    unsigned width;
    bool fold;
};

static std::vector<struct letter_mode> letter_modes(bool every_width)
{
    if (!every_width)
        return {{"letters", 4, false}, {"letters=1", 1, false}, {"fold-case", 4, true}};
    std::vector<struct letter_mode> modes;
    for (unsigned width = 1; width <= LETTERS; width++) {
        modes.push_back({"letters=" + std::to_string(width), width, false});
        modes.push_back({"fold-case=" + std::to_string(width), width, true});
    }
    return modes;
}

static bool measure_kind(struct bench *bench, enum data_kind kind, size_t len)
{
    const char *name = data_name(kind);
    struct histogram_spec histogram;
    bool right = true;
    load(bench, kind, len);
    measure_ceiling(bench, len, name);
    for (const struct letter_mode &mode : letter_modes(bench->options.widths)) {
        histogram_spec_letters(&histogram, mode.width, mode.fold);
        right =
            measure_mode(bench, &histogram, mode.name.c_str(), name, len, mode.name == "letters") &&
            right;
    }
    histogram_spec_bytes(&histogram);
    right = measure_mode(bench, &histogram, "bytes", name, len, true) && right;
    measure_cpu(bench, name, len);
    return right;
}

static bool measure_kinds(struct bench *bench, size_t len)
{
    bool right = true;
    for (int i = 0; i < DATA_KINDS; i++) {
        const enum data_kind kind = static_cast<enum data_kind>(i);
        if (!bench->options.data || strcmp(bench->options.data, data_name(kind)) == 0)
            right = measure_kind(bench, kind, len) && right;
    }
    return right;
}

// --- the published experiments ---

// 1 GiB of lower-case letters into 7 ranges, published for an RTX 4090 in milliseconds.
static bool measure_published(struct bench *bench)
{
    static const struct {
        const char *name;
        double ms;
    } published[] = {{"naive", 203.7},      {"shared", 2.75},     {"contiguous", 1.14},
                     {"interleaved", 1.94}, {"aggregated", 2.15}, {"lanes", 0},
                     {"bitsliced", 0}};
    struct histogram_spec letters;
    histogram_spec_letters(&letters, 4, false);
    const size_t len = (size_t)1 << 30;
    load(bench, DATA_LETTERS, len);
    bool right = true;
    std::printf("1 GiB of lower-case letters into 7 ranges, ms\n%-12s %10s %10s\n", "strategy",
                "published", "here");
    for (const auto &row : published) {
        const struct strategy *strategy = strategy_find(row.name);
        const struct contender c =
            ours(bench, static_cast<enum strategy_id>(strategy - strategies), &letters);
        right = verify(bench, &letters, c, len) && right;
        const std::string there = row.ms > 0 ? std::to_string(row.ms).substr(0, 6) : "-";
        std::printf("%-12s %10s %10.3f\n", row.name, there.c_str(),
                    measure(bench, c, len).median * 1e3);
    }
    return right;
}

// --- the run ---

static void open_bench(struct bench *bench)
{
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "no GPU");
    bench->multiprocessors = properties.multiProcessorCount;
    bench->limits = limits_of(properties, 0);
    // Small data are read from different places in 1 GiB.
    bench->capacity = std::max(bench->options.size, (size_t)1 << 30);
    bench->capacity = std::max(bench->capacity, bench->options.largest);
    check(cudaMalloc(&bench->data, bench->capacity), "memory");
    check(cudaMalloc(&bench->counts, 256 * sizeof *bench->counts), "memory");
    check(cudaMalloc(&bench->cub_counts, 256 * sizeof *bench->cub_counts), "memory");
    check(
        cudaMalloc(&bench->scratch, 256u * 32 * sizeof(unsigned) * properties.multiProcessorCount),
        "memory");
    check(cudaMalloc(&bench->sink, sizeof *bench->sink), "memory");
    check(cudaEventCreate(&bench->begin), "event");
    check(cudaEventCreate(&bench->end), "event");
    check(cub::DeviceHistogram::HistogramEven(nullptr, bench->cub_size, bench->data,
                                              bench->cub_counts, 257, 0, 256, launch_max),
          "CUB");
    size_t letters_size = 0;
    check(cub::DeviceHistogram::HistogramEven(nullptr, letters_size, bench->data, bench->cub_counts,
                                              8, 97, 125, launch_max),
          "CUB");
    bench->cub_size = std::max(bench->cub_size, letters_size);
    check(cudaMalloc(&bench->cub_storage, bench->cub_size), "memory");
    std::printf("# %s, %d multiprocessors, medians of %d; GB/s (least to most), share of the read "
                "ceiling\n",
                properties.name, properties.multiProcessorCount, bench->options.repeats);
}

static size_t parse_size(const char *text)
{
    char *end;
    size_t size = std::strtoull(text, &end, 10);
    return *end == 'K' ? size << 10 : *end == 'M' ? size << 20 : *end == 'G' ? size << 30 : size;
}

static std::vector<unsigned> parse_list(const char *text)
{
    std::vector<unsigned> list;
    for (char *end; *text; text = *end == ',' ? end + 1 : end) {
        list.push_back(static_cast<unsigned>(std::strtoul(text, &end, 10)));
        if (end == text || (*end && *end != ',') || list.back() == 0 || list.back() > 65536) {
            std::fprintf(stderr, "kernels: %s: must be numbers with commas between them\n", text);
            std::exit(2);
        }
    }
    return list;
}

static void parse(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {{"size", required_argument, nullptr, 's'},
                                          {"sweep", required_argument, nullptr, 'w'},
                                          {"repeats", required_argument, nullptr, 'r'},
                                          {"data", required_argument, nullptr, 'd'},
                                          {"only", required_argument, nullptr, 'o'},
                                          {"block", required_argument, nullptr, 'b'},
                                          {"coarsening", required_argument, nullptr, 'k'},
                                          {"widths", no_argument, nullptr, 'l'},
                                          {"csv", required_argument, nullptr, 'c'},
                                          {"published", no_argument, nullptr, 'p'},
                                          {nullptr, 0, nullptr, 0}};
    for (int code; (code = getopt_long(argc, argv, "", names, nullptr)) != -1;) {
        if (code == 's')
            options->size = parse_size(optarg);
        else if (code == 'w')
            options->largest = parse_size(optarg);
        else if (code == 'r')
            options->repeats = std::max(1, std::atoi(optarg));
        else if (code == 'd')
            options->data = optarg;
        else if (code == 'o')
            options->only = optarg;
        else if (code == 'b')
            options->blocks = parse_list(optarg);
        else if (code == 'k')
            options->coarsenings = parse_list(optarg);
        else if (code == 'l')
            options->widths = true;
        else if (code == 'c')
            options->csv = std::fopen(optarg, "w");
        else if (code == 'p')
            options->published = true;
        else
            std::exit(2);
    }
    if (options->csv)
        std::fprintf(options->csv, "mode,data,bytes,strategy,GBps,least,most,share\n");
}

// kernels [--size=BYTES] [--sweep=LARGEST] [--repeats=N] [--data=KIND] [--only=STRATEGY]
//         [--block=N,...] [--coarsening=N,...] [--widths] [--csv=FILE] [--published]
int main(int argc, char **argv)
{
    static struct bench bench;
    bool right = true;
    parse(argc, argv, &bench.options);
    open_bench(&bench);
    if (bench.options.published) {
        right = measure_published(&bench);
    } else if (bench.options.largest) {
        for (size_t size = bench.options.size; size <= bench.options.largest; size *= 4)
            right = measure_kinds(&bench, size) && right;
    } else {
        right = measure_kinds(&bench, bench.options.size);
    }
    if (bench.options.csv && std::fclose(bench.options.csv) != 0)
        return 1;
    return right ? 0 : 1;
}

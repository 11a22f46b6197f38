// SPDX-License-Identifier: MIT
// textbook: the kernels of gpu/count/textbook/ over the skew of the data and over the coarsening
// factor, beside what the model of Hwu, Kirk and El Hajj predicts (Programming Massively Parallel
// Processors, 4th edition, chapter 9).
//
// textbook [MIB [BINS]] prints CSV. Bytes are counted into 256 bins by all kernels, and values of
// 32 bits into BINS bins (131072, more than 256) by those that can. Each row has what was measured:
//
//     kernel, bins, skew      uniform; Zipf, the k-th bin k^1 or k^1.5 times rarer than the first;
//                             or one bin
//     coarsening              samples a thread; of kernels without a factor, what the grid makes it
//     block                   threads a block
//     GBps                    data in GPU memory, the median of several launches
//
// and what the model predicts:
//
//     atomics_global, atomics_shared   issued, by all threads of a launch
//     contention_GBps         what atomics on one address allow (section 9.3). A copy's most
//     frequent
//                             bin gets one after the other; copies at work at a time share the
//                             samples. Then each copy adds to the histogram, one after the other.
//                             An atomic takes what those of a block took at the start that all add
//                             to one address, in shared or in global memory.
//     bandwidth_GBps          what a kernel that only reads reaches
//
// The model leaves out instructions, latencies of loads, banks, how many atomics the L2 does at
// all, and that copies are zeroed. Each result is verified before it is timed.
#include "bench/device.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

struct bench {
    cudaDeviceProp properties;
    struct launch_limits limits;
    size_t size; // bytes of data
    unsigned char *data;
    cudaEvent_t begin, end;
    double global_atomic, shared_atomic; // seconds for each, if all are on one address
    double bandwidth;                    // bytes a second
};

struct input {
    const char *skew;
    struct histogram_spec spec;
    size_t bins, sample;            // a sample's bytes
    std::vector<double> frequency;  // of each bin; all together 1
    std::vector<uint64_t> expected; // rows
};

// Returns the median time in seconds of what `launch` enqueues.
template <class Launch> static double time_of(const struct bench &bench, const Launch &launch)
{
    std::vector<double> seconds;
    launch(); // warms up
    do {
        float ms;
        check(cudaEventRecord(bench.begin), "event");
        launch();
        check(cudaEventRecord(bench.end), "event");
        check(cudaEventSynchronize(bench.end), "launch");
        check(cudaEventElapsedTime(&ms, bench.begin, bench.end), "event");
        seconds.push_back(ms / 1e3);
    } while (seconds.size() < (seconds[0] < 0.05 ? 9 : 3));
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

// --- what the model needs to know ---

constexpr unsigned additions = 4096; // of each thread

// The index is loaded, or the compiler would add once for all lanes.
static __global__ void add_global(unsigned long long *counters, const unsigned *index)
{
    const unsigned i = index[threadIdx.x];
    for (unsigned n = 0; n < additions; n++)
        atomicAdd(&counters[i], 1ull);
}

static __global__ void add_shared(unsigned long long *counters, const unsigned *index)
{
    __shared__ unsigned bins[2];
    const unsigned i = index[threadIdx.x];
    bins[i] = 0;
    __syncthreads();
    for (unsigned n = 0; n < additions; n++)
        atomicAdd(&bins[i], 1u);
    __syncthreads();
    counters[i] = bins[i];
}

static void measure_device(struct bench *bench)
{
    unsigned long long *counters;
    unsigned *index;
    check(cudaMalloc(&counters, 2 * sizeof *counters), "memory");
    check(cudaMalloc(&index, 1024 * sizeof *index), "memory");
    check(cudaMemset(index, 0, 1024 * sizeof *index), "zeroing");
    bench->global_atomic =
        time_of(*bench, [&] { add_global<<<1, 1024>>>(counters, index); }) / (1024.0 * additions);
    bench->shared_atomic =
        time_of(*bench, [&] { add_shared<<<1, 1024>>>(counters, index); }) / (1024.0 * additions);
    for (int blocks = 2; blocks <= 16; blocks *= 2) {
        const double seconds = time_of(*bench, [&] {
            read_only<<<blocks * bench->properties.multiProcessorCount, 512>>>(
                reinterpret_cast<const uint4 *>(bench->data), bench->size / 16, index);
        });
        bench->bandwidth = std::max(bench->bandwidth, static_cast<double>(bench->size) / seconds);
    }
    check(cudaFree(counters), "memory");
    check(cudaFree(index), "memory");
}

// --- data ---

// A sample is the first bin whose cumulative frequency is above a random number (splitmix64).
template <class Sample>
static __global__ void fill(Sample *samples, size_t count, const double *cumulative, unsigned bins)
{
    const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += threads) {
        unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ull;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ x >> 27) * 0x94d049bb133111ebull;
        const double random = static_cast<double>((x ^ x >> 31) >> 11) * 0x1p-53;
        unsigned low = 0, high = bins - 1;
        while (low < high) {
            const unsigned middle = (low + high) / 2;
            if (cumulative[middle] > random)
                high = middle;
            else
                low = middle + 1;
        }
        samples[i] = static_cast<Sample>(low);
    }
}

// Fills the buffer with samples of which the k-th bin has k^-exponent times those of the first.
static struct input make_input(const struct bench &bench, size_t bins, const char *skew,
                               double exponent)
{
    struct input input = {skew, {}, bins, bins == 256 ? 1u : 4u, {}, {}};
    std::vector<double> cumulative;
    double sum = 0;
    for (size_t bin = 0; bin < bins; bin++) {
        input.frequency.push_back(std::pow(static_cast<double>(bin + 1), -exponent));
        cumulative.push_back(sum += input.frequency.back());
    }
    for (size_t bin = 0; bin < bins; bin++) {
        input.frequency[bin] /= sum;
        cumulative[bin] /= sum;
    }
    double *there;
    const size_t samples = bench.size / input.sample;
    check(cudaMalloc(&there, bins * sizeof *there), "memory");
    check(cudaMemcpy(there, cumulative.data(), bins * sizeof *there, cudaMemcpyHostToDevice),
          "copy");
    if (input.sample == 1)
        fill<<<2048, 256>>>(bench.data, samples, there, static_cast<unsigned>(bins));
    else
        fill<<<2048, 256>>>(reinterpret_cast<unsigned *>(bench.data), samples, there,
                            static_cast<unsigned>(bins));
    std::vector<unsigned char> here(bench.size);
    check(cudaMemcpy(here.data(), bench.data, bench.size, cudaMemcpyDeviceToHost), "data");
    check(cudaFree(there), "memory");
    if (input.sample == 1) {
        histogram_spec_bytes(&input.spec);
        input.expected.assign(input.spec.bins, 0);
        for (unsigned char byte : here)
            input.expected[byte]++;
    } else {
        struct binning binning;
        const struct value_type *type = value_types;
        while (std::strcmp(type->name, "u32") != 0)
            type++;
        binning_own(&binning, bins);
        histogram_spec_values(&input.spec, type, &binning);
        input.expected.assign(input.spec.bins, 0);
        for (size_t i = 0; i < samples; i++) {
            unsigned value;
            std::memcpy(&value, &here[i * sizeof value], sizeof value);
            input.expected[1 + value]++; // the first row is for what lies below
        }
    }
    return input;
}

// --- the kernels ---

struct prediction {
    double global_atomics, shared_atomics;
    double contention; // seconds
};

static struct prediction predict(const struct bench &bench, const struct input &input,
                                 enum strategy_id strategy, double copies, double resident,
                                 double threads)
{
    const double samples = static_cast<double>(bench.size / input.sample), max = input.frequency[0];
    const double at_a_time = std::min(copies, resident);
    double merged = 0; // bins of a copy that are not 0
    double same = 0;   // probability that a sample's bin is that of the one before
    for (double frequency : input.frequency) {
        merged += 1 - std::pow(1 - frequency, samples / copies);
        same += frequency * frequency;
    }
    const double hottest = samples * max, merges = copies * merged;
    const double merge_time = copies * bench.global_atomic; // a bin gets one addition from each
    const double later = std::max(samples - threads, 0.0);  // samples that have one before
    switch (strategy) {
    case STRATEGY_naive:
        return {samples, 0, hottest * bench.global_atomic};
    case STRATEGY_privatized:
        return {samples + merges, 0, hottest / at_a_time * bench.global_atomic + merge_time};
    case STRATEGY_aggregated:
        return {merges, later * (1 - same) + threads,
                max * (later * (1 - max) + threads) / at_a_time * bench.shared_atomic + merge_time};
    default:
        return {merges, samples, hottest / at_a_time * bench.shared_atomic + merge_time};
    }
}

// Measures a kernel with a coarsening factor, 0 for its own, and prints a row. True if it counts
// right, or cannot count so many bins.
static bool measure(const struct bench &bench, const struct input &input, enum strategy_id strategy,
                    unsigned coarsening)
{
    struct tuning tuning = strategies[strategy].tuning;
    struct error error;
    if (coarsening)
        tuning.coarsening = coarsening;
    const struct launch how = launch_with(strategy, &input.spec, bench.limits, tuning);
    if (!launch_fits(&how, bench.limits, &error))
        return true;
    const unsigned resident = resident_blocks(how, bench.properties.multiProcessorCount);
    if (resident == 0)
        return true;
    const size_t rows = input.expected.size();
    struct count_args args = {};
    check(cudaMalloc(&args.counts, rows * sizeof *args.counts), "memory");
    check(cudaMemset(args.counts, 0, rows * sizeof *args.counts), "zeroing");
    check(cudaMalloc(&args.scratch, launch_scratch(&how, resident, static_cast<unsigned>(rows))),
          "memory");
    args.map = sample_map_of(&input.spec);
    args.data = bench.data;
    args.len = bench.size;
    args.coarsening = how.coarsening;
    args.shape = how.shape;
    enqueue(how, resident, 0, args);
    std::vector<uint64_t> counts(rows);
    check(cudaMemcpy(counts.data(), args.counts, rows * sizeof counts[0], cudaMemcpyDeviceToHost),
          strategies[strategy].name);
    const double seconds = time_of(bench, [&] { enqueue(how, resident, 0, args); });
    const double blocks = grid_for(&how, resident, bench.size), threads = blocks * how.block;
    // The blocks of a cluster have one copy together.
    const double copies = how.cluster ? blocks / how.cluster : blocks;
    const struct prediction predicted = predict(
        bench, input, strategy, copies, how.cluster ? resident / how.cluster : resident, threads);
    const double size = static_cast<double>(bench.size);
    std::printf("%s,%zu,%s,%.0f,%u,%.2f,%.4g,%.4g,%.2f,%.1f\n", strategies[strategy].name,
                input.bins, input.skew,
                std::ceil(size / static_cast<double>(input.sample) / threads), how.block,
                size / seconds / 1e9, predicted.global_atomics, predicted.shared_atomics,
                size / predicted.contention / 1e9, bench.bandwidth / 1e9);
    check(cudaFree(args.counts), "memory");
    check(cudaFree(args.scratch), "memory");
    if (counts == input.expected)
        return true;
    std::fprintf(stderr, "textbook: %s, %zu bins, %s: wrong counts\n", strategies[strategy].name,
                 input.bins, input.skew);
    return false;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double exponent;
    } skews[] = {{"uniform", 0}, {"zipf 1", 1}, {"zipf 1.5", 1.5}, {"one bin", 1000}};
    struct bench bench = {};
    bool right = true;
    bench.size = static_cast<size_t>(argc > 1 ? std::atoi(argv[1]) : 1024) << 20;
    const size_t many = argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : 131072;
    check(cudaGetDeviceProperties(&bench.properties, 0), "no GPU");
    bench.limits = limits_of(bench.properties, 0);
    check(cudaMalloc(&bench.data, bench.size), "memory");
    check(cudaEventCreate(&bench.begin), "event");
    check(cudaEventCreate(&bench.end), "event");
    measure_device(&bench);
    std::printf("# %s; an atomic on one address: %.3f ns in global, %.3f ns in shared memory\n",
                bench.properties.name, bench.global_atomic * 1e9, bench.shared_atomic * 1e9);
    std::printf(
        "kernel,bins,skew,coarsening,block,GBps,atomics_global,atomics_shared,contention_GBps,"
        "bandwidth_GBps\n");
    for (size_t bins : {static_cast<size_t>(256), many})
        for (const auto &skew : skews) {
            const struct input input = make_input(bench, bins, skew.name, skew.exponent);
            for (int i = STRATEGY_naive; i <= STRATEGY_clusters; i++) {
                const auto strategy = static_cast<enum strategy_id>(i);
                const bool is_coarsened = strategies[i].tuning.coarsening > 1;
                for (unsigned factor = is_coarsened ? 1 : 0; factor <= (is_coarsened ? 512 : 0);
                     factor = factor ? factor * 2 : 1)
                    right = measure(bench, input, strategy, factor) && right;
            }
            std::fflush(stdout);
        }
    return right ? 0 : 1;
}

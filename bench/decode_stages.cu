// SPDX-License-Identifier: MIT
// decode_stages [--batch=MIB] [--in=MIB] [--lanes=N] [--repeats=N] FILE
//
// Measures the stages that decompress FILE, each alone, over the batches that it makes, of so much
// content each (256 MiB). A batch is decoded N times (5), a stage's time is the median of its
// CUDA-event times, and times are added up over batches. What is printed is content by time.
//
// Then FILE is decompressed as gpuhisto does it, in batches of half as much content, or so many
// compressed bytes (32 MiB), so many of them side by side (8), with the copies to the device: the
// wall time of that is "pipeline", of the median repeat.
//
// Of gzip it prints how many candidates, units, sequences and literals the stages have
// found, and how many units became blocks, of how many members; both count again in each batch.
//
// The content is compared with what one core makes by the library that gpuhisto uses, whose time is
// printed as well.
#include "bench/device.cuh"
#include "bench/read_file.cuh"
#include "gpu/decode/stages.h"

extern "C" {
#include "gpu/decode/plan.h"
}

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <vector>

struct options {
    size_t batch = 256; // MiB
    size_t in = 32;     // MiB
    unsigned lanes = 8;
    int repeats = 5;
    const char *file;
};

static double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <typename T> static T median(std::vector<T> values)
{
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

// --- one core ---

static const codec *codec_of(const byte_vector &file)
{
    const codec *codec;
    if (codec_recognise(file.data(), file.size(), &codec) != MAGIC_MATCH)
        die("FILE is not compressed");
    return codec;
}

static byte_vector decode_by_library(const codec *codec, const byte_vector &file, double *seconds)
{
    byte_vector content;
    static unsigned char part[1 << 18];
    codec_options options = {};
    options.memlimit = uint64_t{1} << 31;
    decoder *const decoder = codec->open(&options);
    struct error error;
    decode_step step = {};
    step.out = part;
    step.cap = sizeof part;
    *seconds = 0;
    for (size_t at = 0; at < file.size() || step.made == sizeof part; at += step.used) {
        step.in = file.data() + at;
        step.in_len = std::min(file.size() - at, sizeof part);
        const auto begin = std::chrono::steady_clock::now();
        if (!decoder || codec->decode(decoder, &step, &error) != DECODE_OK)
            die("FILE cannot be decompressed");
        *seconds += seconds_since(begin);
        content.insert(content.end(), part, part + step.made);
    }
    decoder_close(decoder);
    return content;
}

// --- batches ---

// What the host plans for a batch, and where its bytes begin in FILE.
struct piece {
    size_t at;
    decode_plan plan;
};

static decode_plan new_plan(const decode_capacity &capacity)
{
    decode_plan plan = {};
    plan.capacity = capacity;
    check(cudaMallocHost(&plan.block, capacity.blocks * sizeof *plan.block), "memory");
    check(cudaMallocHost(&plan.frame, capacity.frames * sizeof *plan.frame), "memory");
    plan.frame_end = new decode_frame_end[capacity.frames];
    return plan;
}

static void free_pieces(const std::vector<piece> &pieces)
{
    for (const piece &piece : pieces) {
        check(cudaFreeHost(piece.plan.block), "memory");
        check(cudaFreeHost(piece.plan.frame), "memory");
        delete[] piece.plan.frame_end;
    }
}

static std::vector<piece> plan_all(decode_walk walk, const decode_capacity &capacity,
                                   const byte_vector &file)
{
    std::vector<piece> pieces;
    for (size_t at = 0; at < file.size();) {
        piece piece = {at, new_plan(capacity)};
        piece.plan.format = walk.format;
        if (decode_walk_plan(&walk, &piece.plan, file.data() + at, file.size() - at, true) ==
            DECODE_PLANNED)
            pieces.push_back(piece);
        else if (piece.plan.taken == 0)
            die("FILE has something that is left to the library, or does not fit in a batch");
        at += piece.plan.taken;
    }
    return pieces;
}

static decode_capacity capacity_of(size_t room, size_t in, size_t blocks)
{
    in = std::clamp<size_t>(in, 1 << 18, 1 << 30);
    if (room > 1u << 30)
        die("a batch may have 1 GiB");
    return {static_cast<uint32_t>(in), static_cast<uint32_t>(blocks), static_cast<uint32_t>(blocks),
            static_cast<uint32_t>(room), ZSTD_WINDOW_MAX};
}

static unsigned char *device_memory(size_t size)
{
    void *memory;
    check(cudaMalloc(&memory, size), "memory");
    check(cudaMemset(memory, 0, size), "memory");
    return static_cast<unsigned char *>(memory);
}

// Batches in turn, as one's `keep` fills the next one's memory.
struct batch_ring {
    std::vector<decode_batch> batch;
    std::vector<unsigned char *> memory;
};

static batch_ring acquire_memory(const decode_capacity &capacity, unsigned count)
{
    batch_ring ring;
    ring.batch.resize(count);
    unsigned char *const stages = device_memory(decode_stage_memory(nullptr, &capacity, nullptr));
    ring.memory.push_back(stages);
    for (decode_batch &batch : ring.batch) {
        ring.memory.push_back(device_memory(decode_own_memory(nullptr, &capacity, nullptr)));
        decode_own_memory(&batch, &capacity, ring.memory.back());
        decode_stage_memory(&batch, &capacity, stages);
    }
    for (unsigned i = 0; i < count; i++) {
        ring.batch[i].next = ring.batch[(i + 1) % count].in;
        ring.batch[i].next_out = ring.batch[(i + 1) % count].out;
    }
    check(cudaDeviceSynchronize(), "memory"); // it was cleared on another stream
    return ring;
}

static void free_memory(const batch_ring &ring)
{
    for (unsigned char *memory : ring.memory)
        check(cudaFree(memory), "memory");
}

// Zeroes what stages count in.
static void begin_batch(const decode_batch &batch, cudaStream_t stream)
{
    if (batch.counts)
        check(cudaMemsetAsync(batch.gzip.counters, 0, sizeof *batch.gzip.counters, stream), "zero");
}

// Has a piece copied to the device.
static void fill_batch(decode_batch &batch, const piece &piece, const byte_vector &file,
                       cudaStream_t stream)
{
    const decode_plan &plan = piece.plan;
    decode_batch_set_plan(&batch, &plan);
    const auto copy = [&](const void *to, const void *from, size_t size) {
        check(cudaMemcpyAsync(const_cast<void *>(to), from, size, cudaMemcpyHostToDevice, stream),
              "copy");
    };
    if (piece.at == 0)
        check(cudaMemsetAsync(batch.in, 0, DECODE_CARRY, stream), "copy");
    copy(batch.in + DECODE_CARRY, file.data() + piece.at, plan.in_size);
    copy(batch.block, plan.block, plan.blocks * sizeof *plan.block);
    copy(batch.frame, plan.frame, plan.frames * sizeof *plan.frame);
    begin_batch(batch, stream);
}

static decode_verdict verdict_of(const decode_batch &batch)
{
    decode_verdict verdict;
    check(cudaMemcpy(&verdict, batch.verdict, sizeof verdict, cudaMemcpyDeviceToHost), "verdict");
    if (verdict.refused != DECODE_NONE) {
        std::fprintf(stderr, "decode_stages: block %u is refused: %u\n", verdict.refused,
                     verdict.refusal);
        std::exit(1);
    }
    return verdict;
}

// --- the stages, one after the other ---

// What the stages of gzip have found, in all batches.
struct found_counts {
    uint64_t candidates, units, sequences, literals; // of parts that lead nowhere, too
    uint64_t blocks, frames;
};

static void add_found(found_counts &found, const decode_batch &batch)
{
    gzip_counters counters;
    decode_counts counts;
    check(cudaMemcpy(&counters, batch.gzip.counters, sizeof counters, cudaMemcpyDeviceToHost),
          "counters");
    check(cudaMemcpy(&counts, batch.counts, sizeof counts, cudaMemcpyDeviceToHost), "counters");
    found.candidates += counters.candidates;
    found.units += counters.units;
    found.sequences += counters.sequences;
    found.literals += counters.literals;
    found.blocks += counts.blocks;
    found.frames += counts.frames;
}

struct launching {
    decode_walk walk; // at the beginning of FILE
    decode_stage_list stages;
    decode_residents residents;
    std::vector<std::vector<cudaEvent_t>> events; // by repeat: before each stage, and at the end
    std::vector<double> seconds;                  // by stage, of all batches
    found_counts found;
};

// How many blocks of each stage fit on the device, and the events to time them with.
static launching prepare(const options &options, const codec *codec)
{
    launching launching = {};
    int processors;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "device");
    launching.walk.window_max = ZSTD_WINDOW_MAX;
    if (decode_format_of(codec, &launching.walk.format))
        launching.stages = decode_stages[launching.walk.format];
    if (launching.stages.count == 0)
        die("no GPU decompresses FILE");
    check(decode_prepare_stages(&launching.residents, processors), "occupancy");
    launching.events.resize(static_cast<size_t>(options.repeats),
                            std::vector<cudaEvent_t>(launching.stages.count + 1));
    for (auto &events : launching.events)
        for (cudaEvent_t &event : events)
            check(cudaEventCreate(&event), "event");
    launching.seconds.resize(launching.stages.count);
    return launching;
}

static void launch_stages(const decode_batch &batch, const launching &launching,
                          const std::vector<cudaEvent_t> &events)
{
    for (unsigned i = 0; i < launching.stages.count; i++) {
        check(cudaEventRecord(events[i]), "event");
        const decode_stage &stage = launching.stages.stage[i];
        const unsigned resident = launching.residents.of[batch.format][i];
        check(decode_launch_stage(stage, batch, resident, nullptr), stage.name);
    }
    check(cudaEventRecord(events[launching.stages.count]), "event");
    check(cudaDeviceSynchronize(), "the stages");
}

static void add_times(launching &launching)
{
    for (unsigned i = 0; i < launching.stages.count; i++) {
        std::vector<float> times;
        for (const auto &events : launching.events) {
            float milliseconds;
            check(cudaEventElapsedTime(&milliseconds, events[i], events[i + 1]), "time");
            times.push_back(milliseconds);
        }
        launching.seconds[i] += median(times) / 1e3;
    }
}

// Decodes a batch, and compares what it makes with due[0..left). Returns its bytes.
static size_t time_batch(const decode_batch &batch, launching &launching, const unsigned char *due,
                         size_t left)
{
    for (const auto &events : launching.events) {
        begin_batch(batch, nullptr);
        launch_stages(batch, launching, events);
    }
    add_times(launching);
    if (batch.counts)
        add_found(launching.found, batch);
    byte_vector content(verdict_of(batch).content);
    check(cudaMemcpy(content.data(), batch.out, content.size(), cudaMemcpyDeviceToHost), "content");
    if (content.size() > left || std::memcmp(content.data(), due, content.size()) != 0)
        die("content is not what the library gives");
    return content.size();
}

// Returns how many batches there were.
static size_t time_stages(const options &options, const byte_vector &file, const byte_vector &due,
                          launching &launching)
{
    const decode_capacity capacity =
        capacity_of(options.batch << 20, file.size(), (options.batch << 8) + 1);
    const std::vector<piece> pieces = plan_all(launching.walk, capacity, file);
    batch_ring ring = acquire_memory(capacity, 2);
    size_t made = 0;
    for (size_t i = 0; i < pieces.size(); i++) {
        decode_batch &batch = ring.batch[i % 2];
        fill_batch(batch, pieces[i], file, nullptr);
        made += time_batch(batch, launching, due.data() + made, due.size() - made);
    }
    if (made != due.size())
        die("there is less content than the library gives");
    free_memory(ring);
    free_pieces(pieces);
    return pieces.size();
}

// --- the pipeline ---

struct pipeline {
    unsigned count;
    batch_ring ring;
    std::vector<decode_lane> lane;
    std::vector<cudaEvent_t> copied;
    cudaStream_t copies, matches;
};

static pipeline open_pipeline(const options &options, const decode_capacity &capacity)
{
    pipeline pipeline = {};
    pipeline.count = options.lanes;
    pipeline.ring = acquire_memory(capacity, options.lanes);
    pipeline.lane.resize(options.lanes);
    pipeline.copied.resize(options.lanes);
    for (unsigned i = 0; i < options.lanes; i++) {
        check(decode_lane_open(&pipeline.lane[i]), "lane");
        check(cudaEventCreate(&pipeline.copied[i]), "event");
    }
    check(cudaStreamCreateWithFlags(&pipeline.copies, cudaStreamNonBlocking), "stream");
    check(cudaStreamCreateWithFlags(&pipeline.matches, cudaStreamNonBlocking), "stream");
    return pipeline;
}

static void submit(pipeline &pipeline, unsigned turn, const piece &piece, const byte_vector &file,
                   const launching &launching)
{
    decode_batch &batch = pipeline.ring.batch[turn];
    fill_batch(batch, piece, file, pipeline.copies);
    check(cudaEventRecord(pipeline.copied[turn], pipeline.copies), "event");
    check(cudaStreamWaitEvent(pipeline.lane[turn].stream, pipeline.copied[turn], 0), "event");
    const decode_pipeline lanes = {&launching.residents, pipeline.lane.data(), pipeline.count,
                                   pipeline.matches};
    check(decode_launch(lanes, batch, turn), "launch");
    check(cudaEventRecord(pipeline.lane[turn].done, pipeline.matches), "event");
}

// Decompresses FILE once, as fast as it goes. A batch's memory is taken again once it is done.
static size_t run_pipeline(pipeline &pipeline, const std::vector<piece> &pieces,
                           const byte_vector &file, const launching &launching)
{
    size_t made = 0;
    unsigned done = 0;
    const auto finish = [&] {
        const unsigned turn = done++ % pipeline.count;
        check(cudaEventSynchronize(pipeline.lane[turn].done), "the stages");
        made += verdict_of(pipeline.ring.batch[turn]).content;
    };
    for (unsigned i = 0; i < pieces.size(); i++) {
        while (i - done >= pipeline.count - 1) // the next one's memory is written to as well
            finish();
        submit(pipeline, i % pipeline.count, pieces[i], file, launching);
    }
    while (done < pieces.size())
        finish();
    return made;
}

// The seconds of the median repeat.
static double time_pipeline(const options &options, byte_vector &file, size_t due,
                            const launching &launching)
{
    const decode_capacity capacity = capacity_of(options.batch << 19, options.in << 20, 4096);
    check(cudaHostRegister(file.data(), file.size(), 0), "pinning");
    const std::vector<piece> pieces = plan_all(launching.walk, capacity, file);
    pipeline pipeline = open_pipeline(options, capacity);
    std::vector<double> times;
    for (int i = 0; i < options.repeats + 1; i++) {
        const auto begin = std::chrono::steady_clock::now();
        if (run_pipeline(pipeline, pieces, file, launching) != due)
            die("the pipeline gives other content");
        times.push_back(seconds_since(begin));
    }
    check(cudaHostUnregister(file.data()), "pinning");
    return median(times);
}

// --- the command line ---

static options parse_options(int argc, char **argv)
{
    static const struct option known[] = {{"batch", required_argument, nullptr, 'b'},
                                          {"in", required_argument, nullptr, 'i'},
                                          {"lanes", required_argument, nullptr, 'l'},
                                          {"repeats", required_argument, nullptr, 'r'},
                                          {nullptr, 0, nullptr, 0}};
    options options;
    for (int option; (option = getopt_long(argc, argv, "", known, nullptr)) != -1;)
        if (option == 'b')
            options.batch = std::max(1ul, std::strtoul(optarg, nullptr, 10));
        else if (option == 'i')
            options.in = std::min(1024ul, std::max(1ul, std::strtoul(optarg, nullptr, 10)));
        else if (option == 'l')
            options.lanes = std::max(2, std::atoi(optarg));
        else if (option == 'r')
            options.repeats = std::max(1, std::atoi(optarg));
        else
            std::exit(2);
    if (optind + 1 != argc) {
        std::fputs("usage: decode_stages [--batch=MIB] [--in=MIB] [--lanes=N] [--repeats=N] FILE\n",
                   stderr);
        std::exit(2);
    }
    options.file = argv[optind];
    return options;
}

static void print_rate(const char *what, double seconds, double gigabytes)
{
    std::printf("%-10s %9.3f ms %8.1f GB/s\n", what, seconds * 1e3, gigabytes / seconds);
}

static void print_found(const found_counts &found)
{
    const auto print = [](const char *what, uint64_t count) {
        std::printf("%-10s %12llu\n", what, static_cast<unsigned long long>(count));
    };
    print("candidates", found.candidates);
    print("units", found.units);
    print("sequences", found.sequences);
    print("literals", found.literals);
    print("blocks", found.blocks);
    print("frames", found.frames);
}

int main(int argc, char **argv)
{
    const options options = parse_options(argc, argv);
    byte_vector file = read_file(options.file);
    const codec *const codec = codec_of(file);
    double by_library, all = 0;
    const byte_vector due = decode_by_library(codec, file, &by_library);
    launching launching = prepare(options, codec);
    const size_t count = time_stages(options, file, due, launching);
    const double size = static_cast<double>(due.size()) / 1e9;
    std::printf("%s: %.3f GB of content, %.3f GB compressed, %zu batches\n", options.file, size,
                static_cast<double>(file.size()) / 1e9, count);
    if (launching.walk.format == DECODE_GZIP)
        print_found(launching.found);
    for (unsigned i = 0; i < launching.stages.count; i++) {
        all += launching.seconds[i];
        print_rate(launching.stages.stage[i].name, launching.seconds[i], size);
    }
    print_rate("all", all, size);
    print_rate("pipeline", time_pipeline(options, file, due.size(), launching), size);
    print_rate("one core", by_library, size);
}

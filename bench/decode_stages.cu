// SPDX-License-Identifier: MIT
// decode_stages [--batch=MIB] [--in=MIB] [--lanes=N] [--repeats=N] FILE
//
// Measures the stages that decompress zstd, each alone, over the batches that FILE makes, of so
// much content each (256 MiB). A batch is decoded N times (5), a stage's time is the median of its
// CUDA-event times, and times are added up over batches. What is printed is content by time.
//
// Then FILE is decompressed as gpuhisto does it, in batches of half as much content, or so many
// compressed bytes (32 MiB), so many of them side by side (8), with the copies to the device: the
// wall time of that is "pipeline", of the median repeat.
//
// The content is compared with libzstd's, whose time on one core is printed as well.
#include "bench/device.cuh"
#include "bench/read_file.cuh"
#include "gpu/decode/pipeline.cuh"

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
#include <zstd.h>

struct options {
    size_t batch = 256; // MiB
    size_t in = 32;     // MiB
    unsigned lanes = 8;
    int repeats = 5;
    const char *file;
};

// --- libzstd ---

static byte_vector decode_by_libzstd(const byte_vector &file, double *seconds)
{
    byte_vector content;
    static unsigned char part[1 << 18];
    ZSTD_DCtx *const context = ZSTD_createDCtx();
    const auto begin = std::chrono::steady_clock::now();
    double copying = 0;
    ZSTD_inBuffer in = {file.data(), file.size(), 0};
    for (size_t filled = sizeof part; in.pos < in.size || filled == sizeof part;) {
        ZSTD_outBuffer out = {part, sizeof part, 0};
        if (ZSTD_isError(ZSTD_decompressStream(context, &out, &in)))
            die("FILE is not zstd data");
        filled = out.pos;
        const auto decoded = std::chrono::steady_clock::now();
        content.insert(content.end(), part, part + out.pos);
        copying +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - decoded).count();
    }
    *seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() - copying;
    ZSTD_freeDCtx(context);
    return content;
}

// --- the device ---

struct memory {
    struct decode_capacity capacity;
    unsigned char *own[2],
        *stages; // a batch's memory in turn, as one's `keep` fills the next one's
};

struct launching {
    std::vector<unsigned> resident;               // by stage
    std::vector<std::vector<cudaEvent_t>> events; // by repeat: before each stage, and at the end
    std::vector<double> seconds;                  // by stage, of all batches
};

static unsigned char *device_memory(size_t size)
{
    void *memory;
    check(cudaMalloc(&memory, size), "memory");
    check(cudaMemset(memory, 0, size), "memory");
    return static_cast<unsigned char *>(memory);
}

static memory take_memory(const options &options, size_t in)
{
    memory memory;
    const size_t room = options.batch << 20, blocks = room / 4096 + 1;
    if (in > 1u << 30 || room > 1u << 30)
        die("FILE and batches may have 1 GiB each");
    memory.capacity = {static_cast<uint32_t>(std::max<size_t>(in, 1 << 18)),
                       static_cast<uint32_t>(blocks), static_cast<uint32_t>(blocks),
                       static_cast<uint32_t>(room), ZSTD_WINDOW_MOST};
    for (unsigned char *&own : memory.own)
        own = device_memory(decode_own_memory(nullptr, &memory.capacity, nullptr));
    memory.stages = device_memory(decode_stage_memory(nullptr, &memory.capacity, nullptr));
    return memory;
}

// How many blocks of each stage fit on the device, and the events to time them with.
static launching prepare(const options &options)
{
    launching launching;
    int processors;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "device");
    launching.resident.resize(zstd_stage_count);
    check(decode_prepare_stages(launching.resident.data(), processors), "occupancy");
    launching.events.resize(static_cast<size_t>(options.repeats),
                            std::vector<cudaEvent_t>(zstd_stage_count + 1));
    for (auto &events : launching.events)
        for (cudaEvent_t &event : events)
            check(cudaEventCreate(&event), "event");
    launching.seconds.resize(zstd_stage_count);
    return launching;
}

static decode_batch batch_of(const memory &memory, const decode_plan &plan, unsigned turn)
{
    decode_batch batch = {}, next = {};
    decode_own_memory(&batch, &memory.capacity, memory.own[turn]);
    decode_stage_memory(&batch, &memory.capacity, memory.stages);
    decode_own_memory(&next, &memory.capacity, memory.own[!turn]);
    batch.next = next.in;
    batch.next_out = next.out;
    decode_batch_set_plan(&batch, &plan);
    return batch;
}

static void copy_to_device(const decode_batch &batch, const decode_plan &plan,
                           const unsigned char *in)
{
    check(cudaMemcpy(batch.in + DECODE_CARRY, in, plan.in_size, cudaMemcpyHostToDevice), "copy");
    check(cudaMemcpy(const_cast<decode_block *>(batch.block), plan.block,
                     plan.blocks * sizeof *plan.block, cudaMemcpyHostToDevice),
          "copy");
    check(cudaMemcpy(const_cast<decode_frame *>(batch.frame), plan.frame,
                     plan.frames * sizeof *plan.frame, cudaMemcpyHostToDevice),
          "copy");
}

static void launch_stages(const decode_batch &batch, const launching &launching,
                          const std::vector<cudaEvent_t> &events)
{
    for (unsigned i = 0; i < zstd_stage_count; i++) {
        check(cudaEventRecord(events[i]), "event");
        check(decode_launch_stage(i, batch, launching.resident[i], nullptr), zstd_stages[i].name);
    }
    check(cudaEventRecord(events[zstd_stage_count]), "event");
    check(cudaDeviceSynchronize(), "the stages");
}

static void add_times(launching &launching)
{
    for (unsigned i = 0; i < zstd_stage_count; i++) {
        std::vector<float> times;
        for (const auto &events : launching.events) {
            float milliseconds;
            check(cudaEventElapsedTime(&milliseconds, events[i], events[i + 1]), "time");
            times.push_back(milliseconds);
        }
        std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
        launching.seconds[i] += times[times.size() / 2] / 1e3;
    }
}

// Decodes a batch, and compares what it makes with due[0..left). Returns its bytes.
static size_t decode_batch(const decode_batch &batch, launching &launching,
                           const unsigned char *due, size_t left)
{
    decode_verdict verdict;
    for (const auto &events : launching.events)
        launch_stages(batch, launching, events);
    add_times(launching);
    check(cudaMemcpy(&verdict, batch.verdict, sizeof verdict, cudaMemcpyDeviceToHost), "verdict");
    if (verdict.refused != DECODE_NONE) {
        std::fprintf(stderr, "decode_stages: block %u is refused: %u\n", verdict.refused,
                     verdict.refusal);
        std::exit(1);
    }
    byte_vector content(verdict.content);
    check(cudaMemcpy(content.data(), batch.out, content.size(), cudaMemcpyDeviceToHost), "content");
    if (content.size() > left || std::memcmp(content.data(), due, content.size()) != 0)
        die("content is not what libzstd gives");
    return content.size();
}

// Returns how many batches there were.
static unsigned decode(const options &options, const byte_vector &file, const byte_vector &due,
                       launching &launching)
{
    const memory memory = take_memory(options, file.size());
    std::vector<decode_block> blocks(memory.capacity.blocks);
    std::vector<decode_frame> frames(memory.capacity.frames);
    std::vector<decode_frame_end> ends(memory.capacity.frames);
    zstd_walk walk = {};
    decode_plan plan = {};
    walk.window_max = ZSTD_WINDOW_MOST;
    plan.capacity = memory.capacity;
    plan.block = blocks.data();
    plan.frame = frames.data();
    plan.frame_end = ends.data();
    unsigned batches = 0;
    size_t at = 0, made = 0;
    while (at < file.size()) {
        decode_plan_clear(&plan);
        const enum decode_planned planned =
            zstd_plan_blocks(&walk, &plan, file.data() + at, file.size() - at);
        if (planned == DECODE_LEFT || (planned == DECODE_NEEDS_MORE && plan.taken == 0))
            die("FILE has something that is left to libzstd");
        if (planned == DECODE_PLANNED) {
            const decode_batch batch = batch_of(memory, plan, batches++ % 2);
            copy_to_device(batch, plan, file.data() + at);
            made += decode_batch(batch, launching, due.data() + made, due.size() - made);
        }
        at += plan.taken;
    }
    if (made != due.size())
        die("there is less content than libzstd gives");
    return batches;
}

// --- the pipeline ---

// A batch as the host has planned it.
struct planned_batch {
    size_t at; // in FILE
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

static std::vector<planned_batch> plan_all(const decode_capacity &capacity, const byte_vector &file)
{
    std::vector<planned_batch> batches;
    zstd_walk walk = {};
    walk.window_max = ZSTD_WINDOW_MOST;
    for (size_t at = 0; at < file.size();) {
        decode_plan plan = new_plan(capacity);
        const size_t left = std::min<size_t>(file.size() - at, capacity.in);
        if (zstd_plan_blocks(&walk, &plan, file.data() + at, left) == DECODE_PLANNED)
            batches.push_back({at, plan});
        else if (plan.taken == 0)
            die("a block does not fit in a batch");
        at += plan.taken;
    }
    return batches;
}

struct pipeline {
    unsigned count;
    std::vector<decode_batch> batch;
    std::vector<decode_lane> lane;
    std::vector<cudaEvent_t> copied;
    cudaStream_t copies, matches;
};

static pipeline open_pipeline(const options &options, const decode_capacity &capacity)
{
    pipeline pipeline = {};
    pipeline.count = options.lanes;
    pipeline.batch.resize(options.lanes);
    pipeline.lane.resize(options.lanes);
    pipeline.copied.resize(options.lanes);
    unsigned char *const stages = device_memory(decode_stage_memory(nullptr, &capacity, nullptr));
    const size_t own = decode_own_memory(nullptr, &capacity, nullptr);
    for (unsigned i = 0; i < options.lanes; i++) {
        decode_own_memory(&pipeline.batch[i], &capacity, device_memory(own));
        decode_stage_memory(&pipeline.batch[i], &capacity, stages);
        check(decode_lane_open(&pipeline.lane[i]), "lane");
        check(cudaEventCreate(&pipeline.copied[i]), "event");
    }
    for (unsigned i = 0; i < options.lanes; i++) {
        pipeline.batch[i].next = pipeline.batch[(i + 1) % options.lanes].in;
        pipeline.batch[i].next_out = pipeline.batch[(i + 1) % options.lanes].out;
    }
    check(cudaDeviceSynchronize(), "memory"); // it was cleared on another stream
    check(cudaStreamCreateWithFlags(&pipeline.copies, cudaStreamNonBlocking), "stream");
    check(cudaStreamCreateWithFlags(&pipeline.matches, cudaStreamNonBlocking), "stream");
    return pipeline;
}

static void submit(pipeline &pipeline, unsigned turn, const planned_batch &planned,
                   const byte_vector &file, const launching &launching)
{
    decode_batch &batch = pipeline.batch[turn];
    const decode_plan &plan = planned.plan;
    decode_batch_set_plan(&batch, &plan);
    const auto copy = [&](void *to, const void *from, size_t size) {
        check(cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, pipeline.copies), "copy");
    };
    copy(batch.in + DECODE_CARRY, file.data() + planned.at, plan.in_size);
    copy(const_cast<decode_block *>(batch.block), plan.block, plan.blocks * sizeof *plan.block);
    copy(const_cast<decode_frame *>(batch.frame), plan.frame, plan.frames * sizeof *plan.frame);
    check(cudaEventRecord(pipeline.copied[turn], pipeline.copies), "event");
    check(cudaStreamWaitEvent(pipeline.lane[turn].stream, pipeline.copied[turn], 0), "event");
    const decode_pipeline lanes = {launching.resident.data(), pipeline.lane.data(), pipeline.count,
                                   pipeline.matches};
    check(decode_launch(lanes, batch, turn), "launch");
    check(cudaEventRecord(pipeline.lane[turn].done, pipeline.matches), "event");
}

// Decompresses FILE once, as fast as it goes. A batch's memory is taken again once it is done.
static size_t run_pipeline(pipeline &pipeline, const std::vector<planned_batch> &batches,
                           const byte_vector &file, const launching &launching)
{
    size_t made = 0;
    unsigned done = 0;
    const auto finish = [&] {
        decode_verdict verdict;
        check(cudaEventSynchronize(pipeline.lane[done % pipeline.count].done), "the stages");
        check(cudaMemcpy(&verdict, pipeline.batch[done % pipeline.count].verdict, sizeof verdict,
                         cudaMemcpyDeviceToHost),
              "verdict");
        if (verdict.refused != DECODE_NONE)
            die("a block is refused in the pipeline");
        made += verdict.content;
        done++;
    };
    for (unsigned i = 0; i < batches.size(); i++) {
        while (i - done >= pipeline.count - 1) // the next one's memory is written to as well
            finish();
        submit(pipeline, i % pipeline.count, batches[i], file, launching);
    }
    while (done < batches.size())
        finish();
    return made;
}

// The seconds of the median repeat.
static double time_pipeline(const options &options, byte_vector &file, size_t due,
                            const launching &launching)
{
    const size_t room = options.batch << 19;
    const decode_capacity capacity = {static_cast<uint32_t>(options.in << 20), 4096, 4096,
                                      static_cast<uint32_t>(room), ZSTD_WINDOW_MOST};
    check(cudaHostRegister(file.data(), file.size(), 0), "pinning");
    const std::vector<planned_batch> batches = plan_all(capacity, file);
    pipeline pipeline = open_pipeline(options, capacity);
    std::vector<double> times;
    for (int i = 0; i < options.repeats + 1; i++) {
        const auto begin = std::chrono::steady_clock::now();
        if (run_pipeline(pipeline, batches, file, launching) != due)
            die("the pipeline gives other content");
        times.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    check(cudaHostUnregister(file.data()), "pinning");
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
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

int main(int argc, char **argv)
{
    const options options = parse_options(argc, argv);
    byte_vector file = read_file(options.file);
    double by_libzstd, all = 0;
    const byte_vector due = decode_by_libzstd(file, &by_libzstd);
    launching launching = prepare(options);
    const unsigned batches = decode(options, file, due, launching);
    const double size = static_cast<double>(due.size()) / 1e9;
    std::printf("%s: %.3f GB of content, %.3f GB compressed, %u batches\n", options.file, size,
                static_cast<double>(file.size()) / 1e9, batches);
    for (unsigned i = 0; i < zstd_stage_count; i++) {
        all += launching.seconds[i];
        std::printf("%-10s %9.3f ms %8.1f GB/s\n", zstd_stages[i].name, launching.seconds[i] * 1e3,
                    size / launching.seconds[i]);
    }
    std::printf("%-10s %9.3f ms %8.1f GB/s\n", "all", all * 1e3, size / all);
    const double together = time_pipeline(options, file, due.size(), launching);
    std::printf("%-10s %9.3f ms %8.1f GB/s\n", "pipeline", together * 1e3, size / together);
    std::printf("%-10s %9.3f ms %8.1f GB/s\n", "libzstd", by_libzstd * 1e3, size / by_libzstd);
}

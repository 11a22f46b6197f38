// SPDX-License-Identifier: MIT
// zstd_nvcomp [--repeats=N] FILE
//
// Measures nvCOMP over the zstd frames of FILE, all of which lie in the device's memory: content by
// time, of the median of N (7) calls. FILE is at most 4 GiB, and each frame states its size. What
// decode_stages prints for the same FILE is to be compared with it.
//
// The content is compared with libzstd's. nvCOMP is not needed for anything else, and is not looked
// for by configure: `make bench/zstd_nvcomp NVCOMP=DIR`, where DIR has include and lib64, as in the
// wheel nvidia-libnvcomp-cu13.
#include "bench/device.cuh"
#include "bench/read_file.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <nvcomp/zstd.h>
#include <vector>
#include <zstd.h>

static void must(nvcompStatus_t status, const char *what)
{
    if (status != nvcompSuccess)
        die(what);
}

struct frames {
    std::vector<size_t> at, size, content, content_at;
    size_t all = 0; // bytes of content
};

static frames find_frames(const byte_vector &file)
{
    frames frames;
    for (size_t at = 0; at < file.size();) {
        const size_t size = ZSTD_findFrameCompressedSize(file.data() + at, file.size() - at);
        if (ZSTD_isError(size))
            die("FILE is not zstd frames");
        const unsigned long long content = ZSTD_getFrameContentSize(file.data() + at, size);
        if (content >= ZSTD_CONTENTSIZE_ERROR)
            die("a frame does not state its size");
        frames.at.push_back(at);
        frames.size.push_back(size);
        frames.content.push_back(content);
        frames.content_at.push_back(frames.all);
        frames.all += content;
        at += size;
    }
    if (frames.at.empty())
        die("FILE has no frames");
    return frames;
}

template <typename T> static T *on_device(const std::vector<T> &from)
{
    T *memory;
    check(cudaMalloc(&memory, from.size() * sizeof(T)), "memory");
    check(cudaMemcpy(memory, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
    return memory;
}

static unsigned char *device_memory(size_t size)
{
    void *memory;
    check(cudaMalloc(&memory, size), "memory");
    return static_cast<unsigned char *>(memory);
}

// Each frame at a multiple of 8 bytes, as nvCOMP wants it.
static std::vector<const void *> copy_frames(const byte_vector &file, const frames &frames)
{
    std::vector<const void *> pointers;
    size_t at = 0;
    for (size_t size : frames.size)
        at += (size + 7) / 8 * 8;
    unsigned char *const memory = device_memory(at);
    at = 0;
    for (size_t i = 0; i < frames.size.size(); i++) {
        check(cudaMemcpy(memory + at, file.data() + frames.at[i], frames.size[i],
                         cudaMemcpyHostToDevice),
              "copy");
        pointers.push_back(memory + at);
        at += (frames.size[i] + 7) / 8 * 8;
    }
    return pointers;
}

static void compare(const byte_vector &file, const frames &frames, const unsigned char *out)
{
    byte_vector due, got;
    for (size_t i = 0; i < frames.at.size(); i++) {
        due.resize(frames.content[i]);
        got.resize(frames.content[i]);
        if (ZSTD_decompress(due.data(), due.size(), file.data() + frames.at[i], frames.size[i]) !=
            due.size())
            die("FILE is corrupt");
        check(
            cudaMemcpy(got.data(), out + frames.content_at[i], got.size(), cudaMemcpyDeviceToHost),
            "copy");
        if (got != due)
            die("content is not what libzstd gives");
    }
}

// The seconds of the median call.
static double decode(const byte_vector &file, const frames &frames, int repeats)
{
    const size_t count = frames.at.size();
    const size_t max = *std::max_element(frames.content.begin(), frames.content.end());
    const auto options = nvcompBatchedZstdDecompressDefaultOpts;
    const std::vector<const void *> from = copy_frames(file, frames);
    unsigned char *const out = device_memory(frames.all);
    std::vector<void *> to;
    for (size_t at : frames.content_at)
        to.push_back(out + at);
    const void *const *const device_from = on_device(from);
    void *const *const device_to = on_device(to);
    const size_t *const sizes = on_device(frames.size);
    const size_t *const capacity = on_device(frames.content);
    size_t *const made = on_device(frames.content);
    nvcompStatus_t *const statuses = on_device(std::vector<nvcompStatus_t>(count));
    size_t temporary;
    must(nvcompBatchedZstdDecompressGetTempSize(count, max, options, &temporary, frames.all,
                                                nullptr),
         "asking for memory");
    unsigned char *const memory = device_memory(temporary);
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    std::vector<float> times;
    for (int i = 0; i < repeats; i++) {
        float milliseconds;
        check(cudaEventRecord(begin), "event");
        must(nvcompBatchedZstdDecompressAsync(device_from, sizes, capacity, made, count, memory,
                                              temporary, device_to, options, statuses, nullptr),
             "decompressing");
        check(cudaEventRecord(end), "event");
        check(cudaDeviceSynchronize(), "decompressing");
        check(cudaEventElapsedTime(&milliseconds, begin, end), "time");
        times.push_back(milliseconds);
    }
    compare(file, frames, out);
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[static_cast<size_t>(repeats) / 2] / 1e3;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"repeats", required_argument, nullptr, 'r'},
                                          {nullptr, 0, nullptr, 0}};
    int repeats = 7;
    for (int option; (option = getopt_long(argc, argv, "", known, nullptr)) != -1;)
        if (option == 'r')
            repeats = std::max(1, std::atoi(optarg));
        else
            std::exit(2);
    if (optind + 1 != argc) {
        std::fputs("usage: zstd_nvcomp [--repeats=N] FILE\n", stderr);
        std::exit(2);
    }
    const byte_vector file = read_file(argv[optind]);
    const frames frames = find_frames(file);
    const double seconds = decode(file, frames, repeats);
    std::printf("%s: %zu frames, %.3f GB of content: nvCOMP %.3f ms %.1f GB/s\n", argv[optind],
                frames.at.size(), static_cast<double>(frames.all) / 1e9, seconds * 1e3,
                static_cast<double>(frames.all) / 1e9 / seconds);
}

/* SPDX-License-Identifier: MIT */
// What the files of the emulated device share: emulated_device.cpp (what is to go wrong, and the
// seam's functions) and emulated_streams.cpp (the thread that does the work).
#ifndef GPUHISTO_TESTS_EMULATED_DEVICE_INTERNAL_H
#define GPUHISTO_TESTS_EMULATED_DEVICE_INTERNAL_H

#include "tests/device/emulation.h"

#include "gpu/count/launch.h"
#include "tests/device/emulated_device.h"

extern "C" {
#include "gpu/decode/plan.h"
}

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace emulated
{

constexpr unsigned resident_blocks = 3; // on the whole device

extern std::atomic<bool> struck; // the fault came to pass, with any device

// Work that was enqueued.
struct job {
    struct device_work work;
    bool is_wrong = false; // a read that is to give something else
};

// Work of one kind and number, and looks at it in vain though it had arrived.
struct awaited {
    unsigned under_way = 0;
    unsigned looks = 0;
};

struct slot {
    std::unique_ptr<unsigned char[]> buffer; // memory that ends where data do
    unsigned char *data;                     // in it
    bool copied = false, in_flight = false;
    struct slot_times times = {};
    bool decoded = false;
    unsigned blocks_under_way = 0, reads_under_way = 0;
    size_t blocks_end = 0; // of the bytes that were sent for the next decode
};

// Memory as device memory is: aligned, with nothing of use in it.
struct memory {
    std::vector<unsigned char> bytes;
    unsigned char *take(size_t size)
    {
        bytes.assign(size + 256, 0xa5);
        return bytes.data() + (256 - reinterpret_cast<uintptr_t>(bytes.data()) % 256) % 256;
    }
};

} // namespace emulated

struct device {
    struct fault_plan plan;
    bool counts_calls; // it is one of those that may fail
    struct launch how;
    struct count_args args;
    emulated::memory scratch;
    unsigned char *scratch_begin;
    std::unique_ptr<void, void (*)(void *)> table{nullptr, std::free};
    size_t slot_size, sample_size;
    std::vector<unsigned long long> counts, saved;
    std::vector<unsigned long long> page_words; // of snapshots in pages,
    std::vector<unsigned> page_positions;       // each page's place; none: they are not
    std::vector<struct emulated::slot> slots;
    unsigned buffers; // slots that have one; the others are those of batches
    struct device_decoding decoding = {};
    std::vector<struct decode_batch> batches;
    std::vector<emulated::memory> batch_memory;
    std::string why;
    bool is_open = false, lost = false;
    unsigned snapshots = 0, contents = 0; // calls
    std::atomic<bool> inside{false};
    unsigned pinned = 0;

    std::mutex lock; // the queues, the slots' state
    std::condition_variable changed;
    std::deque<emulated::job> copies, kernels, reads;
    std::vector<struct emulated::awaited> awaited[WORK_ARRIVES];
    bool closing = false, dying = false;
    std::mt19937 random;
    std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();
    std::thread streams;

    double now() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - opened).count();
    }
};

namespace emulated
{

struct decode_batch &batch_of(struct device *device, unsigned slot);

// Counts len bytes into the device's histogram, at once.
void run_kernel(struct device *device, const unsigned char *data, unsigned long long len);

// Puts work on one of the device's streams. Under the lock.
void enqueue(struct device *device, const job &job);

// The thread that does the work of all streams, until the device is closed or lost.
void run_streams(struct device *device);

} // namespace emulated

#endif

/* SPDX-License-Identifier: MIT */
// What the files of the emulated device share: emulated_plan.cpp (what is to go wrong),
// emulated_streams.cpp (the thread that does the work), and the functions of the seam, for chunks
// in emulated_device.cpp and for compressed bytes in emulated_decoding.cpp.
#ifndef GPUHISTO_TESTS_EMULATED_DEVICE_INTERNAL_H
#define GPUHISTO_TESTS_EMULATED_DEVICE_INTERNAL_H

#include "tests/device/emulation.h"

#include "gpu/decode/plan.h"
#include "gpu/count/launch.h"
#include "tests/device/emulated_device.h"

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

// Tiles that partitioned has memory for: few, so that tests see what comes of it.
constexpr unsigned tiles_max = 8;

// Counted over all devices.
extern std::atomic<unsigned> calls, devices_open;
extern std::atomic<bool> struck;
extern std::atomic<uint64_t> decoding_memory;

// A rule of the seam was broken: ends the process.
[[noreturn]] void broken(const char *rule);

// What is to go wrong with the next device that is opened.
struct fault_plan current_plan();

// Work that was enqueued.
struct job {
    struct device_work work;
    bool is_wrong = false; // a read that is to give something else
};

// Copies of blocks or of content that go by a number.
struct numbered {
    unsigned under_way = 0;
    unsigned looks = 0;
};

struct slot {
    std::unique_ptr<unsigned char[]> buffer; // memory that ends where data do
    unsigned char *data;                     // in it
    size_t len = 0;
    bool copied = false, in_flight = false, arrived = false;
    unsigned looks = 0;
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
    struct emulated::numbered inputs[DEVICE_INPUTS], content_reads[DEVICE_READS];
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

// Does not return before emulated_device_release is called. The device is lost then.
void get_stuck(struct device *device);

// Marks the time a thread spends inside the seam, counts the call, and lets it fail or get stuck. A
// look in vain does not count: an engine may look as often as it likes.
class seam_call
{
  public:
    explicit seam_call(struct device *device_, bool reads = false, bool in_vain = false)
        : device(device_)
    {
        if (device->inside.exchange(true))
            broken("two threads inside at once");
        if (device->lost)
            broken("called after it was lost");
        const struct fault_plan &fault = device->plan;
        const bool counts = device->counts_calls && (reads || !fault.reads_only) && !in_vain;
        unsigned number = counts ? ++calls : 0;
        fails = fault.fault == FAULT_ERROR && number > 0 &&
                (number == fault.at || (fault.for_good && number > fault.at));
        if (fails)
            struck = true;
        if (fault.fault == FAULT_HANG && number >= fault.at) {
            std::lock_guard<std::mutex> guard(device->lock);
            device->dying = true;
            device->changed.notify_one();
        }
        const bool is_stuck = fault.fault == FAULT_STUCK && number == fault.at;
        sticks = is_stuck && number % 2 == 1;
        if (is_stuck && !sticks) {
            get_stuck(device);
            fails = true;
        }
    }

    ~seam_call()
    {
        if (!has_left)
            leave();
    }

    // Ends the call. True if it was stuck, so that the device is lost.
    bool leave()
    {
        has_left = true;
        if (sticks)
            get_stuck(device);
        device->inside = false;
        return sticks;
    }
    seam_call(const seam_call &) = delete;
    seam_call &operator=(const seam_call &) = delete;

    bool fails;

  private:
    struct device *device;
    bool sticks, has_left = false;
};

// Loses the device: gives -1.
int lose(struct device *device);

struct decode_batch &batch_of(struct device *device, unsigned slot);

// True if a look finds nothing: what is looked for has not arrived, or the device does not tell
// yet. Takes the lock.
bool looks_in_vain(struct device *device, const std::function<bool()> &has_arrived,
                   unsigned *looks);

// Counts len bytes into the device's histogram, at once.
void run_kernel(struct device *device, const unsigned char *data, unsigned long long len);

// Gathers the pages of a snapshot, if it is in pages, at once. The words that it is copied from.
const unsigned long long *gather_snapshot(struct device *device);

// Puts work on one of the device's streams.
void enqueue(struct device *device, const job &job);

// The functions of the seam for chunks.
int copy_in(struct device *device, const struct device_work &work);
int count(struct device *device, const struct device_work &work);
int snapshot(struct device *device, const struct device_work &work);
int snapshot_arrived(struct device *device, unsigned index, struct slot_times *times);

// The thread that does the work of all streams, until the device is closed or lost.
void run_streams(struct device *device);

} // namespace emulated

#endif

// See emulated_device.h. Work is put on two queues, as on CUDA's streams, and done by a thread that
// takes from either whose head is ready: a copy may run ahead of the kernels before it, and a
// kernel or snapshot only after the copy of its own chunk.
#include "tests/device/emulation.h"

#include "gpu/device.h"
#include "gpu/launch.h"
#include "gpu/zstd/stages.h"

extern "C" {
#include "src/histogram/number.h"
#include "src/histogram/number_nearest.h"
}

#include "tests/device/emulated_device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace
{

constexpr unsigned resident_blocks = 3; // on the whole device
constexpr unsigned shared_most = 227 * 1024;

std::mutex plan_lock; // a device of an earlier run may still be opening while the next is planned
struct fault_plan plan;
bool planned;
std::atomic<unsigned> calls, devices_open;
std::atomic<bool> struck;
std::atomic<uint64_t> decoding_memory;

// The one thread that runs kernels, of all devices: their shared memory is static, and the stacks
// of a block's threads are kept for each OS thread that ever ran one. Never ends: a lost device's
// work may still be on its way when the process exits.
class multiprocessor
{
  public:
    void run(const std::function<void()> &job)
    {
        std::lock_guard<std::mutex> one_at_a_time(turn);
        std::unique_lock<std::mutex> guard(lock);
        if (!started)
            std::thread([this] { work(); }).detach();
        started = true;
        current = &job;
        changed.notify_all();
        changed.wait(guard, [this] { return !current; });
    }

  private:
    void work()
    {
        std::unique_lock<std::mutex> guard(lock);
        for (;;) {
            changed.wait(guard, [this] { return current; });
            (*current)();
            current = nullptr;
            changed.notify_all();
        }
    }

    std::mutex turn, lock;
    std::condition_variable changed;
    const std::function<void()> *current = nullptr;
    bool started = false;
};

multiprocessor &kernels_thread = *new multiprocessor;

[[noreturn]] void broken(const char *rule)
{
    std::fprintf(stderr, "emulated device: %s\n", rule);
    std::abort();
}

enum class kind { copy, count, snapshot, decode, blocks, read };

struct work {
    enum kind kind;
    unsigned slot;
    size_t len; // of a snapshot: its first word
    const unsigned char *from;
    uint64_t *to;
    int64_t begin;         // of content
    bool begins;           // of a FILE, likewise; of a read: it is to be wrong
    struct zstd_plan plan; // to be decoded
    struct zstd_verdict *verdict;
    uint32_t *frame_ends;
    unsigned number = 0;          // of an input, or of a read
    unsigned char *out = nullptr; // of a read
};

// Copies of blocks or of content that go by a number.
struct numbered {
    unsigned under_way = 0;
    unsigned looks = 0;
};

struct slot {
    std::unique_ptr<unsigned char[]> buffer; // of just len bytes, so that reading past them shows
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

constexpr unsigned batches_most = 8;

// What a test has batches hold, at most.
constexpr struct zstd_capacity decoding_most = {512 << 10, 64, 32, 3 * ZSTD_BLOCK_CONTENT, 2 << 20};

} // namespace

struct device {
    struct fault_plan plan;
    char pci_address[32]; // in a domain that no machine has
    bool counts_calls;    // it is one of those that may fail
    struct launch how;
    struct count_args args;
    std::vector<unsigned> scratch;
    std::unique_ptr<void, void (*)(void *)> table{nullptr, std::free};
    size_t slot_size;
    std::vector<unsigned long long> counts;
    std::vector<struct slot> slots;
    unsigned buffers; // slots that have one; the others are those of batches
    struct device_decoding decoding = {};
    std::vector<struct zstd_batch> batches;
    std::vector<memory> batch_memory;
    std::string why;
    bool lost = false;
    unsigned snapshots = 0, contents = 0; // calls
    std::atomic<bool> inside{false};
    unsigned pinned = 0;

    std::mutex lock; // the queues, the slots' state
    std::condition_variable changed;
    std::deque<work> copies, kernels, reads;
    struct numbered inputs[DEVICE_INPUTS], content_reads[DEVICE_READS];
    bool closing = false, dying = false;
    std::mt19937 random;
    std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();
    std::thread streams;

    double now() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - opened).count();
    }
};

namespace
{

// Marks the time a thread spends inside the seam, counts the call, and lets it fail.
class seam_call
{
  public:
    explicit seam_call(struct device *device_, bool reads = false) : device(device_)
    {
        if (device->inside.exchange(true))
            broken("two threads inside at once");
        if (device->lost)
            broken("called after it was lost");
        const struct fault_plan &fault = device->plan;
        const bool counts = device->counts_calls && (reads || !fault.reads_only);
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
    }

    ~seam_call()
    {
        device->inside = false;
    }
    seam_call(const seam_call &) = delete;
    seam_call &operator=(const seam_call &) = delete;

    bool fails;

  private:
    struct device *device;
};

int lose(struct device *device)
{
    device->lost = true;
    device->why = "emulated failure";
    devices_open--;
    std::lock_guard<std::mutex> guard(device->lock);
    device->dying = true; // what is on its way still lands, and may be garbage
    device->changed.notify_one();
    return -1;
}

void run_kernel(struct device *device, const unsigned char *data, unsigned long long len)
{
    const unsigned grid = grid_for(&device->how, resident_blocks, len);
    struct count_args args = device->args;
    args.data = data;
    args.len = len;
    args.counts = device->counts.data();
    args.scratch = device->scratch.data();
    std::vector<unsigned> rest(device->how.rest ? words_for_rest(len) : 0);
    args.rest = rest.data();
    args.powers = number_powers();
    kernels_thread.run([=] {
        emulate_launch(grid, device->how.block, device->how.shared,
                       [=] { device->how.kernel(args); });
        if (device->how.rest)
            emulate_launch(2, NUMBERS_REST_BLOCK, 0, [=] { device->how.rest(args); });
    });
}

struct zstd_batch &batch_of(struct device *device, unsigned slot)
{
    return device->batches.at(slot - device->buffers);
}

// Decodes what was copied in.
void run_stages(struct device *device, const work &job)
{
    struct zstd_batch batch = batch_of(device, job.slot);
    const struct zstd_plan &laid = job.plan;
    batch.in_size = ZSTD_CARRY + laid.in_size;
    batch.blocks = laid.blocks;
    batch.frames = laid.frames;
    batch.room = laid.room;
    if (job.begins)
        std::memset(batch.in, 0, ZSTD_CARRY);
    std::memcpy(const_cast<struct zstd_block *>(batch.block), laid.block,
                laid.blocks * sizeof *laid.block);
    std::memcpy(const_cast<struct zstd_frame *>(batch.frame), laid.frame,
                laid.frames * sizeof *laid.frame);
    kernels_thread.run([=] {
        for (unsigned i = 0; i < zstd_stage_count; i++) {
            const struct zstd_stage &stage = zstd_stages[i];
            emulate_launch(stage.grid(&batch, resident_blocks), stage.block, stage.shared,
                           [&] { stage.kernel(batch); });
        }
        if (device->decoding.separators != SEPARATORS_NONE)
            emulate_launch(1, zstd_tail_threads, 0, [&] {
                zstd_tail_kernel(batch, device->decoding.keep_least,
                                 device->decoding.separators == SEPARATORS_NEWLINES);
            });
    });
}

// Content as a buffer of just len bytes, as slots have it.
void take_content(struct device *device, const work &job)
{
    struct slot &slot = device->slots[job.slot];
    slot.buffer.reset(new unsigned char[job.len]);
    std::memcpy(slot.buffer.get(), batch_of(device, job.slot).out + job.begin, job.len);
}

// Does one piece of work; the queues are not locked.
void perform(struct device *device, const work &job, bool dying)
{
    struct slot &slot = device->slots[job.slot];
    switch (job.kind) {
    case kind::copy:
        slot.times.copy_begin = device->now();
        slot.buffer.reset(new unsigned char[job.len]);
        std::memcpy(slot.buffer.get(), job.from, job.len);
        slot.len = job.len;
        slot.times.copy_end = device->now();
        break;
    case kind::count:
        slot.times.count_begin = device->now();
        if (job.slot >= device->buffers)
            take_content(device, job);
        run_kernel(device, slot.buffer.get(), job.len);
        slot.times.count_end = device->now();
        break;
    case kind::blocks:
        std::memcpy(batch_of(device, job.slot).in + ZSTD_CARRY + job.begin, job.from, job.len);
        break;
    case kind::read: // a lost device leaves garbage
        std::memcpy(job.out, batch_of(device, job.slot).out + job.begin, job.len);
        if (dying)
            std::memset(job.out, 0x5a, job.len);
        if (job.begins) {
            job.out[job.len / 2] ^= 4;
            struck = true;
        }
        break;
    case kind::decode:
        run_stages(device, job);
        *job.verdict = *batch_of(device, job.slot).verdict;
        std::memcpy(job.frame_ends, batch_of(device, job.slot).frame_ends,
                    job.plan.frames * sizeof *job.frame_ends);
        break;
    case kind::snapshot:
        if (!job.to)
            break;
        for (size_t bin = job.len; bin < device->counts.size(); bin++)
            job.to[bin] = dying ? UINT64_MAX / 3 : device->counts[bin];
        if (device->plan.fault == FAULT_WRONG && job.len < device->counts.size() &&
            ++device->snapshots == device->plan.at) {
            // Letters need not add up to the bytes, so only far too many show. The last word is
            // that of newlines, where text is counted.
            const size_t words = device->counts.size(), middle = std::max(words / 2, job.len);
            job.to[device->plan.seed % 2 ? middle : words - 1] += words == 256 ? 1 : 1ull << 40;
            struck = true;
        }
        break;
    }
}

// Whether what the first of the kernels waits for was copied.
bool kernel_ready(struct device *device)
{
    if (device->kernels.empty())
        return false;
    const work &first = device->kernels.front();
    const struct slot &slot = device->slots[first.slot];
    if (first.kind == kind::count)
        return first.slot >= device->buffers || slot.copied;
    return first.kind != kind::decode || slot.blocks_under_way == 0;
}

bool next_job(struct device *device, work *job)
{
    std::deque<work> *ready[3];
    size_t count = 0;
    if (!device->copies.empty())
        ready[count++] = &device->copies;
    if (kernel_ready(device))
        ready[count++] = &device->kernels;
    if (!device->reads.empty())
        ready[count++] = &device->reads;
    if (count == 0)
        return false;
    std::deque<work> &queue = *ready[device->plan.seed ? device->random() % count : 0];
    *job = queue.front();
    queue.pop_front();
    return true;
}

// Notes that a job is done. Under the lock.
void note_done(struct device *device, const work &job)
{
    struct slot &slot = device->slots[job.slot];
    slot.copied |= job.kind == kind::copy;
    slot.arrived |= job.kind == kind::snapshot;
    slot.decoded |= job.kind == kind::decode;
    if (job.kind == kind::blocks) {
        slot.blocks_under_way--;
        device->inputs[job.number].under_way--;
    }
    if (job.kind == kind::read) {
        slot.reads_under_way--;
        device->content_reads[job.number].under_way--;
    }
}

// Whether copies that go by a number have arrived. Under the lock.
int numbered_arrived(struct device *device, struct numbered *copies)
{
    if (device->plan.fault == FAULT_HANG && device->dying) {
        struck = true;
        return 0;
    }
    return copies->under_way == 0 &&
           (device->plan.fault != FAULT_LATE || copies->looks++ >= device->plan.at);
}

// A lost device is never closed, and its name and reason may be asked for to the end; but a test
// loses thousands, so its thread goes. The list keeps leak checkers quiet.
void abandon(struct device *device)
{
    static std::mutex list_lock;
    static std::vector<struct device *> &list = *new std::vector<struct device *>;
    device->streams.detach();
    device->batches.clear();
    device->batch_memory.clear();
    std::lock_guard<std::mutex> guard(list_lock);
    list.push_back(device);
}

void run_streams(struct device *device)
{
    std::unique_lock<std::mutex> guard(device->lock);
    for (;;) {
        work job;
        if (!next_job(device, &job)) {
            if (device->closing)
                return;
            if (device->dying) {
                abandon(device);
                return;
            }
            device->changed.wait(guard);
            continue;
        }
        bool dying = device->dying;
        guard.unlock();
        perform(device, job, dying);
        guard.lock();
        note_done(device, job);
    }
}

void enqueue(struct device *device, const work &job)
{
    std::lock_guard<std::mutex> guard(device->lock);
    const bool copies_in = job.kind == kind::copy || job.kind == kind::blocks;
    (copies_in                ? device->copies
     : job.kind == kind::read ? device->reads
                              : device->kernels)
        .push_back(job);
    device->changed.notify_one();
}

// GPUHISTO_FAULT=KIND:AT[:once]
struct fault_plan plan_from_environment()
{
    const char *devices = std::getenv("GPUHISTO_DEVICES");
    struct fault_plan given = {FAULT_NONE, 0, true, 1, 1, 0, false};
    static const char *const names[] = {"none", "error", "wrong",  "hang",
                                        "late", "stop",  "content"};
    const char *text = std::getenv("GPUHISTO_FAULT");
    char name[16] = "", once[8] = "";
    if (devices)
        given.devices = static_cast<unsigned>(std::atoi(devices));
    if (!text)
        return given;
    if (std::sscanf(text, "%15[a-z]:%u:%7s", name, &given.at, once) < 2)
        broken("GPUHISTO_FAULT is KIND:AT[:once]");
    given.reads_only = std::strncmp(name, "read", 4) == 0;
    const char *kind = given.reads_only ? name + 4 : name;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (std::strcmp(kind, names[i]) == 0)
            given.fault = static_cast<enum fault>(i);
    given.for_good = !*once;
    return given;
}

struct fault_plan current_plan()
{
    std::lock_guard<std::mutex> guard(plan_lock);
    return planned ? plan : plan_from_environment();
}

} // namespace

extern "C" void emulated_device_plan(struct fault_plan given)
{
    std::lock_guard<std::mutex> guard(plan_lock);
    plan = given;
    planned = true;
    calls = 0;
    struck = false;
}

extern "C" void emulated_device_memory(uint64_t bytes)
{
    decoding_memory = bytes;
}

extern "C" unsigned emulated_device_calls(void)
{
    return calls;
}

extern "C" bool emulated_device_struck(void)
{
    return struck;
}

extern "C" unsigned emulated_devices_open(void)
{
    return devices_open;
}

int device_count_all(struct reason *)
{
    const unsigned devices = current_plan().devices;
    return devices ? static_cast<int>(devices) : 1;
}

struct device *device_open(const struct device_plan *wanted, struct reason *why)
{
    const struct histogram *histogram = wanted->histogram;
    std::unique_ptr<struct device> device(new struct device);
    device->plan = current_plan();
    std::snprintf(device->pci_address, sizeof device->pci_address, "FFFF:%02X:00.0",
                  static_cast<unsigned>(wanted->ordinal) & 0xff);
    device->counts_calls = device->plan.victim < 0 || device->plan.victim == wanted->ordinal;
    if (!device->counts_calls)
        device->plan.fault = FAULT_NONE;
    device->how = launch_with(tuning_for(wanted->strategy, 0), histogram, shared_most);
    if (!launch_fits(&device->how, shared_most)) {
        reason_set(why, "--kernel=%s: so many bins do not fit; leave --kernel out",
                   strategies[wanted->strategy].name);
        return nullptr;
    }
    device->args.map = sample_map_of(histogram);
    number_prepare();
    if (histogram->mode->is_binned) {
        size_t size;
        device->table.reset(row_table(histogram, &size));
        device->args.map.rows.table = device->table.get();
    }
    device->args.shape = device->how.shape;
    device->slot_size = wanted->slot_size;
    device->args.coarsening = device->how.coarsening;
    device->counts.assign(device_histogram_words(histogram), 0);
    // Only what the seam promises: not zeroed, and none for those that did not ask.
    device->scratch.assign(device->how.scratch ? resident_blocks * histogram->bins : 0, 0xa5a5a5a5);
    device->slots.resize(wanted->slots + batches_most); // the streams' thread holds on to them
    device->buffers = wanted->slots;
    device->random.seed(device->plan.seed);
    {
        seam_call call(device.get());
        if (call.fails || wanted->ordinal >= device_count_all(why)) {
            reason_set(why, call.fails ? "emulated failure" : "there is no such device");
            return nullptr;
        }
        run_kernel(device.get(), nullptr, 0);
    }
    devices_open++;
    std::lock_guard<std::mutex> guard(device->lock); // the thread may want to detach itself
    device->streams = std::thread(run_streams, device.get());
    return device.release();
}

const char *device_name(const struct device *)
{
    return "emulated device";
}

const char *device_pci_address(const struct device *device)
{
    return device->pci_address;
}

int device_pin(struct device *device, void *, size_t)
{
    seam_call call(device);
    if (call.fails)
        return -1;
    device->pinned++;
    return 0;
}

void device_unpin(struct device *device, void *)
{
    seam_call call(device);
    device->pinned--;
}

int device_copy_in(struct device *device, unsigned index, const void *data, size_t len)
{
    seam_call call(device);
    struct slot &slot = device->slots.at(index);
    if (len < 1 || len > device->slot_size)
        broken("a chunk of a wrong length");
    {
        std::lock_guard<std::mutex> guard(device->lock);
        if (slot.in_flight)
            broken("a slot used before its snapshot arrived");
        slot.in_flight = true;
        slot.copied = slot.arrived = false;
        slot.looks = 0;
    }
    if (call.fails)
        return lose(device);
    enqueue(device, {kind::copy,
                     index,
                     len,
                     static_cast<const unsigned char *>(data),
                     nullptr,
                     0,
                     false,
                     {},
                     nullptr,
                     nullptr});
    return 0;
}

int device_count(struct device *device, unsigned index, size_t len)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    enqueue(device, {kind::count, index, len, nullptr, nullptr, 0, false, {}, nullptr, nullptr});
    return 0;
}

// Under ThreadSanitizer a batch takes a second, so only some devices decompress.
static bool decompresses()
{
#if defined(__SANITIZE_THREAD__)
    static std::atomic<unsigned> asked;
    return ++asked % 16 == 0;
#else
    return true;
#endif
}

static struct zstd_capacity least_of(const struct zstd_capacity &a, const struct zstd_capacity &b)
{
    return {std::min(a.in, b.in), std::min(a.blocks, b.blocks), std::min(a.frames, b.frames),
            std::min(a.room, b.room), std::min(a.window, b.window)};
}

// Before it is opened again.
static void close_decoding(struct device *device)
{
    std::lock_guard<std::mutex> guard(device->lock);
    for (size_t i = device->buffers; i < device->slots.size(); i++) {
        const struct slot &slot = device->slots[i];
        if (slot.in_flight || slot.reads_under_way || slot.blocks_under_way)
            broken("decoding opened again with work under way");
    }
    device->batches.clear();
    device->batch_memory.clear();
}

int device_open_decoding(struct device *device, struct device_decoding *decoding)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    if (!device->batches.empty())
        close_decoding(device);
    if (!decompresses()) {
        decoding->batches = 0;
        return 0;
    }
    decoding->capacity = least_of(decoding->capacity, decoding_most);
    decoding->memory = zstd_fit(&decoding->capacity, decoding->batches, decoding->keep_least,
                                decoding_memory ? decoding_memory.load() : UINT64_MAX);
    if (decoding->memory == 0) {
        decoding->batches = 0;
        return 0;
    }
    device->decoding = *decoding;
    const unsigned count = decoding->batches;
    if (count > batches_most)
        broken("too many batches");
    device->batch_memory.resize(count + 1);
    device->batches.resize(count);
    const struct zstd_capacity *capacity = &decoding->capacity;
    unsigned char *stages =
        device->batch_memory[count].take(zstd_stage_memory(nullptr, capacity, nullptr));
    for (unsigned i = 0; i < count; i++) {
        struct zstd_batch *batch = &device->batches[i];
        zstd_own_memory(batch, capacity,
                        device->batch_memory[i].take(zstd_own_memory(nullptr, capacity, nullptr)));
        zstd_stage_memory(batch, capacity, stages);
        batch->keep_least = decoding->keep_least;
        std::memset(batch->in, 0, ZSTD_CARRY);
    }
    for (unsigned i = 0; i < count; i++) {
        device->batches[i].next = device->batches[(i + 1) % count].in;
        device->batches[i].next_out = device->batches[(i + 1) % count].out;
    }
    return 0;
}

int device_copy_blocks(struct device *device, unsigned index, uint32_t at,
                       const unsigned char *bytes, size_t len, unsigned input)
{
    seam_call call(device);
    struct slot &slot = device->slots.at(index);
    if (index < device->buffers || input >= DEVICE_INPUTS)
        broken("a batch or an input that there is not");
    if (len < 1 || at + len > device->decoding.capacity.in)
        broken("compressed bytes beyond the batch");
    {
        std::lock_guard<std::mutex> guard(device->lock);
        if (slot.in_flight)
            broken("a batch used before it was counted");
        slot.blocks_under_way++;
        slot.blocks_end = at + len;
        device->inputs[input].under_way++;
        device->inputs[input].looks = 0;
    }
    if (call.fails)
        return lose(device);
    work job = {kind::blocks, index, len, bytes, nullptr, at, false, {}, nullptr, nullptr};
    job.number = input;
    enqueue(device, job);
    return 0;
}

int device_blocks_copied(struct device *device, unsigned input, double *)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    std::lock_guard<std::mutex> guard(device->lock);
    return numbered_arrived(device, &device->inputs[input]);
}

int device_decode(struct device *device, unsigned index, const struct zstd_plan *laid, bool begins,
                  struct zstd_verdict *verdict, uint32_t *frame_ends)
{
    seam_call call(device);
    struct slot &slot = device->slots.at(index);
    const struct zstd_capacity &capacity = device->decoding.capacity;
    if (index < device->buffers)
        broken("a batch without memory");
    if (laid->blocks < 1 || laid->blocks > capacity.blocks || laid->frames > capacity.frames ||
        laid->room > capacity.room || laid->in_size > capacity.in)
        broken("a batch of a wrong size");
    {
        std::lock_guard<std::mutex> guard(device->lock);
        const unsigned next =
            device->buffers + (index - device->buffers + 1) % device->decoding.batches;
        if (slot.in_flight || device->slots[next].in_flight)
            broken("a batch used before it was counted, or the one after it");
        if (slot.reads_under_way || device->slots[next].reads_under_way)
            broken("a batch used before its content was read, or the one after it");
        if (slot.blocks_end != laid->in_size)
            broken("compressed bytes that were not copied");
        slot.in_flight = true;
        slot.arrived = slot.decoded = false;
        slot.looks = 0;
    }
    if (call.fails)
        return lose(device);
    enqueue(device,
            {kind::decode, index, 0, nullptr, nullptr, 0, begins, *laid, verdict, frame_ends});
    return 0;
}

int device_decoded(struct device *device, unsigned index)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    std::lock_guard<std::mutex> guard(device->lock);
    struct slot &slot = device->slots.at(index);
    if (device->plan.fault == FAULT_HANG && device->dying) {
        struck = true;
        return 0;
    }
    if (!slot.decoded || (device->plan.fault == FAULT_LATE && slot.looks++ < device->plan.at))
        return 0;
    slot.in_flight = false;
    return 1;
}

int device_count_content(struct device *device, unsigned index, int64_t begin, size_t len)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    {
        std::lock_guard<std::mutex> guard(device->lock);
        device->slots.at(index).in_flight = true;
    }
    enqueue(device,
            {kind::count, index, len, nullptr, nullptr, begin, false, {}, nullptr, nullptr});
    return 0;
}

int device_read_content(struct device *device, unsigned index, int64_t begin, size_t len,
                        unsigned char *to, unsigned read)
{
    seam_call call(device, true);
    if (read >= DEVICE_READS || len < 1)
        broken("a read that there is not");
    {
        std::lock_guard<std::mutex> guard(device->lock);
        struct slot &slot = device->slots.at(index);
        if (!slot.decoded)
            broken("content read before it was there");
        slot.reads_under_way++;
        device->content_reads[read].under_way++;
        device->content_reads[read].looks = 0;
    }
    if (call.fails)
        return lose(device);
    work job = {kind::read, index, len, nullptr, nullptr, begin, false, {}, nullptr, nullptr};
    job.number = read;
    job.out = to;
    job.begins = device->plan.fault == FAULT_CONTENT && ++device->contents == device->plan.at;
    enqueue(device, job);
    return 0;
}

int device_content_read(struct device *device, unsigned read)
{
    seam_call call(device, true);
    if (call.fails)
        return lose(device);
    std::lock_guard<std::mutex> guard(device->lock);
    return numbered_arrived(device, &device->content_reads[read]);
}

int device_snapshot(struct device *device, unsigned index, uint64_t *counts, size_t first)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    {
        std::lock_guard<std::mutex> guard(device->lock);
        struct slot &slot = device->slots.at(index);
        slot.in_flight = true; // if it stands alone
        slot.arrived = false;
    }
    enqueue(device,
            {kind::snapshot, index, first, nullptr, counts, 0, false, {}, nullptr, nullptr});
    return 0;
}

int device_arrived(struct device *device, unsigned index)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    std::unique_lock<std::mutex> guard(device->lock);
    struct slot &slot = device->slots.at(index);
    if (device->plan.fault == FAULT_HANG && device->dying) {
        struck = true;
        return 0;
    }
    if (device->plan.fault == FAULT_STOP && !slot.arrived && !struck.exchange(true)) {
        guard.unlock();
        std::this_thread::sleep_for(std::chrono::milliseconds(device->plan.at));
        return 0; // as it was before
    }
    if (!slot.arrived || (device->plan.fault == FAULT_LATE && slot.looks++ < device->plan.at))
        return 0;
    slot.in_flight = false;
    return 1;
}

int device_times(struct device *device, unsigned index, struct slot_times *times)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    *times = device->slots.at(index).times;
    return 0;
}

const char *device_reason(const struct device *device)
{
    return device->why.c_str();
}

void device_close(struct device *device)
{
    {
        seam_call call(device);
        std::lock_guard<std::mutex> guard(device->lock);
        for (const struct slot &slot : device->slots)
            if (slot.in_flight || slot.reads_under_way || slot.blocks_under_way)
                broken("closed with work under way");
        if (device->pinned)
            broken("closed with memory still pinned");
        device->closing = true;
        device->changed.notify_one();
    }
    if (device->streams.joinable())
        device->streams.join();
    devices_open--;
    delete device;
}

// SPDX-License-Identifier: MIT
// See emulated_device.h: what is to go wrong with devices, and the functions of the seam.
#include "tests/device/emulated_device_internal.h"

extern "C" {
#include "src/text/number.h"
}

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

using namespace emulated;

// All threads may sleep longer than they ask for. An emulated device takes milliseconds, and
// looking at it every 20 microseconds, as engines do, takes a quarter of a processor.
[[maybe_unused]] static const int slack = prctl(PR_SET_TIMERSLACK, 300000ul);

// Bytes of shared memory that a block may have.
static unsigned shared_max()
{
    const char *given = std::getenv("GPUHISTO_SHARED_MEMORY");
    return given ? static_cast<unsigned>(std::atoi(given)) : 227 * 1024;
}

std::atomic<bool> emulated::struck;

// --- what is to go wrong ---

namespace
{

std::atomic<unsigned> calls, devices_open; // of all devices
std::atomic<uint64_t> decoding_memory;

// A rule of the seam was broken: ends the process.
[[noreturn]] void broken(const char *rule)
{
    std::fprintf(stderr, "emulated device: %s\n", rule);
    std::abort();
}

std::mutex plan_lock; // a device of an earlier run may still be opening while the next is planned
struct fault_plan plan;
bool planned;

// GPUHISTO_FAULT=KIND:AT[:once]
struct fault_plan plan_from_environment()
{
    const char *devices = std::getenv("GPUHISTO_DEVICES");
    struct fault_plan given = {FAULT_NONE, 0, true, 1, 1, 0, false};
    static const char *const names[] = {"none", "error", "wrong",   "hang",
                                        "late", "stop",  "content", "stuck"};
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

// What is to go wrong with the next device that is opened.
struct fault_plan current_plan()
{
    std::lock_guard<std::mutex> guard(plan_lock);
    return planned ? plan : plan_from_environment();
}

// Never destroyed: a call that is stuck when the process ends still waits for them.
std::mutex &stuck_lock = *new std::mutex;
std::condition_variable &stuck_changed = *new std::condition_variable;
unsigned stuck, releases;

// Loses the device: gives -1.
int lose(struct device *device)
{
    if (device->lost)
        return -1;
    device->lost = true;
    device->why = "emulated failure";
    devices_open--;
    std::lock_guard<std::mutex> guard(device->lock);
    device->dying = true; // what is on its way still lands, and may be garbage
    device->changed.notify_one();
    return -1;
}

// Does not return before emulated_device_release is called. The device is lost then.
void get_stuck(struct device *device)
{
    struck = true;
    {
        std::unique_lock<std::mutex> guard(stuck_lock);
        const unsigned before = releases;
        stuck++;
        stuck_changed.wait(guard, [=] { return releases != before; });
    }
    if (device->is_open)
        lose(device);
    std::lock_guard<std::mutex> guard(stuck_lock);
    stuck--;
    stuck_changed.notify_all();
}

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

} // namespace

extern "C" void emulated_device_release(void)
{
    std::unique_lock<std::mutex> guard(stuck_lock);
    releases++;
    stuck_changed.notify_all();
    stuck_changed.wait(guard, [] { return stuck == 0; });
}

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

// --- opening ---

int device_count_all(struct error *)
{
    const unsigned devices = current_plan().devices;
    return devices ? static_cast<int>(devices) : 1;
}

const char *device_missing()
{
    return nullptr;
}

struct device *device_open(const struct device_plan *wanted, struct error *error)
{
    const struct histogram_spec *spec = wanted->spec;
    std::unique_ptr<struct device> device(new struct device);
    device->plan = current_plan();
    device->counts_calls =
        device->plan.victim < 0 || device->plan.victim == wanted->cuda_device.ordinal;
    if (!device->counts_calls)
        device->plan.fault = FAULT_NONE;
    // A cluster of one block is one that runs here.
    const struct launch_limits limits = {shared_max(), wanted->slot_size, 1};
    device->how = launch_with(wanted->strategy, spec, limits);
    if (!launch_fits(&device->how, limits, error))
        return nullptr;
    device->args.map = sample_map_of(spec);
    number_prepare();
    if (spec->mode->is_binned || spec->groups) {
        size_t size;
        device->table.reset(spec->groups ? group_table(spec, &size) : row_table(spec, &size));
        device->args.map.rows.table = device->table.get();
        device->args.map.groups.table = static_cast<const uint16_t *>(device->table.get());
    }
    // Few tiles, so that tests see what comes of it.
    while (device->how.partition.tiles > 8 && launch_take_less(&device->how))
        continue;
    device->args.shape = device->how.shape;
    device->args.partition = device->how.partition;
    device->slot_size = wanted->slot_size;
    device->sample_size =
        spec->is_aligned ? 2 : std::max<size_t>(histogram_spec_sample_size(spec), 1);
    device->args.coarsening = device->how.coarsening;
    device->counts.assign(device_histogram_words(spec), 0);
    if (row_pages_has(spec)) {
        const size_t pages = row_pages_of(spec->bins);
        device->page_words.swap(device->counts);
        device->page_positions.assign(pages, 0);
        device->counts.assign(pages * ROW_PAGE, 0);
    }
    device->scratch_begin =
        device->scratch.take(launch_scratch(&device->how, resident_blocks, device->args.map.bins));
    device->slots.resize(wanted->slots +
                         DEVICE_BATCHES_MAX); // the streams' thread holds on to them
    device->buffers = wanted->slots;
    for (auto &numbers : device->awaited)
        numbers.resize(device->slots.size() + DEVICE_READS); // of any kind
    device->random.seed(device->plan.seed);
    {
        seam_call call(device.get());
        if (call.fails || wanted->cuda_device.ordinal >= device_count_all(error)) {
            error_set(error, call.fails ? "emulated failure" : "there is no such device");
            return nullptr;
        }
        run_kernel(device.get(), nullptr, 0);
        if (call.leave()) {
            error_set(error, "emulated failure");
            return nullptr;
        }
    }
    devices_open++;
    device->is_open = true;
    std::lock_guard<std::mutex> guard(device->lock); // the thread may want to detach itself
    device->streams = std::thread(run_streams, device.get());
    return device.release();
}

const char *device_name(const struct device *)
{
    return "emulated device";
}

int device_pin(struct device *device, void *arg)
{
    const size_t size = static_cast<struct device_pinning *>(arg)->size;
    seam_call call(device);
    if (size == 0)
        device->pinned--;
    else if (!call.fails)
        device->pinned++;
    return call.fails ? -1 : 0;
}

// --- decompressing ---

// What a test has batches hold, at most: as GPUHISTO_BATCH=IN,BLOCKS,FRAMES,ROOM says, or this.
static struct decode_capacity decoding_max()
{
    struct decode_capacity max = {512 << 10, 64, 32, 3 * DECODE_BLOCK_CONTENT, 2 << 20};
    const char *given = std::getenv("GPUHISTO_BATCH");
    if (given &&
        std::sscanf(given, "%u,%u,%u,%u", &max.in, &max.blocks, &max.frames, &max.room) != 4)
        broken("GPUHISTO_BATCH is IN,BLOCKS,FRAMES,ROOM");
    return max;
}

struct decode_batch &emulated::batch_of(struct device *device, unsigned slot)
{
    return device->batches.at(slot - device->buffers);
}

// A batch takes a second where ThreadSanitizer sees the races of kernels, so only some devices
// decompress there.
static bool decompresses()
{
#if defined(__SANITIZE_THREAD__)
    static std::atomic<unsigned> asked;
    static const bool is_slow = std::getenv("GPUHISTO_RACES");
    return !is_slow || ++asked % 16 == 0;
#else
    return true;
#endif
}

static struct decode_capacity min_of(const struct decode_capacity &a,
                                     const struct decode_capacity &b)
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

int device_open_decoding(struct device *device, void *arg)
{
    struct device_decoding *const decoding = static_cast<struct device_decoding *>(arg);
    seam_call call(device);
    if (call.fails)
        return lose(device);
    if (!device->batches.empty())
        close_decoding(device);
    if (!decompresses()) {
        decoding->batches = 0;
        return 0;
    }
    decoding->capacity = min_of(decoding->capacity, decoding_max());
    decoding->memory =
        decode_fit_memory(&decoding->capacity, &decoding->batches, decoding->keep_min,
                          decoding_memory ? decoding_memory.load() : UINT64_MAX);
    if (decoding->memory == 0) {
        decoding->batches = 0;
        return 0;
    }
    device->decoding = *decoding;
    const unsigned count = decoding->batches;
    if (count > DEVICE_BATCHES_MAX)
        broken("too many batches");
    device->batch_memory.resize(count + 1);
    device->batches.resize(count);
    const struct decode_capacity *capacity = &decoding->capacity;
    unsigned char *stages =
        device->batch_memory[count].take(decode_stage_memory(nullptr, capacity, nullptr));
    for (unsigned i = 0; i < count; i++) {
        struct decode_batch *batch = &device->batches[i];
        decode_own_memory(
            batch, capacity,
            device->batch_memory[i].take(decode_own_memory(nullptr, capacity, nullptr)));
        decode_stage_memory(batch, capacity, stages);
        batch->keep_min = decoding->keep_min;
        std::memset(batch->in, 0, DECODE_CARRY);
    }
    for (unsigned i = 0; i < count; i++) {
        device->batches[i].next = device->batches[(i + 1) % count].in;
        device->batches[i].next_out = device->batches[(i + 1) % count].out;
    }
    return 0;
}

// --- work ---

static void check_blocks(const struct device *device, const struct device_work &work)
{
    const size_t len = work.chunk.len;
    if (work.slot < device->buffers || work.copy >= DEVICE_INPUTS)
        broken("a batch or an input that there is not");
    if (len < 1 || work.chunk.at + len > device->decoding.capacity.in)
        broken("compressed bytes beyond the batch");
}

static void check_decode(const struct device *device, const struct device_work &work)
{
    const struct decode_plan *asked = &work.batch->plan;
    const struct decode_capacity &capacity = device->decoding.capacity;
    if (work.slot < device->buffers)
        broken("a batch without memory");
    if ((asked->format == DECODE_ZSTD && asked->blocks < 1) || asked->blocks > capacity.blocks ||
        asked->frames > capacity.frames || asked->room > capacity.room ||
        asked->in_size > capacity.in)
        broken("a batch of a wrong size");
    const struct slot &slot = device->slots[work.slot];
    const struct slot &next =
        device
            ->slots[device->buffers + (work.slot - device->buffers + 1) % device->decoding.batches];
    if (slot.in_flight || next.in_flight)
        broken("a batch used before it was counted, or the one after it");
    if (slot.reads_under_way || next.reads_under_way)
        broken("a batch used before its content was read, or the one after it");
    if (slot.blocks_end != asked->in_size)
        broken("compressed bytes that were not copied");
}

// Checks the seam's rules, and notes what is under way from now on. Under the lock.
static void begin_work(struct device *device, const struct device_work &work)
{
    struct slot &slot = device->slots.at(work.slot);
    switch (work.kind) {
    case WORK_COPY_IN:
        if (work.chunk.len < 1 || work.chunk.len > device->slot_size)
            broken("a chunk of a wrong length");
        if (slot.in_flight)
            broken("a slot used before its snapshot arrived");
        slot.in_flight = true;
        slot.copied = false;
        break;
    case WORK_COPY_BLOCKS:
        check_blocks(device, work);
        if (slot.in_flight)
            broken("a batch used before it was counted");
        slot.blocks_under_way++;
        slot.blocks_end = work.chunk.at + work.chunk.len;
        break;
    case WORK_DECODE:
        check_decode(device, work);
        slot.in_flight = true;
        slot.decoded = false;
        break;
    case WORK_READ_CONTENT:
        if (work.copy >= DEVICE_READS || work.content.len < 1)
            broken("a read that there is not");
        if (!slot.decoded)
            broken("content read before it was there");
        slot.reads_under_way++;
        break;
    case WORK_SNAPSHOT: // it may stand alone
    case WORK_COUNT_CONTENT:
        slot.in_flight = true;
        break;
    case WORK_COUNT:
    case WORK_SAVE:
        break;
    }
    if (work.kind >= WORK_ARRIVES)
        return;
    struct awaited &awaited = device->awaited[work.kind].at(device_work_number(&work));
    awaited.under_way++;
    awaited.looks = 0;
}

int device_enqueue(struct device *device, const struct device_work *work)
{
    const bool reads = work->kind == WORK_READ_CONTENT;
    seam_call call(device, reads);
    {
        std::lock_guard<std::mutex> guard(device->lock);
        begin_work(device, *work);
        if (!call.fails)
            enqueue(device, {*work, reads && device->plan.fault == FAULT_CONTENT &&
                                        ++device->contents == device->plan.at});
    }
    return call.fails ? lose(device) : 0;
}

// Stops the process, as by SIGSTOP, and has it go on after so long.
static void stop_process(unsigned ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
    const pid_t process = getpid(), child = fork();
    if (child < 0)
        broken("cannot fork");
    if (child == 0) {
        nanosleep(&pause, nullptr);
        kill(process, SIGCONT);
        _exit(0);
    }
    kill(process, SIGSTOP);
    waitpid(child, nullptr, 0);
}

// True if a look finds nothing: what is looked for has not arrived, or the device does not tell
// yet.
static bool looks_in_vain(struct device *device, struct awaited *awaited)
{
    std::lock_guard<std::mutex> guard(device->lock);
    if (device->plan.fault == FAULT_HANG && device->dying) {
        struck = true;
        return true;
    }
    return awaited->under_way > 0 ||
           (device->plan.fault == FAULT_LATE && awaited->looks++ < device->plan.at);
}

// Copies of blocks take no time.
int device_arrived(struct device *device, enum device_work_kind kind, unsigned number,
                   struct slot_times *times)
{
    if (kind >= WORK_ARRIVES)
        broken("waited for work that does not arrive");
    const bool in_vain = looks_in_vain(device, &device->awaited[kind].at(number));
    seam_call call(device, kind == WORK_READ_CONTENT, in_vain);
    if (call.fails)
        return lose(device);
    if (in_vain && kind == WORK_SNAPSHOT && device->plan.fault == FAULT_STOP &&
        !struck.exchange(true))
        stop_process(device->plan.at);
    if (in_vain)
        return 0;
    std::lock_guard<std::mutex> guard(device->lock);
    if (kind == WORK_SNAPSHOT || kind == WORK_DECODE)
        device->slots[number].in_flight = false;
    if (kind == WORK_SNAPSHOT && times)
        *times = device->slots[number].times;
    return 1;
}

const char *device_error(const struct device *device)
{
    return device->why.c_str();
}

void device_close(struct device *device)
{
    {
        seam_call call(device);
        {
            std::lock_guard<std::mutex> guard(device->lock);
            for (const struct slot &slot : device->slots)
                if (slot.in_flight || slot.reads_under_way || slot.blocks_under_way)
                    broken("closed with work under way");
            if (device->pinned)
                broken("closed with memory still pinned");
        }
        if (call.leave() || device->lost)
            return;
        std::lock_guard<std::mutex> guard(device->lock);
        device->closing = true;
        device->changed.notify_one();
    }
    if (device->streams.joinable())
        device->streams.join();
    devices_open--;
    delete device;
}

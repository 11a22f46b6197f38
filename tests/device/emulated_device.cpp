// SPDX-License-Identifier: MIT
// See emulated_device.h: the functions of the seam for chunks.
#include "tests/device/emulated_device_internal.h"

extern "C" {
#include "src/text/number.h"
}

#include <algorithm>
#include <cstdio>
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

int emulated::lose(struct device *device)
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
    device->counts_calls = device->plan.victim < 0 || device->plan.victim == wanted->ordinal;
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
    while (device->how.partition.tiles > tiles_max && launch_take_less(&device->how))
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
    device->random.seed(device->plan.seed);
    {
        seam_call call(device.get());
        if (call.fails || wanted->ordinal >= device_count_all(error)) {
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

int emulated::copy_in(struct device *device, const struct device_work &work)
{
    seam_call call(device);
    struct slot &slot = device->slots.at(work.slot);
    if (work.chunk.len < 1 || work.chunk.len > device->slot_size)
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
    enqueue(device, {work});
    return 0;
}

int emulated::count(struct device *device, const struct device_work &work)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    enqueue(device, {work});
    return 0;
}

int emulated::snapshot(struct device *device, const struct device_work &work)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    {
        std::lock_guard<std::mutex> guard(device->lock);
        struct slot &slot = device->slots.at(work.slot);
        slot.in_flight = true; // if it stands alone
        slot.arrived = false;
    }
    enqueue(device, {work});
    return 0;
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

bool emulated::looks_in_vain(struct device *device, const std::function<bool()> &has_arrived,
                             unsigned *looks)
{
    std::lock_guard<std::mutex> guard(device->lock);
    if (device->plan.fault == FAULT_HANG && device->dying) {
        struck = true;
        return true;
    }
    return !has_arrived() || (device->plan.fault == FAULT_LATE && (*looks)++ < device->plan.at);
}

int emulated::snapshot_arrived(struct device *device, unsigned index, struct slot_times *times)
{
    struct slot &slot = device->slots.at(index);
    const bool in_vain = looks_in_vain(
        device, [&] { return slot.arrived; }, &slot.looks);
    seam_call call(device, false, in_vain);
    if (call.fails)
        return lose(device);
    if (in_vain && device->plan.fault == FAULT_STOP && !struck.exchange(true))
        stop_process(device->plan.at);
    std::lock_guard<std::mutex> guard(device->lock);
    slot.in_flight &= in_vain;
    if (!in_vain && times)
        *times = slot.times;
    return !in_vain;
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

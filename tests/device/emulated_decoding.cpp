// SPDX-License-Identifier: MIT
// The functions of the seam for compressed bytes, and for all work, on an emulated device.
#include "tests/device/emulated_device_internal.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace emulated;

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

// Looks whether copies that go by a number have arrived: 1, 0 or -1.
static int numbered_arrived(struct device *device, struct numbered *copies, bool reads)
{
    const bool in_vain = looks_in_vain(
        device, [=] { return copies->under_way == 0; }, &copies->looks);
    seam_call call(device, reads, in_vain);
    if (call.fails)
        return lose(device);
    return !in_vain;
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

static int copy_blocks(struct device *device, const struct device_work &work)
{
    const unsigned index = work.slot, input = work.copy;
    const size_t at = work.blocks.at, len = work.blocks.len;
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
    enqueue(device, {work});
    return 0;
}

static int decode(struct device *device, const struct device_work &work)
{
    const unsigned index = work.slot;
    const struct decode_plan *planned = &work.batch->plan;
    seam_call call(device);
    struct slot &slot = device->slots.at(index);
    const struct decode_capacity &capacity = device->decoding.capacity;
    if (index < device->buffers)
        broken("a batch without memory");
    if ((planned->format == DECODE_ZSTD && planned->blocks < 1) ||
        planned->blocks > capacity.blocks || planned->frames > capacity.frames ||
        planned->room > capacity.room || planned->in_size > capacity.in)
        broken("a batch of a wrong size");
    {
        std::lock_guard<std::mutex> guard(device->lock);
        const unsigned next =
            device->buffers + (index - device->buffers + 1) % device->decoding.batches;
        if (slot.in_flight || device->slots[next].in_flight)
            broken("a batch used before it was counted, or the one after it");
        if (slot.reads_under_way || device->slots[next].reads_under_way)
            broken("a batch used before its content was read, or the one after it");
        if (slot.blocks_end != planned->in_size)
            broken("compressed bytes that were not copied");
        slot.in_flight = true;
        slot.arrived = slot.decoded = false;
        slot.looks = 0;
    }
    if (call.fails)
        return lose(device);
    enqueue(device, {work});
    return 0;
}

static int decoded(struct device *device, unsigned index)
{
    struct slot &slot = device->slots.at(index);
    const bool in_vain = looks_in_vain(
        device, [&] { return slot.decoded; }, &slot.looks);
    seam_call call(device, false, in_vain);
    if (call.fails)
        return lose(device);
    std::lock_guard<std::mutex> guard(device->lock);
    slot.in_flight &= in_vain;
    return !in_vain;
}

static int count_content(struct device *device, const struct device_work &work)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    {
        std::lock_guard<std::mutex> guard(device->lock);
        device->slots.at(work.slot).in_flight = true;
    }
    enqueue(device, {work});
    return 0;
}

static int save(struct device *device, const struct device_work &work)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    enqueue(device, {work});
    return 0;
}

static int read_content(struct device *device, const struct device_work &work)
{
    seam_call call(device, true);
    if (work.copy >= DEVICE_READS || work.content.len < 1)
        broken("a read that there is not");
    {
        std::lock_guard<std::mutex> guard(device->lock);
        struct slot &slot = device->slots.at(work.slot);
        if (!slot.decoded)
            broken("content read before it was there");
        slot.reads_under_way++;
        device->content_reads[work.copy].under_way++;
        device->content_reads[work.copy].looks = 0;
    }
    if (call.fails)
        return lose(device);
    enqueue(device,
            {work, device->plan.fault == FAULT_CONTENT && ++device->contents == device->plan.at});
    return 0;
}

// --- all work ---

int device_enqueue(struct device *device, const struct device_work *work)
{
    switch (work->kind) {
    case WORK_COPY_IN:
        return copy_in(device, *work);
    case WORK_COUNT:
        return count(device, *work);
    case WORK_SNAPSHOT:
        return snapshot(device, *work);
    case WORK_COPY_BLOCKS:
        return copy_blocks(device, *work);
    case WORK_DECODE:
        return decode(device, *work);
    case WORK_COUNT_CONTENT:
        return count_content(device, *work);
    case WORK_READ_CONTENT:
        return read_content(device, *work);
    case WORK_SAVE:
        return save(device, *work);
    }
    broken("work of a kind that there is not");
}

// Copies of blocks take no time.
int device_arrived(struct device *device, enum device_work_kind kind, unsigned number,
                   struct slot_times *times)
{
    switch (kind) {
    case WORK_SNAPSHOT:
        return snapshot_arrived(device, number, times);
    case WORK_COPY_BLOCKS:
        return numbered_arrived(device, &device->inputs[number], false);
    case WORK_DECODE:
        return decoded(device, number);
    case WORK_READ_CONTENT:
        return numbered_arrived(device, &device->content_reads[number], true);
    default:
        broken("waited for work that does not arrive");
    }
}

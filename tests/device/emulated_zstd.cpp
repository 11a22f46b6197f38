// SPDX-License-Identifier: MIT
// The functions of the seam for compressed blocks, on an emulated device.
#include "tests/device/emulated_device_internal.h"

#include <algorithm>
#include <cstring>

using namespace emulated;

// What a test has batches hold, at most.
static constexpr struct zstd_capacity decoding_most = {512 << 10, 64, 32, 3 * ZSTD_BLOCK_CONTENT,
                                                       2 << 20};

struct zstd_batch &emulated::batch_of(struct device *device, unsigned slot)
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
    decoding->memory =
        zstd_fit_memory(&decoding->capacity, &decoding->batches, decoding->keep_least,
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

int device_copy_blocks(struct device *device, const struct device_blocks *blocks, unsigned input)
{
    const unsigned index = blocks->slot;
    const size_t at = blocks->at, len = blocks->len;
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
    work job(kind::blocks, index);
    job.len = len;
    job.from = blocks->bytes;
    job.begin = blocks->at;
    job.number = input;
    enqueue(device, job);
    return 0;
}

int device_blocks_copied(struct device *device, unsigned input, double *)
{
    return numbered_arrived(device, &device->inputs[input], false);
}

int device_decode(struct device *device, unsigned index, const struct zstd_plan *planned,
                  bool begins, const struct device_result *result)
{
    seam_call call(device);
    struct slot &slot = device->slots.at(index);
    const struct zstd_capacity &capacity = device->decoding.capacity;
    if (index < device->buffers)
        broken("a batch without memory");
    if (planned->blocks < 1 || planned->blocks > capacity.blocks ||
        planned->frames > capacity.frames || planned->room > capacity.room ||
        planned->in_size > capacity.in)
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
    work job(kind::decode, index);
    job.plan = *planned;
    job.begins = begins;
    job.verdict = result->verdict;
    job.frame_ends = result->frame_ends;
    enqueue(device, job);
    return 0;
}

int device_decoded(struct device *device, unsigned index)
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

int device_count_content(struct device *device, const struct device_content *content)
{
    seam_call call(device);
    if (call.fails)
        return lose(device);
    {
        std::lock_guard<std::mutex> guard(device->lock);
        device->slots.at(content->slot).in_flight = true;
    }
    work job(kind::count, content->slot);
    job.len = content->len;
    job.begin = content->begin;
    enqueue(device, job);
    return 0;
}

int device_read_content(struct device *device, const struct device_content *content,
                        unsigned char *to, unsigned read)
{
    const unsigned index = content->slot;
    const size_t len = content->len;
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
    work job(kind::read, index);
    job.len = len;
    job.begin = content->begin;
    job.number = read;
    job.out = to;
    job.is_wrong = device->plan.fault == FAULT_CONTENT && ++device->contents == device->plan.at;
    enqueue(device, job);
    return 0;
}

int device_content_read(struct device *device, unsigned read)
{
    return numbered_arrived(device, &device->content_reads[read], true);
}

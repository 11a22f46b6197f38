// SPDX-License-Identifier: MIT
// The streams of an emulated device. Work is put on three queues, as on CUDA's streams, and done by
// a thread that takes from any whose head is ready: a copy may run ahead of the kernels before it,
// and a kernel or snapshot only after the copy of its own chunk.
#include "tests/device/emulated_device_internal.h"

#include "gpu/decode/stages.h"

extern "C" {
#include "src/text/number.h"
}

#include <algorithm>
#include <cstring>
#include <functional>

namespace emulated
{

namespace
{

// The one thread that runs kernels, of all devices: their shared memory is static, and the stacks
// of a block's threads are kept for each OS thread that ever ran one. Never ends: a lost device's
// work may still be on its way when the process exits. It stands still from then on, since leak
// checkers do not see what is held by a thread that runs on the stack of a block's thread.
class multiprocessor
{
  public:
    static multiprocessor &the_one()
    {
        static multiprocessor &one = *new multiprocessor;
        static const int stops = std::atexit([] { one.turn.lock(); });
        static_cast<void>(stops);
        return one;
    }

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

} // namespace

void run_kernel(struct device *device, const unsigned char *data, unsigned long long len)
{
    struct count_args args = device->args;
    args.data = data;
    args.len = len;
    args.counts = device->counts.data();
    args.scratch = reinterpret_cast<unsigned *>(device->scratch_begin);
    std::vector<unsigned> rest(device->how.is_text ? words_for_rest(len) : 0);
    args.rest = rest.data();
    args.powers = number_powers();
    const auto zero = [](unsigned *words, size_t number) {
        std::fill_n(words, number, 0u);
        return true;
    };
    const auto run = [](counting_kernel kernel, unsigned grid, unsigned block, size_t shared,
                        const struct count_args &given) {
        emulate_launch(grid, block, shared, [=] { kernel(given); });
        return true;
    };
    multiprocessor::the_one().run([=] {
        launch_all(&device->how, {resident_blocks, resident_blocks - 1}, args, zero, run);
    });
}

namespace
{

// Gathers the pages of a snapshot, if it is in pages, at once. The words that it is copied from.
const unsigned long long *gather_snapshot(struct device *device)
{
    const unsigned pages = static_cast<unsigned>(device->page_positions.size());
    if (pages == 0)
        return device->counts.data();
    const row_pages_args args = {device->counts.data(), pages, device->page_positions.data(),
                                 device->page_words.data()};
    multiprocessor::the_one().run([=] {
        emulate_launch(row_pages_grid(pages), row_pages_block, 0, [=] { row_pages_kernel(args); });
    });
    return device->page_words.data();
}

// Copies the histogram out; a lost device leaves garbage.
void perform_snapshot(struct device *device, const struct device_counts &to, bool dying)
{
    if (!to.words || to.first >= to.end)
        return;
    const unsigned long long *const from = gather_snapshot(device);
    for (size_t word = to.first; word < to.end; word++)
        to.words[word] = dying ? UINT64_MAX / 3 : from[word];
    if (device->plan.fault != FAULT_WRONG || ++device->snapshots != device->plan.at)
        return;
    // Letters need not add up to the bytes, so only far too many show. The last word is that of
    // newlines, where text is counted. Of pages the first one's last count is there for certain.
    const size_t pages = device->page_positions.size();
    const size_t words = pages ? row_pages_words(1) : to.end;
    const size_t middle = std::max(words / 2, to.first);
    to.words[device->plan.seed % 2 ? middle : words - 1] += words == 256 ? 1 : 1ull << 40;
    struck = true;
}

// Decodes what was copied in.
void run_stages(struct device *device, struct decode_batch batch, const struct device_batch &wanted)
{
    const struct decode_plan &planned = wanted.plan;
    decode_batch_set_plan(&batch, &planned);
    if (wanted.begins)
        std::memset(batch.in, 0, DECODE_CARRY);
    if (batch.counts)
        std::memset(batch.gzip.counters, 0, sizeof *batch.gzip.counters);
    std::memcpy(const_cast<struct decode_block *>(batch.block), planned.block,
                planned.blocks * sizeof *planned.block);
    std::memcpy(const_cast<struct decode_frame *>(batch.frame), planned.frame,
                planned.frames * sizeof *planned.frame);
    multiprocessor::the_one().run([=] {
        const struct decode_stage_list &list = decode_stages[batch.format];
        for (unsigned i = 0; i < list.count; i++) {
            const struct decode_stage &stage = list.stage[i];
            const unsigned grid = stage.grid(&batch, resident_blocks);
            if (grid > 0)
                emulate_launch(grid, stage.block, stage.shared, [&] { stage.kernel(batch); });
        }
        if (device->decoding.has_tail)
            emulate_launch(1, DECODE_TAIL_THREADS, 0, [&] {
                decode_tail_kernel(batch, device->decoding.keep_min, device->decoding.lines);
            });
    });
}

// Where a kernel finds so many bytes: in memory of just that many, so that reading past them shows,
// and at any multiple of a sample's size, as content of batches is.
unsigned char *place(struct device *device, struct slot &slot, size_t size)
{
    const size_t at = device->random() % (16 / device->sample_size) * device->sample_size;
    slot.buffer.reset(new unsigned char[at + size]);
    return slot.data = slot.buffer.get() + at;
}

void take_content(struct device *device, const struct device_work &work)
{
    std::memcpy(place(device, device->slots[work.slot], work.content.len),
                batch_of(device, work.slot).out + work.content.begin, work.content.len);
}

void run_count(struct device *device, struct slot &slot, size_t len)
{
    slot.times.count_begin = device->now();
    run_kernel(device, slot.data, len);
    slot.times.count_end = device->now();
}

// A lost device leaves garbage.
void perform_read(struct device *device, const job &job, bool dying)
{
    const struct device_content &content = job.work.content;
    std::memcpy(content.to, batch_of(device, job.work.slot).out + content.begin, content.len);
    if (dying)
        std::memset(content.to, 0x5a, content.len);
    if (job.is_wrong) {
        content.to[content.len / 2] ^= 4;
        struck = true;
    }
}

// Does one piece of work; the queues are not locked.
void perform(struct device *device, const job &job, bool dying)
{
    const struct device_work &work = job.work;
    struct slot &slot = device->slots[work.slot];
    switch (work.kind) {
    case WORK_COPY_IN:
        slot.times.copy_begin = device->now();
        std::memcpy(place(device, slot, work.chunk.len), work.chunk.data, work.chunk.len);
        slot.times.copy_end = device->now();
        break;
    case WORK_COUNT:
        run_count(device, slot, work.chunk.len);
        break;
    case WORK_COUNT_CONTENT:
        take_content(device, work);
        run_count(device, slot, work.content.len);
        break;
    case WORK_COPY_BLOCKS:
        std::memcpy(batch_of(device, work.slot).in + DECODE_CARRY + work.chunk.at, work.chunk.data,
                    work.chunk.len);
        break;
    case WORK_READ_CONTENT:
        perform_read(device, job, dying);
        break;
    case WORK_DECODE:
        run_stages(device, batch_of(device, work.slot), *work.batch);
        *work.batch->verdict = *batch_of(device, work.slot).verdict;
        std::memcpy(work.batch->frame_ends, batch_of(device, work.slot).frame_ends,
                    work.batch->plan.frames * sizeof *work.batch->frame_ends);
        break;
    case WORK_SNAPSHOT:
        perform_snapshot(device, work.counts, dying);
        break;
    case WORK_SAVE:
        if (work.goes_back)
            device->counts = device->saved;
        else
            device->saved = device->counts;
        break;
    }
}

// True if what the first of the kernels waits for was copied.
bool kernel_ready(struct device *device)
{
    if (device->kernels.empty())
        return false;
    const struct device_work &first = device->kernels.front().work;
    const struct slot &slot = device->slots[first.slot];
    return (first.kind != WORK_COUNT || slot.copied) &&
           (first.kind != WORK_DECODE || slot.blocks_under_way == 0);
}

bool next_job(struct device *device, job *next)
{
    std::deque<job> *ready[3];
    size_t count = 0;
    if (!device->copies.empty())
        ready[count++] = &device->copies;
    if (kernel_ready(device))
        ready[count++] = &device->kernels;
    if (!device->reads.empty())
        ready[count++] = &device->reads;
    if (count == 0)
        return false;
    std::deque<job> &queue = *ready[device->plan.seed ? device->random() % count : 0];
    *next = queue.front();
    queue.pop_front();
    return true;
}

// Notes that a job is done. Under the lock.
void record_done(struct device *device, const struct device_work &work)
{
    struct slot &slot = device->slots[work.slot];
    slot.copied |= work.kind == WORK_COPY_IN;
    slot.decoded |= work.kind == WORK_DECODE;
    slot.blocks_under_way -= work.kind == WORK_COPY_BLOCKS;
    slot.reads_under_way -= work.kind == WORK_READ_CONTENT;
    if (work.kind < WORK_ARRIVES)
        device->awaited[work.kind][device_work_number(&work)].under_way--;
}

// A lost device is never closed, and its name and error may be asked for to the end; but a test
// loses hundreds, so its thread and its memory go. The list keeps leak checkers quiet.
void abandon(struct device *device)
{
    static std::mutex list_lock;
    static std::vector<struct device *> &list = *new std::vector<struct device *>;
    device->streams.detach();
    device->batches = {};
    device->batch_memory = {};
    device->counts = {};
    device->saved = {};
    device->page_words = {};
    device->page_positions = {};
    device->scratch.bytes = {};
    device->table.reset();
    for (struct slot &slot : device->slots)
        slot.buffer.reset();
    std::lock_guard<std::mutex> guard(list_lock);
    list.push_back(device);
}

} // namespace

void run_streams(struct device *device)
{
    std::unique_lock<std::mutex> guard(device->lock);
    for (;;) {
        job next;
        if (!next_job(device, &next)) {
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
        perform(device, next, dying);
        guard.lock();
        record_done(device, next.work);
    }
}

void enqueue(struct device *device, const job &job)
{
    const enum device_work_kind kind = job.work.kind;
    const bool copies_in = kind == WORK_COPY_IN || kind == WORK_COPY_BLOCKS;
    (copies_in                   ? device->copies
     : kind == WORK_READ_CONTENT ? device->reads
                                 : device->kernels)
        .push_back(job);
    device->changed.notify_one();
}

} // namespace emulated

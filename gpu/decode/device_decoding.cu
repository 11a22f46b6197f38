// SPDX-License-Identifier: MIT
// Compressed batches on the device: their memory, and the stages.
//
// Batches take turns. What a batch leaves for the next one, the carry and the content right before
// the next one's, is written to that one's memory by its own stages, so streams may be ahead of the
// host.
#include "gpu/engine/device_internal.cuh"
#include "stages.h"

extern "C" {
#include "plan.h"
}

#include <cstdlib>

struct decoding {
    struct device_decoding plan;
    unsigned char *own[DEVICE_BATCHES_MAX], *stages; // memory
    struct decode_batch batch[DEVICE_BATCHES_MAX];
    struct decode_lane lane[DEVICE_BATCHES_MAX];
    cudaStream_t matches; // of all batches that do not stand alone, and what follows: the stream of
                          // the kernels that count would have a batch wait for the matches of those
                          // after it
    cudaStream_t reads;   // of content, to the host
    cudaEvent_t read[DEVICE_READS];
    cudaEvent_t copying[DEVICE_INPUTS], copied[DEVICE_INPUTS]; // the first with timing only
    struct decode_residents residents;
};

static struct decode_batch *batch_of(struct device *device, unsigned slot)
{
    return &device->decoding->batch[slot - device->buffers];
}

// --- memory ---

static bool zero(struct device *device, void *memory, size_t size, cudaStream_t stream)
{
    return device_ok(device, cudaMemsetAsync(memory, 0, size, stream), "zeroing a batch");
}

static bool allocate(struct device *device, unsigned char **memory, size_t size)
{
    void *there = nullptr;
    const bool done = device_allocate(device, &there, size, "allocating memory for decompressing");
    *memory = static_cast<unsigned char *>(there);
    return done;
}

static bool open_memory(struct device *device, struct decoding *decoding)
{
    const struct decode_capacity *capacity = &decoding->plan.capacity;
    const unsigned count = decoding->plan.batches;
    const size_t own = decode_own_memory(nullptr, capacity, nullptr);
    if (!device->saved && !device_allocate(device, &device->saved, device->counts_size,
                                           "allocating memory for a histogram"))
        return false;
    if (!allocate(device, &decoding->stages, decode_stage_memory(nullptr, capacity, nullptr)))
        return false;
    for (unsigned i = 0; i < count; i++) {
        struct decode_batch *batch = &decoding->batch[i];
        if (!allocate(device, &decoding->own[i], own))
            return false;
        decode_own_memory(batch, capacity, decoding->own[i]);
        decode_stage_memory(batch, capacity, decoding->stages);
        batch->keep_min = decoding->plan.keep_min;
        // What is read before anything is written to it: the first carry, and what is copied out
        // even if a batch is refused. All that a batch does comes after its copies.
        if (!zero(device, batch->in, DECODE_CARRY, device->copies) ||
            !zero(device, batch->verdict, sizeof *batch->verdict, device->copies) ||
            !zero(device, batch->frame_ends, capacity->frames * sizeof *batch->frame_ends,
                  device->copies))
            return false;
    }
    for (unsigned i = 0; i < count; i++) {
        decoding->batch[i].next = decoding->batch[(i + 1) % count].in;
        decoding->batch[i].next_out = decoding->batch[(i + 1) % count].out;
    }
    return true;
}

// The streams and events of batches, and of copies. Slots keep theirs.
static bool open_streams(struct device *device, struct decoding *decoding)
{
    struct slot *const slots = device->slots + device->buffers;
    bool done = device_create_stream(device, &decoding->matches) &&
                device_create_stream(device, &decoding->reads);
    for (unsigned i = 0; done && i < decoding->plan.batches; i++)
        done = (slots[i].copied || device_create_events(device, &slots[i])) &&
               device_ok(device, decode_lane_open(&decoding->lane[i]), "creating a stream");
    for (unsigned i = 0; done && i < DEVICE_READS; i++)
        done = device_create_event(device, &decoding->read[i]);
    for (unsigned i = 0; done && i < DEVICE_INPUTS; i++)
        done = device_create_event(device, &decoding->copied[i]) &&
               device_create_event(device, &decoding->copying[i], true);
    return done;
}

static void destroy_events(const cudaEvent_t *events, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (events[i])
            (void)cudaEventDestroy(events[i]);
}

// Frees what decompressing took, if anything, also after a failed opening.
static void close_decoding(struct device *device)
{
    struct decoding *decoding = device->decoding;
    if (!decoding)
        return;
    for (unsigned i = 0; i < DEVICE_BATCHES_MAX; i++) {
        decode_lane_close(&decoding->lane[i]);
        (void)cudaFree(decoding->own[i]);
    }
    destroy_events(decoding->read, DEVICE_READS);
    destroy_events(decoding->copied, DEVICE_INPUTS);
    destroy_events(decoding->copying, DEVICE_INPUTS);
    for (cudaStream_t stream : {decoding->matches, decoding->reads})
        if (stream)
            (void)cudaStreamDestroy(stream);
    (void)cudaFree(decoding->stages);
    std::free(decoding);
    device->decoding = nullptr;
}

// --- decoding ---

static bool copy_in(struct device *device, void *to, const void *from, size_t size)
{
    return device_ok(device,
                     cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, device->copies),
                     "copying a batch");
}

static bool copy_blocks(struct device *device, const struct device_work *work)
{
    struct decoding *decoding = device->decoding;
    unsigned char *to = batch_of(device, work->slot)->in + DECODE_CARRY + work->chunk.at;
    return device_record(device, decoding->copying[work->copy], device->copies) &&
           copy_in(device, to, work->chunk.data, work->chunk.len) &&
           device_record(device, decoding->copied[work->copy], device->copies);
}

static bool launch_tail(struct device *device, struct decode_batch batch)
{
    const struct device_decoding *plan = &device->decoding->plan;
    unsigned max = plan->keep_min;
    bool lines = plan->lines;
    void *params[] = {&batch, &max, &lines};
    return !plan->has_tail ||
           device_ok(device,
                     cudaLaunchKernel(reinterpret_cast<const void *>(decode_tail_kernel), dim3(1),
                                      dim3(DECODE_TAIL_THREADS), params, 0,
                                      device->decoding->matches),
                     "launching a kernel");
}

static bool copy_out(struct device *device, void *to, const void *from, size_t size)
{
    return device_ok(
        device, cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost, device->decoding->matches),
        "copying a verdict");
}

static bool decode(struct device *device, unsigned index, const struct device_batch *work)
{
    struct slot *slot = &device->slots[index];
    struct decode_batch batch = *batch_of(device, index);
    struct decoding *decoding = device->decoding;
    const unsigned turn = index - device->buffers;
    const struct decode_lane *lane = &decoding->lane[turn];
    const decode_pipeline pipeline = {&decoding->residents, decoding->lane, decoding->plan.batches,
                                      decoding->matches};
    const struct decode_plan *plan = &work->plan;
    decode_batch_set_plan(&batch, plan);
    // What the host has built, and the padding after the compressed bytes, go on the stream of the
    // copies: after those bytes.
    return device_record(device, slot->copying, device->copies) &&
           zero(device, batch.in + DECODE_CARRY + plan->in_size, DECODE_PADDING, device->copies) &&
           copy_in(device, const_cast<struct decode_block *>(batch.block), plan->block,
                   plan->blocks * sizeof *plan->block) &&
           copy_in(device, const_cast<struct decode_frame *>(batch.frame), plan->frame,
                   plan->frames * sizeof *plan->frame) &&
           device_record(device, slot->copied, device->copies) &&
           device_ok(device, cudaStreamWaitEvent(lane->stream, slot->copied, 0),
                     "waiting for a batch") &&
           (!work->begins || zero(device, batch.in, DECODE_CARRY, lane->stream)) &&
           (!batch.counts || // which the stages count from zero on
            zero(device, batch.gzip.counters, sizeof *batch.gzip.counters, lane->stream)) &&
           device_ok(device, decode_launch(pipeline, batch, turn), "launching a stage") &&
           launch_tail(device, batch) &&
           copy_out(device, work->verdict, batch.verdict, sizeof *batch.verdict) &&
           copy_out(device, work->frame_ends, batch.frame_ends,
                    work->plan.frames * sizeof *batch.frame_ends) &&
           device_record(device, lane->done, decoding->matches);
}

// --- content ---

static bool count_content(struct device *device, unsigned index,
                          const struct device_content *counted)
{
    struct slot *slot = &device->slots[index];
    const struct decode_batch *batch = batch_of(device, index);
    const unsigned char *content = batch->out + counted->begin;
    const size_t len = counted->len, sample = device->how.sample ? device->how.sample : 1;
    cudaStream_t stream = device->counts_stream;
    // Samples must lie at a multiple of their size. Where they do not, they are counted in a copy:
    // the batch's sequences have served, and take more than twice as much memory as its content.
    if (reinterpret_cast<uintptr_t>(content) % sample != 0) {
        if (!device_ok(
                device,
                cudaMemcpyAsync(batch->sequences, content, len, cudaMemcpyDeviceToDevice, stream),
                "copying content"))
            return false;
        content = reinterpret_cast<const unsigned char *>(batch->sequences);
    }
    return device_record(device, slot->counting, stream) && device_launch(device, content, len) &&
           device_record(device, slot->counted, stream);
}

// The content is there, as its verdict was seen. The stream waits for nothing else, and nothing
// waits for it.
static bool read_content(struct device *device, const struct device_work *work)
{
    const struct decoding *decoding = device->decoding;
    const struct device_content *content = &work->content;
    const unsigned char *from = batch_of(device, work->slot)->out + content->begin;
    return device_ok(device,
                     cudaMemcpyAsync(content->to, from, content->len, cudaMemcpyDeviceToHost,
                                     decoding->reads),
                     "copying content") &&
           device_record(device, decoding->read[work->copy], decoding->reads);
}

// --- the extension ---

static bool enqueue(struct device *device, const struct device_work *work)
{
    switch (work->kind) {
    case WORK_COPY_BLOCKS:
        return copy_blocks(device, work);
    case WORK_DECODE:
        return decode(device, work->slot, work->batch);
    case WORK_COUNT_CONTENT:
        return count_content(device, work->slot, &work->content);
    default:
        return read_content(device, work);
    }
}

static cudaEvent_t arrival(const struct device *device, enum device_work_kind kind, unsigned number)
{
    const struct decoding *decoding = device->decoding;
    return kind == WORK_COPY_BLOCKS ? decoding->copied[number]
           : kind == WORK_DECODE    ? decoding->lane[number - device->buffers].done
                                    : decoding->read[number];
}

static bool times_of_copy(struct device *device, unsigned copy, struct slot_times *times)
{
    const struct decoding *decoding = device->decoding;
    return device_elapsed(device, decoding->copying[copy], &times->copy_begin) &&
           device_elapsed(device, decoding->copied[copy], &times->copy_end);
}

static const struct device_extension extension = {enqueue, arrival, times_of_copy, close_decoding};

int device_open_decoding(struct device *device, void *arg)
{
    struct device_decoding *const given = static_cast<struct device_decoding *>(arg);
    struct device_decoding plan = *given;
    size_t free_bytes, all;
    given->batches = 0; // until all is there
    for (const struct decode_stage_list &list : decode_stages)
        for (unsigned i = 0; i < list.count; i++)
            if (list.stage[i].shared > device->properties.sharedMemPerBlockOptin)
                return 0;
    if (!device_enter(device, "preparing to decompress"))
        return -1;
    close_decoding(device);
    // Batches are made fewer and smaller until they take no more than most of the memory that is
    // free; none, if that is less than it is worth.
    if (!device_ok(device, cudaMemGetInfo(&free_bytes, &all), "asking for its memory"))
        return -1;
    plan.memory =
        decode_fit_memory(&plan.capacity, &plan.batches, plan.keep_min, free_bytes / 4 * 3);
    if (plan.memory > 0)
        device->decoding = static_cast<struct decoding *>(std::calloc(1, sizeof(struct decoding)));
    if (!device->decoding)
        return 0;
    device->extension = &extension;
    device->decoding->plan = plan;
    device->is_short = false;
    if (open_memory(device, device->decoding) &&
        device_ok(device,
                  decode_prepare_stages(&device->decoding->residents,
                                        device->properties.multiProcessorCount),
                  "asking how many blocks fit") &&
        open_streams(device, device->decoding) &&
        device_reserve_rest(device, plan.capacity.room + plan.keep_min)) {
        *given = plan;
        return 0;
    }
    if (!device->is_short)
        return -1;
    // Another process was faster. The device goes on, but decompresses nothing.
    close_decoding(device);
    return 0;
}

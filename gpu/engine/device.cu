// SPDX-License-Identifier: MIT
// The seam to CUDA. This file and what extends it are the only ones that call its runtime.
#include "device_internal.cuh"

extern "C" {
#include "src/text/number.h"
}

#include <cstdlib>
#include <unistd.h>

static bool succeeded(cudaError_t code, const char *doing, struct error *error)
{
    if (code == cudaSuccess)
        return true;
    error_set(error, "%s while %s (%s)", cudaGetErrorString(code), doing, cudaGetErrorName(code));
    (void)cudaGetLastError(); // so that the next call does not find it again
    return false;
}

bool device_ok(struct device *device, cudaError_t code, const char *doing)
{
    return succeeded(code, doing, &device->error);
}

bool device_allocate(struct device *device, void **memory, size_t size, const char *doing)
{
    const cudaError_t code = cudaMalloc(memory, size);
    device->is_short |= code == cudaErrorMemoryAllocation;
    return device_ok(device, code, doing);
}

bool device_enter(struct device *device, const char *doing)
{
    return device_ok(device, cudaSetDevice(device->ordinal), doing);
}

bool device_create_event(struct device *device, cudaEvent_t *event, bool is_for_times)
{
    if (is_for_times && !device->timing)
        return true;
    unsigned flags = device->timing ? cudaEventDefault : cudaEventDisableTiming;
    return device_ok(device, cudaEventCreateWithFlags(event, flags), "creating an event");
}

bool device_create_stream(struct device *device, cudaStream_t *stream)
{
    return device_ok(device, cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking),
                     "creating a stream");
}

bool device_create_events(struct device *device, struct slot *slot)
{
    return device_create_event(device, &slot->copied) &&
           device_create_event(device, &slot->arrived) &&
           device_create_event(device, &slot->copying, true) &&
           device_create_event(device, &slot->counting, true) &&
           device_create_event(device, &slot->counted, true);
}

bool device_launch(struct device *device, const unsigned char *data, unsigned long long len)
{
    struct count_args args = device->args;
    args.data = data;
    args.len = len;
    const auto zero = [device](unsigned *words, size_t number) {
        return device_ok(device,
                         cudaMemsetAsync(words, 0, number * sizeof *words, device->counts_stream),
                         "zeroing memory");
    };
    const auto run = [device](counting_kernel kernel, unsigned grid, unsigned block, size_t shared,
                              struct count_args given) {
        return device_ok(device,
                         launch_kernel(kernel, grid, block, device->how.cluster, shared, given,
                                       device->counts_stream),
                         "launching a kernel");
    };
    return launch_all(&device->how, device->resident, args, zero, run);
}

// Asks for the shared memory that a kernel needs, and how many of its blocks the device holds then.
static bool ask_resident(struct device *device, counting_kernel counts, unsigned block,
                         unsigned cluster, size_t shared, unsigned *resident)
{
    // More than 48 KiB of shared memory a block must be asked for.
    if (!device_ok(device,
                   cudaFuncSetAttribute(reinterpret_cast<const void *>(counts),
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(shared)),
                   "asking for shared memory") ||
        !device_ok(device,
                   launch_find_resident(counts, block, cluster, shared,
                                        device->properties.multiProcessorCount, resident),
                   "asking how many blocks fit"))
        return false;
    if (*resident < 1)
        error_set(&device->error, "the kernel does not fit");
    return *resident >= 1;
}

// Gives the strategy the scratch memory it needs, or less if it can do with that.
static bool prepare_scratch(struct device *device)
{
    struct launch *how = &device->how;
    for (;;) {
        void *scratch = nullptr;
        const size_t size = launch_scratch(how, device->resident.first, device->args.map.bins);
        if (size == 0 || device_allocate(device, &scratch, size, "allocating scratch memory")) {
            device->args.scratch = static_cast<unsigned *>(scratch);
            return true;
        }
        if (!device->is_short || !launch_take_less(how))
            return false;
        device->is_short = false;
    }
}

// Finds out how many blocks the device can hold, and gives the kernel what it needs.
static bool prepare_kernel(struct device *device, const struct device_plan *plan)
{
    const unsigned max = static_cast<unsigned>(device->properties.sharedMemPerBlockOptin);
    const struct launch_limits limits = {max, plan->slot_size,
                                         device->properties.major >= 9 ? cluster_max : 0};
    struct launch *how = &device->how;
    *how = launch_with(plan->strategy, plan->spec, limits);
    if (!launch_fits(how, limits, &device->error))
        return false;
    if (!ask_resident(device, how->kernel, how->block, how->cluster, how->shared,
                      &device->resident.first) ||
        (how->second && !ask_resident(device, how->second, how->second_block, 0, how->second_shared,
                                      &device->resident.second)) ||
        !prepare_scratch(device))
        return false;
    device->args.coarsening = how->coarsening;
    device->args.shape = how->shape;
    device->args.partition = how->partition;
    return true;
}

// CUDA calls a missing driver an old one, of version 0.
static void explain_driver(struct error *error)
{
    int version = 0;
    (void)cudaDriverGetVersion(&version);
    if (version == 0)
        error_set(error, "no NVIDIA driver found");
    else
        error_set(error,
                  "the NVIDIA driver is too old: it supports CUDA %d.%d, but this program uses "
                  "CUDA %d.%d",
                  version / 1000, version % 1000 / 10, CUDART_VERSION / 1000,
                  CUDART_VERSION % 1000 / 10);
}

const char *device_missing(void)
{
    const bool is_there =
        access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0; // WSL's
    return is_there ? nullptr : "no NVIDIA driver is loaded: there is no /dev/nvidiactl";
}

int device_count_all(struct error *error)
{
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaErrorInsufficientDriver)
        explain_driver(error);
    if (code == cudaErrorInsufficientDriver || code == cudaErrorNoDevice) {
        (void)cudaGetLastError(); // the next call must not find it again
        return code == cudaErrorNoDevice ? 0 : -1;
    }
    return succeeded(code, "looking for devices", error) ? count : -1;
}

// Values that are looked up, and characters of groups, have a table on the device.
static bool prepare_table(struct device *device, const struct histogram_spec *spec)
{
    if (!spec->mode->is_binned && !spec->groups)
        return true;
    size_t size;
    void *there = nullptr, *here = spec->groups ? group_table(spec, &size) : row_table(spec, &size);
    if (!here)
        error_set(&device->error, "out of memory");
    bool done =
        size == 0 ||
        (here && device_ok(device, cudaMalloc(&there, size), "allocating the bins' edges") &&
         device_ok(device, cudaMemcpy(there, here, size, cudaMemcpyHostToDevice),
                   "copying the bins' edges"));
    device->table = there;
    device->args.map.rows.table = there;
    device->args.map.groups.table = static_cast<const uint16_t *>(there);
    std::free(here);
    return done;
}

// Allocates device memory of zeros.
template <typename T>
static bool allocate_zeros(struct device *device, T **memory, size_t size, const char *doing)
{
    return device_ok(device, cudaMalloc(memory, size), doing) &&
           device_ok(device, cudaMemsetAsync(*memory, 0, size, device->counts_stream),
                     "zeroing what was allocated");
}

// The histogram, all zeros, and what snapshots in pages take.
static bool prepare_counts(struct device *device, const struct histogram_spec *spec)
{
    struct row_pages_args *pages = &device->pages;
    size_t counts = device_histogram_words(spec);
    if (row_pages_has(spec)) {
        pages->pages = static_cast<unsigned>(row_pages_of(spec->bins));
        counts = static_cast<size_t>(pages->pages) * ROW_PAGE;
    }
    const size_t words = row_pages_words(pages->pages) * sizeof(unsigned long long);
    device->counts_size = counts * sizeof(unsigned long long);
    if (!allocate_zeros(device, &device->args.counts, device->counts_size,
                        "allocating the histogram"))
        return false;
    pages->counts = device->args.counts;
    return pages->pages == 0 ||
           (allocate_zeros(device, &pages->words, words, "allocating a snapshot") &&
            allocate_zeros(device, &pages->positions, pages->pages * sizeof *pages->positions,
                           "allocating a snapshot"));
}

bool device_reserve_rest(struct device *device, size_t len)
{
    if (!device->how.is_text || len <= device->rest_len)
        return true;
    void *rest = nullptr;
    if (!device_allocate(device, &rest, words_for_rest(len) * sizeof(unsigned),
                         "allocating a list"))
        return false;
    (void)cudaFree(device->args.rest); // waits for the kernels that use it
    device->args.rest = static_cast<unsigned *>(rest);
    device->rest_len = len;
    return true;
}

// Numbers need the powers of ten, and a list of the tokens that are put off.
static bool prepare_numbers(struct device *device, size_t slot_size)
{
    const size_t size = (POWER_MAX - POWER_MIN + 1) * sizeof(struct power);
    struct power *powers = nullptr;
    if (!device->how.is_text)
        return true;
    number_prepare();
    bool done = device_ok(device, cudaMalloc(&powers, size), "allocating the powers of ten") &&
                device_ok(device, cudaMemcpy(powers, number_powers(), size, cudaMemcpyHostToDevice),
                          "copying the powers of ten") &&
                device_reserve_rest(device, slot_size);
    device->args.powers = powers;
    return done;
}

static bool find(struct device *device, const struct cuda_device &cuda_device)
{
    const int count = device_count_all(&device->error);
    if (count < 0)
        return false;
    if (device->ordinal >= count) {
        cuda_device_explain(&cuda_device, "", &device->error);
        return false;
    }
    return device_enter(device, "choosing the device") &&
           device_ok(device, cudaGetDeviceProperties(&device->properties, device->ordinal),
                     "asking for its properties");
}

static bool prepare(struct device *device, const struct device_plan *plan)
{
    if (!device_create_stream(device, &device->copies) ||
        !device_create_stream(device, &device->counts_stream) ||
        !prepare_counts(device, plan->spec) || !prepare_table(device, plan->spec) ||
        !prepare_kernel(device, plan) || !prepare_numbers(device, plan->slot_size))
        return false;
    for (unsigned i = 0; i < plan->slots; i++)
        if (!device_ok(device, cudaMalloc(&device->slots[i].buffer, plan->slot_size),
                       "allocating a buffer") ||
            !device_create_events(device, &device->slots[i]))
            return false;
    return device_create_event(device, &device->opened, true) &&
           device_record(device, device->opened, device->counts_stream) &&
           device_launch(device, device->slots[0].buffer, 0) &&
           device_ok(device, cudaStreamSynchronize(device->counts_stream), "running a kernel");
}

struct device *device_open(const struct device_plan *plan, struct error *error)
{
    const unsigned slots = plan->slots + DEVICE_BATCHES_MAX;
    struct device *device = static_cast<struct device *>(
        std::calloc(1, sizeof(struct device) + slots * sizeof(struct slot)));
    if (!device) {
        error_set(error, "out of memory");
        return nullptr;
    }
    device->ordinal = plan->cuda_device.ordinal;
    device->args.map = sample_map_of(plan->spec);
    device->timing = plan->timing;
    device->buffers = plan->slots;
    device->slots = reinterpret_cast<struct slot *>(device + 1);
    if (find(device, plan->cuda_device) && prepare(device, plan))
        return device;
    *error = device->error;
    device_close(device);
    return nullptr;
}

const char *device_name(const struct device *device)
{
    return device->properties.name;
}

int device_pin(struct device *device, void *arg)
{
    const struct device_pinning *pinning = static_cast<struct device_pinning *>(arg);
    return device_enter(device, "pinning") &&
                   device_ok(device,
                             pinning->size > 0 ? cudaHostRegister(pinning->memory, pinning->size,
                                                                  cudaHostRegisterDefault)
                                               : cudaHostUnregister(pinning->memory),
                             "pinning")
               ? 0
               : -1;
}

bool device_record(struct device *device, cudaEvent_t event, cudaStream_t stream)
{
    return !event || device_ok(device, cudaEventRecord(event, stream), "recording an event");
}

static bool copy_in(struct device *device, struct slot *slot, const struct device_chunk *chunk)
{
    return device_record(device, slot->copying, device->copies) &&
           device_ok(device,
                     cudaMemcpyAsync(slot->buffer, chunk->data, chunk->len, cudaMemcpyHostToDevice,
                                     device->copies),
                     "copying a chunk") &&
           device_record(device, slot->copied, device->copies);
}

static bool count(struct device *device, struct slot *slot, const struct device_chunk *chunk)
{
    cudaStream_t stream = device->counts_stream;
    return device_ok(device, cudaStreamWaitEvent(stream, slot->copied, 0), "waiting for a chunk") &&
           device_record(device, slot->counting, stream) &&
           device_launch(device, slot->buffer, chunk->len) &&
           device_record(device, slot->counted, stream);
}

static bool copy_histogram(struct device *device, const struct device_counts *to)
{
    const bool has_pages = device->pages.pages > 0;
    const unsigned long long *from = has_pages ? device->pages.words : device->args.counts;
    void *params[] = {&device->pages};
    if (!to->words || to->first >= to->end)
        return true;
    if (has_pages &&
        !device_ok(device,
                   cudaLaunchKernel(reinterpret_cast<const void *>(row_pages_kernel),
                                    dim3(row_pages_grid(device->pages.pages)),
                                    dim3(row_pages_block), params, 0, device->counts_stream),
                   "launching a kernel"))
        return false;
    return device_ok(device,
                     cudaMemcpyAsync(to->words + to->first, from + to->first,
                                     (to->end - to->first) * sizeof *to->words,
                                     cudaMemcpyDeviceToHost, device->counts_stream),
                     "copying the histogram");
}

static bool save(struct device *device, bool goes_back)
{
    void *const from = goes_back ? device->saved : device->args.counts;
    void *const to = goes_back ? static_cast<void *>(device->args.counts) : device->saved;
    return device_ok(device,
                     cudaMemcpyAsync(to, from, device->counts_size, cudaMemcpyDeviceToDevice,
                                     device->counts_stream),
                     "saving the histogram");
}

bool device_elapsed(struct device *device, cudaEvent_t event, double *seconds)
{
    float ms = 0;
    bool known =
        device_ok(device, cudaEventElapsedTime(&ms, device->opened, event), "reading a clock");
    *seconds = static_cast<double>(ms) / 1e3;
    return known;
}

// --- work ---

static bool enqueue(struct device *device, const struct device_work *work)
{
    struct slot *slot = &device->slots[work->slot];
    switch (work->kind) {
    case WORK_COPY_IN:
        return copy_in(device, slot, &work->chunk);
    case WORK_COUNT:
        return count(device, slot, &work->chunk);
    case WORK_SNAPSHOT:
        return copy_histogram(device, &work->counts) &&
               device_record(device, slot->arrived, device->counts_stream);
    case WORK_SAVE:
        return save(device, work->goes_back);
    default:
        return device->extension->enqueue(device, work);
    }
}

int device_enqueue(struct device *device, const struct device_work *work)
{
    return device_enter(device, "choosing the device") && enqueue(device, work) ? 0 : -1;
}

int device_arrived(struct device *device, enum device_work_kind kind, unsigned number,
                   struct slot_times *times)
{
    const char *doing = kind == WORK_SNAPSHOT ? "counting" : "decompressing";
    const cudaEvent_t event = kind == WORK_SNAPSHOT
                                  ? device->slots[number].arrived
                                  : device->extension->arrival(device, kind, number);
    if (!device_enter(device, doing))
        return -1;
    const cudaError_t code = cudaEventQuery(event);
    if (code == cudaErrorNotReady) {
        (void)cudaGetLastError();
        return 0;
    }
    if (!device_ok(device, code, doing))
        return -1;
    if (!times)
        return 1;
    if (kind != WORK_SNAPSHOT)
        return device->extension->times(device, number, times) ? 1 : -1;
    const struct slot *slot = &device->slots[number];
    const bool known = device_elapsed(device, slot->copying, &times->copy_begin) &&
                       device_elapsed(device, slot->copied, &times->copy_end) &&
                       device_elapsed(device, slot->counting, &times->count_begin) &&
                       device_elapsed(device, slot->counted, &times->count_end);
    return known ? 1 : -1;
}

const char *device_error(const struct device *device)
{
    return device->error.text;
}

static void destroy_event(cudaEvent_t event)
{
    if (event)
        (void)cudaEventDestroy(event);
}

// Closes the device, also after a failed open, with part of it there; nothing here can fail in a
// way that matters.
void device_close(struct device *device)
{
    (void)cudaSetDevice(device->ordinal);
    if (device->extension)
        device->extension->close(device);
    for (unsigned i = 0; i < device->buffers + DEVICE_BATCHES_MAX; i++) {
        const struct slot *slot = &device->slots[i];
        for (cudaEvent_t event :
             {slot->copied, slot->arrived, slot->copying, slot->counting, slot->counted})
            destroy_event(event);
        (void)cudaFree(slot->buffer);
    }
    destroy_event(device->opened);
    (void)cudaFree(device->args.counts);
    (void)cudaFree(device->saved);
    (void)cudaFree(device->args.scratch);
    (void)cudaFree(const_cast<struct power *>(device->args.powers));
    (void)cudaFree(device->args.rest);
    (void)cudaFree(device->table);
    (void)cudaFree(device->pages.words);
    (void)cudaFree(device->pages.positions);
    if (device->counts_stream)
        (void)cudaStreamDestroy(device->counts_stream);
    if (device->copies)
        (void)cudaStreamDestroy(device->copies);
    std::free(device);
}

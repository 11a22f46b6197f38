// SPDX-License-Identifier: MIT
// The device as the files that call CUDA see it: device.cu (slots, counting), and what extends it,
// gpu/decode/device_decoding.cu (batches of compressed blocks).
#ifndef GPUHISTO_GPU_ENGINE_DEVICE_INTERNAL_CUH
#define GPUHISTO_GPU_ENGINE_DEVICE_INTERNAL_CUH

#include "gpu/count/launch.h"

struct slot {
    unsigned char *buffer;
    cudaEvent_t copied, arrived;            // the chunk is in; its snapshot is out
    cudaEvent_t copying, counting, counted; // with timing only
};

struct decoding;

// What extends a device.
struct device_extension {
    // Enqueues work of the kinds that are its own. False: the device is lost.
    bool (*enqueue)(struct device *device, const struct device_work *work);
    // Returns the event after the last such work of a number.
    cudaEvent_t (*arrival)(const struct device *device, enum device_work_kind kind,
                           unsigned number);
    // Sets the times of a copy of blocks, with timing. False: the device is lost.
    bool (*times)(struct device *device, unsigned copy, struct slot_times *times);
    // Frees all that it has taken.
    void (*close)(struct device *device);
};

struct device {
    struct error error;
    cudaDeviceProp properties;
    int ordinal;
    struct launch how;
    struct launch_resident resident;
    struct count_args args;      // but for the data: the histogram, on the device, and its mapping
    size_t counts_size;          // bytes of the histogram, and where it is saved: once that is
    void *saved;                 // needed; or null
    size_t rest_len;             // bytes of text for which there is args.rest
    void *table;                 // of rows or groups, or null
    struct row_pages_args pages; // of snapshots in pages; 0 pages: they are not
    bool timing;
    bool is_short; // an allocation failed for want of memory, which loses nothing
    cudaStream_t copies, counts_stream;
    cudaEvent_t opened;
    struct slot *slots; // those of batches after the others, DEVICE_BATCHES_MAX of them
    unsigned buffers;   // slots that have one
    const struct device_extension *extension; // null: there is none
    struct decoding *decoding;                // what it has of the device
};

// True if a call of CUDA succeeded; if not, sets the error. Return codes that do not come here do
// not matter.
bool device_ok(struct device *device, cudaError_t code, const char *doing);

// Allocates device memory. False with the error set, and is_short if there is too little.
bool device_allocate(struct device *device, void **memory, size_t size, const char *doing);

// Makes the device the current one: each thread has one of its own, and any thread may call.
bool device_enter(struct device *device, const char *doing);

// Creates a stream; or an event, with a time if there is plan->timing, and only then if it
// is_for_times; and records an event, if it was created.
bool device_create_stream(struct device *device, cudaStream_t *stream);
bool device_create_event(struct device *device, cudaEvent_t *event, bool is_for_times = false);
bool device_record(struct device *device, cudaEvent_t event, cudaStream_t stream);

// Enqueues counting data[0..len) on the device into the histogram.
bool device_launch(struct device *device, const unsigned char *data, unsigned long long len);

// Sets *seconds to the time from the opening of the device until an event was recorded.
bool device_elapsed(struct device *device, cudaEvent_t event, double *seconds);

// Creates the events of a slot.
bool device_create_events(struct device *device, struct slot *slot);

// Reserves a list for the tokens that kernels for numbers put off, of texts up to `len` bytes.
bool device_reserve_rest(struct device *device, size_t len);

#endif

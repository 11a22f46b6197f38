/* The engine of the GPU: pinned slots that are copied to a device and counted there while the next
 * ones are filled; and what happens when the device is lost. */
#ifndef GPUHISTO_GPU_ENGINE_H
#define GPUHISTO_GPU_ENGINE_H

#include "src/engine/engine.h"
#include "src/base/reason.h"

struct strategy;
struct visible;

struct gpu_options {
    int ordinal;                     /* which device, from 0, as CUDA counts those it sees */
    const struct visible *visible;   /* which one that is to the user; NULL: the same */
    const struct strategy *strategy; /* NULL: the fastest */
    size_t chunk_size;               /* bytes of a slot */
    unsigned buffers;                /* slots, at least 1 */
    unsigned deadline_ms; /* a device that finishes nothing for so long has hung, and is lost */
    bool timing;          /* for gpu_engine_times */
    /* Counts what a lost device did not, so that submit and finish never fail. It must have a chunk
     * free for a thread that is inside this engine. NULL: a lost device is an error. So it is for
     * more than 65,536 bins, whose counts are copied from the device but once, at the end. */
    struct engine *fallback;
};

/* Host memory that a slot takes, bytes: a chunk, and its snapshot. */
size_t gpu_engine_slot_size(const struct histogram *histogram, size_t chunk_size);

/* Opens a device and its slots, as engine.h says; slow, any thread. The histogram and the fallback
 * must outlive it. NULL with the reason set. */
struct engine *gpu_engine_open(const struct histogram *histogram, const struct gpu_options *options,
                               struct reason *why);

/* The device's name, and its strategy's. Both live as long as the engine. */
const char *gpu_engine_device(struct engine *engine);
const char *gpu_engine_strategy(struct engine *engine);

/* Whether the device was lost and counts with it, so that finish will give -1. */
bool gpu_engine_failed(struct engine *engine);

struct gpu_times {
    uint64_t chunks;                     /* whose counts came from the device */
    double copy_seconds, kernel_seconds; /* the device's two streams were at work */
    double overlap_seconds;              /* of kernel_seconds, while another chunk's copy ran */
};

/* What was measured so far, if options->timing; after finish. */
struct gpu_times gpu_engine_times(struct engine *engine);

#endif

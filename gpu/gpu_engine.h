/* SPDX-License-Identifier: MIT */
/* The engine of the GPU: pinned slots are copied to a device and counted there while the next ones
 * are filled. When the device is lost, another engine takes over. */
#ifndef GPUHISTO_GPU_ENGINE_H
#define GPUHISTO_GPU_ENGINE_H

#include "src/engine/engine.h"
#include "src/base/reason.h"

struct compressed_start;
struct gpu_decoder;
struct strategy;
struct visible;

struct gpu_options {
    int ordinal;                     /* which device, from 0, as CUDA counts those it sees */
    const struct visible *visible;   /* which one that is to the user; NULL: the same */
    const struct strategy *strategy; /* NULL: the fastest */
    size_t chunk_size;               /* bytes of a slot */
    unsigned buffers;                /* slots, at least 1 */
    unsigned deadline_ms; /* a device that finishes nothing for so long is lost: it has hung */
    bool timing;          /* for gpu_engine_times */
    struct lines *lines;  /* as the engine's own; or NULL */
    struct file_tallies *files; /* likewise */
    bool no_check;              /* content checksums of what it decompresses need not be verified */
    bool decodes; /* takes the memory for decompressing as it is opened, not with the first FILE */
    /* Bytes of host memory that the process may still take, when it is called; half of that may be
     * taken for decompressing, by as many engines together as are opened side by side. NULL: any
     * amount. */
    uint64_t (*memory_left)(void);
    unsigned sharers; /* these engines; 0 is 1 */
    /* Counts what a lost device did not, so that submit and finish never fail. It must have a chunk
     * free for a thread that is inside this engine. NULL: a lost device is an error. It always is
     * with more than 65,536 bins, as their counts are copied from the device only once, at the end.
     */
    struct engine *fallback;
};

/* Chunks of a compressed FILE that are being decompressed or counted at a time, at most. */
#define GPU_ENGINE_UNDECODED_MAX 4

/* Host memory that a slot takes, bytes: a chunk, and its snapshot. */
size_t gpu_engine_slot_size(const struct histogram *histogram, size_t chunk_size);

/* Host memory that an engine with so many slots takes as it is opened, bytes: these, and snapshots
 * beside them. */
size_t gpu_engine_size(const struct histogram *histogram, size_t chunk_size, unsigned buffers);

/* Opens a device and its slots, which takes a few hundred milliseconds. Any thread. The histogram
 * and the fallback must live as long as the engine. NULL with the reason set. */
struct engine *gpu_engine_open(const struct histogram *histogram, const struct gpu_options *options,
                               struct reason *why);

/* The device's name, and its strategy's. Both live as long as the engine. */
const char *gpu_engine_device(struct engine *engine);
const char *gpu_engine_strategy(struct engine *engine);

/* Whether the device was lost, and counts with it, so that finish will return -1. Any thread, and
 * no lock is waited for. */
bool gpu_engine_failed(struct engine *engine);

/* As gpu_decoder_is_idle, gpu_decoder_begin and gpu_decoder_bytes of this engine alone. */
bool gpu_engine_is_idle(struct engine *engine);
struct gpu_decoder *gpu_engine_begin(struct engine *engine, const struct compressed_start *start);
uint64_t gpu_engine_decompressed(struct engine *engine);

/* True while a compressed file is being sent to the device, to be decompressed there; or the memory
 * for that is being taken. As gpu_engine_failed. */
bool gpu_engine_is_feeding(struct engine *engine);

/* What decompressing takes, bytes; all 0 if nothing was decompressed. */
struct gpu_memory {
    uint64_t device, host;
    uint64_t batch; /* of content, that a batch of blocks has room for */
};

/* Where the time went of compressed FILEs that it decompressed, seconds. */
struct gpu_feeding {
    double opening;  /* taking memory */
    double reading;  /* by the thread that fills chunks */
    double device;   /* the same thread, waiting for the device, */
    double checking; /* and waiting for checksums alone */
    double hashing;  /* by the threads that verify them, all together */
};

struct gpu_times {
    uint64_t chunks, bytes;              /* whose counts came from the device */
    double copy_seconds, kernel_seconds; /* the device's two streams were at work */
    double overlap_seconds;              /* of kernel_seconds, while another chunk's copy ran */
    struct gpu_memory decoding;
    struct gpu_feeding feeding;
};

/* What was measured, if options->timing. To be called after finish. */
struct gpu_times gpu_engine_times(struct engine *engine);

#endif

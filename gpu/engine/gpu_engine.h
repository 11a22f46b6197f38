/* SPDX-License-Identifier: MIT */
/* The engine of a GPU: pinned slots are copied to a device and counted there while the next ones
 * are filled. When the device is lost, another engine counts in its place. */
#ifndef GPUHISTO_GPU_ENGINE_H
#define GPUHISTO_GPU_ENGINE_H

#include "src/base/error.h"
#include "src/tally/tally.h"
#include "src/input/engine.h"

struct compressed_start;
struct gpu_decoder;
struct strategy;
struct cuda_device;

struct gpu_options {
    int ordinal;                           /* number of the device, from 0, as CUDA counts them */
    const struct cuda_device *cuda_device; /* as the user counts them; NULL: the same */
    const struct strategy *strategy;       /* NULL: the fastest */
    size_t chunk_size;                     /* bytes of a slot */
    unsigned buffers;                      /* slots, at least 1 */
    unsigned deadline_ms;          /* a device that finishes nothing for this time is lost */
    bool timing;                   /* for gpu_engine_times */
    struct error_locator *locator; /* as in struct engine */
    struct file_tallies *files;    /* as in struct engine */
    bool no_check;                 /* content checksums are not verified */
    bool decodes; /* memory for decompressing is taken now, not with the first file */
    /* Returns the bytes of host memory that the process may still take. All engines that are opened
     * side by side may take half of that for decompressing. NULL: there is no limit. */
    uint64_t (*memory_left)(void);
    unsigned sharers; /* how many engines these are; 0 is 1 */
    /* Counts what a lost device did not, so that submit and finish never fail. It must have a chunk
     * free for a thread that is inside this engine. NULL: a lost device is an error. It always is
     * with so many bins that snapshots are not small (snapshot.h). */
    struct engine *fallback;
};

/* Returns the bytes of host memory that a slot takes: a chunk, and its snapshot if each has one. */
size_t gpu_engine_slot_size(const struct histogram_spec *spec, size_t chunk_size);

/* Returns the bytes of host memory that an engine takes as it is opened: slots, and snapshots that
 * they share. Both are in slots.c. */
size_t gpu_engine_size(const struct histogram_spec *spec, size_t chunk_size, unsigned buffers);

/* Opens a device and its slots, in a few hundred milliseconds. The histogram and the fallback must
 * live as long as the engine. NULL with the error set. Any thread. */
struct engine *gpu_engine_open(const struct histogram_spec *spec, const struct gpu_options *options,
                               struct error *error);

/* Return the names of the device and of its strategy. Both live as long as the engine. */
const char *gpu_engine_device(struct engine *engine);
const char *gpu_engine_strategy(struct engine *engine);

/* True if the device was lost, and counts with it, so that finish will return -1. Any thread, and
 * no lock is waited for. */
bool gpu_engine_failed(struct engine *engine);

/* Do what gpu_decoder_is_idle, gpu_decoder_is_usable, gpu_decoder_begin and gpu_decoder_bytes do,
 * for this engine alone. */
bool gpu_engine_is_idle(struct engine *engine);
bool gpu_engine_is_usable(struct engine *engine);
struct gpu_decoder *gpu_engine_begin(struct engine *engine, const struct compressed_start *start);
uint64_t gpu_engine_decompressed(struct engine *engine);

/* True while a compressed file is being sent to the device, to be decompressed there, or the memory
 * for that is being taken. Any thread, and no lock is waited for. */
bool gpu_engine_is_feeding(struct engine *engine);

/* The memory that decompressing takes, bytes; all 0 if nothing was decompressed. */
struct gpu_memory {
    uint64_t device, host;
    uint64_t batch; /* of content, for which a batch has room */
};

/* The time that files took which were decompressed, seconds. */
struct gpu_feeding {
    double startup;  /* taking memory */
    double reading;  /* filling chunks */
    double device;   /* waiting for the device, by the thread that fills chunks */
    double checking; /* waiting for checksums alone, by the same */
    double hashing;  /* by all threads that verify checksums */
};

struct gpu_times {
    uint64_t chunks, bytes;              /* whose counts came from the device */
    double copy_seconds, kernel_seconds; /* the device's two streams were at work */
    double overlap_seconds;              /* of kernel_seconds, while another chunk's copy ran */
    struct gpu_memory decoding;
    struct gpu_feeding feeding;
};

/* Returns the measurements, if options->timing. Call it after finish. */
struct gpu_times gpu_engine_times(struct engine *engine);

#endif

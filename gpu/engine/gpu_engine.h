/* SPDX-License-Identifier: MIT */
/* The engine of one GPU, or of several: pinned slots are copied to a device and counted there while
 * the next ones are filled. When a device is lost, another engine counts in its place.
 *
 * This header is all that src/ sees of gpu/engine. */
#ifndef GPUHISTO_GPU_ENGINE_GPU_ENGINE_H
#define GPUHISTO_GPU_ENGINE_GPU_ENGINE_H

#include "src/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct histogram_spec;
struct strategy;
struct tally;

/* --- which GPUs CUDA is allowed to see: cuda_devices.c --- */

/* Returns why there can be no device, as far as can be told without CUDA. NULL: there may be one.
 * At once. Any thread. */
const char *device_missing(void);

/* A GPU that the user asked for. */
struct cuda_device {
    int asked;        /* its number, from 0, among those that CUDA_VISIBLE_DEVICES leaves */
    int ordinal;      /* the number by which CUDA knows it */
    const char *list; /* the user's CUDA_VISIBLE_DEVICES; NULL: it was not set */
};

#define GPUS_MAX 16

/* A list of GPUs, each once. */
struct gpu_list {
    unsigned count; /* 0: all that CUDA sees */
    struct cuda_device gpu[GPUS_MAX];
    bool grows;     /* those after the first follow it, as many as are wanted */
    unsigned named; /* how many the user has named, of which fewer may have been chosen */
};

/* Returns how many GPUs the list may have, at most. */
static inline unsigned cuda_devices_max(const struct gpu_list *gpus)
{
    return gpus->grows || gpus->count == 0 ? GPUS_MAX : gpus->count;
}

/* Chooses the GPUs of a run, at most `wanted`, the first ones of the list, and leaves only these
 * visible to CUDA, which takes an eighth of a second to set up each GPU that it sees. Sets their
 * ordinals and lists. If the user's list lacks one of them, nothing is changed: CUDA then says so.
 * 0, or -1 with the error set: one that is not wanted does not exist.
 *
 * Sets CUDA_VISIBLE_DEVICES, so it must be called before other threads start. The copy of the
 * user's list is never freed. `root` goes before /dev, where GPUs are looked for; "" but in tests.
 */
int cuda_devices_choose(struct gpu_list *gpus, unsigned wanted, const char *root,
                        struct error *error);

/* Sets *error to why CUDA does not have the GPU that was asked for. `root` as above. Any thread. */
void cuda_device_explain(const struct cuda_device *cuda_device, const char *root,
                         struct error *error);

/* --- what is known without a GPU --- */

/* True if snapshots of the GPU's counts are small enough to be taken on the way. With very many
 * bins there is only one, at the end, and nothing can replace a lost device. */
bool snapshot_is_small(const struct histogram_spec *spec);

/* True if each chunk has memory for a snapshot of its own. */
bool snapshot_is_of_chunk(const struct histogram_spec *spec);

/* Returns the bytes of host memory that a slot takes: a chunk, and its snapshot if each has one. */
size_t gpu_engine_slot_size(const struct histogram_spec *spec, size_t chunk_size);

/* Returns the bytes of host memory that an engine takes when it is opened: slots, and snapshots
 * that they share. */
size_t gpu_engine_size(const struct histogram_spec *spec, size_t chunk_size, unsigned buffers);

/* The most chunks that an engine has beside its slots: those of a decoder. */
#define GPU_ENGINE_BATCHES_MAX 8

/* --- one GPU --- */

struct gpu_options {
    struct cuda_device cuda_device;  /* all zeros: the first that CUDA sees */
    const struct strategy *strategy; /* NULL: the fastest */
    size_t chunk_size;               /* bytes of a slot */
    unsigned buffers;                /* slots, at least 1 */
    unsigned deadline_ms;            /* a device that finishes nothing for this time is lost */
    bool timing;                     /* for gpu_group_report */
    struct error_locator *locator;   /* as in struct engine */
    struct file_tallies *files;      /* as in struct engine */
    bool no_check;                   /* content checksums are not verified */
    /* Prepares an engine that was opened, before others see it (gpu_decoder_prepare); or NULL. */
    void (*prepare)(struct engine *engine);
    /* Returns the bytes of host memory that the process may still take. All engines that are opened
     * side by side may take half of that for decompressing. NULL: there is no limit. */
    uint64_t (*memory_left)(void);
    unsigned sharers; /* how many engines these are; 0 is 1 */
    /* Counts what a lost device did not, so that submit and finish never fail. It must have a chunk
     * free for a thread that is inside this engine. NULL: a lost device is an error. It always is
     * with so many bins that snapshots are not small. */
    struct engine *fallback;
};

/* Opens a device and its slots, in a few hundred milliseconds. The histogram and the fallback must
 * live as long as the engine. NULL with the error set. Any thread. */
struct engine *gpu_engine_open(const struct histogram_spec *spec, const struct gpu_options *options,
                               struct error *error);

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
    uint64_t chunks, bytes;              /* whose counts came from the device, */
    uint64_t decompressed;               /* of these bytes, content of files that were finished */
    double copy_seconds, kernel_seconds; /* the device's two streams were at work */
    double overlap_seconds;              /* of kernel_seconds, while another chunk's copy ran */
    struct gpu_memory decoding;
    struct gpu_feeding feeding;
};

/* --- several GPUs: chunks go to whichever has a free slot ---
 *
 * Each GPU has an engine with a lock, slots, streams and snapshots of its own, so no GPU waits for
 * another. A chunk that a GPU lends is its engine's: submit goes there directly. */

/* Fills a list that stands for all GPUs (count 0) with those that CUDA sees. 0, or -1 with the
 * error set, also if there is none. Any thread. */
int gpu_group_resolve(struct gpu_list *gpus, struct error *error);

/* When a group that is being opened is there. */
enum gpu_group_start {
    GPU_GROUP_TAKES_SOME,    /* with the first GPU; those that cannot be opened are left out */
    GPU_GROUP_WANTS_ALL,     /* with the first GPU, if all exist; none may be refused */
    GPU_GROUP_WAITS_FOR_ALL, /* with the last one */
};

/* Opens the GPUs of a list that is not empty, side by side. The options are those of each, but for
 * `cuda_device` and `sharers`. Those that are there later join the others then; whether
 * one was refused later gpu_group_refused says.
 *
 * The histogram and what the options point to must live as long as the engine, or as long as the
 * process, if it ends before all are there. NULL with the error set, which names the GPU if there
 * are several: one that is wanted was refused, or all were. Any thread. */
struct engine *gpu_group_open(const struct histogram_spec *spec, const struct gpu_options *options,
                              const struct gpu_list *gpus, enum gpu_group_start start,
                              struct error *error);

/* True if a GPU could not be opened. Sets the error to that of the first one, which it names. */
bool gpu_group_refused(const struct engine *engine, struct error *error);

/* The state of GPUs, which may be another one the next time. */
struct gpu_state {
    unsigned ready;   /* how many are open; */
    unsigned idle;    /* of these, how many have no compressed file, and may begin one, */
    unsigned feeding; /* and how many have one */
    bool has_failed;  /* one was lost, and counts with it, so that finish will return -1 */
};

/* Returns that of the engine of one GPU or of several. Any thread, and no lock is waited for. */
struct gpu_state gpu_group_state(const struct engine *gpu);

/* The work of one GPU. */
struct gpu_report {
    int number;        /* from 0, as the user counts them */
    char name[128];    /* the device and its strategy */
    struct error lost; /* why others had to do its work; or empty */
    struct gpu_times times;
};

/* Sets reports[0] and so on to those of the GPUs that are open, in the order of the list. Returns
 * how many these are. Call it after finish. */
unsigned gpu_group_report(const struct engine *gpu, struct gpu_report *reports);

#endif

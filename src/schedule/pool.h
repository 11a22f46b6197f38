/* SPDX-License-Identifier: MIT */
/* A run: workers read the source and count it on the CPU, on GPUs, or on both. */
#ifndef GPUHISTO_POOL_H
#define GPUHISTO_POOL_H

#include "policy.h"
#include "gpu/gpu_engine.h"
#include "gpu/cuda_devices.h"
#include "src/base/error.h"
#include "src/count/histogram_spec.h"
#include "src/count/tally.h"
#include "source.h"

struct cpu_kernels;
struct engine;
struct file_tallies;
struct key_tallies;
struct strategy;

enum device_choice {
    DEVICE_AUTO, /* the CPU at once, and also a GPU once the input proves long enough */
    DEVICE_CPU,
    DEVICE_GPU, /* a GPU only: without one the run fails */
};

/* The choice of what happens to a token that is not a number. */
enum invalid_choice {
    INVALID_COUNT, /* it counts as invalid; the first one is reported */
    INVALID_SKIP,
    INVALID_ERROR, /* it ends the run */
};

/* Even the slowest strategy counts the largest chunk, 1 GiB, in a second. */
#define GPU_DEADLINE_MS 20000

/* A run that has not ended yet. */
struct pool_view {
    uint64_t bytes;  /* that were read */
    bool has_failed; /* nothing more will be counted */
    struct engine *cpu;
    struct engine *gpu; /* NULL: not ready */
};

struct pool_options {
    enum device_choice device;
    struct gpu_list gpus;              /* the GPUs */
    const struct strategy *strategy;   /* NULL: the fastest */
    const struct cpu_kernels *kernels; /* how the CPU counts; NULL: the fastest */
    size_t chunk_size;                 /* bytes of a GPU slot; the CPU's buffers are no larger */
    unsigned buffers;                  /* GPU slots; 0: chosen by the kind of input */
    unsigned threads;                  /* workers at most; 0: as many processors as may be used */
    bool no_check; /* content checksums of what the GPU decompresses need not be verified */
    bool timing;   /* measure copies and kernels on the device */
    enum invalid_choice invalid; /* in numbers */
    struct policy_tuning tuning;
    unsigned deadline_ms; /* a GPU that finishes nothing for so long has hung */
    bool opens_at_once;   /* workers wait while a GPU is opened: tests know then when it is there */
    /* Gets the samples and counts of each file, or of its blocks. Blocks need DEVICE_CPU, and a
     * source whose chunks state their positions. NULL: they are not needed apart. */
    struct file_tallies *files;
    /* Gets the samples and counts of each key; NULL: there are no keys. Only with DEVICE_CPU. */
    struct key_tallies *keys;
    /* Looks at the run, unless it is NULL: the thread that waits calls it ten times a second with
     * tick_arg, and once more if the run has failed. */
    void (*tick)(void *arg, const struct pool_view *view);
    void *tick_arg;
};

/* The input of a run, and how it is counted. */
struct pool_task {
    const struct histogram_spec *spec; /* lives as long as the process if outcome->gpu_opened */
    struct source *source;
    struct tally *tally; /* what is counted is added to it */
};

/* The work of one GPU. */
struct pool_gpu {
    int number;        /* from 0, as the user counts them */
    char name[128];    /* the device and its strategy */
    struct error lost; /* why others had to do its work; or empty */
    struct gpu_times times;
};

/* The course of a run, for --timing and messages. Times are in seconds since pool_run began. */
struct pool_outcome {
    double seconds;
    uint64_t cpu_bytes, gpu_bytes;
    unsigned workers;         /* that were started, but for those that were too many */
    const char *cpu_name;     /* how they counted */
    bool gpu_opened;          /* tried; the process should then exit without CUDA's tear-down */
    double gpu_ready;         /* when the slots were there; 0: never, or too late */
    struct error gpu_refused; /* why no GPU could be used, or one of several; or empty */
    struct error invalid;     /* the first token that is not a number, and its line; or empty */
    unsigned gpu_count;       /* that were ready */
    struct pool_gpu gpus[GPUS_MAX];
};

/* Counts all of the source. With options->files or options->keys the counts go there, and the tally
 * gets bytes and newlines only. 0, or -1 with the error set: the tally then holds nothing of use,
 * and threads may still be running, so nothing may be freed and the process should exit. */
int pool_run(const struct pool_options *options, const struct pool_task *task,
             struct pool_outcome *outcome, struct error *error);

/* True if the run will look up how much memory there is (/proc/meminfo), because it needs much. */
bool pool_looks_for_memory(const struct histogram_spec *spec);

/* Adds the counts so far to the tally: of fewer bytes than were read, but of whole chunks. 0, or -1
 * if that is only known at the end, as on a GPU with very many bins (not snapshot_is_small). Keys
 * may then be lost, as at the end. */
int pool_so_far(const struct pool_view *view, struct tally *tally);

#endif

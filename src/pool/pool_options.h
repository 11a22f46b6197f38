/* SPDX-License-Identifier: MIT */
/* What the command line says about workers and engines. */
#ifndef GPUHISTO_POOL_OPTIONS_H
#define GPUHISTO_POOL_OPTIONS_H

#include "gpu/visible.h"
#include "src/policy/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counter;
struct engine;
struct file_tallies;
struct strategy;

enum device_choice {
    DEVICE_AUTO, /* the CPU at once, and also a GPU once the input proves long enough */
    DEVICE_CPU,
    DEVICE_GPU, /* a GPU only: without one the run fails */
};

/* What happens to a token that is not a number. */
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
    struct gpu_list gpus;            /* the GPUs */
    const struct strategy *strategy; /* NULL: the fastest */
    const struct counter *counter;   /* how the CPU counts; NULL: the fastest */
    size_t chunk_size;               /* bytes of a GPU slot; the CPU's buffers are no larger */
    unsigned buffers;                /* GPU slots; 0: chosen by the kind of input */
    unsigned threads;                /* workers at most; 0: as many processors as may be used */
    bool no_check; /* content checksums of what the GPU decompresses need not be verified */
    bool timing;   /* measure copies and kernels on the device */
    enum invalid_choice invalid; /* in numbers */
    struct policy_tuning tuning;
    unsigned deadline_ms; /* a GPU that finishes nothing for so long has hung */
    bool opens_at_once;   /* workers wait while a GPU is opened: tests know then when it is there */
    /* Gets the samples and counts of each file; NULL: they are not needed apart. */
    struct file_tallies *files;
    /* If not NULL: called ten times a second by the thread that waits, with look_arg; and once more
     * if the run has failed. */
    void (*look)(void *arg, const struct pool_view *view);
    void *look_arg;
};

#endif

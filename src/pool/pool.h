/* SPDX-License-Identifier: MIT */
/* A run: workers read the source and count it on the CPU, on GPUs, or on both. */
#ifndef GPUHISTO_POOL_H
#define GPUHISTO_POOL_H

#include "pool_options.h"
#include "gpu/gpu_engine.h"
#include "src/base/reason.h"
#include "src/count/histogram.h"
#include "src/count/tally.h"
#include "src/work/source.h"

/* What a run counts. */
struct pool_task {
    const struct histogram *histogram; /* lives as long as the process if outcome->gpu_opened */
    struct source *source;
    struct tally *tally; /* what is counted is added to it */
};

/* What a GPU did. */
struct pool_gpu {
    int number;         /* from 0, as the user counts them */
    char name[128];     /* the device and its strategy */
    struct reason lost; /* why others had to do its work; or empty */
    struct gpu_times times;
};

/* What happened, for --timing and messages. Times are in seconds since pool_run began. */
struct pool_outcome {
    double seconds;
    uint64_t cpu_bytes, gpu_bytes;
    unsigned workers;          /* that were started, but for those that were too many */
    const char *cpu_name;      /* how they counted */
    bool gpu_opened;           /* tried; the process should then exit without CUDA's tear-down */
    double gpu_ready;          /* when the slots were there; 0: never, or too late */
    struct reason gpu_refused; /* why no GPU could be used, or one of several; or empty */
    struct reason invalid;     /* the first token that is not a number, and its line; or empty */
    unsigned gpu_count;        /* that were ready */
    struct pool_gpu gpus[GPUS_MAX];
};

/* Counts all of the source. With options->files the counts go there, and the tally gets bytes and
 * newlines only. 0, or -1 with the reason set: the tally then holds nothing of use, and threads may
 * still be running, so nothing may be freed and the process should exit. */
int pool_run(const struct pool_options *options, const struct pool_task *task,
             struct pool_outcome *outcome, struct reason *why);

/* True if the run will look up how much memory there is (/proc/meminfo), because it needs much. */
bool pool_looks_for_memory(const struct histogram *histogram);

/* Adds to the tally what was counted so far: less than what was read, but of whole chunks. 0, or -1
 * if that is only known at the end, as on a GPU with very many bins (not snapshot_is_small). */
int pool_so_far(const struct pool_view *view, struct tally *tally);

#endif

/* The workers: threads that read chunks and have them counted, on the CPU or on the GPU, and the
 * hand-over from one to the other. */
#ifndef GPUHISTO_POOL_H
#define GPUHISTO_POOL_H

#include "src/histogram/histogram.h"
#include "src/base/reason.h"
#include "src/input/source.h"

struct counter;
struct strategy;

enum device_choice {
    DEVICE_AUTO, /* the CPU at once; the GPU as well when the input is long, if there is one */
    DEVICE_CPU,
    DEVICE_GPU, /* or fail */
};

/* What a token does that is no number. */
enum invalid_choice {
    INVALID_COUNT, /* counts; the first one is named */
    INVALID_SKIP,
    INVALID_ERROR, /* ends the run */
};

/* When more hands are called for. */
struct pool_tuning {
    uint64_t short_input;     /* bytes that one worker counts before others are started */
    double gpu_start;         /* seconds that a GPU takes until it is ready */
    double break_even;        /* seconds that it must save, for it to be opened */
    double stream_break_even; /* seconds that a pipe or zstd data have gone on, for the same */
    double stream_share; /* of their readers' time; counting that takes more is given to others */
};

/* What was measured to be right; the reasons stand beside it in pool.c. */
extern const struct pool_tuning pool_tuning;

struct pool_options {
    enum device_choice device;
    int ordinal;                     /* which GPU, from 0 */
    const struct strategy *strategy; /* NULL: the fastest */
    const struct counter *counter;   /* how the CPU counts; NULL: the fastest */
    size_t chunk_size;               /* bytes of a GPU slot; the CPU's buffers are no larger */
    unsigned buffers;                /* GPU slots; 0: chosen by the kind of input */
    unsigned threads;                /* workers at most; 0: the processors this process may use */
    bool timing;                     /* measure copies and kernels on the device */
    enum invalid_choice invalid;     /* in numbers */
    struct pool_tuning tuning;
    /* If not NULL: called by the thread that waits, ten times a second, with look_arg and the bytes
     * that were read and counted, or are on their way to it. */
    void (*look)(void *arg, uint64_t bytes);
    void *look_arg;
};

/* What happened, for --timing and messages. Times are seconds since pool_run began. */
struct pool_outcome {
    double seconds;
    uint64_t cpu_bytes, gpu_bytes;
    unsigned workers;          /* that were started */
    const char *cpu_name;      /* how they counted */
    bool gpu_opened;           /* tried; the process should then leave without CUDA's tear-down */
    double gpu_ready;          /* when its slots were there; 0: never, or too late */
    char gpu_name[128];        /* the device and its strategy, if ready */
    struct reason gpu_refused; /* why there was no GPU, if it was tried; or empty */
    struct reason invalid;     /* the first token that is no number, and its line; or empty */
    struct reason gpu_lost;    /* why the CPU had to take the GPU's work over; or empty */
    uint64_t gpu_chunks;       /* the three that follow only with options->timing */
    double copy_seconds, kernel_seconds;
    double overlap_seconds; /* of kernels, while another chunk was being copied */
};

/* Counts all of the source and adds it to the tally. Uses the calling thread only to wait. 0, or -1
 * with the reason set: the tally then holds nothing of use, and threads may still be running (one
 * may wait for a pipe for ever), so that nothing may be freed and the process should exit. The
 * histogram must outlive the process if outcome->gpu_opened. */
int pool_run(const struct pool_options *options, const struct histogram *histogram,
             struct source *source, struct tally *tally, struct pool_outcome *outcome,
             struct reason *why);

#endif

// The kernels behind the strategies' names, and how they are launched, for whoever launches them.
#ifndef GPUHISTO_LAUNCH_H
#define GPUHISTO_LAUNCH_H

#include "gpu/counting.cuh"

extern "C" {
#include "src/histogram.h"
}

using counting_kernel = void (*)(count_args args);

struct launch_shape {
    counting_kernel bytes;            // null: the strategy does not count them
    counting_kernel letters[LETTERS]; // by the width of a range, from 1
    unsigned block;                   // threads
    unsigned coarsening; // samples a thread, with as many blocks as that takes; 0: resident blocks
    unsigned resident;   // blocks a multiprocessor, if they stay and share the data; 0: what fits
    unsigned shared;     // dynamic shared memory, bytes a block
    bool scratch;        // wants map.bins words a block in global memory; resident blocks only
};

// In the order of strategies[], from strategies.cu.
extern const struct launch_shape launch_shapes[];

// The bytes that a thread of a resident block counts before more blocks are worth their start.
constexpr unsigned long long bytes_per_thread = 64;

static inline counting_kernel kernel_for(const struct launch_shape *shape, enum sample_mode mode,
                                         unsigned width)
{
    return mode == SAMPLE_BYTES ? shape->bytes : shape->letters[width - 1];
}

// The blocks for len bytes, where `resident` fit on the device at a time.
static inline unsigned grid_for(const struct launch_shape *shape, unsigned resident,
                                unsigned long long len)
{
    if (shape->coarsening)
        return static_cast<unsigned>((len + 1ull * shape->block * shape->coarsening - 1) /
                                     (1ull * shape->block * shape->coarsening)) +
               (len == 0);
    const unsigned long long worth = len / (shape->block * bytes_per_thread) + 1;
    return worth < resident ? static_cast<unsigned>(worth) : resident;
}

#endif

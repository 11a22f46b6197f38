// The kernels behind the strategies' names, and how they are launched, for whoever launches them.
#ifndef GPUHISTO_LAUNCH_H
#define GPUHISTO_LAUNCH_H

#include "gpu/counting.cuh"

extern "C" {
#include "gpu/tuning.h"
}

using counting_kernel = void (*)(count_args args);

// What a strategy brings with it.
struct strategy_kernels {
    counting_kernel bytes;            // null: the strategy does not count them
    counting_kernel letters[LETTERS]; // by the width of a range, from 1
    unsigned shared, shared_a_warp;   // dynamic shared memory: bytes a block, and a warp besides
    bool scratch;                     // wants map.bins words a block in global memory
};

// By enum strategy_id; from strategies.cu.
extern const struct strategy_kernels strategy_kernels[];

// A kernel, and how it is launched on one device.
struct launch {
    counting_kernel kernel;
    unsigned block, coarsening, least; // as in struct tuning
    unsigned shared;                   // dynamic shared memory, bytes a block
    bool scratch;
};

static inline struct launch launch_with(const struct tuning *tuning,
                                        const struct histogram *histogram)
{
    const struct strategy_kernels *of = &strategy_kernels[tuning->strategy];
    return {histogram->mode == SAMPLE_BYTES ? of->bytes : of->letters[histogram->width - 1],
            tuning->block,
            tuning->coarsening,
            tuning->least,
            of->shared + tuning->block / 32 * of->shared_a_warp,
            of->scratch};
}

// The blocks for len bytes, where the device holds `resident` at a time.
static inline unsigned grid_for(const struct launch *launch, unsigned resident,
                                unsigned long long len)
{
    if (launch->coarsening)
        return static_cast<unsigned>((len + 1ull * launch->block * launch->coarsening - 1) /
                                     (1ull * launch->block * launch->coarsening)) +
               (len == 0);
    const unsigned long long worth = len / (1ull * launch->block * launch->least) + 1;
    return worth < resident ? static_cast<unsigned>(worth) : resident;
}

#endif

// The kernels behind the strategies' names, for whoever launches them (C++).
#ifndef GPUHISTO_LAUNCH_H
#define GPUHISTO_LAUNCH_H

#include "gpu/samples.cuh"

extern "C" {
#include "src/histogram.h"
}

// Adds the bins of data[0..len) to counts[0..bins). Any alignment; len up to 2^32 - 1, so that no
// 32-bit counter inside overflows. Every kernel has this signature.
using counting_kernel = void (*)(const unsigned char *data, unsigned long long len,
                                 struct sample_map map, unsigned long long *counts);

struct launch_shape {
    counting_kernel bytes, letters; // null: the strategy does not count them
    unsigned block;                 // threads
    unsigned blocks;                // a multiprocessor, at most; fewer for short data
};

// In the order of strategies[], from strategies.cu.
extern const struct launch_shape launch_shapes[];

// The bytes that a thread counts before more blocks are worth their start.
constexpr unsigned long long bytes_per_thread = 64;

static inline counting_kernel kernel_for(const struct launch_shape *shape, enum sample_mode mode)
{
    return mode == SAMPLE_BYTES ? shape->bytes : shape->letters;
}

static inline unsigned grid_for(const struct launch_shape *shape, unsigned multiprocessors,
                                unsigned long long len)
{
    unsigned long long most = (unsigned long long)shape->blocks * multiprocessors;
    unsigned long long worth = len / (shape->block * bytes_per_thread) + 1;
    return static_cast<unsigned>(worth < most ? worth : most);
}

#endif

/* SPDX-License-Identifier: MIT */
// The stages that decompress a batch, in their order, and how each is launched.
#ifndef GPUHISTO_GPU_DECODE_STAGES_H
#define GPUHISTO_GPU_DECODE_STAGES_H

extern "C" {
#include "batch.h"
}

using decode_kernel = void (*)(decode_batch batch);

// The work that a stage waits for, beside the stages before it.
enum decode_part {
    DECODE_PART_FREE,    // nothing
    DECODE_PART_CHAINED, // these of the batch before; they follow each other
    DECODE_PART_MATCHES, // all of the batch before, unless the batch stands alone
    DECODE_PART_END      // all of the batch before
};

// A kernel. A stage may be several, launched one after the other.
struct decode_stage {
    const char *name; // of the stage, for messages and benchmarks
    enum decode_part part;
    decode_kernel kernel;
    unsigned block; // threads of a CUDA block
    // Bytes of dynamic shared memory of a CUDA block. More than 48 KiB are asked for with
    // cudaFuncAttributeMaxDynamicSharedMemorySize.
    unsigned shared = 0;

    // Returns the CUDA blocks to launch for a batch of at least one block; 0: it does without the
    // stage. `resident` is how many of them the device holds at a time, for a kernel whose CUDA
    // blocks stay.
    unsigned (*grid)(const struct decode_batch *batch, unsigned resident);
};

#define DECODE_STAGES_MAX 16

// All stages of a format, in the order in which a batch needs them: first the stages that are free
// or chained, then those of the matches, then the end.
struct decode_stage_list {
    const struct decode_stage *stage;
    unsigned count; // at most DECODE_STAGES_MAX
};

extern const struct decode_stage_list decode_stages[DECODE_FORMATS];

// Finds the tail of a batch after these stages, by one CUDA block: matches.cuh.
constexpr unsigned DECODE_TAIL_THREADS = 1024;
extern void (*const decode_tail_kernel)(decode_batch batch, unsigned max, bool lines);

// Grids: of one CUDA block; of as many as there is work for, if so many stay; of as many as a batch
// has room for so many bytes of content, if so many stay; and of as many as the zstd blocks of a
// batch need, each taking so many.
static inline unsigned grid_of_one(const struct decode_batch *, unsigned)
{
    return 1;
}

static inline unsigned grid_of_resident(unsigned max, unsigned resident)
{
    return max < resident ? max : resident;
}

template <unsigned Bytes> unsigned grid_of_room(const struct decode_batch *batch, unsigned resident)
{
    return grid_of_resident(batch->room / Bytes + 1, resident);
}

template <unsigned Each> unsigned grid_of_blocks(const struct decode_batch *batch, unsigned)
{
    return (batch->blocks + Each - 1) / Each;
}

#endif

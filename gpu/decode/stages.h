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

#ifdef __CUDACC__
// --- several batches side by side on a device ---
//
// Matches are copied by all of the device, and wait for its memory; the stages before have a few
// threads a block, and wait for themselves. So these run on streams of their own, one for each
// batch, next to the matches of a batch before:
//
//     batch 0   | find, parse | chain | matches  |
//     batch 1      | find, parse | chain         | matches  |
//     batch 2         | find, parse | chain                 | matches  |
//
// Chained stages wait for those of the batch before: zstd's tables may be repeated, and gzip's
// blocks begin where others end. Matches of a batch that stands alone belong to its own stream as
// well: one CUDA block a frame takes its time, and the frames of one batch do not fill the device.

// The streams and events that belong to the memory of a batch.
struct decode_lane {
    cudaStream_t stream; // of the stages up to the matches, these too if the batch stands alone
    cudaEvent_t chained; // what is chained is there
    cudaEvent_t ready;   // the stages on the stream are done
    cudaEvent_t done;    // of the batch; to be recorded by the caller, after all that it adds
};

// Opens a lane. Its members are null or valid afterwards, even if this fails.
static inline cudaError_t decode_lane_open(decode_lane *lane)
{
    int least, greatest;
    cudaError_t code = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (code == cudaSuccess)
        code = cudaStreamCreateWithPriority(&lane->stream, cudaStreamNonBlocking, greatest);
    for (cudaEvent_t *event : {&lane->chained, &lane->ready, &lane->done})
        if (code == cudaSuccess)
            code = cudaEventCreateWithFlags(event, cudaEventDisableTiming);
    return code;
}

static inline void decode_lane_close(decode_lane *lane)
{
    for (cudaEvent_t event : {lane->chained, lane->ready, lane->done})
        if (event)
            (void)cudaEventDestroy(event);
    if (lane->stream)
        (void)cudaStreamDestroy(lane->stream);
    *lane = {};
}

// The number of CUDA blocks of each stage that the device holds at a time.
struct decode_residents {
    unsigned of[DECODE_FORMATS][DECODE_STAGES_MAX];
};

// Finds out how many CUDA blocks of each stage the device holds.
static inline cudaError_t decode_prepare_stages(decode_residents *residents, int processors)
{
    cudaError_t code = cudaSuccess;
    for (unsigned format = 0; format < DECODE_FORMATS; format++)
        for (unsigned i = 0; i < decode_stages[format].count && code == cudaSuccess; i++) {
            const decode_stage &stage = decode_stages[format].stage[i];
            const void *const kernel = reinterpret_cast<const void *>(stage.kernel);
            int fit = 0;
            code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(stage.shared));
            if (code == cudaSuccess)
                code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                    &fit, kernel, static_cast<int>(stage.block), stage.shared);
            residents->of[format][i] = static_cast<unsigned>(fit > 0 ? fit * processors : 1);
        }
    return code;
}

static inline cudaError_t decode_launch_stage(const decode_stage &stage, decode_batch batch,
                                              unsigned resident, cudaStream_t stream)
{
    const unsigned grid = stage.grid(&batch, resident);
    void *params[] = {&batch};
    if (grid == 0)
        return cudaSuccess;
    return cudaLaunchKernel(reinterpret_cast<const void *>(stage.kernel), dim3(grid),
                            dim3(stage.block), params, stage.shared, stream);
}

// The batches that run side by side.
struct decode_pipeline {
    const decode_residents *residents;
    const decode_lane *lanes; // whose turns come in order
    unsigned count;           // of these, at least 2
    cudaStream_t matches;     // of the last stages
};

// Launches all stages of the batch of lanes[index]. Chained ones wait for those of the batch
// before, and until the memory of the next batch, to which they write, is no longer in use.
static inline cudaError_t decode_launch(const decode_pipeline &pipeline, const decode_batch &batch,
                                        unsigned index)
{
    const decode_stage_list &list = decode_stages[batch.format];
    const decode_lane &lane = pipeline.lanes[index];
    const decode_lane &before = pipeline.lanes[(index + pipeline.count - 1) % pipeline.count];
    const decode_lane &next = pipeline.lanes[(index + 1) % pipeline.count];
    const decode_part shared =
        decode_stands_alone(&batch) ? DECODE_PART_END : DECODE_PART_MATCHES; // the first
    cudaStream_t stream = lane.stream;
    bool was_chained = false;
    cudaError_t code = cudaSuccess;
    for (unsigned i = 0; i < list.count && code == cudaSuccess; i++) {
        const decode_stage &stage = list.stage[i];
        const bool is_chained = stage.part == DECODE_PART_CHAINED;
        if (is_chained && !was_chained) {
            code = cudaStreamWaitEvent(stream, before.chained, 0);
            if (code == cudaSuccess)
                code = cudaStreamWaitEvent(stream, next.done, 0);
        }
        if (code == cudaSuccess && stage.part >= shared && stream == lane.stream) {
            code = cudaEventRecord(lane.ready, stream);
            stream = pipeline.matches;
            if (code == cudaSuccess)
                code = cudaStreamWaitEvent(stream, lane.ready, 0);
        }
        if (code == cudaSuccess)
            code =
                decode_launch_stage(stage, batch, pipeline.residents->of[batch.format][i], stream);
        if (code == cudaSuccess && is_chained)
            code = cudaEventRecord(lane.chained, stream);
        was_chained = is_chained;
    }
    return code;
}
#endif

#endif

// SPDX-License-Identifier: MIT
// How the stages of several batches run side by side on a device.
//
// Matches are copied by all of the device, and wait for its memory; the stages before have a few
// threads a zstd block, and wait for themselves. So these run on streams of their own, one for each
// batch, next to the matches of a batch before:
//
//     batch 0   | tables, entropy | matches  |
//     batch 1      | tables, entropy         | matches  |
//     batch 2         | tables, entropy                 | matches  |
//
// Tables of a batch are found after those of the one before, which it may repeat. Matches of a
// batch that stands alone (batch.h) belong to its own stream as well: each of its frames is copied
// by one CUDA block, which takes its time, and the frames of one batch do not fill the device.
#ifndef GPUHISTO_ZSTD_PIPELINE_CUH
#define GPUHISTO_ZSTD_PIPELINE_CUH

#include "stages.h"

#include <cuda_runtime.h>

// What belongs to the memory of a batch.
struct decode_lane {
    cudaStream_t stream; // of the stages up to the matches, these too if the batch stands alone
    cudaEvent_t tables;  // what the next batch's tables wait for is there
    cudaEvent_t ready;   // the stages on the stream are done
    cudaEvent_t done;    // of the batch; to be recorded by the caller, after all that it adds
};

// The lane's members are null or as they should be afterwards, also if this fails.
static inline cudaError_t decode_lane_open(decode_lane *lane)
{
    int least, greatest;
    cudaError_t code = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (code == cudaSuccess)
        code = cudaStreamCreateWithPriority(&lane->stream, cudaStreamNonBlocking, greatest);
    for (cudaEvent_t *event : {&lane->tables, &lane->ready, &lane->done})
        if (code == cudaSuccess)
            code = cudaEventCreateWithFlags(event, cudaEventDisableTiming);
    return code;
}

static inline void decode_lane_close(decode_lane *lane)
{
    for (cudaEvent_t event : {lane->tables, lane->ready, lane->done})
        if (event)
            (void)cudaEventDestroy(event);
    if (lane->stream)
        (void)cudaStreamDestroy(lane->stream);
    *lane = {};
}

// Finds out how many CUDA blocks of each stage the device holds at a time: resident[], by stage.
static inline cudaError_t decode_prepare_stages(unsigned *resident, int processors)
{
    cudaError_t code = cudaSuccess;
    for (unsigned i = 0; i < zstd_stage_count && code == cudaSuccess; i++) {
        const decode_stage &stage = zstd_stages[i];
        const void *const kernel = reinterpret_cast<const void *>(stage.kernel);
        int fit = 0;
        code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(stage.shared));
        if (code == cudaSuccess)
            code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                &fit, kernel, static_cast<int>(stage.block), stage.shared);
        resident[i] = static_cast<unsigned>(fit > 0 ? fit * processors : 1);
    }
    return code;
}

static inline cudaError_t decode_launch_stage(unsigned index, decode_batch batch, unsigned resident,
                                              cudaStream_t stream)
{
    const decode_stage &stage = zstd_stages[index];
    const unsigned grid = stage.grid(&batch, resident);
    void *params[] = {&batch};
    if (grid == 0)
        return cudaSuccess;
    return cudaLaunchKernel(reinterpret_cast<const void *>(stage.kernel), dim3(grid),
                            dim3(stage.block), params, stage.shared, stream);
}

static inline cudaError_t decode_launch_part(decode_part part, const decode_batch &batch,
                                             const unsigned *resident, cudaStream_t stream)
{
    cudaError_t code = cudaSuccess;
    for (unsigned i = 0; i < zstd_stage_count && code == cudaSuccess; i++)
        if (zstd_stages[i].part == part)
            code = decode_launch_stage(i, batch, resident[i], stream);
    return code;
}

// The batches that run side by side.
struct decode_pipeline {
    const unsigned *resident; // CUDA blocks of each stage
    const decode_lane *lanes; // whose turns come in order
    unsigned count;           // of these, at least 2
    cudaStream_t matches;     // of the last stages
};

// Launches all stages of the batch of lanes[index]. The lane's stream waits for whatever the batch
// needs first.
static inline cudaError_t decode_launch(const decode_pipeline &pipeline, const decode_batch &batch,
                                        unsigned index)
{
    const unsigned *const resident = pipeline.resident;
    const cudaStream_t matches = pipeline.matches;
    const unsigned count = pipeline.count;
    const decode_lane &lane = pipeline.lanes[index];
    const decode_lane &before = pipeline.lanes[(index + count - 1) % count],
                      &next = pipeline.lanes[(index + 1) % count];
    // The tables of the batch before are there; what the next batch's memory was used for is over.
    cudaError_t code = cudaStreamWaitEvent(lane.stream, before.tables, 0);
    if (code == cudaSuccess)
        code = cudaStreamWaitEvent(lane.stream, next.done, 0);
    if (code == cudaSuccess)
        code = decode_launch_part(DECODE_PART_TABLES, batch, resident, lane.stream);
    if (code == cudaSuccess)
        code = cudaEventRecord(lane.tables, lane.stream);
    if (code == cudaSuccess)
        code = decode_launch_part(DECODE_PART_ENTROPY, batch, resident, lane.stream);
    const bool alone = decode_stands_alone(&batch);
    if (code == cudaSuccess && alone)
        code = decode_launch_part(DECODE_PART_MATCHES, batch, resident, lane.stream);
    if (code == cudaSuccess)
        code = cudaEventRecord(lane.ready, lane.stream);
    if (code == cudaSuccess)
        code = cudaStreamWaitEvent(matches, lane.ready, 0);
    if (code == cudaSuccess && !alone)
        code = decode_launch_part(DECODE_PART_MATCHES, batch, resident, matches);
    if (code == cudaSuccess)
        code = decode_launch_part(DECODE_PART_END, batch, resident, matches);
    return code;
}

#endif

// SPDX-License-Identifier: MIT
// The stage place of gzip: finds where the content of each unit begins, how far it may reach back,
// and the segments. It begins the verdict.
//
// Takes the units in order, as blocks, and their outcomes with the refusal and the content; frames;
// and how long the first member is so far, from the carry. Gives content_at and reach of each
// outcome, and the first unit of each segment. Content of refused units counts as none.
//
// One CUDA block goes through the units, a thread each, so many at a time. It is place.cuh without
// repeat offsets, and waits for the chain of the batch before, not for its content.
#ifndef GPUHISTO_GPU_GZIP_PLACE_CUH
#define GPUHISTO_GPU_GZIP_PLACE_CUH

#include "gpu/decode/gzip/parse.cuh"

constexpr unsigned GZIP_PLACE_THREADS = 1024;

// Returns the sum over the threads before this one, after `before`, which becomes that of all
// threads.
static __device__ inline unsigned gzip_scan(unsigned own, unsigned *warps, unsigned &before)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned inclusive = gzip_sum(own);
    if (lane == 31)
        warps[warp] = inclusive;
    __syncthreads();
    if (warp == 0)
        warps[lane] = gzip_sum(lane < blockDim.x / 32 ? warps[lane] : 0);
    __syncthreads();
    const unsigned at = before + inclusive - own + (warp > 0 ? warps[warp - 1] : 0);
    before += warps[31];
    __syncthreads();
    return at;
}

static __global__ void __launch_bounds__(GZIP_PLACE_THREADS) gzip_place_units(decode_batch batch)
{
    __shared__ unsigned warps[32];
    __shared__ unsigned refused;
    const unsigned units = decode_block_count(&batch);
    unsigned before = 0;
    if (threadIdx.x == 0)
        refused = DECODE_NONE;
    __syncthreads();
    for (unsigned first = 0; first < units; first += blockDim.x) {
        const unsigned index = first + threadIdx.x;
        const bool is_there = index < units;
        decode_outcome *const outcome = batch.outcome + (is_there ? index : 0);
        const bool is_taken = is_there && outcome->refusal == DECODE_TAKEN;
        const unsigned content = is_taken ? outcome->content : 0;
        const unsigned at = gzip_scan(content, warps, before);
        if (is_there)
            outcome->content_at = at;
        __syncthreads(); // the first unit of the frame knows where it is
        if (!is_there)
            continue;
        if (!is_taken)
            atomicMin(&refused, index);
        const decode_frame &frame = batch.frame[batch.block[index].frame];
        unsigned long long within = at - batch.outcome[frame.first].content_at;
        if (!frame.begins)
            within += gzip_carry_of(batch).before;
        outcome->reach =
            static_cast<unsigned>(min(within, static_cast<unsigned long long>(GZIP_WINDOW)));
        // No unit has as much content as a segment, so each is the first of at most one.
        const unsigned segment = at / GZIP_SEGMENT;
        if (index == 0 || segment * GZIP_SEGMENT > batch.outcome[index - 1].content_at)
            batch.gzip.segments[segment] = index;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned why =
            refused != DECODE_NONE ? batch.outcome[refused].refusal : unsigned{DECODE_TAKEN};
        *batch.verdict = {refused, why, before, 0, 0, 0};
    }
}

#endif

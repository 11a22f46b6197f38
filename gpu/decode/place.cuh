// SPDX-License-Identifier: MIT
// The stage place: finds where each block's content begins, its repeat offsets there, how far it
// may reach back, and whether frames hold what they state. It begins the verdict.
//
// Takes outcome.refusal, .content and .after of every block; gives .content_at, .before and .reach,
// may refuse the last block of a frame, and writes the verdict. Content of refused blocks counts as
// none.
//
// One CUDA block goes through the zstd blocks, a thread each, so many at a time: a few thousand
// blocks are a few rounds of some microseconds. Lengths are added and repeat offsets composed by
// one scan. A frame's first block maps anything to constants, so frames need no scans of their own.
// Shared memory: the sums of the warps, less than 1 KiB.
#ifndef GPUHISTO_ZSTD_PLACE_CUH
#define GPUHISTO_ZSTD_PLACE_CUH

#include "gpu/decode/zstd/repeat_offsets_map.cuh"

constexpr unsigned DECODE_PLACE_THREADS = 1024;
static_assert(DECODE_PLACE_THREADS % 32 == 0 && DECODE_PLACE_THREADS <= 1024,
              "a warp adds up warps");

static inline unsigned place_grid(const struct decode_batch *, unsigned)
{
    return 1;
}

// The sum of some blocks in a row.
struct place_sum {
    unsigned content;
    repeat_offsets_map repeat_offsets;
};

static __device__ inline place_sum place_then(const place_sum &first, const place_sum &second)
{
    return {first.content + second.content,
            repeat_offsets_map_then(first.repeat_offsets, second.repeat_offsets)};
}

static __device__ inline place_sum place_nothing()
{
    return {0, repeat_offsets_map_same()};
}

static __device__ inline place_sum place_shuffle_up(const place_sum &sum, unsigned by)
{
    place_sum other;
    other.content = __shfl_up_sync(0xffffffffu, sum.content, by);
    for (unsigned i = 0; i < 3; i++)
        other.repeat_offsets.position[i] =
            __shfl_up_sync(0xffffffffu, sum.repeat_offsets.position[i], by);
    return other;
}

// Returns the sum of the lanes up to and with this one.
static __device__ inline place_sum place_scan_warp(place_sum sum)
{
    for (unsigned by = 1; by < 32; by *= 2) {
        const place_sum before = place_shuffle_up(sum, by);
        if (threadIdx.x % 32 >= by)
            sum = place_then(before, sum);
    }
    return sum;
}

// Returns the sum of all threads before this one, after `before`, which becomes that of all
// threads. `warps` has a place for each warp.
static __device__ inline place_sum place_scan(const place_sum &own, place_sum *warps,
                                              place_sum &before)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const place_sum inclusive = place_scan_warp(own);
    place_sum exclusive = place_shuffle_up(inclusive, 1);
    if (lane == 0)
        exclusive = place_nothing();
    if (lane == 31)
        warps[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        const place_sum sum = lane < blockDim.x / 32 ? warps[lane] : place_nothing();
        warps[lane] = place_scan_warp(sum);
    }
    __syncthreads();
    if (warp > 0)
        exclusive = place_then(warps[warp - 1], exclusive);
    exclusive = place_then(before, exclusive);
    before = place_then(before, warps[31]);
    __syncthreads();
    return exclusive;
}

// True if the frame holds another number of bytes than it states; it has `content` so far.
static __device__ inline bool place_misstated(const decode_frame &frame, unsigned long long content)
{
    if (frame.content == DECODE_CONTENT_UNKNOWN)
        return false;
    return frame.ends ? content != frame.content : content > frame.content;
}

__global__ void __launch_bounds__(DECODE_PLACE_THREADS) decode_place(decode_batch batch)
{
    __shared__ place_sum warps[32];
    __shared__ unsigned refused;
    const decode_carry *const carry = reinterpret_cast<const decode_carry *>(batch.in);
    place_sum before = place_nothing();
    if (!batch.frame[0].begins)
        before.repeat_offsets = repeat_offsets_map_of(carry->repeat_offsets);
    if (threadIdx.x == 0)
        refused = DECODE_NONE;
    __syncthreads();
    const unsigned blocks = decode_block_count(&batch);
    for (unsigned first = 0; first < blocks; first += blockDim.x) {
        const unsigned index = first + threadIdx.x;
        const bool is_there = index < blocks;
        decode_outcome *const outcome = batch.outcome + (is_there ? index : 0);
        const decode_frame frame = batch.frame[is_there ? batch.block[index].frame : 0];
        const bool is_taken = is_there && outcome->refusal == DECODE_TAKEN;
        const bool begins = is_there && frame.begins && frame.first == index;
        place_sum own = place_nothing();
        if (is_taken)
            own = {min(outcome->content, batch.block[index].room),
                   repeat_offsets_map_of(outcome->after)};
        if (begins)
            own.repeat_offsets =
                repeat_offsets_map_then(repeat_offsets_map_begin(), own.repeat_offsets);
        const place_sum at = place_scan(own, warps, before);
        if (is_there) {
            outcome->content_at = at.content;
            outcome->before =
                repeat_offsets_of_map(begins ? repeat_offsets_map_begin() : at.repeat_offsets);
        }
        __syncthreads(); // the first block of the frame knows where it is
        if (is_there) {
            unsigned long long within = at.content - batch.outcome[frame.first].content_at;
            if (!frame.begins)
                within += carry->before;
            outcome->reach = static_cast<unsigned>(
                min(within, static_cast<unsigned long long>(ZSTD_WINDOW_MAX)));
            const bool is_last = index == frame.first + frame.blocks - 1;
            if (is_taken && is_last && place_misstated(frame, within + own.content))
                outcome->refusal = DECODE_BAD_CONTENT;
            if (outcome->refusal != DECODE_TAKEN)
                atomicMin(&refused, index);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned why =
            refused != DECODE_NONE ? batch.outcome[refused].refusal : unsigned{DECODE_TAKEN};
        *batch.verdict = {refused, why, before.content, 0, 0, 0};
    }
}

#endif

// SPDX-License-Identifier: MIT
// The last stages: what the next batch takes over, and where the last record ends.
#ifndef GPUHISTO_GPU_DECODE_KEEP_CUH
#define GPUHISTO_GPU_DECODE_KEEP_CUH

#include "gpu/decode/zstd/sequences.cuh"

#include <cstddef>

// --- keep ---

// The two stages that leave what the next batch takes over: an early one for tables, so that the
// next batch can go on with them at once; and keep, the last stage, which leaves the rest and makes
// the verdict final.
//
// Takes what the stages before give; gives the carry at the beginning of batch.next, and the last
// bytes of content right before batch.next_out: those that the window of a frame that goes on
// reaches back to, and batch.keep_min where there are so many.
//
// Tables: a warp for each looks for the nearest block, from the last one backwards, that has one.
// Keep: the first CUDA block writes the carry, and all copy the window, by words. No shared memory.

constexpr unsigned DECODE_KEEP_THREADS = 256;
static_assert(sizeof(decode_carry) <= DECODE_CARRY, "the carry has room");

// Returns the CUDA blocks: a few for a small batch, those that stay for a large one.
static inline unsigned keep_grid(const struct decode_batch *batch, unsigned resident)
{
    const unsigned max = batch->room / (DECODE_KEEP_THREADS * 16) + 1;
    return max < resident ? max : resident;
}

// By one thread: writes the carry of a frame that goes on.
static __device__ inline void keep_carry(const decode_batch &batch, const decode_frame &frame)
{
    decode_carry *const next = reinterpret_cast<decode_carry *>(batch.next);
    const decode_outcome &last = batch.outcome[decode_block_count(&batch) - 1];
    next->before = batch.verdict->content - batch.outcome[frame.first].content_at;
    if (!frame.begins)
        next->before += reinterpret_cast<const decode_carry *>(batch.in)->before;
    next->repeat_offsets = repeat_offsets_of_map(repeat_offsets_map_then(
        repeat_offsets_map_of(last.before), repeat_offsets_map_of(last.after)));
}

// Says where the content of each frame ends, by all threads of a CUDA block.
static __device__ inline void keep_frame_ends(const decode_batch &batch)
{
    for (unsigned i = threadIdx.x; i < decode_frame_count(&batch); i += blockDim.x) {
        const decode_outcome &last =
            batch.outcome[batch.frame[i].first + batch.frame[i].blocks - 1];
        batch.frame_ends[i] = last.content_at + last.content;
    }
}

// Loads four bytes from anywhere in the content.
static __device__ inline unsigned keep_load(const unsigned char *from)
{
    const std::size_t address = reinterpret_cast<std::size_t>(from);
    const unsigned *const words = reinterpret_cast<const unsigned *>(address & ~std::size_t{3});
    const unsigned shift = 8 * static_cast<unsigned>(address & 3);
    return shift ? __funnelshift_r(words[0], words[1], shift) : words[0];
}

// Copies from[0..size) to to[0..size), memory that ends at a multiple of 4 bytes: by whole words,
// but the first four bytes or more, and the last four, one by one, because the bytes before and
// after may never have been written.
static __device__ inline void keep_window(unsigned char *to, const unsigned char *from,
                                          unsigned size)
{
    const unsigned head = min(size, size % 4 + 4), words = (size - head) / 4;
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    unsigned *const aligned = reinterpret_cast<unsigned *>(to + head);
    for (unsigned i = thread; i + 1 < words; i += stride)
        aligned[i] = keep_load(from + head + 4 * static_cast<std::size_t>(i));
    if (thread < head)
        to[thread] = from[thread];
    if (words > 0 && thread < 4)
        to[size - 4 + thread] = from[size - 4 + thread];
}

static __global__ void __launch_bounds__(DECODE_KEEP_THREADS) decode_keep(decode_batch batch)
{
    const unsigned refused = batch.verdict->refused;
    const decode_frame frame = batch.frame[decode_frame_count(&batch) - 1];
    if (refused != DECODE_NONE) {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            batch.verdict->refusal = batch.outcome[refused].refusal;
        return;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0 && !frame.ends)
        keep_carry(batch, frame);
    if (blockIdx.x == 0)
        keep_frame_ends(batch);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        batch.verdict->before =
            frame.ends ? 0 : reinterpret_cast<decode_carry *>(batch.next)->before;
    const decode_outcome &last = batch.outcome[decode_block_count(&batch) - 1];
    const unsigned window = frame.ends ? 0 : min(frame.window, last.reach + last.content);
    const unsigned there = reinterpret_cast<const decode_carry *>(batch.in)->kept;
    const unsigned size = max(window, min(batch.keep_min, there + batch.verdict->content));
    if (blockIdx.x == 0 && threadIdx.x == 0)
        reinterpret_cast<decode_carry *>(batch.next)->kept = size;
    keep_window(batch.next_out - size, batch.out + batch.verdict->content - size, size);
}

// --- tail ---

// Finds the last separator of records in a batch's content, after all stages: what follows it, the
// tail, may go on in the next batch.
//
// Takes the verdict and the content; gives verdict->tail, all of the content if it has none, and
// verdict->last, from which the host tells whether a character is cut off. One CUDA block looks at
// its threads' number of bytes at a time, from the end on, and not further back than `most` bytes:
// a record is not longer. No shared memory.

constexpr unsigned DECODE_TAIL_THREADS = 1024;

static __device__ inline bool tail_ends_record(unsigned byte, bool lines)
{
    return byte == '\n' || (!lines && (byte == ' ' || byte - '\t' < 5));
}

static __device__ inline unsigned tail_last_bytes(const unsigned char *out, unsigned content)
{
    unsigned last = 0;
    for (unsigned at = content - min(content, 4u); at < content; at++)
        last = last >> 8 | static_cast<unsigned>(out[at]) << 24;
    return last;
}

// Finds the tail. With `lines` records are lines, otherwise they end at white space.
static __global__ void __launch_bounds__(DECODE_TAIL_THREADS)
    decode_tail(decode_batch batch, unsigned max, bool lines)
{
    const unsigned content = batch.verdict->content;
    if (batch.verdict->refused != DECODE_NONE)
        return;
    const unsigned lowest = content > max ? content - max : 0;
    if (threadIdx.x == 0) {
        batch.verdict->tail = content;
        batch.verdict->last = tail_last_bytes(batch.out, content);
    }
    __syncthreads();
    for (unsigned end = content; end > lowest; end -= min(end - lowest, DECODE_TAIL_THREADS)) {
        const bool is_there = threadIdx.x < end - lowest;
        const bool found = is_there && tail_ends_record(batch.out[end - 1 - threadIdx.x], lines);
        // The tails are shorter than `content`, so the shortest one that is found stays.
        if (found)
            atomicMin(&batch.verdict->tail, content - (end - threadIdx.x));
        if (__syncthreads_or(found))
            break;
    }
}

#endif

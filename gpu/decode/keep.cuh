// SPDX-License-Identifier: MIT
// The last stage of all formats, keep, and what follows it: what the next batch takes over, and
// where its records begin.
#ifndef GPUHISTO_GPU_DECODE_KEEP_CUH
#define GPUHISTO_GPU_DECODE_KEEP_CUH

#include "gpu/decode/stages.h"
#include "gpu/decode/zstd/offsets.cuh"

#include <cstddef>

// --- keep ---
//
// Takes what the stages before give; gives the carry at the beginning of batch.next, but for what
// an early stage has left there, where frames end, and the last bytes of content right before
// batch.next_out: those that the window of a frame that goes on reaches back to, and batch.keep_min
// where there are so many. It makes the verdict final.
//
// The first CUDA block writes the carry, and all copy the window, by words.

constexpr unsigned DECODE_KEEP_THREADS = 256;
static_assert(sizeof(decode_carry) <= DECODE_CARRY, "the carry has room");

// Returns the CUDA blocks: a few for a small batch, those that stay for a large one.
static inline unsigned keep_grid(const struct decode_batch *batch, unsigned resident)
{
    return grid_of_resident(batch->room / (DECODE_KEEP_THREADS * 16) + 1, resident);
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
    const unsigned refused = batch.verdict->refused, content = batch.verdict->content;
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (refused != DECODE_NONE) {
        if (is_first)
            batch.verdict->refusal = batch.outcome[refused].refusal;
        return;
    }
    const unsigned frames = decode_frame_count(&batch);
    const decode_frame frame = batch.frame[frames - 1];
    const decode_outcome &last = batch.outcome[decode_block_count(&batch) - 1];
    const decode_carry *const carry = decode_carry_of(&batch);
    decode_carry *const next = reinterpret_cast<decode_carry *>(batch.next);
    const unsigned window = frame.ends ? 0 : min(frame.window, last.reach + last.content);
    const unsigned size = max(window, min(batch.keep_min, carry->kept + content));
    if (is_first)
        next->kept = size;
    if (is_first && !frame.ends) {
        next->before = content - batch.outcome[frame.first].content_at;
        if (!frame.begins)
            next->before += carry->before;
        zstd_offsets_map offsets;
        for (unsigned i = 0; i < 3; i++)
            offsets.position[i] = offsets_constant(last.before[i]);
        offsets = offsets_map_then(offsets, last.after);
        for (unsigned i = 0; i < 3; i++)
            next->repeat_offsets[i] = offsets.position[i] & offsets_value_mask;
    }
    for (unsigned i = threadIdx.x; blockIdx.x == 0 && i < frames; i += blockDim.x) {
        const decode_outcome &end = batch.outcome[batch.frame[i].first + batch.frame[i].blocks - 1];
        batch.frame_ends[i] = end.content_at + end.content;
    }
    keep_window(batch.next_out - size, batch.out + content - size, size);
}

// --- tail ---
//
// Finds the last separator of records in the content: what follows it, the tail, may go on in the
// next batch.
//
// Takes the verdict and the content; gives verdict->tail, all of the content if it has none, and
// verdict->last, from which the host tells whether a character is cut off. One CUDA block looks at
// its threads' number of bytes at a time, from the end on, and not further back than `max` bytes: a
// record is not longer. With `lines` records are lines, otherwise they end at white space.

constexpr unsigned DECODE_TAIL_THREADS = 1024;

static __global__ void __launch_bounds__(DECODE_TAIL_THREADS)
    decode_tail(decode_batch batch, unsigned max, bool lines)
{
    const unsigned content = batch.verdict->content;
    if (batch.verdict->refused != DECODE_NONE)
        return;
    const unsigned lowest = content > max ? content - max : 0;
    if (threadIdx.x == 0) {
        unsigned last = 0;
        for (unsigned at = content - min(content, 4u); at < content; at++)
            last = last >> 8 | static_cast<unsigned>(batch.out[at]) << 24;
        batch.verdict->tail = content;
        batch.verdict->last = last;
    }
    __syncthreads();
    for (unsigned end = content; end > lowest; end -= min(end - lowest, DECODE_TAIL_THREADS)) {
        bool found = false;
        if (threadIdx.x < end - lowest) {
            const unsigned byte = batch.out[end - 1 - threadIdx.x];
            found = byte == '\n' || (!lines && (byte == ' ' || byte - '\t' < 5));
        }
        // The tails are shorter than `content`, so the shortest one that is found stays.
        if (found)
            atomicMin(&batch.verdict->tail, content - (end - threadIdx.x));
        if (__syncthreads_or(found))
            break;
    }
}

#endif

// SPDX-License-Identifier: MIT
// Finds the last separator of records in a batch's content, after all stages: what follows it, the
// tail, may go on in the next batch.
//
// Takes the verdict and the content; gives verdict->tail, all of the content if it has none, and
// verdict->last, from which the host tells whether a character is cut off. One CUDA block looks at
// its threads' number of bytes at a time, from the end on, and not further back than `most` bytes:
// a record is not longer. No shared memory.
#ifndef GPUHISTO_ZSTD_TAIL_CUH
#define GPUHISTO_ZSTD_TAIL_CUH

extern "C" {
#include "batch.h"
}

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

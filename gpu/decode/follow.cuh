// SPDX-License-Identifier: MIT
// The stage follow: every byte follows its links until it finds a value.
//
// Takes batch.links; gives batch.out, and leaves values in batch.links.
//
// Threads have two bytes each, whose links they follow side by side, as each step waits for
// memory. A warp has 64 in a row, and its lanes neighbours: bytes that are copied together are
// read together. All go through the content from its beginning to its end, so most links end at a
// byte that was resolved before. A byte that is not resolved yet is followed further; nobody waits.
// But each step is left for others to see, so that the links between bytes that are resolved at the
// same time become twice as long with each step, however long the chain. No shared memory.
#ifndef GPUHISTO_ZSTD_FOLLOW_CUH
#define GPUHISTO_ZSTD_FOLLOW_CUH

#include "tile.cuh"

constexpr unsigned DECODE_FOLLOW_THREADS = 256;
constexpr unsigned DECODE_FOLLOW_EACH = 2; // bytes of a thread

// Returns the number of CUDA blocks that stay, as far as the batch has room for so many bytes. They
// leave a quarter of the device to the first stages of the batches that follow, which have few
// threads, and wait for other things.
static inline unsigned follow_grid(const struct decode_batch *batch, unsigned resident)
{
    if (decode_copies_frames(batch))
        return 0;
    const unsigned max = batch->room / (DECODE_FOLLOW_THREADS * DECODE_FOLLOW_EACH) + 1;
    const unsigned stay = resident - resident / 4;
    return max < stay ? max : stay;
}

// Follows the links of the bytes at, at + 32, and so on, before `end`.
static __device__ inline void follow_some(const decode_batch &batch, unsigned at, unsigned end)
{
    unsigned links[DECODE_FOLLOW_EACH], left = 0; // bit i: byte i is still a link
    UNROLL for (unsigned i = 0; i < DECODE_FOLLOW_EACH; i++)
    {
        links[i] = at + 32 * i < end ? load_relaxed(batch.links + at + 32 * i) : DECODE_VALUE;
        left |= (links[i] & DECODE_VALUE ? 0u : 1u) << i;
    }
    while (left) {
        UNROLL for (unsigned i = 0; i < DECODE_FOLLOW_EACH; i++) if (left >> i & 1) links[i] =
            load_relaxed(batch.links + links[i]);
        UNROLL for (unsigned i = 0; i < DECODE_FOLLOW_EACH; i++) if (left >> i & 1)
        {
            store_relaxed(batch.links + at + 32 * i, links[i]);
            left &= ~((links[i] & DECODE_VALUE ? 1u : 0u) << i);
        }
    }
    UNROLL for (unsigned i = 0; i < DECODE_FOLLOW_EACH; i++) if (at + 32 * i < end)
        batch.out[at + 32 * i] = static_cast<unsigned char>(links[i]);
}

__global__ void __launch_bounds__(DECODE_FOLLOW_THREADS) decode_follow(decode_batch batch)
{
    if (batch.verdict->refused != DECODE_NONE)
        return;
    const unsigned content = batch.verdict->content;
    const unsigned warp = (blockIdx.x * DECODE_FOLLOW_THREADS + threadIdx.x) / 32;
    const unsigned stride = gridDim.x * DECODE_FOLLOW_THREADS * DECODE_FOLLOW_EACH;
    unsigned at = warp * 32 * DECODE_FOLLOW_EACH + threadIdx.x % 32;
    for (; at < content; at += stride) // content is below 2^31, and so is stride
        follow_some(batch, at, content);
}

#endif

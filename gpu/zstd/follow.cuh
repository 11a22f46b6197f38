// Stage 7, follow: every byte follows its links until it finds a value.
//
// Takes batch.links; gives batch.out, and leaves values in batch.links.
//
// Threads have four bytes each, whose links they follow side by side, as each step waits for
// memory. All go through the content from its beginning to its end, so most links end at a byte
// that was resolved before: one to three steps are usual. A byte that is not resolved yet is simply
// followed further; nobody waits. No shared memory.
#ifndef GPUHISTO_ZSTD_FOLLOW_CUH
#define GPUHISTO_ZSTD_FOLLOW_CUH

#include "gpu/zstd/link.cuh"

constexpr unsigned ZSTD_FOLLOW_THREADS = 256;
constexpr unsigned ZSTD_FOLLOW_EACH = 4; // bytes of a thread, a vector

// CUDA blocks that stay, as far as the batch has room for so many bytes.
static inline unsigned follow_grid(const struct zstd_batch *batch, unsigned resident)
{
    const unsigned most = batch->room / (ZSTD_FOLLOW_THREADS * ZSTD_FOLLOW_EACH) + 1;
    return most < resident ? most : resident;
}

static __device__ inline void follow_one(const zstd_batch &batch, unsigned at)
{
    unsigned link = load_relaxed(batch.links + at);
    const bool is_link = !(link & ZSTD_VALUE);
    while (!(link & ZSTD_VALUE))
        link = load_relaxed(batch.links + link);
    if (is_link)
        store_relaxed(batch.links + at, link);
    batch.out[at] = static_cast<unsigned char>(link);
}

static __device__ inline void follow_four(const zstd_batch &batch, unsigned at)
{
    unsigned links[4], copies = 0; // bit i: byte i is a copy
    load_relaxed_4(batch.links + at, links);
    UNROLL
    for (unsigned i = 0; i < 4; i++)
        copies |= (links[i] & ZSTD_VALUE ? 0u : 1u) << i;
    while (~(links[0] & links[1] & links[2] & links[3]) & ZSTD_VALUE) {
        UNROLL
        for (unsigned i = 0; i < 4; i++)
            if (!(links[i] & ZSTD_VALUE))
                links[i] = load_relaxed(batch.links + links[i]);
    }
    UNROLL
    for (unsigned i = 0; i < 4; i++)
        if (copies >> i & 1)
            store_relaxed(batch.links + at + i, links[i]);
    *reinterpret_cast<unsigned *>(batch.out + at) = __byte_perm(
        __byte_perm(links[0], links[1], 0x0040), __byte_perm(links[2], links[3], 0x0040), 0x5410);
}

__global__ void __launch_bounds__(ZSTD_FOLLOW_THREADS) zstd_follow(zstd_batch batch)
{
    if (batch.verdict->refused < batch.blocks)
        return;
    const unsigned content = batch.verdict->content;
    const unsigned stride = gridDim.x * ZSTD_FOLLOW_THREADS * ZSTD_FOLLOW_EACH;
    unsigned at = (blockIdx.x * ZSTD_FOLLOW_THREADS + threadIdx.x) * ZSTD_FOLLOW_EACH;
    for (; at < content; at += stride) { // content is below 2^31, and so is stride
        if (content - at >= ZSTD_FOLLOW_EACH)
            follow_four(batch, at);
        else
            for (unsigned i = at; i < content; i++)
                follow_one(batch, i);
    }
}

#endif

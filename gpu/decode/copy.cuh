// SPDX-License-Identifier: MIT
// The stage copy, instead of link and follow for a batch of many frames: it makes the content of
// each, from its beginning to its end.
//
// Takes what all stages before it give; gives batch.out, and refuses blocks with an offset that is
// 0 or reaches beyond the window or the beginning of the frame.
//
// Frames do not copy from each other, so each has a CUDA block, which goes through it tile by tile
// (tile.cuh). All bytes before a tile are content by then, and within it links are replaced by
// values, so that nothing is left to follow and no link leaves shared memory. One frame alone is
// slow this way: batch.h has what decides.
#ifndef GPUHISTO_ZSTD_COPY_CUH
#define GPUHISTO_ZSTD_COPY_CUH

#include "tile.cuh"

// Bytes of content of a tile, and threads that work on it: to be tuned.
constexpr unsigned DECODE_COPY_TILE = 8192;
constexpr unsigned DECODE_COPY_THREADS = 256;
constexpr unsigned DECODE_COPY_EACH = 8;     // bytes of a strip that each of them has
constexpr unsigned DECODE_COPY_TOGETHER = 8; // those that it fills at a time

static inline unsigned copy_grid(const struct decode_batch *batch, unsigned)
{
    return decode_copies_frames(batch) ? batch->frames : 0;
}

// Copies a zstd block; all content of its frame before it is there. Says to all threads whether an
// offset is refused.
template <unsigned Tile, unsigned Threads, unsigned Each>
static __device__ inline bool copy_block(const decode_batch &batch, decode_tile &tile,
                                         unsigned content)
{
    while (tile.begin < content) {
        if (tile_prepare<Tile>(tile))
            return true;
        const unsigned at = tile.content_at + tile.begin, next = *tile.next;
        const unsigned size = tile.end - tile.begin;
        for (unsigned first = threadIdx.x; first - threadIdx.x < size; first += Each * Threads) {
            unsigned links[Each];
            tile_fill<Each, DECODE_COPY_TOGETHER>(tile, first, batch.out, static_cast<int>(at),
                                                  links);
            tile_jump(tile, first, links);
            UNROLL for (unsigned k = 0; k < Each; k++)
            {
                if (first + k * Threads < size)
                    batch.out[at + first + k * Threads] = static_cast<unsigned char>(links[k]);
            }
        }
        tile.first = next;
        tile.begin = tile.end;
        tile.end = min(tile.begin + Tile, content);
    }
    return false;
}

// Copies the frames, each by a CUDA block. Four of 256 threads leave each thread 64 registers.
template <unsigned Tile, unsigned Threads, unsigned Each>
__global__ void __launch_bounds__(Threads, 1024 / Threads) decode_copy(decode_batch batch)
{
    static_assert(DECODE_BLOCK_CONTENT % Tile == 0 && Tile % 32 == 0 && Threads % 32 == 0,
                  "tiles fill a block");
    DYNAMIC_SHARED(decode_piece, shared);
    __shared__ unsigned next;
    const decode_frame &frame = batch.frame[blockIdx.x];
    for (unsigned index = frame.first; index < frame.first + frame.blocks; index++) {
        // Another CUDA block may lower it: all threads go by the value that one of them has seen.
        if (__syncthreads_or(load_relaxed(&batch.verdict->refused) != DECODE_NONE))
            return;
        decode_tile tile = tile_of<Tile>(batch, index, 0, shared, &next);
        if (copy_block<Tile, Threads, Each>(batch, tile, batch.outcome[index].content)) {
            if (threadIdx.x == 0)
                tile_refuse(batch, index);
            return;
        }
    }
}

#endif

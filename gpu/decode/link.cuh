// SPDX-License-Identifier: MIT
// The stage link: every byte of content gets its value, or a link to the byte that it is copied
// from.
//
// Takes what all stages before it give; gives batch.links, and refuses blocks with an offset that
// is 0 or reaches beyond the window or the beginning of the frame.
//
// A CUDA block has a tile of one zstd block (tile.cuh). Its remaining links lead to before the
// tile, and are followed by the next stage. Bytes before the batch are known, and are values at
// once. Batches of many frames go another way: copy.cuh.
#ifndef GPUHISTO_ZSTD_LINK_CUH
#define GPUHISTO_ZSTD_LINK_CUH

#include "tile.cuh"

// Bytes of content of a tile, and threads that work on it: to be tuned. Twice as large a tile has
// more shared memory than 99 KiB, which is all that many devices give.
constexpr unsigned DECODE_TILE = 8192;
constexpr unsigned DECODE_LINK_THREADS = 512;
constexpr unsigned DECODE_LINK_EACH = 8;     // bytes of a strip that each of them has
constexpr unsigned DECODE_LINK_TOGETHER = 4; // those that it fills at a time

// The threads that a processor is to hold at least: Turing has no more than 1024.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr unsigned DECODE_LINK_RESIDENT = 1024;
#else
constexpr unsigned DECODE_LINK_RESIDENT = 1536;
#endif

// Returns how many tiles of that size the largest block has.
DECODE_ON_BOTH constexpr unsigned decode_link_tiles(unsigned tile)
{
    return DECODE_BLOCK_CONTENT / tile;
}

static inline unsigned link_grid(const struct decode_batch *batch, unsigned)
{
    return decode_copies_frames(batch) ? 0 : batch->blocks * decode_link_tiles(DECODE_TILE);
}

// Links the tiles of all zstd blocks, decode_link_tiles(Tile) of each, each by a CUDA block. Three
// of 512 threads leave each thread 40 registers.
template <unsigned Tile, unsigned Threads, unsigned Each>
__global__ void __launch_bounds__(Threads, DECODE_LINK_RESIDENT / Threads)
    decode_link(decode_batch batch)
{
    static_assert(DECODE_BLOCK_CONTENT % Tile == 0 && Tile % 32 == 0 && Threads % 32 == 0,
                  "tiles fill a block");
    DYNAMIC_SHARED(decode_piece, shared);
    __shared__ unsigned next;
    constexpr unsigned tiles = decode_link_tiles(Tile);
    const unsigned index = blockIdx.x / tiles, begin = blockIdx.x % tiles * Tile;
    // Another CUDA block may lower it: all threads go by the value that one of them has seen.
    if (__syncthreads_or(load_relaxed(&batch.verdict->refused) != DECODE_NONE))
        return;
    if (begin >= batch.outcome[index].content)
        return;
    decode_tile tile = tile_of<Tile>(batch, index, begin, shared, &next);
    if (tile.sequence_count > 0)
        tile.first = tile_find(tile.sequences, tile.sequence_count + 1, begin);
    if (tile_prepare<Tile>(tile)) {
        if (threadIdx.x == 0)
            tile_refuse(batch, index);
        return;
    }
    const unsigned size = tile.end - begin, at = tile.content_at + begin;
    for (unsigned first = threadIdx.x; first - threadIdx.x < size; first += Each * Threads) {
        unsigned links[Each];
        tile_fill<Each, DECODE_LINK_TOGETHER>(tile, first, batch.out, 0, links);
        tile_jump(tile, first, links);
        UNROLL for (unsigned k = 0; k < Each; k++)
        {
            if (first + k * Threads < size)
                batch.links[at + first + k * Threads] = links[k];
        }
    }
}

#endif

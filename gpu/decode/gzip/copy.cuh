// SPDX-License-Identifier: MIT
// The stage copy of gzip: copies segments to symbols.
//
// Takes what all stages before it give; gives batch.gzip.symbols, and refuses units with a distance
// that reaches beyond the member.
//
// Each segment has a CUDA block, which goes through it tile by tile (tile.cuh), as copy.cuh goes
// through a frame. Bytes before the segment are not known yet, so a byte that is copied from there
// becomes a symbol that says which byte of that window it is. A match copies such symbols
// unchanged.
#ifndef GPUHISTO_GPU_GZIP_COPY_CUH
#define GPUHISTO_GPU_GZIP_COPY_CUH

#include "gpu/decode/gzip/segments.cuh"
#include "gpu/decode/tile.cuh"

#include <climits>

// Bytes of content of a tile, and threads that work on it.
constexpr unsigned GZIP_COPY_TILE = 8192;
constexpr unsigned GZIP_COPY_THREADS = 512;
constexpr unsigned GZIP_COPY_EACH = 8;     // bytes of a strip that each of them has
constexpr unsigned GZIP_COPY_TOGETHER = 8; // those that it fills at a time

static inline unsigned gzip_copy_grid(const struct decode_batch *batch, unsigned)
{
    return batch->room / GZIP_SEGMENT + 1;
}

// Returns the symbol of the byte at `source`, before the segment that begins at `segment`.
static __device__ __forceinline__ unsigned gzip_symbol_before(int source, int segment)
{
    return DECODE_VALUE | GZIP_FROM_WINDOW |
           static_cast<unsigned>(source - segment + static_cast<int>(GZIP_WINDOW));
}

// Fills the links of this thread's bytes of a strip, as tile_fill, with symbols as values.
template <unsigned Each, unsigned Together>
static __device__ inline void gzip_fill(const decode_tile &tile, unsigned first,
                                        const uint16_t *symbols, int segment,
                                        unsigned (&links)[Each])
{
    const unsigned last = tile.end - tile.begin - 1;
    const int base = static_cast<int>(tile.content_at + tile.begin);
    UNROLL for (unsigned group = 0; group < Each; group += Together)
    {
        const unsigned char *literal[Together];
        UNROLL for (unsigned k = 0; k < Together; k++)
        {
            const unsigned i = min(first + (group + k) * blockDim.x, last);
            literal[k] = tile_source(tile, i, nullptr, INT_MIN, links[group + k]);
        }
        UNROLL for (unsigned k = 0; k < Together; k++)
        {
            const int source = static_cast<int>(links[group + k]);
            if (literal[k])
                links[group + k] = DECODE_VALUE | *literal[k];
            else if (source < segment)
                links[group + k] = gzip_symbol_before(source, segment);
            else if (source < base)
                links[group + k] = DECODE_VALUE | symbols[source];
        }
    }
}

// Copies a unit; all content of its segment before it is there. Says to all threads whether a
// distance is refused.
static __device__ inline bool gzip_copy_unit(const decode_batch &batch, decode_tile &tile,
                                             unsigned content, unsigned segment)
{
    uint16_t *const symbols = batch.gzip.symbols;
    while (tile.begin < content) {
        if (tile_prepare<GZIP_COPY_TILE>(tile))
            return true;
        const unsigned at = tile.content_at + tile.begin, next = *tile.next;
        const unsigned size = tile.end - tile.begin;
        for (unsigned first = threadIdx.x; first - threadIdx.x < size;
             first += GZIP_COPY_EACH * GZIP_COPY_THREADS) {
            unsigned links[GZIP_COPY_EACH];
            gzip_fill<GZIP_COPY_EACH, GZIP_COPY_TOGETHER>(tile, first, symbols,
                                                          static_cast<int>(segment), links);
            tile_jump(tile, first, links);
            UNROLL for (unsigned k = 0; k < GZIP_COPY_EACH; k++)
            {
                if (first + k * GZIP_COPY_THREADS < size)
                    symbols[at + first + k * GZIP_COPY_THREADS] = static_cast<uint16_t>(links[k]);
            }
        }
        tile.first = next;
        tile.begin = tile.end;
        tile.end = min(tile.begin + GZIP_COPY_TILE, content);
    }
    return false;
}

// Copies the segments, each by a CUDA block. Two of 512 threads leave each thread 64 registers.
static __global__ void __launch_bounds__(GZIP_COPY_THREADS, 1024 / GZIP_COPY_THREADS)
    gzip_copy(decode_batch batch)
{
    DYNAMIC_SHARED(decode_piece, shared);
    __shared__ unsigned next;
    // Another CUDA block may lower it: all threads go by the value that one of them has seen.
    if (__syncthreads_or(load_relaxed(&batch.verdict->refused) != DECODE_NONE))
        return;
    const unsigned count = gzip_segment_count(batch);
    if (blockIdx.x >= count)
        return;
    const unsigned begin = batch.gzip.segments[blockIdx.x];
    const unsigned end =
        blockIdx.x + 1 < count ? batch.gzip.segments[blockIdx.x + 1] : batch.counts->blocks;
    const unsigned segment = batch.outcome[begin].content_at;
    for (unsigned index = begin; index < end; index++) {
        decode_tile tile = tile_of<GZIP_COPY_TILE>(batch, index, 0, shared, &next);
        if (gzip_copy_unit(batch, tile, batch.outcome[index].content, segment)) {
            if (threadIdx.x == 0)
                tile_refuse(batch, index);
            return;
        }
    }
}

#endif

// Stage 8, link: every byte of content gets its value, or where it is copied from.
//
// Takes what all stages before it give; gives batch.links, and refuses blocks with an offset that
// is 0 or reaches beyond the window or the beginning of the frame.
//
// A CUDA block has a tile: so many bytes of content of one zstd block, each a word of shared
// memory. The beginnings of sequences are marked in a bitmap, and the bits before a byte say which
// sequence it is of, so that the lanes of a warp have a byte each, however short the sequences are.
// A byte of a match links to the byte that it is a copy of; where the match overlaps itself, to the
// one before its own beginning, modulo the offset. Links that end in the same tile are then
// replaced by those found there (pointer jumping), until each is a value or leads to before the
// tile. That goes strip by strip, in rounds in which all threads read before any of them writes.
// Bytes from before the batch are known, and are values at once.
//
// Shared memory: four bytes for each byte of the tile, and one for every four. Where it comes from:
// list ranking by pointer jumping (Wyllie, 1979).
#ifndef GPUHISTO_ZSTD_LINK_CUH
#define GPUHISTO_ZSTD_LINK_CUH

#include "gpu/ptx.cuh"

extern "C" {
#include "gpu/zstd/batch.h"
}

// Bytes of content of a tile, and threads that work on it: to be tuned.
constexpr unsigned ZSTD_TILE = 16384;
constexpr unsigned ZSTD_LINK_THREADS = 512;

// Bytes of a strip, a part of a tile whose links are followed together.
constexpr unsigned ZSTD_STRIP = 2048;

// Dynamic shared memory for tiles of that size, and how many of them the largest block has.
ZSTD_ON_BOTH constexpr unsigned zstd_link_shared(unsigned tile)
{
    return 4 * (tile + 2 * (tile / 32));
}

ZSTD_ON_BOTH constexpr unsigned zstd_link_tiles(unsigned tile)
{
    return ZSTD_BLOCK_CONTENT / tile;
}

static inline unsigned link_grid(const struct zstd_batch *batch, unsigned)
{
    return batch->blocks * zstd_link_tiles(ZSTD_TILE);
}

// In batch.links: a value in the lowest byte, rather than a position of content.
constexpr unsigned ZSTD_VALUE = 1u << 31;

// Whether a link leads to a byte of the tile that begins at `base`, or to one after it.
static __device__ __forceinline__ bool link_is_inside(unsigned link, unsigned base)
{
    return !(link & ZSTD_VALUE) && link >= base;
}

// What all bytes of a tile have in common.
struct link_tile {
    const zstd_sequence *sequences;
    unsigned sequence_count;
    unsigned first;      // the sequence that its first byte is of
    unsigned begin, end; // in the content of the zstd block
    unsigned content_at; // of the zstd block in the batch
    unsigned reach;      // bytes of the frame before the zstd block
    unsigned window;
    unsigned repeats[3]; // the last offsets before the zstd block

    unsigned literals_type;
    const unsigned char *literals;

    // Shared memory: links of all bytes; bits where sequences begin; the bits before each word.
    unsigned *links, *marks, *ranks;
};

static __device__ inline unsigned link_begin_of(zstd_sequence sequence)
{
    return static_cast<unsigned>(sequence) & ((1u << ZSTD_LITERALS_SHIFT) - 1);
}

static __device__ inline unsigned link_literals_of(zstd_sequence sequence)
{
    return static_cast<unsigned>(sequence >> ZSTD_LITERALS_SHIFT) &
           ((1u << (ZSTD_OFFSET_SHIFT - ZSTD_LITERALS_SHIFT)) - 1);
}

// 0 if it comes to less than 1.
static __device__ inline unsigned link_offset_of(const link_tile &tile, zstd_sequence sequence)
{
    const unsigned code = static_cast<unsigned>(sequence >> ZSTD_OFFSET_SHIFT);
    if (!(code & ZSTD_REPEATS))
        return code;
    const unsigned which = code >> ZSTD_REPEATS_WHICH & 3;
    const unsigned offset = which == 0   ? tile.repeats[0]
                            : which == 1 ? tile.repeats[1]
                                         : tile.repeats[2];
    return offset - min(offset, code & ZSTD_REPEATS_LESS);
}

// The last sequence that begins at `begin` or before: each round, the lanes of a warp look at the
// ends of 32 equal parts.
static __device__ inline unsigned link_find(const zstd_sequence *sequences, unsigned count,
                                            unsigned begin)
{
    unsigned low = 0, size = count; // it is low, or one of the size - 1 after it
    while (size > 1) {
        const unsigned part = (size + 31) / 32, probe = low + threadIdx.x % 32 * part;
        const bool is_before = probe < low + size && link_begin_of(sequences[probe]) <= begin;
        // Lane 0 always is.
        const unsigned before =
            static_cast<unsigned>(__popc(__ballot_sync(0xffffffffu, is_before)));
        const unsigned end = low + size;
        low += (before - 1) * part;
        size = min(part, end - low);
    }
    return low;
}

// The sum of `value` over all threads before this one; `warps` has a place for each warp.
static __device__ inline unsigned link_scan(unsigned value, unsigned *warps)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = value;
    for (unsigned by = 1; by < 32; by *= 2) {
        const unsigned before = __shfl_up_sync(0xffffffffu, sum, by);
        sum += lane >= by ? before : 0;
    }
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    for (unsigned i = 0; i < warp; i++)
        sum += warps[i];
    return sum - value;
}

// Marks where sequences begin, the tile's first excepted, and counts the marks before each of
// `words` words.
static __device__ inline void link_mark(const link_tile &tile, unsigned words, unsigned *warps)
{
    const unsigned each = (words + blockDim.x - 1) / blockDim.x; // of a thread, in a row
    const unsigned first = min(threadIdx.x * each, words), last = min(first + each, words);
    for (unsigned i = first; i < last; i++)
        tile.marks[i] = 0;
    __syncthreads();
    for (unsigned i = tile.first + 1 + threadIdx.x; i <= tile.sequence_count; i += blockDim.x) {
        const unsigned begin = link_begin_of(tile.sequences[i]);
        if (begin >= tile.end)
            break;
        atomicOr(&tile.marks[(begin - tile.begin) / 32], 1u << (begin - tile.begin) % 32);
    }
    __syncthreads();
    unsigned own = 0;
    for (unsigned i = first; i < last; i++)
        own += static_cast<unsigned>(__popc(tile.marks[i]));
    unsigned before = link_scan(own, warps);
    for (unsigned i = first; i < last; i++) {
        tile.ranks[i] = before;
        before += static_cast<unsigned>(__popc(tile.marks[i]));
    }
    __syncthreads();
}

static __device__ inline unsigned link_literal(const link_tile &tile, unsigned index)
{
    return ZSTD_VALUE | tile.literals[tile.literals_type == ZSTD_LITERALS_RLE ? 0 : index];
}

// The link of byte `at` of the zstd block; `bad` if its offset is refused. `out` is where the
// batch's content begins.
static __device__ inline unsigned link_of(const link_tile &tile, unsigned at,
                                          const unsigned char *out, bool &bad)
{
    if (tile.sequence_count == 0)
        return link_literal(tile, at);
    const unsigned word = (at - tile.begin) / 32, bit = (at - tile.begin) % 32;
    const unsigned index =
        tile.first + tile.ranks[word] +
        static_cast<unsigned>(__popc(tile.marks[word] & (0xffffffffu >> (31 - bit))));
    const zstd_sequence sequence = tile.sequences[index];
    const unsigned begin = link_begin_of(sequence), literals = link_literals_of(sequence);
    if (index == tile.sequence_count)
        return link_literal(tile, literals + at - begin);
    const unsigned length = link_literals_of(tile.sequences[index + 1]) - literals;
    if (at - begin < length)
        return link_literal(tile, literals + at - begin);
    const unsigned match = begin + length, within = at - match;
    const unsigned offset = link_offset_of(tile, sequence);
    if (offset - 1 >= min(tile.window, tile.reach + match)) {
        bad = true;
        return ZSTD_VALUE;
    }
    const int source = static_cast<int>(tile.content_at + match + // before the batch if below 0
                                        (within < offset ? within : within % offset) - offset);
    return source < 0 ? ZSTD_VALUE | out[source] : static_cast<unsigned>(source);
}

// Replaces the links that end in the tile, which begins at `base` in the batch. It goes through the
// tile in strips of Each bytes a thread. No link of a strip that is done ends in the tile, so what
// is left of a round are links inside the strip, and each round doubles how far these reach. All
// threads have read before any of them writes.
template <unsigned Each>
static __device__ inline void link_jump(unsigned *links, unsigned base, unsigned size)
{
    for (unsigned first = 0; first < size; first += Each * blockDim.x) {
        bool is_left;
        do {
            unsigned next[Each];
            is_left = false;
            UNROLL for (unsigned k = 0; k < Each; k++)
            {
                const unsigned i = first + k * blockDim.x + threadIdx.x;
                next[k] = i < size ? links[i] : ZSTD_VALUE;
                if (link_is_inside(next[k], base))
                    next[k] = links[next[k] - base];
                is_left |= link_is_inside(next[k], base);
            }
            __syncthreads();
            UNROLL for (unsigned k = 0; k < Each; k++)
            {
                const unsigned i = first + k * blockDim.x + threadIdx.x;
                if (i < size)
                    links[i] = next[k];
            }
        } while (__syncthreads_or(is_left));
    }
}

static __device__ inline link_tile link_tile_of(const zstd_batch &batch, unsigned index,
                                                unsigned begin, unsigned size, unsigned *shared)
{
    const zstd_heading &heading = batch.heading[index];
    const zstd_outcome &outcome = batch.outcome[index];
    const zstd_block &block = batch.block[index];
    link_tile tile;
    tile.sequences = batch.sequences + zstd_sequences_at(&block, index);
    tile.sequence_count = heading.sequences;
    tile.begin = begin;
    tile.end = min(begin + size, outcome.content);
    tile.content_at = outcome.content_at;
    tile.reach = outcome.reach;
    tile.window = batch.frame[block.frame].window;
    for (unsigned i = 0; i < 3; i++)
        tile.repeats[i] = outcome.before.value[i];
    tile.literals_type = heading.literals_type;
    tile.literals = heading.literals_type == ZSTD_LITERALS_PACKED ? batch.literals + block.room_at
                                                                  : batch.in + heading.literals_at;
    tile.links = shared;
    tile.marks = shared + size;
    tile.ranks = tile.marks + size / 32;
    tile.first = 0;
    return tile;
}

// The CUDA blocks are the tiles of all zstd blocks, zstd_link_tiles(Tile) of each.
template <unsigned Tile, unsigned Threads>
__global__ void __launch_bounds__(Threads) zstd_link(zstd_batch batch)
{
    static_assert(ZSTD_BLOCK_CONTENT % Tile == 0 && Tile % 32 == 0 && Threads % 32 == 0 &&
                      ZSTD_STRIP % Threads == 0,
                  "tiles fill a block");
    DYNAMIC_SHARED(unsigned, shared);
    __shared__ unsigned warps[Threads / 32];
    constexpr unsigned tiles = zstd_link_tiles(Tile);
    const unsigned index = blockIdx.x / tiles, begin = blockIdx.x % tiles * Tile;
    // Another CUDA block may lower it: all threads go by what one of them has seen.
    if (__syncthreads_or(load_relaxed(&batch.verdict->refused) < batch.blocks))
        return;
    if (begin >= batch.outcome[index].content)
        return;
    link_tile tile = link_tile_of(batch, index, begin, Tile, shared);
    if (tile.sequence_count > 0) {
        tile.first = link_find(tile.sequences, tile.sequence_count + 1, begin);
        link_mark(tile, Tile / 32, warps);
    }
    const unsigned size = tile.end - begin, base = tile.content_at + begin;
    bool bad = false;
    for (unsigned i = threadIdx.x; i < size; i += Threads)
        tile.links[i] = link_of(tile, begin + i, batch.out, bad);
    __syncthreads();
    link_jump<ZSTD_STRIP / Threads>(tile.links, base, size);
    for (unsigned i = threadIdx.x; i < size; i += Threads)
        batch.links[base + i] = tile.links[i];
    if (bad) {
        store_relaxed(&batch.outcome[index].refusal, ZSTD_BAD_OFFSET);
        atomicMin(&batch.verdict->refused, index);
    }
}

#endif

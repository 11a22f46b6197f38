// SPDX-License-Identifier: MIT
// A tile, for the stages that copy matches: some bytes of content of a block of zstd or a unit of
// gzip, each a word of shared memory, by a CUDA block.
//
// The beginnings of sequences are marked in a bitmap, and the bits before a byte say which sequence
// it is of, so that the lanes of a warp have a byte each, however short the sequences are. A byte
// of a match links to the byte that it is a copy of; where the match overlaps itself, to the one
// before its own beginning, modulo the offset. Links that end in the same tile are then replaced by
// those found there (pointer jumping: Wyllie, 1979), until each is a value or leads to before the
// tile. That goes strip by strip: each thread has so many bytes of a strip, whose links are in its
// registers, and in shared memory for others to see. Links to strips that are done take one step,
// so only chains within a strip take several rounds, in which all threads read before any writes.
//
// Shared memory: four bytes for each byte of the tile, one for every four, and eight for each
// sequence.
#ifndef GPUHISTO_GPU_DECODE_TILE_CUH
#define GPUHISTO_GPU_DECODE_TILE_CUH

#include "gpu/ptx.cuh"

extern "C" {
#include "gpu/decode/batch.h"
}

// Bytes of content of a tile: to be tuned. Twice as large a tile has more shared memory than 99
// KiB, which is all that many devices give.
constexpr unsigned DECODE_TILE = 8192;
constexpr unsigned DECODE_TILE_EACH = 8; // bytes of a strip that each thread has
static_assert(DECODE_BLOCK_CONTENT % DECODE_TILE == 0, "tiles fill a block");

// The most sequences that a tile is of, and the bytes of dynamic shared memory that it takes.
constexpr unsigned DECODE_TILE_SEQUENCES = DECODE_TILE / DECODE_MATCH_MIN + 2;
constexpr unsigned DECODE_TILE_SHARED =
    8 * DECODE_TILE_SEQUENCES + 4 * (DECODE_TILE + 2 * (DECODE_TILE / 32));

// The mark of a link that is a value in its lowest byte, rather than a position of content.
constexpr unsigned DECODE_VALUE = 1u << 31;

// True if a link leads to a byte of the tile that begins at `base`, or to one after it.
DEVICE_INLINE bool tile_has(unsigned link, unsigned base)
{
    return !(link & DECODE_VALUE) && link >= base;
}

// A sequence, as its bytes need it. From the lowest bit:
//
// - 18 bits: where its match begins in the content of the block, or PIECE_LITERALS: nowhere;
// - 18 bits: how far its literals are from there: a byte's place less that of its literal;
// - 28 bits: its offset, which was checked.
using decode_piece = unsigned long long;

constexpr unsigned PIECE_LITERALS = (1u << 18) - 1;

// True if a block of the batch is refused. Another CUDA block may refuse one at any time, so all
// threads go by the value that one of them has seen.
DEVICE_INLINE bool tile_is_refused(const decode_batch &batch)
{
    return __syncthreads_or(load_relaxed(&batch.verdict->refused) != DECODE_NONE);
}

// A tile: the facts that all its bytes have in common.
struct decode_tile {
    const decode_sequence *sequences;
    unsigned sequence_count;
    unsigned first;      // the sequence that its first byte is of
    unsigned begin, end; // in the content of the block
    unsigned content_at; // of the block in the batch
    unsigned reach;      // bytes of the frame before the block
    unsigned window;
    unsigned repeat_offsets[3]; // the last offsets before the block

    const unsigned char *literals;
    unsigned literals_mask; // 0 if all are the first one

    // Shared memory: sequences from `first` on; links of all bytes; bits where sequences begin; the
    // bits before each word; the sequence that the first byte after the tile is of.
    decode_piece *pieces;
    unsigned *links, *marks, *ranks, *next;
};

// --- the pieces of a tile ---

DEVICE_INLINE unsigned sequence_begin(decode_sequence sequence)
{
    return static_cast<unsigned>(sequence) & ((1u << DECODE_LITERALS_SHIFT) - 1);
}

DEVICE_INLINE unsigned sequence_literals(decode_sequence sequence)
{
    return static_cast<unsigned>(sequence >> DECODE_LITERALS_SHIFT) &
           ((1u << (DECODE_OFFSET_SHIFT - DECODE_LITERALS_SHIFT)) - 1);
}

// Makes the pieces of the tile, and marks where they begin, the first excepted. Says whether an
// offset is refused.
DEVICE_INLINE bool tile_cut(const decode_tile &tile)
{
    bool bad = false;
    for (unsigned i = tile.first + threadIdx.x; i <= tile.sequence_count; i += blockDim.x) {
        const decode_sequence sequence = tile.sequence_count > 0 ? tile.sequences[i] : 0;
        const unsigned begin = sequence_begin(sequence), literals = sequence_literals(sequence);
        const decode_piece distance = static_cast<decode_piece>(begin - literals) << 18;
        if (begin >= tile.end)
            break;
        if (i > tile.first)
            atomicOr(&tile.marks[(begin - tile.begin) / 32], 1u << (begin - tile.begin) % 32);
        if (i == tile.sequence_count) {
            tile.pieces[i - tile.first] = PIECE_LITERALS | distance;
            *tile.next = i;
            break;
        }
        const decode_sequence next = tile.sequences[i + 1];
        const unsigned match = begin + sequence_literals(next) - literals;
        unsigned offset = static_cast<unsigned>(sequence >> DECODE_OFFSET_SHIFT);
        if (offset & ZSTD_REPEAT_OFFSETS) { // 0 if it would be less than 1
            const unsigned which = offset >> ZSTD_REPEAT_OFFSETS_WHICH & 3;
            const unsigned repeated = which == 0   ? tile.repeat_offsets[0]
                                      : which == 1 ? tile.repeat_offsets[1]
                                                   : tile.repeat_offsets[2];
            offset = repeated - min(repeated, offset & ZSTD_REPEAT_OFFSETS_LESS);
        }
        bad |= offset - 1 >= min(tile.window, tile.reach + match);
        tile.pieces[i - tile.first] = match | distance | static_cast<decode_piece>(offset) << 36;
        if (sequence_begin(next) >= tile.end)
            *tile.next = sequence_begin(next) == tile.end ? i + 1 : i;
    }
    return bad;
}

// Makes the tile's pieces, and the bitmap that says where they are. If an offset is bad, it refuses
// the block, which has this index, and returns true to all threads.
DEVICE_INLINE bool tile_prepare(const decode_batch &batch, unsigned index, const decode_tile &tile)
{
    for (unsigned i = threadIdx.x; i < DECODE_TILE / 32; i += blockDim.x)
        tile.marks[i] = 0;
    __syncthreads();
    if (__syncthreads_or(tile_cut(tile))) {
        if (threadIdx.x == 0) {
            store_relaxed(&batch.outcome[index].refusal, DECODE_BAD);
            atomicMin(&batch.verdict->refused, index);
        }
        return true;
    }
    if (threadIdx.x < 32) {                              // the marks before each word
        constexpr unsigned each = DECODE_TILE / 32 / 32; // words of a lane, in a row
        unsigned before[each], own = 0;
        UNROLL for (unsigned i = 0; i < each; i++)
        {
            before[i] = own;
            own += static_cast<unsigned>(__popc(tile.marks[threadIdx.x * each + i]));
        }
        const unsigned first = warp_sum(own) - own;
        UNROLL for (unsigned i = 0; i < each; i++) tile.ranks[threadIdx.x * each + i] =
            first + before[i];
    }
    __syncthreads();
    return false;
}

// --- the links of a strip ---

// Sets the link of byte i of the tile, and returns where in memory its value is, or null. `out` is
// where the batch's content begins; content before `known` is there.
DEVICE_INLINE const unsigned char *tile_source(const decode_tile &tile, unsigned i,
                                               const unsigned char *out, int known, unsigned &link)
{
    const unsigned up_to = tile.marks[i / 32] & (0xffffffffu >> (31 - i % 32));
    const decode_piece piece =
        tile.pieces[tile.ranks[i / 32] + static_cast<unsigned>(__popc(up_to))];
    const unsigned match = static_cast<unsigned>(piece) & PIECE_LITERALS,
                   distance = static_cast<unsigned>(piece >> 18) & PIECE_LITERALS,
                   offset = static_cast<unsigned>(piece >> 36);
    const unsigned at = tile.begin + i;
    const bool is_literal = at < match;
    const unsigned char *const literal = tile.literals + ((at - distance) & tile.literals_mask);
    unsigned copied = at;
    if (!is_literal && at - match >= offset)
        copied = match + (at - match) % offset;
    link = tile.content_at + copied - offset; // before the batch if below 0
    const int source = static_cast<int>(link);
    return is_literal ? literal : source < known ? out + source : nullptr;
}

// Fills the links of this thread's bytes of a strip, `first` being its first one: `Together` at a
// time, so that as many loads are on their way. other(link) may change a
// link whose value is not in memory.
template <unsigned Together, typename Other>
DEVICE_INLINE void tile_fill(const decode_tile &tile, unsigned first, const unsigned char *out,
                             int known, unsigned (&links)[DECODE_TILE_EACH], Other other)
{
    const unsigned last = tile.end - tile.begin - 1;
    UNROLL for (unsigned group = 0; group < DECODE_TILE_EACH; group += Together)
    {
        const unsigned char *from[Together];
        UNROLL for (unsigned k = 0; k < Together; k++)
        {
            const unsigned i = min(first + (group + k) * blockDim.x, last);
            from[k] = tile_source(tile, i, out, known, links[group + k]);
        }
        UNROLL for (unsigned k = 0; k < Together; k++)
        {
            if (from[k])
                links[group + k] = DECODE_VALUE | *from[k];
            else
                other(links[group + k]);
        }
    }
}

// A set of a thread's bytes, in registers. (With a plain word nvcc spills some of decode_link's.)
template <unsigned Each> struct tile_set {
    unsigned words[(Each + 31) / 32] = {};

    __device__ __forceinline__ bool has(unsigned k) const
    {
        return words[k / 32] >> k % 32 & 1;
    }

    __device__ __forceinline__ void set(unsigned k, bool is_in)
    {
        words[k / 32] = (words[k / 32] & ~(1u << k % 32)) | (is_in ? 1u : 0u) << k % 32;
    }

    __device__ __forceinline__ bool any() const
    {
        unsigned all = 0;
        for (unsigned word : words)
            all |= word;
        return all != 0;
    }
};

// Replaces links of these bytes that end in the tile by those found there, until none does: no link
// of a strip before ends in the tile. All threads call it, and each sees the links of others after
// the next barrier.
DEVICE_INLINE void tile_jump(const decode_tile &tile, unsigned first,
                             unsigned (&links)[DECODE_TILE_EACH])
{
    const unsigned size = tile.end - tile.begin, base = tile.content_at + tile.begin;
    tile_set<DECODE_TILE_EACH> left;
    UNROLL for (unsigned k = 0; k < DECODE_TILE_EACH; k++)
    {
        const unsigned i = first + k * blockDim.x;
        if (i < size)
            tile.links[i] = links[k];
        left.set(k, i < size && tile_has(links[k], base));
    }
    while (__syncthreads_or(left.any())) {
        const tile_set<DECODE_TILE_EACH> changed = left;
        if (changed.any()) {
            UNROLL for (unsigned k = 0; k < DECODE_TILE_EACH; k++) if (changed.has(k))
            {
                links[k] = tile.links[links[k] - base];
                left.set(k, tile_has(links[k], base));
            }
        }
        __syncthreads();
        if (changed.any()) {
            UNROLL for (unsigned k = 0; k < DECODE_TILE_EACH; k++) if (changed.has(k))
                tile.links[first + k * blockDim.x] = links[k];
        }
    }
}

// Writes the links of all bytes of a tile to `out`, content from out[0] on, strip by strip:
// fill(tile, first, links) fills those of this thread's bytes, as tile_fill.
template <unsigned Threads, typename Out, typename Fill>
DEVICE_INLINE void tile_put(const decode_tile &tile, Out *out, Fill fill)
{
    const unsigned size = tile.end - tile.begin, at = tile.content_at + tile.begin;
    for (unsigned first = threadIdx.x; first - threadIdx.x < size;
         first += DECODE_TILE_EACH * Threads) {
        unsigned links[DECODE_TILE_EACH];
        fill(tile, first, links);
        tile_jump(tile, first, links);
        UNROLL for (unsigned k = 0; k < DECODE_TILE_EACH; k++)
        {
            if (first + k * Threads < size)
                out[at + first + k * Threads] = static_cast<Out>(links[k]);
        }
    }
}

// --- the tiles of a block ---

// Returns the tile from `begin` on in the index-th block, which has fewer bytes at the block's end.
DEVICE_INLINE decode_tile tile_of(const decode_batch &batch, unsigned index, unsigned begin,
                                  decode_piece *shared, unsigned *next)
{
    const decode_heading &heading = batch.heading[index];
    const decode_outcome &outcome = batch.outcome[index];
    const decode_block &block = batch.block[index];
    decode_tile tile;
    tile.sequences = batch.sequences + block.sequences_at;
    tile.sequence_count = heading.sequences;
    tile.begin = begin;
    tile.end = min(begin + DECODE_TILE, outcome.content);
    tile.content_at = outcome.content_at;
    tile.reach = outcome.reach;
    tile.window = batch.frame[block.frame].window;
    for (unsigned i = 0; i < 3; i++)
        tile.repeat_offsets[i] = outcome.before[i];
    tile.literals = heading.literals_type == DECODE_LITERALS_PACKED
                        ? batch.literals + block.room_at
                        : batch.in + heading.literals_at;
    tile.literals_mask = heading.literals_type == DECODE_LITERALS_RLE ? 0 : 0xffffffffu;
    tile.pieces = shared;
    tile.links = reinterpret_cast<unsigned *>(shared + DECODE_TILE_SEQUENCES);
    tile.marks = tile.links + DECODE_TILE;
    tile.ranks = tile.marks + DECODE_TILE / 32;
    tile.next = next;
    tile.first = 0;
    return tile;
}

// Goes through a block tile by tile, from its beginning on, and writes its values to out[0..). All
// that its matches copy from before a tile is known by then. Returns true to all threads if it is
// refused.
template <unsigned Threads, typename Out, typename Fill>
DEVICE_INLINE bool tile_copy_block(const decode_batch &batch, unsigned index, decode_piece *shared,
                                   unsigned *next, Out *out, Fill fill)
{
    const unsigned content = batch.outcome[index].content;
    decode_tile tile = tile_of(batch, index, 0, shared, next);
    while (tile.begin < content) {
        if (tile_prepare(batch, index, tile))
            return true;
        const unsigned first_after = *tile.next;
        tile_put<Threads>(tile, out, fill);
        tile.first = first_after;
        tile.begin = tile.end;
        tile.end = min(tile.begin + DECODE_TILE, content);
    }
    return false;
}

#endif

// SPDX-License-Identifier: MIT
// The stages that make content of literals and matches.
#ifndef GPUHISTO_GPU_DECODE_MATCHES_CUH
#define GPUHISTO_GPU_DECODE_MATCHES_CUH

#include "gpu/decode/tile.cuh"
#include "gpu/decode/zstd/sequences.cuh"

// --- place ---

// The stage place: finds where each block's content begins, its repeat offsets there, how far it
// may reach back, and whether frames hold what they state. It begins the verdict.
//
// Takes outcome.refusal, .content and .after of every block; gives .content_at, .before and .reach,
// may refuse the last block of a frame, and writes the verdict. Content of refused blocks counts as
// none.
//
// One CUDA block goes through the zstd blocks, a thread each, so many at a time: a few thousand
// blocks are a few rounds of some microseconds. Lengths are added and repeat offsets composed by
// one scan. A frame's first block maps anything to constants, so frames need no scans of their own.
// Shared memory: the sums of the warps, less than 1 KiB.

constexpr unsigned DECODE_PLACE_THREADS = 1024;
static_assert(DECODE_PLACE_THREADS % 32 == 0 && DECODE_PLACE_THREADS <= 1024,
              "a warp adds up warps");

static inline unsigned place_grid(const struct decode_batch *, unsigned)
{
    return 1;
}

// The sum of some blocks in a row.
struct place_sum {
    unsigned content;
    repeat_offsets_map repeat_offsets;
};

static __device__ inline place_sum place_then(const place_sum &first, const place_sum &second)
{
    return {first.content + second.content,
            repeat_offsets_map_then(first.repeat_offsets, second.repeat_offsets)};
}

static __device__ inline place_sum place_nothing()
{
    return {0, repeat_offsets_map_same()};
}

static __device__ inline place_sum place_shuffle_up(const place_sum &sum, unsigned by)
{
    place_sum other;
    other.content = __shfl_up_sync(0xffffffffu, sum.content, by);
    for (unsigned i = 0; i < 3; i++)
        other.repeat_offsets.position[i] =
            __shfl_up_sync(0xffffffffu, sum.repeat_offsets.position[i], by);
    return other;
}

// Returns the sum of the lanes up to and with this one.
static __device__ inline place_sum place_scan_warp(place_sum sum)
{
    for (unsigned by = 1; by < 32; by *= 2) {
        const place_sum before = place_shuffle_up(sum, by);
        if (threadIdx.x % 32 >= by)
            sum = place_then(before, sum);
    }
    return sum;
}

// Returns the sum of all threads before this one, after `before`, which becomes that of all
// threads. `warps` has a place for each warp.
static __device__ inline place_sum place_scan(const place_sum &own, place_sum *warps,
                                              place_sum &before)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const place_sum inclusive = place_scan_warp(own);
    place_sum exclusive = place_shuffle_up(inclusive, 1);
    if (lane == 0)
        exclusive = place_nothing();
    if (lane == 31)
        warps[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        const place_sum sum = lane < blockDim.x / 32 ? warps[lane] : place_nothing();
        warps[lane] = place_scan_warp(sum);
    }
    __syncthreads();
    if (warp > 0)
        exclusive = place_then(warps[warp - 1], exclusive);
    exclusive = place_then(before, exclusive);
    before = place_then(before, warps[31]);
    __syncthreads();
    return exclusive;
}

// True if the frame holds another number of bytes than it states; it has `content` so far.
static __device__ inline bool place_misstated(const decode_frame &frame, unsigned long long content)
{
    if (frame.content == DECODE_CONTENT_UNKNOWN)
        return false;
    return frame.ends ? content != frame.content : content > frame.content;
}

static __global__ void __launch_bounds__(DECODE_PLACE_THREADS) decode_place(decode_batch batch)
{
    __shared__ place_sum warps[32];
    __shared__ unsigned refused;
    const decode_carry *const carry = reinterpret_cast<const decode_carry *>(batch.in);
    place_sum before = place_nothing();
    if (!batch.frame[0].begins)
        before.repeat_offsets = repeat_offsets_map_of(carry->repeat_offsets);
    if (threadIdx.x == 0)
        refused = DECODE_NONE;
    __syncthreads();
    const unsigned blocks = decode_block_count(&batch);
    for (unsigned first = 0; first < blocks; first += blockDim.x) {
        const unsigned index = first + threadIdx.x;
        const bool is_there = index < blocks;
        decode_outcome *const outcome = batch.outcome + (is_there ? index : 0);
        const decode_frame frame = batch.frame[is_there ? batch.block[index].frame : 0];
        const bool is_taken = is_there && outcome->refusal == DECODE_TAKEN;
        const bool begins = is_there && frame.begins && frame.first == index;
        place_sum own = place_nothing();
        if (is_taken)
            own = {min(outcome->content, batch.block[index].room),
                   repeat_offsets_map_of(outcome->after)};
        if (begins)
            own.repeat_offsets =
                repeat_offsets_map_then(repeat_offsets_map_begin(), own.repeat_offsets);
        const place_sum at = place_scan(own, warps, before);
        if (is_there) {
            outcome->content_at = at.content;
            outcome->before =
                repeat_offsets_of_map(begins ? repeat_offsets_map_begin() : at.repeat_offsets);
        }
        __syncthreads(); // the first block of the frame knows where it is
        if (is_there) {
            unsigned long long within = at.content - batch.outcome[frame.first].content_at;
            if (!frame.begins)
                within += carry->before;
            outcome->reach = static_cast<unsigned>(
                min(within, static_cast<unsigned long long>(ZSTD_WINDOW_MAX)));
            const bool is_last = index == frame.first + frame.blocks - 1;
            if (is_taken && is_last && place_misstated(frame, within + own.content))
                outcome->refusal = DECODE_BAD;
            if (outcome->refusal != DECODE_TAKEN)
                atomicMin(&refused, index);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned why =
            refused != DECODE_NONE ? batch.outcome[refused].refusal : unsigned{DECODE_TAKEN};
        *batch.verdict = {refused, why, before.content, 0, 0, 0};
    }
}

// --- link ---

// The stage link: every byte of content gets its value, or a link to the byte that it is copied
// from.
//
// Takes what all stages before it give; gives batch.links, and refuses blocks with an offset that
// is 0 or reaches beyond the window or the beginning of the frame.
//
// A CUDA block has a tile of one zstd block (tile.cuh). Its remaining links lead to before the
// tile, and are followed by the next stage. Bytes before the batch are known, and are values at
// once. Batches of many frames go another way: copy.cuh.

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
static __global__ void __launch_bounds__(Threads, DECODE_LINK_RESIDENT / Threads)
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

// --- follow ---

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

static __global__ void __launch_bounds__(DECODE_FOLLOW_THREADS) decode_follow(decode_batch batch)
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

// --- copy ---

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
static __global__ void __launch_bounds__(Threads, 1024 / Threads) decode_copy(decode_batch batch)
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

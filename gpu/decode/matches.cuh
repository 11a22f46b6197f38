// SPDX-License-Identifier: MIT
// The stages that make content of literals and sequences. A batch takes one of two ways:
//
// - place, link, follow: every byte of content gets its value, or a link to the byte that it is
//   copied from, and then all links are followed at once;
// - place, copy: if the batch has many frames (decode_copies_frames), a CUDA block goes through
//   each from its beginning to its end.
//
// gzip, whose matches reach back less far, has only place in common, and goes on in
// gzip/content.cuh. The last stage of all formats is keep: it leaves what the next batch takes
// over. After it tail finds where the next batch's records begin.
#ifndef GPUHISTO_GPU_DECODE_MATCHES_CUH
#define GPUHISTO_GPU_DECODE_MATCHES_CUH

#include "gpu/decode/stages.h"
#include "gpu/decode/tile.cuh"
#include "gpu/decode/zstd/tables.cuh"

#include <cstddef>

// --- place ---
//
// Finds where each block's content begins, its repeat offsets there, how far it may reach back, and
// whether frames hold what they state. It begins the verdict.
//
// Takes outcome.refusal, .content and .after of every block; gives .content_at, .before and .reach,
// may refuse the last block of a frame, and writes the verdict. Content of refused blocks counts as
// none. Of gzip it also gives the first unit of each segment. There it waits for the chain of the
// batch before, not for its content.
//
// One CUDA block goes through the blocks, a thread each, so many at a time: a few thousand blocks
// are a few rounds of some microseconds. Lengths are added and repeat offsets composed by one scan.
// A frame's first block maps anything to constants, so frames need no scans of their own.

constexpr unsigned DECODE_PLACE_THREADS = 1024;
static_assert(DECODE_PLACE_THREADS % 32 == 0 && DECODE_PLACE_THREADS <= 1024,
              "a warp adds up warps");

// The sum of some blocks in a row; gzip has no repeat offsets.
template <decode_format Format> struct place_sum {
    unsigned content;

    static __device__ place_sum nothing()
    {
        return {0};
    }
    __device__ place_sum then(const place_sum &after) const
    {
        return {content + after.content};
    }
};

template <> struct place_sum<DECODE_ZSTD> {
    unsigned content;
    zstd_offsets_map offsets;

    static __device__ place_sum nothing()
    {
        return {0, offsets_map_same()};
    }
    __device__ place_sum then(const place_sum &after) const
    {
        return {content + after.content, offsets_map_then(offsets, after.offsets)};
    }
};

// Returns the sum of all threads before this one, after `before`, which becomes that of all
// threads. `warps` has a place for each warp.
template <typename Sum> DEVICE_INLINE Sum place_scan(const Sum &own, Sum *warps, Sum &before)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto then = [](const Sum &a, const Sum &b) { return a.then(b); };
    const Sum inclusive = warp_scan(own, then);
    Sum exclusive = warp_before(inclusive, 1);
    if (lane == 0)
        exclusive = Sum::nothing();
    if (lane == 31)
        warps[warp] = inclusive;
    __syncthreads();
    if (warp == 0)
        warps[lane] = warp_scan(lane < blockDim.x / 32 ? warps[lane] : Sum::nothing(), then);
    __syncthreads();
    if (warp > 0)
        exclusive = warps[warp - 1].then(exclusive);
    exclusive = before.then(exclusive);
    before = before.then(warps[31]);
    __syncthreads();
    return exclusive;
}

template <decode_format Format>
static __global__ void __launch_bounds__(DECODE_PLACE_THREADS) decode_place(decode_batch batch)
{
    using sum = place_sum<Format>;
    constexpr bool is_zstd = Format == DECODE_ZSTD;
    __shared__ sum warps[32];
    __shared__ unsigned refused;
    const decode_carry *const carry = decode_carry_of(&batch);
    const unsigned blocks = decode_block_count(&batch);
    sum before = sum::nothing();
    if constexpr (is_zstd)
        for (unsigned i = 0; i < 3 && !batch.frame[0].begins; i++)
            before.offsets.position[i] = offsets_constant(carry->repeat_offsets[i]);
    if (threadIdx.x == 0)
        refused = DECODE_NONE;
    __syncthreads();
    for (unsigned first = 0; first < blocks; first += blockDim.x) {
        const unsigned index = first + threadIdx.x;
        const bool is_there = index < blocks;
        decode_outcome *const outcome = batch.outcome + (is_there ? index : 0);
        const decode_frame frame = batch.frame[is_there ? batch.block[index].frame : 0];
        const bool is_taken = is_there && outcome->refusal == DECODE_TAKEN;
        const bool begins = is_there && frame.begins && frame.first == index;
        sum own = sum::nothing();
        if (is_taken)
            own.content = outcome->content;
        if constexpr (is_zstd) {
            if (is_taken)
                own.offsets = outcome->after;
            if (begins)
                own.offsets = offsets_map_then(offsets_map_begin(), own.offsets);
        }
        const sum at = place_scan(own, warps, before);
        if (is_there) {
            outcome->content_at = at.content;
            if constexpr (is_zstd) {
                const zstd_offsets_map offsets = begins ? offsets_map_begin() : at.offsets;
                for (unsigned i = 0; i < 3; i++)
                    outcome->before[i] = offsets.position[i] & offsets_value_mask;
            }
        }
        __syncthreads(); // the first block of the frame knows where it is
        if (!is_there)
            continue;
        unsigned long long within = at.content - batch.outcome[frame.first].content_at;
        if (!frame.begins)
            within += is_zstd ? carry->before : gzip_carry_of(&batch)->before;
        outcome->reach =
            static_cast<unsigned>(min(within, static_cast<unsigned long long>(ZSTD_WINDOW_MAX)));
        if constexpr (is_zstd) {
            const unsigned long long size = within + own.content;
            const bool is_last = index == frame.first + frame.blocks - 1;
            const bool is_stated = frame.content != DECODE_CONTENT_UNKNOWN;
            if (is_taken && is_last && is_stated &&
                (frame.ends ? size != frame.content : size > frame.content))
                outcome->refusal = DECODE_BAD;
        } else {
            // No unit has as much content as a segment, so each is the first of at most one.
            const unsigned segment = at.content / GZIP_SEGMENT;
            if (index == 0 || segment * GZIP_SEGMENT > batch.outcome[index - 1].content_at)
                batch.gzip.segments[segment] = index;
        }
        if (outcome->refusal != DECODE_TAKEN)
            atomicMin(&refused, index);
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    decode_verdict verdict = {refused, DECODE_TAKEN, before.content, 0, 0};
    if (refused != DECODE_NONE)
        verdict.refusal = batch.outcome[refused].refusal;
    *batch.verdict = verdict;
}

// --- link ---
//
// Takes what all stages before it give; gives batch.links, and refuses blocks with an offset that
// is 0 or reaches beyond the window or the beginning of the frame.
//
// A CUDA block has a tile of one block. Its remaining links lead to before the tile, and are
// followed by the next stage. Bytes before the batch are known, and are values at once.

constexpr unsigned DECODE_LINK_THREADS = 512; // of a tile: to be tuned
constexpr unsigned DECODE_LINK_TOGETHER = 4;  // bytes that a thread fills at a time
constexpr unsigned DECODE_LINK_TILES = DECODE_BLOCK_CONTENT / DECODE_TILE; // of the largest block

// The threads that a processor is to hold at least: Turing has no more than 1024.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr unsigned DECODE_LINK_RESIDENT = 1024;
#else
constexpr unsigned DECODE_LINK_RESIDENT = 1536;
#endif

// Links the tiles of all blocks, each by a CUDA block. Three of 512 threads have 40 registers each.
static __global__ void __launch_bounds__(DECODE_LINK_THREADS,
                                         DECODE_LINK_RESIDENT / DECODE_LINK_THREADS)
    decode_link(decode_batch batch)
{
    DYNAMIC_SHARED(decode_piece, shared);
    __shared__ unsigned next;
    const unsigned index = blockIdx.x / DECODE_LINK_TILES;
    const unsigned begin = blockIdx.x % DECODE_LINK_TILES * DECODE_TILE;
    if (tile_is_refused(batch) || begin >= batch.outcome[index].content)
        return;
    decode_tile tile = tile_of(batch, index, begin, shared, &next);
    if (tile.sequence_count > 0)
        tile.first = warp_search(tile.sequence_count + 1, [=, all = tile.sequences](unsigned i) {
            return sequence_begin(all[i]) <= begin;
        });
    if (tile_prepare(batch, index, tile))
        return;
    const auto fill = [&](const decode_tile &, unsigned first, unsigned(&links)[DECODE_TILE_EACH]) {
        tile_fill<DECODE_LINK_TOGETHER>(tile, first, batch.out, 0, links, [](unsigned &) {});
    };
    tile_put<DECODE_LINK_THREADS>(tile, batch.links, fill);
}

// --- follow ---
//
// Takes batch.links; gives batch.out, and leaves values in batch.links.
//
// Threads have two bytes each, whose links they follow side by side, as each step waits for
// memory. A warp has 64 in a row, and its lanes neighbours: bytes that are copied together are
// read together. All go through the content from its beginning to its end, so most links end at a
// byte that was resolved before. A byte that is not resolved yet is followed further; nobody waits.
// But each step is left for others to see, so that the links between bytes that are resolved at the
// same time become twice as long with each step, however long the chain.

constexpr unsigned DECODE_FOLLOW_THREADS = 256;
constexpr unsigned DECODE_FOLLOW_EACH = 2; // bytes of a thread

// Returns the number of CUDA blocks that stay, as far as the batch has room for so many bytes. They
// leave a quarter of the device to the first stages of the batches that follow, which have few
// threads, and wait for other things.
static inline unsigned follow_grid(const struct decode_batch *batch, unsigned resident)
{
    const unsigned max = batch->room / (DECODE_FOLLOW_THREADS * DECODE_FOLLOW_EACH) + 1;
    return decode_copies_frames(batch) ? 0 : grid_of_resident(max, resident - resident / 4);
}

static __global__ void __launch_bounds__(DECODE_FOLLOW_THREADS) decode_follow(decode_batch batch)
{
    if (batch.verdict->refused != DECODE_NONE)
        return;
    const unsigned end = batch.verdict->content;
    const unsigned warp = (blockIdx.x * DECODE_FOLLOW_THREADS + threadIdx.x) / 32;
    const unsigned stride = gridDim.x * DECODE_FOLLOW_THREADS * DECODE_FOLLOW_EACH;
    unsigned at = warp * 32 * DECODE_FOLLOW_EACH + threadIdx.x % 32;
    for (; at < end; at += stride) {                  // content is below 2^31, and so is stride
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
}

// --- copy ---
//
// Takes the place of link and follow for a batch of many frames. Frames do not copy from each
// other, so each has a CUDA block, which goes through it tile by tile. All bytes before a tile are
// content by then, and within it links are replaced by values, so that nothing is left to follow
// and no link leaves shared memory. One frame alone is slow this way.

constexpr unsigned DECODE_COPY_THREADS = 256, DECODE_COPY_TOGETHER = 8; // to be tuned, as for link

// Copies the frames, each by a CUDA block. Four of 256 threads leave each thread 64 registers.
static __global__ void __launch_bounds__(DECODE_COPY_THREADS, 1024 / DECODE_COPY_THREADS)
    decode_copy(decode_batch batch)
{
    DYNAMIC_SHARED(decode_piece, shared);
    __shared__ unsigned next;
    const decode_frame &frame = batch.frame[blockIdx.x];
    for (unsigned index = frame.first; index < frame.first + frame.blocks; index++) {
        const auto fill = [&](const decode_tile &tile, unsigned first,
                              unsigned(&links)[DECODE_TILE_EACH]) {
            tile_fill<DECODE_COPY_TOGETHER>(tile, first, batch.out,
                                            static_cast<int>(tile.content_at + tile.begin), links,
                                            [](unsigned &) {});
        };
        if (tile_is_refused(batch) ||
            tile_copy_block<DECODE_COPY_THREADS>(batch, index, shared, &next, batch.out, fill))
            return;
    }
}

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
    // Copies from[0..size) to to[0..size), memory that ends at a multiple of 4 bytes: by whole
    // words, but the first four bytes or more, and the last four, one by one, because the bytes
    // before and after may never have been written.
    unsigned char *const to = batch.next_out - size;
    const unsigned char *const from = batch.out + content - size;
    const unsigned head = min(size, size % 4 + 4), words = (size - head) / 4;
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    const std::size_t address = reinterpret_cast<std::size_t>(from + head);
    const unsigned *const source = reinterpret_cast<const unsigned *>(address & ~std::size_t{3});
    const unsigned shift = 8 * static_cast<unsigned>(address & 3);
    for (unsigned i = thread; i + 1 < words; i += stride)
        reinterpret_cast<unsigned *>(to + head)[i] =
            shift ? __funnelshift_r(source[i], source[i + 1], shift) : source[i];
    if (thread < head)
        to[thread] = from[thread];
    if (words > 0 && thread < 4)
        to[size - 4 + thread] = from[size - 4 + thread];
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

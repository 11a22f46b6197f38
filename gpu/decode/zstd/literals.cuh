// SPDX-License-Identifier: MIT
// The stage literals of zstd: decodes packed literals (RFC 8878, section 3.1.1.3.1.6).
//
// Takes struct decode_heading, gives a block's literals in batch.literals from its room_at on. Raw
// and RLE literals need no work: later stages read them from where they are.
//
// Four lanes take a block and a warp eight, so that blocks of four streams keep all lanes busy, one
// stream each. A lane waits for its own last symbol, mostly for the look-up in shared memory. Lanes
// read and write far from each other, so that each access to memory costs as many turns as there
// are lanes: bytes to come are loaded ahead, eight at a time, and literals stored so. The four
// lanes also build the block's table from its description.
//
// What libzstd 1.5.4 accepts and this refuses: streams that do not end with their last bit, or have
// no mark. Its fast loops do not look.
//
// Shared memory: a table of 4.4 KiB a block.
#ifndef GPUHISTO_ZSTD_LITERALS_CUH
#define GPUHISTO_ZSTD_LITERALS_CUH

#include "gpu/decode/zstd/huffman.cuh"
#include "gpu/decode/stages.h"

constexpr unsigned literals_lanes = huffman_lanes; // of a block: one a stream
constexpr unsigned literals_blocks = 8;            // zstd blocks of a CUDA block
constexpr unsigned literals_threads = literals_blocks * literals_lanes;

static_assert(literals_threads % 32 == 0, "whole warps");

// A stream: its bytes, and where its literals go.
struct literals_stream {
    byte_span from;
    uint32_t to, count;
};

// Returns the stream of a lane, or one of no bytes, which is none: if a block has one stream, only
// lane 0 has it.
static __device__ literals_stream literals_of_lane(const decode_batch &batch,
                                                   const decode_heading &heading, uint32_t to,
                                                   uint32_t lane)
{
    const byte_span all = {heading.literals_at, heading.literals_size};
    if (heading.streams == 1)
        return {{all.at, lane == 0 ? all.size : 0}, to, lane == 0 ? heading.literals : 0};
    const uint32_t sizes = bytes_at(batch.in, all.at);
    const uint32_t size[3] = {sizes & 0xffff, sizes >> 16, bytes_at(batch.in, all.at + 4) & 0xffff};
    const uint32_t first_three = size[0] + size[1] + size[2], room = all.size - 6;
    const uint32_t count = (heading.literals + 3) / 4;
    if (first_three >= room)
        return {{all.at, 0}, to, 0};
    const uint32_t before =
        (lane > 0 ? size[0] : 0) + (lane > 1 ? size[1] : 0) + (lane > 2 ? size[2] : 0);
    const uint32_t own = lane == 0   ? size[0]
                         : lane == 1 ? size[1]
                         : lane == 2 ? size[2]
                                     : room - first_three;
    return {{all.at + 6 + before, own},
            to + lane * count,
            lane < 3 ? count : heading.literals - 3 * count};
}

// Decodes one literal.
static __device__ __forceinline__ unsigned char *literals_put(unsigned char *out, backward &stream,
                                                              const uint16_t *cells, uint32_t shift)
{
    const uint32_t cell = cells[backward_high(stream) >> shift];
    backward_skip(stream, cell & 0xff);
    *out = static_cast<unsigned char>(cell >> 8);
    return out + 1;
}

// Decodes four literals, whose codes have 44 bits at most; the first is the lowest byte.
static __device__ __forceinline__ uint32_t literals_four(backward_hold &hold, const uint16_t *cells,
                                                         uint32_t shift)
{
    const uint64_t bits = hold_peek(hold);
    uint32_t high = static_cast<uint32_t>(bits >> 32), low = static_cast<uint32_t>(bits), cell[4];
    UNROLL for (unsigned i = 0; i < 4; i++)
    {
        cell[i] = cells[high >> shift];
        high = __funnelshift_l(low, high, cell[i]); // by the lowest five bits of the cell
        low = bits_after(low, cell[i]);
    }
    hold_skip(hold, (cell[0] + cell[1] + cell[2] + cell[3]) & 0xff);
    return __byte_perm(cell[0], cell[1], 0x2251) | __byte_perm(cell[2], cell[3], 0x5122);
}

// Decodes literals eight at a time, to `out` at a multiple of 8, as long as there are so many to
// come and the stream has not ended. Returns how many.
static __device__ uint32_t literals_eights(backward &stream, const uint16_t *cells, uint32_t shift,
                                           unsigned char *out, uint32_t count)
{
    backward_hold hold = hold_open(stream);
    uint32_t done = 0;
    for (; count - done >= 8 && hold.at >= stream.begin; done += 8) {
        const uint32_t low = literals_four(hold, cells, shift);
        const uint32_t high = literals_four(hold, cells, shift);
        *reinterpret_cast<uint64_t *>(out + done) = static_cast<uint64_t>(high) << 32 | low;
    }
    stream.at = hold.at;
    return done;
}

// Decodes a stream of `count` literals, with codes of up to 32 - shift bits. False if these are not
// all that it holds.
static __device__ bool literals_decode(backward &stream, const uint16_t *cells, uint32_t shift,
                                       unsigned char *out, uint32_t count)
{
    const uint32_t head = min(count, static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(out) & 7));
    for (uint32_t i = 0; i < head; i++)
        out = literals_put(out, stream, cells, shift);
    const uint32_t done = head + literals_eights(stream, cells, shift, out, count - head);
    if (count - done >= 8)
        return false;
    out += done - head;
    for (uint32_t i = done; i < count; i++)
        out = literals_put(out, stream, cells, shift);
    return backward_left(stream) == 0;
}

// By the warp together: true if all lanes of a block say so.
static __device__ __forceinline__ bool literals_all(bool predicate)
{
    const unsigned group = threadIdx.x % 32 / literals_lanes * literals_lanes;
    const unsigned mask = ((1u << literals_lanes) - 1) << group;
    return (__ballot_sync(0xffffffffu, predicate) & mask) == mask;
}

static __global__ void __launch_bounds__(literals_threads) zstd_literals(decode_batch batch)
{
    __shared__ huffman_table tables[literals_blocks];
    const uint32_t lane = threadIdx.x % literals_lanes, position = threadIdx.x / literals_lanes;
    const uint32_t index = blockIdx.x * literals_blocks + position;
    huffman_table *const table = &tables[position];
    decode_heading heading = {};
    if (index < batch.blocks && batch.outcome[index].refusal == DECODE_TAKEN)
        heading = batch.heading[index];
    const bool packed = heading.literals_type == DECODE_LITERALS_PACKED && heading.streams > 0;
    const decode_source source = heading.tables[ZSTD_HUFFMAN];

    if (packed && lane == 0)
        huffman_read(table, batch.in, {source.at, source.size});
    __syncwarp();
    const uint32_t log = packed ? huffman_count(table, lane) : 0;
    __syncwarp();
    const bool has_table = log > 0 && huffman_is_complete(table);
    if (has_table)
        huffman_build(table, log, lane);
    __syncwarp();

    bool good = has_table;
    if (has_table) {
        const uint32_t to = batch.block[index].room_at;
        const literals_stream own = literals_of_lane(batch, heading, to, lane);
        backward stream;
        if (backward_open(stream, batch.in, own.from))
            good =
                literals_decode(stream, table->cells, 32 - log, batch.literals + own.to, own.count);
        else
            good = heading.streams == 1 && lane > 0;
    }
    good = literals_all(good);
    if (packed && lane == 0 && !good)
        batch.outcome[index].refusal = has_table ? DECODE_BAD_STREAM : DECODE_BAD_HUFFMAN;
}

static inline unsigned literals_grid(const struct decode_batch *batch, unsigned)
{
    return decode_grid_of_blocks(batch, literals_blocks);
}

#endif

// SPDX-License-Identifier: MIT
// The stage sequences of zstd: finds what sequences stand for (RFC 8878, section 3.1.1.3.2.1), all
// but the values of repeat offsets.
//
// Takes struct zstd_step, gives decode_sequence in its place, how much content a block's sequences
// make, and the repeat offsets after the block as a map of those before it (batch.h). Blocks of
// literals alone, raw and RLE ones among them, get their outcome here too.
//
// A warp takes a block, and a lane a sequence, 32 at a time. A sequence begins at the sum of the
// lengths before it, and its offset may be one of the three last ones: maps of these compose. Both
// are scans over the warp. Shared memory: 0.3 KiB for the lengths of codes.
//
// What libzstd 1.5.4 accepts and this refuses: an offset less 1 that is 0, which it takes for 1;
// and offsets above ZSTD_WINDOW_MAX.
#ifndef GPUHISTO_ZSTD_SEQUENCES_CUH
#define GPUHISTO_ZSTD_SEQUENCES_CUH

#include "gpu/decode/zstd/repeat_offsets_map.cuh"
#include "gpu/decode/zstd/sequence_codes.cuh"
#include "gpu/decode/stages.h"

constexpr unsigned sequences_blocks = 4; // zstd blocks of a CUDA block, a warp each
constexpr unsigned sequences_threads = 32 * sequences_blocks;

// The lengths and the offset that a sequence stands for.
struct sequences_parts {
    uint32_t literals, match;          // lengths
    repeat_offsets_map repeat_offsets; // from the three last offsets before it to those after it
};

// The sum of the sequences up to a lane's.
struct sequences_sum {
    uint32_t content, literals;
    repeat_offsets_map repeat_offsets;
};

// Returns the three last offsets after a sequence whose offset has this value.
static __device__ __forceinline__ repeat_offsets_map sequences_repeat_offsets(uint32_t value,
                                                                              bool no_literals)
{
    const repeat_offsets_map same = repeat_offsets_map_same();
    const uint32_t repeat = value - 1 + no_literals;
    const uint32_t own = repeat_offsets_map_constant(min(value - 3, ZSTD_WINDOW_MAX + 1));
    repeat_offsets_map map;
    map.position[0] = value > 3     ? own
                      : repeat == 0 ? same.position[0]
                      : repeat == 1 ? same.position[1]
                      : repeat == 2 ? same.position[2]
                                    : same.position[0] + 1; // the newest, less 1
    map.position[1] = value <= 3 && repeat == 0 ? same.position[1] : same.position[0];
    map.position[2] = value <= 3 && repeat <= 1 ? same.position[2] : same.position[1];
    return map;
}

static __device__ __forceinline__ sequences_parts sequences_of_step(const unsigned *words,
                                                                    const length_bases *bases,
                                                                    zstd_step step)
{
    const backward_bits bits = backward_peek({words, 0, step_at(step)});
    const uint32_t literal_code = step_literal_code(step), match_code = step_match_code(step);
    const uint32_t offset_code = step_offset_code(step);
    const uint32_t value = (1u << offset_code) + bits_first(bits.high, offset_code);
    const uint32_t lengths = __funnelshift_l(bits.low, bits.high, offset_code);
    const uint32_t match_bits = match_length_extra[match_code];
    sequences_parts parts;
    parts.match = bases->matches[match_code] + bits_first(lengths, match_bits);
    parts.literals = bases->literals[literal_code] +
                     bits_first(lengths << match_bits, literal_length_extra[literal_code]);
    parts.repeat_offsets = sequences_repeat_offsets(value, parts.literals == 0);
    return parts;
}

// Returns the sums of the lanes up to and with this one.
static __device__ __forceinline__ sequences_sum sequences_scan(const sequences_parts &own)
{
    const unsigned lane = threadIdx.x % 32;
    sequences_sum sum = {own.literals + own.match, own.literals, own.repeat_offsets};
    for (unsigned by = 1; by < 32; by *= 2) {
        const uint32_t content = __shfl_up_sync(0xffffffffu, sum.content, by);
        const uint32_t literals = __shfl_up_sync(0xffffffffu, sum.literals, by);
        repeat_offsets_map before;
        UNROLL for (unsigned i = 0; i < 3; i++) before.position[i] =
            __shfl_up_sync(0xffffffffu, sum.repeat_offsets.position[i], by);
        if (lane >= by)
            sum = {sum.content + content, sum.literals + literals,
                   repeat_offsets_map_then(before, sum.repeat_offsets)};
    }
    return sum;
}

// Returns a block's sum so far, from that of the last lane of 32 sequences.
static __device__ __forceinline__ sequences_sum sequences_of_last(const sequences_sum &sum)
{
    sequences_sum last;
    last.content = __shfl_sync(0xffffffffu, sum.content, 31);
    last.literals = __shfl_sync(0xffffffffu, sum.literals, 31);
    UNROLL for (unsigned i = 0; i < 3; i++) last.repeat_offsets.position[i] =
        __shfl_sync(0xffffffffu, sum.repeat_offsets.position[i], 31);
    return last;
}

// Returns the newest offset as in decode_sequence; 0 if it is too large, or 0.
static __device__ __forceinline__ uint32_t
sequences_offset(const repeat_offsets_map &repeat_offsets)
{
    const uint32_t which = repeat_offsets.position[0] >> repeat_offsets_which_shift;
    const uint32_t value = repeat_offsets.position[0] & repeat_offsets_value_mask;
    if (which != ZSTD_CONSTANT)
        return ZSTD_REPEAT_OFFSETS | which << ZSTD_REPEAT_OFFSETS_WHICH | value;
    return value > ZSTD_WINDOW_MAX ? 0 : value;
}

static __device__ __forceinline__ decode_sequence sequences_pack(uint32_t content,
                                                                 uint32_t literals, uint32_t offset)
{
    return static_cast<uint64_t>(offset) << DECODE_OFFSET_SHIFT |
           static_cast<uint64_t>(literals) << DECODE_LITERALS_SHIFT | content;
}

// By a warp: writes up to 32 sequences, from `out` on, after those whose sum is `before`, to which
// theirs is added. Refuses if one of them is impossible.
static __device__ decode_refusal sequences_some(const decode_heading &heading, uint32_t room,
                                                const unsigned *words, const length_bases *bases,
                                                decode_sequence *out, uint32_t count,
                                                sequences_sum &before)
{
    const unsigned lane = threadIdx.x % 32;
    const bool is_there = lane < count;
    sequences_parts own = {0, 0, repeat_offsets_map_same()};
    if (is_there)
        own = sequences_of_step(words, bases, out[lane]);
    sequences_sum sum = sequences_scan(own);
    sum = {before.content + sum.content, before.literals + sum.literals,
           repeat_offsets_map_then(before.repeat_offsets, sum.repeat_offsets)};
    const uint32_t offset = sequences_offset(sum.repeat_offsets);
    const bool is_bad_offset = is_there && offset == 0;
    const bool is_too_long = sum.content > room || sum.literals > heading.literals;
    const unsigned bad_offsets = __ballot_sync(0xffffffffu, is_bad_offset);
    const unsigned too_long = __ballot_sync(0xffffffffu, is_too_long);
    const unsigned bad = bad_offsets | too_long, first_bad = bad & (0u - bad);
    if (bad)
        return bad_offsets & first_bad ? DECODE_BAD_OFFSET : DECODE_BAD_LENGTHS;
    if (is_there)
        out[lane] = sequences_pack(sum.content - own.literals - own.match,
                                   sum.literals - own.literals, offset);
    before = sequences_of_last(sum);
    return DECODE_TAKEN;
}

// By a warp: writes a block's sequences, if it has any, and its outcome.
static __device__ void sequences_of_block(const decode_batch &batch, uint32_t index,
                                          const length_bases *bases)
{
    const decode_heading &heading = batch.heading[index];
    const decode_block &block = batch.block[index];
    const unsigned *const words = backward_words(batch.in, heading.bits_at);
    decode_sequence *const out = batch.sequences + block.sequences_at;
    sequences_sum sum = {0, 0, repeat_offsets_map_same()};
    decode_refusal refusal = DECODE_TAKEN;
    for (uint32_t at = 0; at < heading.sequences && refusal == DECODE_TAKEN; at += 32)
        refusal = sequences_some(heading, block.room, words, bases, out + at,
                                 min(heading.sequences - at, 32u), sum);
    if (threadIdx.x % 32 != 0)
        return;
    if (heading.sequences > 0)
        out[heading.sequences] = sequences_pack(sum.content, sum.literals, 0);
    const uint32_t content = sum.content + heading.literals - sum.literals;
    if (refusal == DECODE_TAKEN && content > block.room)
        refusal = DECODE_BAD_LENGTHS;
    decode_outcome *const outcome = &batch.outcome[index];
    if (refusal != DECODE_TAKEN)
        outcome->refusal = refusal;
    outcome->content = content;
    outcome->after = repeat_offsets_of_map(sum.repeat_offsets);
}

static __global__ void __launch_bounds__(sequences_threads) zstd_sequences(decode_batch batch)
{
    __shared__ length_bases bases;
    const uint32_t index = blockIdx.x * sequences_blocks + threadIdx.x / 32;
    if (threadIdx.x < 32)
        length_bases_build(&bases, threadIdx.x);
    __syncthreads();
    if (index < batch.blocks && batch.outcome[index].refusal == DECODE_TAKEN)
        sequences_of_block(batch, index, &bases);
}

static inline unsigned sequences_grid(const struct decode_batch *batch, unsigned)
{
    return decode_grid_of_blocks(batch, sequences_blocks);
}

#endif

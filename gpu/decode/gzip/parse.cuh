// SPDX-License-Identifier: MIT
// The stage parse of gzip: blocks become units of literals and sequences.
//
// Takes the candidates, in order; gives a part for each, and its units. A part begins at a
// candidate and goes on, over stored and fixed blocks and dynamic ones that were not found, until a
// block begins at another candidate. So the parts of a file are linked, and those that are linked
// from its first block on are right. A false candidate has a part that nobody asks for.
//
// A CUDA block is a warp, which takes one candidate after the other and decodes windows of its
// blocks (window.cuh). Each window is a unit. Shared memory: the tables and a window, 20 KiB.
//
// Data can be made in which thousands of candidates are false, and have parts as long as the batch.
// So the parts of candidates have a budget of work: GZIP_WORK times the bytes of the batch.
#ifndef GPUHISTO_GZIP_PARSE_CUH
#define GPUHISTO_GZIP_PARSE_CUH

#include "gpu/decode/gzip/window.cuh"
#include "gpu/decode/stages.h"

constexpr unsigned GZIP_PARSE_THREADS = 32;

// The most blocks of a part. Content that is not compressed has some hundred in a batch.
constexpr unsigned GZIP_PART_BLOCKS = 2048;

// A part, as far as it is parsed.
struct gzip_parsing {
    gzip_part part;
    unsigned number; // of the part
    gzip_position position;
    unsigned region; // words of a window's regions, in this block
    unsigned blocks; // that have begun, at most GZIP_PART_BLOCKS
};

static __device__ inline const gzip_carry &gzip_carry_of(const decode_batch &batch)
{
    return *reinterpret_cast<const gzip_carry *>(batch.in + GZIP_CARRY_AT);
}

// --- candidates ---

// Returns the number of candidates.
static __device__ inline unsigned gzip_candidate_count(const gzip_batch &gzip)
{
    return min(gzip.counters->candidates, gzip.candidates_max);
}

// Returns the candidate that begins at this bit, or the number of them: each round, the lanes of a
// warp look at the ends of 32 equal parts.
static __device__ inline unsigned gzip_find_candidate(const gzip_batch &gzip, unsigned bit)
{
    const unsigned count = gzip_candidate_count(gzip);
    unsigned low = 0, size = count; // it is low, or one of the size - 1 after it
    while (size > 1) {
        const unsigned part = (size + 31) / 32, probe = low + threadIdx.x % 32 * part;
        const bool is_before = probe < low + size && gzip.candidates[probe] <= bit;
        const unsigned before =
            static_cast<unsigned>(__popc(__ballot_sync(GZIP_ALL_LANES, is_before)));
        const unsigned end = low + size;
        low += (before > 0 ? before - 1 : 0) * part;
        size = min(part, end - low);
    }
    return count > 0 && gzip.candidates[low] == bit ? low : count;
}

// --- units ---

// Takes some of `max` elements. Returns where they begin, or DECODE_NONE if there are not so many.
static __device__ inline unsigned gzip_take(unsigned *taken, unsigned count, unsigned max)
{
    unsigned at = 0;
    if (threadIdx.x % 32 == 0)
        at = atomicAdd(taken, count);
    at = __shfl_sync(GZIP_ALL_LANES, at, 0);
    return at <= max && count <= max - at ? at : DECODE_NONE;
}

// Adds a unit to the part. False if memory is short.
static __device__ inline bool gzip_add_unit(const decode_batch &batch, gzip_parsing &parsing,
                                            gzip_unit unit)
{
    const gzip_batch &gzip = batch.gzip;
    const unsigned at = gzip_take(&gzip.counters->units, 1, gzip.units_max);
    if (at == DECODE_NONE)
        return false;
    unit.part = parsing.number;
    unit.ordinal = parsing.part.units++;
    parsing.part.content += unit.content; // there are fewer units than 2^15
    if (threadIdx.x % 32 == 0)
        gzip.units[at] = unit;
    return true;
}

static __device__ inline bool gzip_add_window(const gzip_parser &parser, const decode_batch &batch,
                                              gzip_parsing &parsing, const gzip_window &window,
                                              const gzip_lane &own)
{
    const gzip_batch &gzip = batch.gzip;
    if (window.content == 0)
        return true;
    const unsigned sequences =
        gzip_take(&gzip.counters->sequences, window.sequences + 1, gzip.sequences_max);
    const unsigned literals =
        gzip_take(&gzip.counters->literals, window.literals, gzip.literals_max);
    if (sequences == DECODE_NONE || literals == DECODE_NONE)
        return false;
    gzip_write_window(parser, window, own, batch.sequences + sequences, batch.literals + literals);
    gzip_unit unit = {};
    unit.content = window.content;
    unit.sequences = window.sequences;
    unit.sequences_at = sequences;
    unit.literals = window.literals;
    unit.literals_at = literals;
    return gzip_add_unit(batch, parsing, unit);
}

// --- work ---

// Takes what a step of a part has cost, in bytes, from the budget. False if that is spent. The
// smallest batches, which cannot be decoded again as smaller ones, have as much as they need; so
// have parts of the chain, which are few.
static __device__ inline bool gzip_spend(const decode_batch &batch, unsigned part, unsigned bytes)
{
    if (part >= gzip_candidate_count(batch.gzip))
        return true;
    const unsigned size = batch.in_size - DECODE_CARRY;
    unsigned spent = 0;
    if (threadIdx.x % 32 == 0)
        spent = atomicAdd(&batch.gzip.counters->work, GZIP_STEP_WORK + bytes);
    spent = __shfl_sync(GZIP_ALL_LANES, spent, 0);
    return spent <= GZIP_WORK * size || size <= 2 * GZIP_MARGIN;
}

// --- blocks ---

// Reads the codes of the block that begins at `bit` and is not stored, and sets *end to where they
// end.
static __device__ inline gzip_read gzip_load_codes(gzip_parser &parser, const gzip_input &input,
                                                   unsigned bit, unsigned *end)
{
    const unsigned first = bit / 128 * 4, shift = first * 32;
    gzip_load(parser, input, first, GZIP_HEADER_MAX / 4 + GZIP_WORDS_MORE);
    const gzip_input header = {parser.words, input.end - shift};
    unsigned at = bit - shift + 3;
    gzip_read read = GZIP_READ;
    if ((gzip_bits(header.words, bit - shift) >> 1 & 3) == 2)
        read = gzip_read_codes(parser.codes, header, &at);
    else
        gzip_fixed_codes(parser.codes);
    *end = at + shift;
    return read;
}

// Begins the stored block whose size begins with the next byte after `bit`.
static __device__ inline gzip_stop gzip_begin_stored(const gzip_input &input, unsigned bit,
                                                     gzip_position &position)
{
    const unsigned at = (bit + 7) / 8 * 8;
    if (at + 32 > input.end)
        return GZIP_STOP_CUT;
    const unsigned sizes = gzip_bits(input.words, at);
    if ((sizes & 0xffff) != (~sizes >> 16))
        return GZIP_STOP_BAD;
    position.inside = GZIP_IN_STORED;
    position.left = sizes & 0xffff;
    position.bit = at + 32;
    return GZIP_STOP_NONE;
}

static __device__ inline gzip_stop gzip_begin_block(gzip_parser &parser, const gzip_input &input,
                                                    gzip_parsing &parsing)
{
    gzip_position &position = parsing.position;
    const unsigned bit = position.bit;
    if (bit + 3 > input.end)
        return GZIP_STOP_CUT;
    if (parsing.blocks++ >= GZIP_PART_BLOCKS)
        return GZIP_STOP_MANY;
    const unsigned type = gzip_bits(input.words, bit);
    if ((type >> 1 & 3) == 3)
        return GZIP_STOP_BAD;
    if ((type >> 1 & 3) == 0) {
        const gzip_stop stop = gzip_begin_stored(input, bit + 3, position);
        position.is_last = stop == GZIP_STOP_NONE ? type & 1 : 0;
        return stop;
    }
    unsigned end;
    const gzip_read read = gzip_load_codes(parser, input, bit, &end);
    if (read != GZIP_READ)
        return read == GZIP_SHORT ? GZIP_STOP_CUT : GZIP_STOP_BAD;
    position = {end, GZIP_IN_CODES, bit, 0, type & 1};
    parsing.region = GZIP_REGION_LARGE;
    return GZIP_STOP_NONE;
}

// Ends a block, which may be the last one of the member.
static __device__ inline gzip_stop gzip_end_block(const decode_batch &batch, gzip_parsing &parsing)
{
    gzip_position &position = parsing.position;
    const bool is_last = position.is_last;
    position = {position.bit, GZIP_AT_BLOCK, 0, 0, 0};
    if (is_last)
        return GZIP_STOP_ENDED;
    parsing.part.next = gzip_find_candidate(batch.gzip, position.bit);
    return parsing.part.next < gzip_candidate_count(batch.gzip) ? GZIP_STOP_FOUND : GZIP_STOP_NONE;
}

// Goes on with a stored block.
static __device__ inline gzip_stop
gzip_take_stored(const gzip_input &input, const decode_batch &batch, gzip_parsing &parsing)
{
    gzip_position &position = parsing.position;
    const unsigned size = min(position.left, (input.end - position.bit) / 8);
    if (position.left == 0)
        return gzip_end_block(batch, parsing);
    if (size == 0)
        return GZIP_STOP_CUT;
    gzip_unit unit = {};
    unit.content = unit.literals = size;
    unit.literals_at = DECODE_CARRY + position.bit / 8;
    unit.is_stored = 1;
    if (!gzip_add_unit(batch, parsing, unit))
        return GZIP_STOP_FULL;
    position.bit += 8 * size;
    position.left -= size;
    return GZIP_STOP_NONE;
}

// Goes on with the codes of a block, by a window.
static __device__ inline gzip_stop gzip_take_codes(gzip_parser &parser, const gzip_input &input,
                                                   const decode_batch &batch, gzip_parsing &parsing)
{
    gzip_lane own;
    if (parsing.position.bit >= input.end)
        return GZIP_STOP_CUT;
    const gzip_window window =
        gzip_decode_window(parser, input, parsing.position.bit, parsing.region, own);
    if (window.lanes == 0) {
        parsing.region = GZIP_REGION_SMALL;
        return GZIP_STOP_NONE;
    }
    if (window.stop == GZIP_LANE_BAD) // most are those of wrong candidates: they take no memory
        return GZIP_STOP_BAD;
    if (!gzip_add_window(parser, batch, parsing, window, own))
        return GZIP_STOP_FULL;
    parsing.position.bit = window.end;
    switch (window.stop) {
    case GZIP_LANE_GOES_ON:
        return GZIP_STOP_NONE;
    case GZIP_LANE_END:
        return gzip_end_block(batch, parsing);
    default:
        return GZIP_STOP_CUT;
    }
}

// Makes the tables for the block around a place.
static __device__ inline void gzip_resume_codes(gzip_parser &parser, const gzip_input &input,
                                                const decode_batch &batch,
                                                const gzip_position &position)
{
    const gzip_carry &carry = gzip_carry_of(batch);
    const bool is_carried = position.header == GZIP_CARRIED;
    const gzip_input carried = {carry.header, 8 * GZIP_HEADER_MAX};
    unsigned end;
    // The header was read before, so it can be read.
    (void)gzip_load_codes(parser, is_carried ? carried : input,
                          is_carried ? carry.shift : position.header, &end);
}

// Parses blocks from a place on until something stops that, as the part of this number, which has
// no units yet. Adds to the number of blocks. By all lanes of a warp, which get the same.
static __device__ inline gzip_part gzip_parse_part(gzip_parser &parser, const decode_batch &batch,
                                                   unsigned number, const gzip_position &begin,
                                                   unsigned &blocks)
{
    const gzip_input input = gzip_input_of(batch);
    gzip_parsing parsing = {{}, number, begin, GZIP_REGION_LARGE, blocks};
    gzip_stop stop = GZIP_STOP_NONE;
    if (begin.inside == GZIP_IN_CODES)
        gzip_resume_codes(parser, input, batch, begin);
    while (stop == GZIP_STOP_NONE) {
        const gzip_position position = parsing.position;
        unsigned bits = 0;
        if (position.inside == GZIP_AT_BLOCK)
            stop = gzip_begin_block(parser, input, parsing);
        else if (position.inside == GZIP_IN_STORED)
            stop = gzip_take_stored(input, batch, parsing);
        else {
            stop = gzip_take_codes(parser, input, batch, parsing);
            bits = parsing.position.bit - position.bit;
        }
        if (!gzip_spend(batch, number, bits / 8) && stop == GZIP_STOP_NONE)
            stop = GZIP_STOP_MANY;
    }
    blocks = parsing.blocks;
    parsing.part.stop = stop;
    parsing.part.end = parsing.position;
    return parsing.part;
}

// --- the stage ---

static __global__ void __launch_bounds__(GZIP_PARSE_THREADS) gzip_parse(decode_batch batch)
{
    __shared__ gzip_parser parser;
    const gzip_batch &gzip = batch.gzip;
    const unsigned count = gzip_candidate_count(gzip);
    for (;;) {
        unsigned i = 0;
        if (threadIdx.x == 0)
            i = atomicAdd(&gzip.counters->next, 1u);
        i = __shfl_sync(GZIP_ALL_LANES, i, 0);
        if (i >= count)
            return;
        const gzip_position begin = {gzip.candidates[i], GZIP_AT_BLOCK, 0, 0, 0};
        unsigned blocks = 0;
        const gzip_part part = gzip_parse_part(parser, batch, i, begin, blocks);
        if (threadIdx.x == 0)
            gzip.parts[i] = part;
    }
}

// Returns the number of CUDA blocks that stay, no more than there are blocks of a usual size.
static inline unsigned gzip_parse_grid(const struct decode_batch *batch, unsigned resident)
{
    const unsigned max = (batch->in_size - DECODE_CARRY) / 4096 + 1;
    return max < resident ? max : resident;
}

#endif

// SPDX-License-Identifier: MIT
// The codes of which sequences are made (RFC 8878, section 3.1.1.3.2.1.1): a length's code gives
// the least length, and how many more bits say how much is added to it. An offset's code c stands
// for 2^c and c more bits. Tables are numbered by enum decode_table.
#ifndef GPUHISTO_ZSTD_SEQUENCE_CODES_CUH
#define GPUHISTO_ZSTD_SEQUENCE_CODES_CUH

#include "gpu/decode/zstd/fse.cuh"

constexpr uint32_t literal_length_codes = 36, match_length_codes = 53, offset_codes = 32;
constexpr uint32_t sequence_codes_max = match_length_codes;

constexpr uint32_t literal_length_log_max = 9, match_length_log_max = 9, offset_log_max = 8;

static __constant__ const uint8_t literal_length_extra[literal_length_codes] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  1,  1,
    1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static __constant__ const uint8_t match_length_extra[match_length_codes] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0, 0,
    0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

// The tables that a block need not describe, and their logs.
static __constant__ const int8_t predefined_literal_lengths[] = {
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
    2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};

static __constant__ const int8_t predefined_offsets[] = {
    1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

static __constant__ const int8_t predefined_match_lengths[] = {
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};

constexpr uint32_t predefined_length_log = 6, predefined_offset_log = 5;

// These return the highest code of a table, and the largest log of its cells.
static __device__ __forceinline__ uint32_t sequence_code_max(uint32_t table)
{
    return (table == ZSTD_OFFSETS           ? offset_codes
            : table == ZSTD_LITERAL_LENGTHS ? literal_length_codes
                                            : match_length_codes) -
           1;
}

static __device__ __forceinline__ uint32_t sequence_log_max(uint32_t table)
{
    return table == ZSTD_OFFSETS           ? offset_log_max
           : table == ZSTD_LITERAL_LENGTHS ? literal_length_log_max
                                           : match_length_log_max;
}

// The data of a code in a cell: how many more bits it has, and the code. Codes of lengths stand in
// different places, and that of an offset is its number of bits, so that the codes of a sequence's
// three cells can be combined unchanged.
constexpr uint32_t sequence_match_shift = fse_symbol_shift + 6;

static __device__ __forceinline__ uint32_t sequence_cell(uint32_t table, uint32_t code)
{
    if (table == ZSTD_OFFSETS)
        return code << fse_extra_shift;
    const bool literal = table == ZSTD_LITERAL_LENGTHS;
    const uint32_t extra = literal ? literal_length_extra[code] : match_length_extra[code];
    return code << (literal ? fse_symbol_shift : sequence_match_shift) | extra << fse_extra_shift;
}

// The step that `walk` leaves of a sequence for `sequences`, in its place: the lower half is where
// its bits begin, as in struct backward, the upper half its codes, as in cells.
using zstd_step = decode_sequence;

static __device__ __forceinline__ zstd_step sequence_step(int at, uint32_t literal_cell,
                                                          uint32_t match_cell, uint32_t offset_cell)
{
    const uint32_t codes = (literal_cell & 0x3fu << fse_symbol_shift) |
                           (match_cell & 0x3fu << sequence_match_shift) |
                           (offset_cell & fse_extra_mask << fse_extra_shift);
    return static_cast<uint64_t>(codes) << 32 | static_cast<uint32_t>(at);
}

static __device__ __forceinline__ int step_at(zstd_step step)
{
    return static_cast<int>(static_cast<uint32_t>(step));
}

static __device__ __forceinline__ uint32_t step_literal_code(zstd_step step)
{
    return static_cast<uint32_t>(step >> 32) >> fse_symbol_shift & 0x3f;
}

static __device__ __forceinline__ uint32_t step_match_code(zstd_step step)
{
    return static_cast<uint32_t>(step >> 32) >> sequence_match_shift & 0x3f;
}

static __device__ __forceinline__ uint32_t step_offset_code(zstd_step step)
{
    return fse_extra(static_cast<uint32_t>(step >> 32));
}

// Builds the counts of a predefined table.
static __device__ fse_description sequence_predefined(uint32_t table, fse_count *counts)
{
    const int8_t *const from = table == ZSTD_OFFSETS           ? predefined_offsets
                               : table == ZSTD_LITERAL_LENGTHS ? predefined_literal_lengths
                                                               : predefined_match_lengths;
    const uint32_t symbols = table == ZSTD_OFFSETS           ? sizeof predefined_offsets
                             : table == ZSTD_LITERAL_LENGTHS ? sizeof predefined_literal_lengths
                                                             : sizeof predefined_match_lengths;
    for (uint32_t symbol = 0; symbol < symbols; symbol++)
        counts[symbol] = from[symbol];
    return {1, table == ZSTD_OFFSETS ? predefined_offset_log : predefined_length_log, symbols};
}

// The least lengths of codes; to be built in shared memory, where lanes may read different ones.
struct length_bases {
    uint32_t literals[literal_length_codes];
    uint32_t matches[match_length_codes];
};

// By the warp together: builds the least lengths. Each code begins where the one before it ends.
static __device__ void length_bases_build(length_bases *bases, unsigned lane)
{
    uint32_t base = 0;
    if (lane == 0)
        for (uint32_t code = 0; code < literal_length_codes; code++) {
            bases->literals[code] = base;
            base += 1u << literal_length_extra[code];
        }
    else if (lane == 1) {
        base = DECODE_MATCH_MIN;
        for (uint32_t code = 0; code < match_length_codes; code++) {
            bases->matches[code] = base;
            base += 1u << match_length_extra[code];
        }
    }
}

#endif

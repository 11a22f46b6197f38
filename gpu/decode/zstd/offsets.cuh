// SPDX-License-Identifier: MIT
// A map from the three last offsets before a sequence, or before some blocks, to those after it, in
// three words, so that a warp can scan over maps. They compose, in any grouping.
#ifndef GPUHISTO_GPU_DECODE_ZSTD_OFFSETS_CUH
#define GPUHISTO_GPU_DECODE_ZSTD_OFFSETS_CUH

extern "C" {
#include "gpu/decode/batch.h"
}

constexpr unsigned offsets_value_mask = (1u << ZSTD_WHICH_SHIFT) - 1;

// Returns a position that is `value`, whatever was before.
static __device__ inline unsigned offsets_constant(unsigned value)
{
    return ZSTD_CONSTANT << ZSTD_WHICH_SHIFT | min(value, ZSTD_WINDOW_MAX + 1);
}

// These return the map that changes nothing, and the one to the three offsets that a frame begins
// with, whatever was before.
static __device__ inline zstd_offsets_map offsets_map_same()
{
    return {{0, 1u << ZSTD_WHICH_SHIFT, 2u << ZSTD_WHICH_SHIFT}};
}

static __device__ inline zstd_offsets_map offsets_map_begin()
{
    return {{offsets_constant(1), offsets_constant(4), offsets_constant(8)}};
}

// Returns the map of a sequence whose offset has this value (RFC 8878, section 3.1.1.5).
static __device__ __forceinline__ zstd_offsets_map offsets_map_of_sequence(unsigned value,
                                                                           bool no_literals)
{
    const zstd_offsets_map same = offsets_map_same();
    const unsigned repeat = value - 1 + no_literals;
    const unsigned own = offsets_constant(value - 3);
    zstd_offsets_map map;
    map.position[0] = value > 3     ? own
                      : repeat == 0 ? same.position[0]
                      : repeat == 1 ? same.position[1]
                      : repeat == 2 ? same.position[2]
                                    : same.position[0] + 1; // the newest, less 1
    map.position[1] = value <= 3 && repeat == 0 ? same.position[1] : same.position[0];
    map.position[2] = value <= 3 && repeat <= 1 ? same.position[2] : same.position[1];
    return map;
}

// Returns the newest offset as in decode_sequence; 0 if it is too large, or 0.
static __device__ __forceinline__ unsigned offsets_map_newest(const zstd_offsets_map &map)
{
    const unsigned which = map.position[0] >> ZSTD_WHICH_SHIFT;
    const unsigned value = map.position[0] & offsets_value_mask;
    if (which != ZSTD_CONSTANT)
        return ZSTD_REPEAT_OFFSETS | which << ZSTD_REPEAT_OFFSETS_WHICH | value;
    return value > ZSTD_WINDOW_MAX ? 0 : value;
}

// Returns the map of `first` and then `second`. A constant offset is lowered to 0 at most, and the
// sum that several blocks take off stops at more than any offset: a sequence refers to each offset
// that comes about, so an offset of 0 and one beyond the window are refused there.
static __device__ inline zstd_offsets_map offsets_map_then(const zstd_offsets_map &first,
                                                           const zstd_offsets_map &second)
{
    zstd_offsets_map both;
    for (unsigned i = 0; i < 3; i++) {
        const unsigned which = second.position[i] >> ZSTD_WHICH_SHIFT;
        const unsigned less = second.position[i] & offsets_value_mask;
        const unsigned from = which == 0   ? first.position[0]
                              : which == 1 ? first.position[1]
                                           : first.position[2];
        const unsigned value = from & offsets_value_mask;
        const bool is_constant = from >> ZSTD_WHICH_SHIFT == ZSTD_CONSTANT;
        const unsigned combined =
            is_constant ? value - min(value, less) : min(value + less, ZSTD_WINDOW_MAX + 1);
        both.position[i] =
            which == ZSTD_CONSTANT ? second.position[i] : (from & ~offsets_value_mask) | combined;
    }
    return both;
}

#endif

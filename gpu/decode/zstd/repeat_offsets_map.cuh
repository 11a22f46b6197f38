// SPDX-License-Identifier: MIT
// A map from the three last offsets before some blocks to those after them, in three words, so that
// a warp can scan over blocks. Such maps compose, in any grouping.
#ifndef GPUHISTO_ZSTD_REPEAT_OFFSETS_MAP_CUH
#define GPUHISTO_ZSTD_REPEAT_OFFSETS_MAP_CUH

extern "C" {
#include "gpu/decode/batch.h"
}

// One of the three: the upper two bits are `which`, the others the value, of struct
// zstd_repeat_offsets.
constexpr unsigned repeat_offsets_which_shift = 30;
constexpr unsigned repeat_offsets_value_mask = (1u << repeat_offsets_which_shift) - 1;

struct repeat_offsets_map {
    unsigned position[3];
};

static __device__ inline repeat_offsets_map
repeat_offsets_map_of(const zstd_repeat_offsets &repeat_offsets)
{
    repeat_offsets_map map;
    for (unsigned i = 0; i < 3; i++)
        map.position[i] = (repeat_offsets.which[i] & 3) << repeat_offsets_which_shift |
                          min(repeat_offsets.value[i], ZSTD_WINDOW_MAX + 1);
    return map;
}

// Returns a place that is `value`, whatever was before.
static __device__ inline unsigned repeat_offsets_map_constant(unsigned value)
{
    return ZSTD_CONSTANT << repeat_offsets_which_shift | value;
}

// These return the map that changes nothing, and the one to the three offsets that a frame begins
// with, whatever was before.
static __device__ inline repeat_offsets_map repeat_offsets_map_same()
{
    return {{0u << repeat_offsets_which_shift, 1u << repeat_offsets_which_shift,
             2u << repeat_offsets_which_shift}};
}

static __device__ inline repeat_offsets_map repeat_offsets_map_begin()
{
    return {{repeat_offsets_map_constant(1), repeat_offsets_map_constant(4),
             repeat_offsets_map_constant(8)}};
}

static __device__ inline zstd_repeat_offsets repeat_offsets_of_map(const repeat_offsets_map &map)
{
    zstd_repeat_offsets repeat_offsets;
    for (unsigned i = 0; i < 3; i++) {
        repeat_offsets.which[i] = map.position[i] >> repeat_offsets_which_shift;
        repeat_offsets.value[i] = map.position[i] & repeat_offsets_value_mask;
    }
    return repeat_offsets;
}

// Returns the map of `first` and then `second`. A constant offset is lowered to 0 at most, and the
// sum that several blocks take off stops at more than any offset: a sequence refers to each offset
// that comes about, so an offset of 0 and one beyond the window are refused there.
static __device__ inline repeat_offsets_map
repeat_offsets_map_then(const repeat_offsets_map &first, const repeat_offsets_map &second)
{
    repeat_offsets_map both;
    for (unsigned i = 0; i < 3; i++) {
        const unsigned which = second.position[i] >> repeat_offsets_which_shift;
        const unsigned less = second.position[i] & repeat_offsets_value_mask;
        const unsigned from = which == 0   ? first.position[0]
                              : which == 1 ? first.position[1]
                                           : first.position[2];
        const unsigned value = from & repeat_offsets_value_mask;
        const bool is_constant = from >> repeat_offsets_which_shift == ZSTD_CONSTANT;
        const unsigned combined =
            is_constant ? value - min(value, less) : min(value + less, ZSTD_WINDOW_MAX + 1);
        both.position[i] = which == ZSTD_CONSTANT ? second.position[i]
                                                  : (from & ~repeat_offsets_value_mask) | combined;
    }
    return both;
}

#endif

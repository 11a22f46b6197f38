// SPDX-License-Identifier: MIT
// The rows of values, by a kernel made for one size and one way.
#ifndef GPUHISTO_VALUE_ROWS_CUH
#define GPUHISTO_VALUE_ROWS_CUH

#include "gpu/count/counting.cuh"

// The row of a value of Size bytes: found one way alone, or by whichever the map says; or
// not_proven, of floats and doubles.
constexpr int ANY_WAY = -1;

// By 32 bits, with a bin for each value, which needs no reciprocal.
constexpr int OWN_WAY = -2;

template <unsigned Size, int Way, class Bits>
static __device__ __forceinline__ unsigned row_by(const row_map &map, Bits bits)
{
    if constexpr (Way == ROWS_BY_16_BITS)
        return row_by_16_bits(map, bits);
    else if constexpr (Way == OWN_WAY)
        return row_of_own(map, bits);
    else if constexpr (Way == ROWS_BY_32_BITS)
        return row_by_32_bits(map, bits);
    else if constexpr (Way == ROWS_BY_64_BITS)
        return row_by_64_bits(map, bits);
    else if constexpr (Way == ROWS_OF_FLOATS)
        return guess_row(map, __uint_as_float(bits));
    else if constexpr (Way == ROWS_OF_DOUBLES && Size == 4)
        return guess_row(map, static_cast<double>(__uint_as_float(bits)));
    else if constexpr (Way == ROWS_OF_DOUBLES)
        return guess_row(map, __longlong_as_double(static_cast<long long>(bits)));
    else
        return row_of_bits(map, bits);
}

// Returns the row by the map, once in a kernel: for the ways that take long, or are rare.
inline __device__ OUT_OF_LINE unsigned row_by_any_way(const row_map &map, unsigned long long bits)
{
    return row_of_bits(map, bits);
}

// Returns the proven row.
template <unsigned Size, int Way, class Bits>
static __device__ __forceinline__ unsigned proven_row(const row_map &map, Bits bits)
{
    if constexpr (Way == ANY_WAY) {
        return row_by_any_way(map, bits);
    } else if constexpr (Way == ROWS_LOG_LINEAR) {
        return row_log_linear(
            static_cast<unsigned long long>(__double_as_longlong(double_of_size<Size>(bits))));
    } else if constexpr (Way == ROWS_OF_FLOATS || Way == ROWS_OF_DOUBLES) {
        const unsigned row = row_by<Size, Way>(map, bits);
        return row == not_proven ? row_by_any_way(map, bits) : row;
    } else {
        return row_by<Size, Way>(map, bits);
    }
}

// Returns the rows of a vector's values.
template <unsigned Size, int Way>
static __device__ __forceinline__ void rows_of_vector(const uint4 &vector, const row_map &map,
                                                      unsigned *rows)
{
    unsigned position = 0;
    if constexpr (Size == 1) {
        const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
        UNROLL for (unsigned word : words) UNROLL for (unsigned shift = 0; shift < 32; shift += 8)
            rows[position++] = static_cast<const unsigned *>(map.table)[word >> shift & 0xff];
    } else {
        each_value<Size>(vector, map,
                         [&](auto bits) { rows[position++] = proven_row<Size, Way>(map, bits); });
    }
}

#endif

// SPDX-License-Identifier: MIT
// Which row of the table a value belongs to: the same rows as src/bins/binning.c finds, to the
// bit. The map of numbers and tables comes from gpu/count/sample_map.c.
#ifndef GPUHISTO_GPU_COUNT_ROWS_CUH
#define GPUHISTO_GPU_COUNT_ROWS_CUH

#include "gpu/ptx.cuh"

#include <cmath>

extern "C" {
#include "gpu/count/sample_map.h"
}

// --- doubles ---

// Returns how many of the edges, which are in order, are not above a value: of these
// is_reached(index) is true.
template <class IsReached>
DEVICE_INLINE unsigned count_edges(unsigned edges, const IsReached &is_reached)
{
    unsigned low = 0, high = edges;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (is_reached(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Both operations for an edge of equal bins are rounded by themselves: that is how they are
// defined.
DEVICE_INLINE unsigned search_doubles(const row_map &map, double value)
{
    return count_edges(map.edges, [&](unsigned k) {
        const double edge = map.way == ROWS_BY_EDGES ? static_cast<const double *>(map.table)[k]
                            : k < map.bins
                                ? __dadd_rn(__dmul_rn(static_cast<double>(k), map.step), map.min)
                                : map.max;
        return edge <= value;
    });
}

// Returned by a quick way that does not know the row.
constexpr unsigned not_proven = ~0u;

// Returns the row in equal bins: a guess, however it is rounded, which the edges beside it prove.
// Adding 1.5 * 2^52 rounds to a whole number and leaves it in the low bits; half less a little
// makes of rounding to the nearest one rounding down, also for values that are edges.
DEVICE_INLINE unsigned guess_row(const row_map &map, double value)
{
    constexpr double rounder = 0x1.8p52, half = 0.5 - 0x1p-20;
    const double sum = __dadd_rn((value - map.min) * map.per_step - half, rounder);
    const unsigned bin = static_cast<unsigned>(__double_as_longlong(sum));
    const double k = __dadd_rn(sum, -rounder);
    const double from = __dadd_rn(__dmul_rn(k, map.step), map.min);
    const double to = __dadd_rn(__dmul_rn(__dadd_rn(k, 1), map.step), map.min);
    const bool right = value >= from && bin < map.bins && (value < to || bin + 1 == map.bins);
    unsigned row = right ? 1 + bin : not_proven;
    row = value < map.min ? ROW_BELOW : row;
    return value >= map.max ? ROW_ABOVE(&map) : row;
}

// Returns the row in equal bins of floats: the nearest whole number, found as above, is the bin
// unless what it was rounded from lies near the middle between two, where an edge is. NaN proves
// nothing.
DEVICE_INLINE unsigned guess_row(const row_map &map, float value)
{
    constexpr float rounder = 0x1.8p23f;
    const float position = fmaf(value, map.scale, map.base);
    const float inside = fminf(fmaxf(position, -1.0f), static_cast<float>(map.bins));
    const float sum = __fadd_rn(inside, rounder);
    const float k = __fadd_rn(sum, -rounder);
    const bool right = fabsf(inside - k) < map.proof && value == value;
    return right ? 1 + __float_as_uint(sum) - __float_as_uint(rounder) : not_proven;
}

DEVICE_INLINE unsigned row_of_double(const row_map &map, double value)
{
    const unsigned row = guess_row(map, value);
    if (row != not_proven)
        return row;
    return value == value ? search_doubles(map, value) : ROW_INVALID(&map);
}

// Returns the row in log-linear bins, each power of two in 32 parts: the bits of a double from the
// 47th on tell the part, and zero has a bin between the negative ones and the positive ones.
DEVICE_INLINE unsigned row_log_linear(unsigned long long bits)
{
    constexpr unsigned zero = 65504, bins = 2 * zero + 1;
    const unsigned long long magnitude = bits & ~0ull >> 1, infinite = 0x7ffull << 52;
    const bool negative = bits >> 63;
    if (magnitude >= infinite)
        return magnitude > infinite ? bins + 2 : negative ? ROW_BELOW : bins + 1;
    if (magnitude == 0)
        return 1 + zero;
    return negative ? zero - static_cast<unsigned>((magnitude - 1) >> 47)
                    : 2 + zero + static_cast<unsigned>(magnitude >> 47);
}

// --- whole values ---

// An offset beyond the span is taken for the span itself: its bin is the row above. Own: each value
// of 4 bytes has a bin of its own. To add its sign's bit, modulo 2^32, is to turn it over.
template <bool Own = false> DEVICE_INLINE unsigned row_by_32_bits(const row_map &map, unsigned bits)
{
    const unsigned sign = static_cast<unsigned>(map.sign), first = static_cast<unsigned>(map.first);
    const unsigned offset = Own ? bits + (sign - first) : (bits ^ sign) - first;
    const unsigned inside = min(offset, static_cast<unsigned>(map.offset_max));
    const unsigned long long product =
        static_cast<unsigned long long>(inside) * map.high + __umulhi(inside, map.low);
    const unsigned bin = Own || !map.reciprocal ? inside : static_cast<unsigned>(product >> 32);
    return offset > static_cast<unsigned>(map.beyond) ? ROW_BELOW : 1 + bin;
}

DEVICE_INLINE unsigned row_by_16_bits(const row_map &map, unsigned bits)
{
    const int value = static_cast<int>(bits), first = static_cast<int>(map.first);
    const int inside = min(max(value, first) - first, static_cast<int>(map.offset_max));
    const unsigned long long factor = static_cast<unsigned>(inside);
    return static_cast<unsigned>((factor * map.high + map.origin) >> 32);
}

DEVICE_INLINE unsigned row_by_64_bits(const row_map &map, unsigned long long bits)
{
    const unsigned long long offset = (bits ^ map.sign) - map.first;
    const unsigned quotient =
        static_cast<unsigned>(__umul64hi(offset, map.reciprocal) >> map.shift);
    const unsigned bin = map.reciprocal ? quotient : static_cast<unsigned>(offset);
    const unsigned outside = offset > map.beyond ? ROW_BELOW : ROW_ABOVE(&map);
    return offset > map.last ? outside : 1 + bin;
}

DEVICE_INLINE unsigned row_by_128_bits(const row_map &map, unsigned long long bits)
{
    const unsigned long long offset = (bits ^ map.sign) - map.first;
    const unsigned long long bin = __umul64hi(offset, map.reciprocal), next = bin + 1;
    if (offset > map.last)
        return offset > map.beyond ? ROW_BELOW : ROW_ABOVE(&map);
    // Whether next * span <= offset * bins, with span = last + 1, in 128 bits.
    const unsigned long long low = next * map.last + next, other = offset * map.bins;
    const unsigned long long high = __umul64hi(next, map.last) + (low < next);
    const unsigned long long other_high = __umul64hi(offset, map.bins);
    const bool is_next = high < other_high || (high == other_high && low <= other);
    return 1 + static_cast<unsigned>(bin + is_next);
}

// --- bits of values ---

// Calls `found` with the bits of each value of Size bytes in a vector.
template <unsigned Size, class Found>
DEVICE_INLINE void each_value(const uint4 &vector, const row_map &map, const Found &found)
{
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
    if constexpr (Size == 2) {
        UNROLL for (unsigned word : words)
        {
            found(permute(word, map.halves[0]));
            found(permute(word, map.halves[1]));
        }
    } else {
        const bool swapped = map.swapped;
        const unsigned order = swapped ? 0x0123 : 0x3210;
        if constexpr (Size == 4) {
            UNROLL for (unsigned word : words) found(__byte_perm(word, 0, order));
        } else {
            UNROLL for (unsigned i = 0; i < 4; i += 2)
            {
                const unsigned a = __byte_perm(words[i], 0, order);
                const unsigned b = __byte_perm(words[i + 1], 0, order);
                found(static_cast<unsigned long long>(swapped ? a : b) << 32 | (swapped ? b : a));
            }
        }
    }
}

// Returns the bits of value i at `data`, which are aligned to its size; none above it, but those of
// its sign if the way is by 16 bits.
DEVICE_INLINE unsigned long long value_bits_at(const row_map &map, const unsigned char *data,
                                               unsigned long long i)
{
    const unsigned order = map.swapped ? 0x0123 : 0x3210;
    if (map.size == 1)
        return data[i];
    if (map.size == 2)
        return permute(reinterpret_cast<const unsigned short *>(data)[i], map.halves[0]);
    if (map.size == 4)
        return __byte_perm(reinterpret_cast<const unsigned *>(data)[i], 0, order);
    const unsigned long long bits = reinterpret_cast<const unsigned long long *>(data)[i];
    const unsigned low = __byte_perm(static_cast<unsigned>(bits), 0, order);
    const unsigned high = __byte_perm(static_cast<unsigned>(bits >> 32), 0, order);
    return static_cast<unsigned long long>(map.swapped ? low : high) << 32 |
           (map.swapped ? high : low);
}

// --- any value ---

template <unsigned Size> DEVICE_INLINE double double_of_size(unsigned long long bits)
{
    if constexpr (Size == 4)
        return static_cast<double>(__uint_as_float(static_cast<unsigned>(bits)));
    else
        return __longlong_as_double(static_cast<long long>(bits));
}

// Returns the row of the value with these bits, as value_bits_at gives them.
DEVICE_INLINE unsigned row_of_bits(const row_map &map, unsigned long long bits)
{
    const auto double_of = [&] {
        return map.size == 4 ? double_of_size<4>(bits) : double_of_size<8>(bits);
    };
    const auto double_bits = [&] {
        return static_cast<unsigned long long>(__double_as_longlong(double_of()));
    };
    switch (map.way) {
    case ROWS_OF_BYTES:
        return static_cast<const unsigned *>(map.table)[bits];
    case ROWS_BY_16_BITS:
        return row_by_16_bits(map, static_cast<unsigned>(bits));
    case ROWS_BY_32_BITS:
        return row_by_32_bits(map, static_cast<unsigned>(bits));
    case ROWS_BY_64_BITS:
        return row_by_64_bits(map, bits);
    case ROWS_BY_128_BITS:
        return row_by_128_bits(map, bits);
    case ROWS_BY_WHOLE_EDGES:
        return map.below + count_edges(map.edges, [&](unsigned k) {
                   return static_cast<const unsigned long long *>(map.table)[k] <=
                          (bits ^ map.sign);
               });
    case ROWS_OF_FLOATS:
    case ROWS_OF_DOUBLES:
        return row_of_double(map, double_of());
    case ROWS_BY_EDGES: {
        const double value = double_of();
        return value == value ? search_doubles(map, value) : ROW_INVALID(&map);
    }
    case ROWS_OF_DIGITS: {
        digits_layout layout = map.digits;
        layout.scales = static_cast<const digits_scale *>(map.table);
        return digits_row(&layout, double_bits());
    }
    default:
        return row_log_linear(double_bits());
    }
}

// --- values of one size, whose rows are found one way, or by whichever the map says ---

constexpr int ANY_WAY = -1;

// By 32 bits, with a bin for each value, which needs no reciprocal.
constexpr int OWN_WAY = -2;

// Returns the row, or not_proven, of floats and doubles.
template <unsigned Size, int Way, class Bits>
DEVICE_INLINE unsigned row_by(const row_map &map, Bits bits)
{
    if constexpr (Way == ROWS_BY_16_BITS)
        return row_by_16_bits(map, bits);
    else if constexpr (Way == OWN_WAY)
        return row_by_32_bits<true>(map, bits);
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
DEVICE_INLINE unsigned proven_row(const row_map &map, Bits bits)
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
DEVICE_INLINE void rows_of_vector(const uint4 &vector, const row_map &map, unsigned *rows)
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

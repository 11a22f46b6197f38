// SPDX-License-Identifier: MIT
// bitsliced: letters in registers, 32 bytes at a time, without any table.
//
// A thread turns 32 bytes (8 words) into 8 bit planes: plane k holds bit k of each of the 32 bytes.
// True if a byte is a letter of some range is then a formula over planes, evaluated for 32 bytes by
// a few logic instructions, and a popcount adds them up. Nothing is shared while counting, so
// there is nothing to wait for, whatever the data.
//
// The popcount is the costly part (a quarter of the speed of logic): carry-save adders (Harley and
// Seal) count in bit planes first, and only every fourth result is popcounted.
#ifndef GPUHISTO_GPU_COUNT_BITSLICED_CUH
#define GPUHISTO_GPU_COUNT_BITSLICED_CUH

#include "gpu/count/counting.cuh"

// Functions of three planes.
constexpr unsigned majority = (lop3_a & lop3_b) | (lop3_c & (lop3_a | lop3_b));
constexpr unsigned parity = lop3_a ^ lop3_b ^ lop3_c;

// 32 bytes, as far as ranges ask: whether each is a letter or one of the few characters around
// them, and its number less one, so that 'a' is 0 and 'z' 25; what stands before 'a' is 31.
struct letter_planes {
    unsigned number[4]; // bits 0 to 3
    unsigned half[2];   // those whose bit 4 is 0, and 1
    unsigned beyond;    // numbers of the upper half that are 26 or more
};

// Letters have bits 5 and 6 set and bit 7 not; folded, bit 5 does not matter.
DEVICE_INLINE letter_planes letters_of(const unsigned (&x)[8], unsigned fold)
{
    constexpr unsigned none = ~(lop3_a | lop3_b | lop3_c);
    letter_planes planes;
    const unsigned letters = lop3<(lop3_a | lop3_b) & lop3_c>(x[5], fold, x[6]) & ~x[7];
    // Less one, by borrowing up from bit 0 to the lowest bit that is set.
    const unsigned borrow = lop3<none>(x[2], x[1], x[0]);
    planes.number[0] = ~x[0];
    planes.number[1] = ~(x[1] ^ x[0]);
    planes.number[2] = lop3<lop3_a ^ (~lop3_b & ~lop3_c)>(x[2], x[1], x[0]);
    planes.number[3] = x[3] ^ borrow;
    const unsigned fourth = lop3<lop3_a ^ (lop3_b & ~lop3_c)>(x[4], borrow, x[3]);
    planes.half[0] = letters & ~fourth;
    planes.half[1] = letters & fourth;
    planes.beyond =
        lop3<lop3_a &(lop3_b | lop3_c)>(planes.number[3], planes.number[2], planes.number[1]);
    return planes;
}

// Returns the letters of the half whose number is Bound (0 to 16) or more in bits 0 to 3. From the
// lowest bit on: a number is at least the bound if its higher bits are more, or the same and the
// rest is enough.
template <unsigned Bound> DEVICE_INLINE unsigned at_least(const letter_planes &planes)
{
    if (Bound == 16)
        return 0;
    unsigned enough = ~0u;
    UNROLL for (unsigned k = 0; k < 4; k++) enough =
        Bound >> k & 1 ? planes.number[k] & enough : planes.number[k] | enough;
    return enough;
}

// Returns the letters of one half with numbers from Lo to before Hi (0 to 16).
template <unsigned Lo, unsigned Hi>
DEVICE_INLINE unsigned between(const letter_planes &planes, unsigned half)
{
    constexpr unsigned bit3 = Lo & 8 ? lop3_b : ~lop3_b, bit2 = Lo & 4 ? lop3_c : ~lop3_c;
    if constexpr (Lo >= Hi)
        return 0;
    else if constexpr (Hi - Lo == 4 && Lo % 4 == 0)
        return lop3<lop3_a & bit3 & bit2>(half, planes.number[3], planes.number[2]);
    else
        return half & at_least<Lo>(planes) & ~at_least<Hi>(planes);
}

// A range's counter: ones + 2 twos + 4 fours, the first two in bit planes.
struct range_count {
    unsigned ones, twos, fours;
};

// The ranges of Width letters, one after the other at compile time, in 128 bytes.
template <unsigned Width, unsigned Range> struct ranges {
    static constexpr unsigned lo = Range * Width, hi = lo + Width;
    static constexpr bool last = hi >= 26;

    DEVICE_INLINE unsigned inside(const letter_planes &planes)
    {
        unsigned in = 0;
        if constexpr (lo < 16)
            in = between < lo, hi < 16 ? hi : 16 > (planes, planes.half[0]);
        if constexpr (hi > 16) {
            unsigned upper =
                between<(lo > 16 ? lo - 16 : 0), (hi < 32 ? hi - 16 : 16)>(planes, planes.half[1]);
            // The last range may reach past 'z'.
            if constexpr (hi > 26)
                upper &= ~planes.beyond;
            in |= upper;
        }
        return in;
    }

    DEVICE_INLINE void count(range_count *counts, const letter_planes (&planes)[4])
    {
        range_count &c = counts[Range];
        unsigned in[4];
        UNROLL for (unsigned i = 0; i < 4; i++) in[i] = inside(planes[i]);
        const unsigned twos_a = lop3<majority>(c.ones, in[0], in[1]);
        c.ones = lop3<parity>(c.ones, in[0], in[1]);
        const unsigned twos_b = lop3<majority>(c.ones, in[2], in[3]);
        c.ones = lop3<parity>(c.ones, in[2], in[3]);
        c.fours += static_cast<unsigned>(__popc(lop3<majority>(c.twos, twos_a, twos_b)));
        c.twos = lop3<parity>(c.twos, twos_a, twos_b);
        if constexpr (!last)
            ranges<Width, Range + 1>::count(counts, planes);
    }
};

template <unsigned Width> __global__ void __launch_bounds__(256) bitsliced(count_args args)
{
    constexpr unsigned bins = (26 + Width - 1) / Width;
    __shared__ unsigned sums[bins];
    zero(sums, bins);
    __syncthreads();

    range_count counts[bins] = {};
    const unsigned fold = args.map.fold ? ~0u : 0u;
    const vector_span span = vectors_of(args);
    const unsigned thread = static_cast<unsigned>(grid_thread());
    const unsigned stride = static_cast<unsigned>(grid_threads());
    // There are fewer than 2^28 vectors, so 32 bits do for steps past the last.
    for (unsigned first = thread; first < span.vectors; first += 8 * stride) {
        uint4 vectors[8];
        if (first + 7 * stride < span.vectors) {
            UNROLL for (unsigned k = 0; k < 8; k++) vectors[k] = span.body[first + k * stride];
        } else {
            // A zero is not a letter: past the end there is nothing to count.
            UNROLL for (unsigned k = 0; k < 8; k++) vectors[k] = first + k * stride < span.vectors
                                                                     ? span.body[first + k * stride]
                                                                     : make_uint4(0, 0, 0, 0);
        }
        letter_planes planes[4];
        UNROLL for (unsigned i = 0; i < 4; i++)
        {
            const uint4 x = vectors[2 * i], y = vectors[2 * i + 1];
            unsigned bits[8] = {x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w};
            transpose_bits(bits);
            planes[i] = letters_of(bits, fold);
        }
        ranges<Width, 0>::count(counts, planes);
    }
    each_outside<letter_samples>(args, span, thread, [](unsigned bin) { count_bin(sums, bin); });

    UNROLL for (unsigned bin = 0; bin < bins; bin++)
    {
        unsigned sum = 4 * counts[bin].fours + 2 * static_cast<unsigned>(__popc(counts[bin].twos)) +
                       static_cast<unsigned>(__popc(counts[bin].ones));
        UNROLL for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&sums[bin], sum);
    }
    __syncthreads();
    merge(args, sums);
}

#endif

// bitsliced: letters in registers, 32 bytes at a time, without any table.
//
// A thread turns 32 bytes (8 words) into 8 bit planes: plane k holds bit k of each of the 32 bytes.
// Whether a byte is a letter of some range is then a formula over planes, evaluated for 32 bytes by
// a few logic instructions, and a popcount adds them up. Nothing is shared while counting, so
// there is nothing to wait for, whatever the data.
//
// The popcount is the dear part (a quarter of the speed of logic): carry-save adders (Harley and
// Seal) count in bit planes first, and only every fourth result is popcounted.
#ifndef GPUHISTO_BITSLICED_CUH
#define GPUHISTO_BITSLICED_CUH

#include "gpu/counting.cuh"

struct bit_planes {
    unsigned bit[8];
};

// One step of the transpose: a keeps what the mask selects of both, b the rest.
static __device__ __forceinline__ void swap_bits(unsigned &a, unsigned &b, unsigned mask,
                                                 unsigned shift)
{
    const unsigned low = (a & mask) | (b << shift & ~mask);
    b = (a >> shift & mask) | (b & ~mask);
    a = low;
}

// The bit planes of 32 bytes. Which byte comes to which place in the planes is of no interest.
static __device__ __forceinline__ bit_planes transpose(const uint4 &x, const uint4 &y)
{
    unsigned w[8] = {x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w};
    UNROLL for (unsigned i = 0; i < 4; i++)
        swap_bits(w[i], w[i + 4], 0x0f0f0f0fu, 4); // low nibbles in 0 to 3, high ones in 4 to 7
    UNROLL for (unsigned i = 0; i < 8; i += 4)
    {
        swap_bits(w[i], w[i + 2], 0x33333333u, 2); // bits 0 and 1 in the first two, 2 and 3
        swap_bits(w[i + 1], w[i + 3], 0x33333333u, 2);
    }
    UNROLL for (unsigned i = 0; i < 8; i += 2) swap_bits(w[i], w[i + 1], 0x55555555u, 1);
    return {{w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]}};
}

// The bytes whose low five bits are Threshold (1 to 27) or more: from the lowest bit on, a number
// is at least the threshold if its higher bits are more, or the same and the rest is at least the
// rest.
template <unsigned Threshold>
static __device__ __forceinline__ unsigned at_least(const bit_planes &planes)
{
    unsigned result = ~0u;
    UNROLL for (unsigned k = 0; k < 5; k++) result =
        Threshold >> k & 1 ? planes.bit[k] & result : planes.bit[k] | result;
    return result;
}

// A range's counter: ones + 2 twos + 4 fours, the first two in bit planes.
struct range_count {
    unsigned ones, twos, fours;
};

static __device__ __forceinline__ unsigned carry(unsigned a, unsigned b, unsigned c)
{
    return (a & b) | (c & (a | b));
}

// The ranges of 128 bytes in Width letters, one after the other at compile time.
template <unsigned Width, unsigned Range, unsigned Ranges> struct ranges {
    static constexpr unsigned lo = 1 + Range * Width; // 'a' is 1 in the low five bits
    static constexpr unsigned hi = lo + Width < 27 ? lo + Width : 27;

    static __device__ __forceinline__ unsigned inside(const bit_planes &planes, unsigned letters)
    {
        return letters & at_least<lo>(planes) & ~at_least<hi>(planes);
    }

    static __device__ __forceinline__ void count(range_count *counts, const bit_planes (&planes)[4],
                                                 const unsigned (&letters)[4])
    {
        range_count &count = counts[Range];
        unsigned in[4];
        UNROLL for (unsigned i = 0; i < 4; i++) in[i] = inside(planes[i], letters[i]);
        const unsigned twos_a = carry(count.ones, in[0], in[1]);
        count.ones ^= in[0] ^ in[1];
        const unsigned twos_b = carry(count.ones, in[2], in[3]);
        count.ones ^= in[2] ^ in[3];
        count.fours += static_cast<unsigned>(__popc(carry(count.twos, twos_a, twos_b)));
        count.twos ^= twos_a ^ twos_b;
        ranges<Width, Range + 1, Ranges>::count(counts, planes, letters);
    }
};

template <unsigned Width, unsigned Ranges> struct ranges<Width, Ranges, Ranges> {
    static __device__ __forceinline__ void count(range_count *, const bit_planes (&)[4],
                                                 const unsigned (&)[4])
    {
    }
};

// Counts 128 bytes. Letters have bits 5 and 6 set and bit 7 not; folded, bit 5 does not matter.
template <unsigned Width, unsigned Ranges>
static __device__ __forceinline__ void count_planes(range_count *counts, const uint4 (&vectors)[8],
                                                    unsigned fold)
{
    bit_planes planes[4];
    unsigned letters[4];
    UNROLL for (unsigned i = 0; i < 4; i++)
    {
        planes[i] = transpose(vectors[2 * i], vectors[2 * i + 1]);
        letters[i] = (planes[i].bit[5] | fold) & planes[i].bit[6] & ~planes[i].bit[7];
    }
    ranges<Width, 0, Ranges>::count(counts, planes, letters);
}

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
    for (unsigned long long first = thread; first < span.vectors; first += 8ull * stride) {
        uint4 vectors[8];
        UNROLL for (unsigned k = 0; k < 8; k++)
        {
            const unsigned long long i = first + 1ull * k * stride;
            // A zero is no letter: past the end there is nothing to count.
            vectors[k] = i < span.vectors ? span.body[i] : make_uint4(0, 0, 0, 0);
        }
        count_planes<Width, bins>(counts, vectors, fold);
    }
    if (thread < span.head)
        count_byte<letter_samples>(sums, args.data[thread], args.map);
    if (thread < span.tail)
        count_byte<letter_samples>(sums, span.tail_data[thread], args.map);

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

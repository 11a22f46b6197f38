// SPDX-License-Identifier: MIT
// Counters of a byte in shared memory, four of them in a word, that lose no carry.
//
// Counter i is byte i of the table. An atomic adds to the whole word, so that a counter which
// passes 255 carries one into the next, or out of the word. The atomic gives the word as it was
// before: the lane that made the carry, and no other, sees it there, and notes it.
//
// Why that is exact, in whatever order the lanes add: let c0 to c3 be what was added to the four
// counters of a word, and k0 to k3 how many carries left each. All additions together are the sum
// of the c times 256^i, of which the word holds what is left modulo 2^32. By the rule of written
// addition, applied once for each atomic, its bytes b0 to b3 are
//
//     bi = ci + k(i-1) - 256 * ki, with k(-1) = 0,
//
// hence ci = bi + 256 * ki - k(i-1). Carries are counted in a cache, each for the first counter
// that asked for its place, and in the histogram itself where the place is taken.
#ifndef GPUHISTO_BYTE_COUNTERS_CUH
#define GPUHISTO_BYTE_COUNTERS_CUH

#include "gpu/count/bin_cache.cuh"
#include "gpu/count/counting.cuh"

// The rows that a table's counters are for: eight neighbouring ones from 8 * first on, the next
// eight `step` times as far on, and so on. A counter whose row would be `end` or above has none.
struct table_rows {
    unsigned first, step, end;
};

static __device__ __forceinline__ unsigned row_at(const table_rows &rows, unsigned index)
{
    const unsigned row = (rows.first + index / 8 * rows.step) * 8 + index % 8;
    return row < rows.end ? row : no_bin;
}

// A cache of carries: how many left each counter, by its index.
using carry_cache = bin_cache<1024>;

struct byte_counters {
    unsigned *words; // shared memory: `size` bytes, and where adding is checked 32 words for
                     // what is counted nowhere
    unsigned size;   // counters
    carry_cache *carries;
    table_rows rows;
    unsigned long long *counts; // the histogram
};

// Adds to the histogram what carries out of a counter amount to: 256 each, of which one has gone
// into the next counter of the word.
static __device__ __forceinline__ void finish_carries(const byte_counters &counters, unsigned index,
                                                      unsigned long long carries)
{
    const unsigned row = row_at(counters.rows, index), next = row_at(counters.rows, index + 1);
    if (row != no_bin)
        atomicAdd(&counters.counts[row], 256 * carries);
    if (index % 4 < 3 && next != no_bin)
        atomicAdd(&counters.counts[next], 0 - carries); // modulo 2^64
}

// Notes the carries of adding one to counter `index`, where the word was `before`: one out of it,
// and as long as the next one is full, one out of that.
inline __device__ OUT_OF_LINE void record_carries(byte_counters counters, unsigned index,
                                                  unsigned before)
{
    for (; index < counters.size && (before >> index % 4 * 8 & 255) == 255; index++) {
        if (!count_at(*counters.carries, index % carry_cache::slots, index))
            finish_carries(counters, index, 1);
        if (index % 4 == 3)
            return;
    }
}

// The words of a lane's counters before one was added to each. (With masks of the counters in these
// words, kept instead of made again, registers spill.)
template <unsigned Number> struct counters_before {
    unsigned indices[Number], words[Number];
};

// Returns a one where the counter at this address is in its word: shifted by the lowest 5 bits of a
// number.
static __device__ __forceinline__ unsigned one_at(unsigned address)
{
    return __funnelshift_l(0, 1, address * 8);
}

// Adds one to each of the counters of a lane. If they are Checked, an index of `size` or more is
// none: zero is added to a word of the lane's own then, which is faster than a branch.
template <bool Checked, unsigned Number>
static __device__ __forceinline__ void add_to_counters(const byte_counters &counters,
                                                       counters_before<Number> &before)
{
    const unsigned base = shared_address(counters.words);
    const unsigned none = base + counters.size + threadIdx.x % 32 * 4;
    UNROLL for (unsigned i = 0; i < Number; i++)
    {
        const unsigned address = base + before.indices[i], one = one_at(address);
        const bool in = !Checked || before.indices[i] < counters.size;
        before.words[i] =
            atomic_add_shared(counters.words, in ? address & ~3u : none, in ? one : 0);
    }
}

// Notes the carries of all these counters. This is a function of its own, so that other work can be
// done while the atomics are.
template <unsigned Number>
static __device__ __forceinline__ void record_all_carries(const byte_counters &counters,
                                                          const counters_before<Number> &before)
{
    const unsigned base = shared_address(counters.words);
    bool carried = false;
    UNROLL for (unsigned i = 0; i < Number; i++) carried |=
        !(~before.words[i] & 255 * one_at(base + before.indices[i]));
    if (carried)
        UNROLL for (unsigned i = 0; i < Number; i++)
            record_carries(counters, before.indices[i], before.words[i]);
}

// The block together, with a barrier after it: adds the carries to the histogram.
static __device__ __forceinline__ void finish_all_carries(const byte_counters &counters)
{
    const carry_cache &carries = *counters.carries;
    for (unsigned slot = threadIdx.x; slot < carry_cache::slots; slot += blockDim.x)
        if (carries.counts[slot])
            finish_carries(counters, carries.bins[slot], carries.counts[slot]);
}

#endif

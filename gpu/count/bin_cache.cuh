// SPDX-License-Identifier: MIT
// A block's cache of counters in shared memory, each for the first bin that asked for its place;
// and what uses it: runs of one value, and counters of a byte that lose no carry.
#ifndef GPUHISTO_GPU_COUNT_BIN_CACHE_CUH
#define GPUHISTO_GPU_COUNT_BIN_CACHE_CUH

#include "gpu/count/counting.cuh"

template <unsigned Slots> struct bin_cache {
    static constexpr unsigned slots = Slots;
    unsigned bins[slots]; // no_bin: free
    unsigned counts[slots];
};

// The block together: empties the cache; a barrier after it is the caller's.
template <unsigned Slots> DEVICE_INLINE void open_cache(bin_cache<Slots> &cache)
{
    for (unsigned slot = threadIdx.x; slot < Slots; slot += blockDim.x) {
        cache.bins[slot] = no_bin;
        cache.counts[slot] = 0;
    }
}

// Counts a bin so many times in a counter, if that is its own or free. True if it is counted.
DEVICE_INLINE bool count_if_own(unsigned *owner, unsigned *counter, unsigned bin,
                                unsigned count = 1)
{
    unsigned own = load_relaxed(owner);
    if (own == no_bin) {
        own = atomicCAS(owner, no_bin, bin);
        own = own == no_bin ? bin : own;
    }
    if (own == bin)
        atomicAdd(counter, count);
    return own == bin;
}

// Counts a bin at a place of the cache, as count_if_own does.
template <unsigned Slots>
DEVICE_INLINE bool count_at(bin_cache<Slots> &cache, unsigned slot, unsigned bin,
                            unsigned count = 1)
{
    return count_if_own(&cache.bins[slot], &cache.counts[slot], bin, count);
}

// The block together: adds what was counted to the histogram; a barrier before it is the caller's.
template <unsigned Slots>
DEVICE_INLINE void merge_cache(const bin_cache<Slots> &cache, const count_args &args)
{
    for (unsigned slot = threadIdx.x; slot < Slots; slot += blockDim.x)
        add_to_counts(args, cache.bins[slot], cache.counts[slot]); // a free slot has no count
}

// The warp together: adds the lanes' bins to the histogram, once for all lanes whose bins are
// alike. Lanes without a sample have no_bin.
DEVICE_INLINE void add_alike(const count_args &args, unsigned bin)
{
    const unsigned alike = __match_any_sync(0xffffffffu, bin);
    const unsigned lanes_below = (1u << threadIdx.x % 32) - 1;
    if (bin != no_bin && !(alike & lanes_below))
        atomicAdd(&args.counts[bin], static_cast<unsigned long long>(__popc(alike)));
}

// --- runs of a value ---
//
// Runs would have the lanes of a warp meet at one counter again and again. They are counted in a
// cache of the block, each for the first bin that asked for its place, and where the place is
// taken, in the histogram, which then takes one addition for many values.

using run_cache = bin_cache<1024>;

// Lanes with a run that are worth the search for those that are alike.
constexpr unsigned run_lanes_min = 8;

// The warp together. Counts the values of lanes that have but one, if there are many such lanes.
// True if those of this lane have been counted; never if they are not `in` what is to be counted.
template <unsigned Number>
DEVICE_INLINE bool acquire_run(run_cache &runs, const count_args &args,
                               const unsigned (&rows)[Number], bool in)
{
    // Few lanes have two values alike, where there are no runs.
    const unsigned maybe = __ballot_sync(0xffffffffu, in && rows[1] == rows[0]);
    if (static_cast<unsigned>(__popc(maybe)) < run_lanes_min)
        return false;
    bool alike = in;
    UNROLL for (unsigned i = 1; i < Number; i++) alike &= rows[i] == rows[0];
    const unsigned same = __match_any_sync(0xffffffffu, alike ? rows[0] : no_bin);
    if (alike && !(same & ((1u << threadIdx.x % 32) - 1))) {
        const unsigned count = Number * static_cast<unsigned>(__popc(same));
        if (!count_at(runs, rows[0] % run_cache::slots, rows[0], count))
            atomicAdd(&args.counts[rows[0]], static_cast<unsigned long long>(count));
    }
    return alike;
}

// --- counters of a byte, four of them in a word ---
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

// The rows that a table's counters are for: eight neighbouring ones from 8 * first on, the next
// eight `step` times as far on, and so on. A counter whose row would be `end` or above has none.
struct table_rows {
    unsigned first, step, end;
};

DEVICE_INLINE unsigned row_at(const table_rows &rows, unsigned index)
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
DEVICE_INLINE void finish_carries(const byte_counters &counters, unsigned index,
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

// Returns a one where this counter is in its word: shifted by the lowest 5 bits of a number.
DEVICE_INLINE unsigned one_at(unsigned index)
{
    return __funnelshift_l(0, 1, index * 8);
}

// Adds one to each of the counters of a lane. If they are Checked, an index of `size` or more is
// none: zero is added to a word of the lane's own then, which is faster than a branch.
template <bool Checked, unsigned Number>
DEVICE_INLINE void add_to_counters(const byte_counters &counters, counters_before<Number> &before)
{
    const unsigned none = counters.size + threadIdx.x % 32 * 4;
    UNROLL for (unsigned i = 0; i < Number; i++)
    {
        const unsigned index = before.indices[i], one = one_at(index);
        const bool in = !Checked || index < counters.size;
        before.words[i] = atomicAdd(&counters.words[(in ? index : none) / 4], in ? one : 0);
    }
}

// Notes the carries of all these counters. This is a function of its own, so that other work can be
// done while the atomics are.
template <unsigned Number>
DEVICE_INLINE void record_all_carries(const byte_counters &counters,
                                      const counters_before<Number> &before)
{
    bool carried = false;
    UNROLL for (unsigned i = 0; i < Number; i++) carried |=
        !(~before.words[i] & 255 * one_at(before.indices[i]));
    if (carried)
        UNROLL for (unsigned i = 0; i < Number; i++)
            record_carries(counters, before.indices[i], before.words[i]);
}

// The block together, with a barrier after it: adds the carries to the histogram.
DEVICE_INLINE void finish_all_carries(const byte_counters &counters)
{
    const carry_cache &carries = *counters.carries;
    for (unsigned slot = threadIdx.x; slot < carry_cache::slots; slot += blockDim.x)
        if (carries.counts[slot])
            finish_carries(counters, carries.bins[slot], carries.counts[slot]);
}

#endif

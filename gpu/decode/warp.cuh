// SPDX-License-Identifier: MIT
// Steps that all lanes of a warp take together.
#ifndef GPUHISTO_GPU_DECODE_WARP_CUH
#define GPUHISTO_GPU_DECODE_WARP_CUH

#include "gpu/ptx.cuh"

#include <cstring>

constexpr unsigned all_lanes = 0xffffffffu;

// Returns what move(word) gives for each word of a value, which may be anything that is made of
// words.
template <typename Value, typename Move>
static __device__ __forceinline__ Value warp_words(const Value &value, Move move)
{
    static_assert(sizeof value % sizeof(unsigned) == 0, "whole words are shuffled");
    unsigned words[sizeof value / sizeof(unsigned)];
    std::memcpy(words, &value, sizeof value);
    UNROLL for (unsigned &word : words) word = move(word);
    Value moved;
    std::memcpy(&moved, words, sizeof value);
    return moved;
}

// Returns the value that the lane so many before this one has, or this lane's where there is none.
template <typename Value>
static __device__ __forceinline__ Value warp_before(const Value &value, unsigned by)
{
    return warp_words(value, [=](unsigned word) { return __shfl_up_sync(all_lanes, word, by); });
}

// Returns the value that the last lane has.
template <typename Value> static __device__ __forceinline__ Value warp_last(const Value &value)
{
    return warp_words(value, [](unsigned word) { return __shfl_sync(all_lanes, word, 31); });
}

// Returns the sum over the lanes up to and with this one; then(a, b) is that of `a` and of `b`,
// which comes after it.
template <typename Value, typename Then>
static __device__ __forceinline__ Value warp_scan(Value value, Then then)
{
    for (unsigned by = 1; by < 32; by *= 2) {
        const Value before = warp_before(value, by);
        if (threadIdx.x % 32 >= by)
            value = then(before, value);
    }
    return value;
}

static __device__ __forceinline__ unsigned warp_sum(unsigned value)
{
    return warp_scan(value, [](unsigned a, unsigned b) { return a + b; });
}

static __device__ __forceinline__ unsigned warp_max(unsigned value)
{
    return warp_scan(value, [](unsigned a, unsigned b) { return max(a, b); });
}

// Returns the last of `count` elements in order for which is_before(index) is true, or 0: each
// round, the lanes look at the ends of 32 equal parts.
template <typename IsBefore>
static __device__ inline unsigned warp_search(unsigned count, IsBefore is_before)
{
    unsigned low = 0, size = count; // it is low, or one of the size - 1 after it
    while (size > 1) {
        const unsigned part = (size + 31) / 32, probe = low + threadIdx.x % 32 * part;
        const unsigned before = static_cast<unsigned>(
            __popc(__ballot_sync(all_lanes, probe < low + size && is_before(probe))));
        const unsigned end = low + size;
        low += (before > 0 ? before - 1 : 0) * part;
        size = min(part, end - low);
    }
    return low;
}

#endif

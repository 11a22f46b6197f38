// SPDX-License-Identifier: MIT
// Instructions and memory that C++ cannot express, each with a version for the host; and steps that
// all lanes of a warp take together.
#ifndef GPUHISTO_GPU_PTX_CUH
#define GPUHISTO_GPU_PTX_CUH

#include <cstring>

// What most functions on the device are: a call would keep arrays of registers from being ones.
#define DEVICE_INLINE static __device__ __forceinline__

// A function that is OUT_OF_LINE is not static: nvcc would make its name of the folder of the
// sources, and another folder another program.
#ifdef __CUDACC__
#define UNROLL _Pragma("unroll")
#define UNROLL_BY(number) _Pragma(UNROLL_TEXT(unroll number))
#define UNROLL_TEXT(text) #text
#define OUT_OF_LINE __noinline__
// Shared memory whose size the launch gives. (The tests' emulation has its own.)
#define DYNAMIC_SHARED(type, name)                                                                 \
    extern __shared__ __align__(16) unsigned char dynamic_shared[];                                \
    type *const name = reinterpret_cast<type *>(dynamic_shared)
#else
#define UNROLL
#define UNROLL_BY(number)
#define OUT_OF_LINE __attribute__((noinline))
#endif

// Loads a word to which others may store by atomics: it gives what one of them left.
DEVICE_INLINE unsigned load_relaxed(const unsigned *address)
{
#ifdef __CUDA_ARCH__
    return *static_cast<const volatile unsigned *>(address);
#else
    return __atomic_load_n(address, __ATOMIC_RELAXED);
#endif
}

// Stores a word that load_relaxed reads.
DEVICE_INLINE void store_relaxed(unsigned *address, unsigned value)
{
#ifdef __CUDA_ARCH__
    *static_cast<volatile unsigned *>(address) = value;
#else
    __atomic_store_n(address, value, __ATOMIC_RELAXED);
#endif
}

// Returns bytes of a word, one for each hexadecimal digit of the selector, from the lowest: 0 to 3
// that byte, 4 to 7 zero; with 8 added the sign of that byte, eight times. (__byte_perm knows no
// signs.)
DEVICE_INLINE unsigned permute(unsigned word, unsigned selector)
{
#ifdef __CUDA_ARCH__
    unsigned result;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(result) : "r"(word), "r"(selector));
    return result;
#else
    unsigned result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned digit = selector >> 4 * i & 15;
        const unsigned byte = digit & 4 ? 0 : word >> 8 * (digit & 3) & 0xff;
        result |= (digit & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * i;
    }
    return result;
#endif
}

// Any function of three bits, 32 times: bit 4a + 2b + c of Table is its value for the bits a, b, c.
// Write the table as the same function of the three constants below.
constexpr unsigned lop3_a = 0xf0, lop3_b = 0xcc, lop3_c = 0xaa;

template <unsigned Table> DEVICE_INLINE unsigned lop3(unsigned a, unsigned b, unsigned c)
{
#ifdef __CUDA_ARCH__
    unsigned result;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(Table & 0xff));
    return result;
#else
    unsigned result = 0;
    for (unsigned minterm = 0; minterm < 8; minterm++)
        if (Table >> minterm & 1)
            result |= (minterm & 4 ? a : ~a) & (minterm & 2 ? b : ~b) & (minterm & 1 ? c : ~c);
    return result;
#endif
}

// Returns the number of the highest bit that is set; for 0 that is 2^32 - 1.
DEVICE_INLINE unsigned highest_bit(unsigned value)
{
    return 31u - static_cast<unsigned>(__clz(static_cast<int>(value)));
}

// Starts a copy of 16 bytes to shared memory, both at multiples of 16. They are there, for the
// thread that asked for them, once copies_wait says so; on devices before sm_80 at once.
DEVICE_INLINE void copy_16(void *shared, const void *global)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
#else
    *static_cast<uint4 *>(shared) = *static_cast<const uint4 *>(global);
#endif
}

// Ends a group of such copies, which may be empty.
DEVICE_INLINE void copies_end_group()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all groups of this thread but the last `Groups`.
template <int Groups> DEVICE_INLINE void copies_wait()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
}

// --- the lanes of a warp together ---

constexpr unsigned all_lanes = 0xffffffffu;

// Returns what move(word) gives for each word of a value, whatever is made of words.
template <typename Value, typename Move>
DEVICE_INLINE Value warp_words(const Value &value, Move move)
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
template <typename Value> DEVICE_INLINE Value warp_before(const Value &value, unsigned by)
{
    return warp_words(value, [=](unsigned word) { return __shfl_up_sync(all_lanes, word, by); });
}

// Returns the value that the last lane has.
template <typename Value> DEVICE_INLINE Value warp_last(const Value &value)
{
    return warp_words(value, [](unsigned word) { return __shfl_sync(all_lanes, word, 31); });
}

// Returns the sum over the lanes up to and with this one; then(a, b) is that of `a` and of `b`,
// which comes after it.
template <typename Value, typename Then> DEVICE_INLINE Value warp_scan(Value value, Then then)
{
    for (unsigned by = 1; by < 32; by *= 2) {
        const Value before = warp_before(value, by);
        if (threadIdx.x % 32 >= by)
            value = then(before, value);
    }
    return value;
}

DEVICE_INLINE unsigned warp_sum(unsigned value)
{
    return warp_scan(value, [](unsigned a, unsigned b) { return a + b; });
}

DEVICE_INLINE unsigned warp_max(unsigned value)
{
    return warp_scan(value, [](unsigned a, unsigned b) { return max(a, b); });
}

// Returns the last of `count` elements in order for which is_before(index) is true, or 0: each
// round, the lanes look at the ends of 32 equal parts.
template <typename IsBefore> DEVICE_INLINE unsigned warp_search(unsigned count, IsBefore is_before)
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

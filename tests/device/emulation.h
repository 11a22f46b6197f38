/* SPDX-License-Identifier: MIT */
// emulation.h: the part of CUDA that our kernels use, for a C++17 compiler without CUDA.
//
// The shipped kernels (gpu/count/kernel_table.cu, gpu/decode/stage_table.cu) are compiled for the
// tests as plain C++ with `-x c++ -include tests/device/emulation.h`, linked with emulation.cpp,
// and started through emulate_launch(). nvcc must never see this file.
//
// How it works: the blocks of a launch run one after the other; the threads of a block are fibers
// on the calling OS thread, and only a barrier, a warp collective or a thread's end lets another
// fiber run. Hence
//
//  - a loop that waits for another thread without such a call never ends here, nor does one that
//    waits for a block that has yet to run;
//  - `__shared__` variables are static: one copy per kernel (instantiation) in the process. Several
//    OS threads may emulate at once, but two that may run the same kernel must take a mutex around
//    their launches;
//  - an exception must not leave a kernel.
//
// What is wrong in a kernel is made visible where that is cheap. A deadlock aborts with a message;
// dynamic shared memory is filled with 0xA5 before every block; static shared memory keeps what
// the last block left; what CUDA leaves undefined in a result is 0xA5A5A5A5. With GPUHISTO_RACES in
// the environment, every CUDA thread is a thread to ThreadSanitizer, and only __syncthreads*(),
// __syncwarp() and the start and the end of a block order memory accesses, as in CUDA: a missing
// barrier is then reported as a race. Launches take eight times as long and more, so it is left
// out where the threads of the host are what is tested.
#ifndef EMULATION_H
#define EMULATION_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

//===--- Keywords ----------------------------------------------------------------------------===//

#define __global__ __attribute__((__unused__)) // a test launches some of a header
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((__always_inline__))
// In `__shared__ __align__(16) unsigned bins[256];` g++ takes this, but not alignas.
#define __align__(Bytes) __attribute__((__aligned__(Bytes)))

// Dynamic shared memory: nvcc wants `extern __shared__`, which no macro could turn into C++, so a
// kernel writes DYNAMIC_SHARED(unsigned, bins); and a GPU header defines the macro for nvcc.
#define DYNAMIC_SHARED(Type, Name) Type *const Name = static_cast<Type *>(emulated_dynamic_shared())

//===--- Types -------------------------------------------------------------------------------===//

// They may alias anything, as kernels load whole vectors from memory of narrower types, which the
// host's compilers would otherwise be free to reorder with the stores that filled it.
#define EMULATED_VECTOR(Bytes) __attribute__((__aligned__(Bytes), __may_alias__))

struct uint3 {
    unsigned x, y, z;
};

struct EMULATED_VECTOR(8) uint2 {
    unsigned x, y;
};

struct EMULATED_VECTOR(16) uint4 {
    unsigned x, y, z, w;
};

struct EMULATED_VECTOR(16) ulonglong2 {
    unsigned long long x, y;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

/// Each gives the vector of its arguments.
inline uint2 make_uint2(unsigned x, unsigned y)
{
    return uint2{x, y};
}

inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}

inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y)
{
    return ulonglong2{x, y};
}

//===--- Where a thread is -------------------------------------------------------------------===//

// Only x is used. `__thread`, unlike `thread_local`, spares every access the question whether the
// variable has been initialized.
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;
constexpr int warpSize = 32;

//===--- Launching ---------------------------------------------------------------------------===//

/// Runs `body` once for every thread of every block, to the end, on the calling OS thread.
/// `grid` is the number of blocks (>= 1), `block` the threads in each (1 to 1024),
/// `dynamic_shared_bytes` what emulated_dynamic_shared() points to (at most 227 KiB).
/// Aborts with a message on wrong arguments, on a deadlock, and when called by a kernel.
void emulate_launch(unsigned grid, unsigned block, std::size_t dynamic_shared_bytes,
                    const std::function<void()> &body);

/// Sets the order in which the fibers run, for the later launches of all OS threads: 0 (the
/// default) is the natural one; any other value takes blocks from a random first one on and
/// threads at random. The same seed and launch give the same order.
void emulate_seed(unsigned seed);

/// Gives the dynamic shared memory of the running block, aligned to 128 bytes.
void *emulated_dynamic_shared();

//===--- What the functions below are made of; not for kernels -------------------------------===//

enum class warp_operation { none, sync, shuffle, vote, match, sum };

/// Waits for the block's threads that have not exited; gives how many of them came with
/// `predicate` true.
unsigned emulated_barrier(bool predicate);

/// Waits until all lanes named in `mask` that have not exited have come with the same operation
/// and mask. `value` is what this lane contributes, `source` the lane that a shuffle reads. Gives
/// the operation's result for this lane.
std::uint64_t emulated_warp(warp_operation operation, unsigned mask, std::uint64_t value,
                            unsigned source);

/// Aborts, naming the running block and thread, and `message`.
[[noreturn]] void emulated_failure(const char *message);

inline unsigned emulated_lane()
{
    return threadIdx.x % 32;
}

/// A shuffle of any 4- or 8-byte type `T` from lane `source` of the warp.
template <typename T> inline T emulated_shuffle(unsigned mask, T value, unsigned source)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA shuffles 4 or 8 bytes");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value); // the low half on the little-endian hosts CUDA has
    bits = emulated_warp(warp_operation::shuffle, mask, bits, source);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

//===--- Barriers and fences -----------------------------------------------------------------===//

/// Waits for the block's threads; those that have exited are not waited for.
inline void __syncthreads()
{
    emulated_barrier(false);
}

/// The same; gives whether any, whether all, and how many of the threads gave a true predicate.
inline int __syncthreads_or(int predicate)
{
    return emulated_barrier(predicate != 0) != 0;
}

inline int __syncthreads_and(int predicate)
{
    return emulated_barrier(predicate == 0) == 0;
}

inline int __syncthreads_count(int predicate)
{
    return static_cast<int>(emulated_barrier(predicate != 0));
}

/// Waits for the lanes in `mask`, and orders their memory accesses.
inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    emulated_warp(warp_operation::sync, mask, 0, 0);
}

/// Fences need to stop the compiler only: the threads of a launch share one OS thread.
inline void __threadfence()
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

inline void __threadfence_block()
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/// Ends the process, as it would end the kernel.
[[noreturn]] inline void __trap()
{
    emulated_failure("__trap()");
}

//===--- Thread block clusters ---------------------------------------------------------------===//

namespace cooperative_groups
{

/// A cluster of one block: its blocks would have to run at the same time.
struct cluster_group {
    unsigned num_blocks() const
    {
        return 1;
    }

    unsigned block_rank() const
    {
        return 0;
    }

    void sync() const
    {
        __syncthreads();
    }

    template <typename T> T *map_shared_rank(T *shared, unsigned rank) const
    {
        if (rank != 0)
            emulated_failure("a block that the cluster does not have");
        return shared;
    }
};

inline cluster_group this_cluster()
{
    return cluster_group();
}

} // namespace cooperative_groups

//===--- Warp collectives --------------------------------------------------------------------===//

// The shuffles give `value` of another lane of the same `width` lanes (a power of two up to 32);
// the lane's own where that lane is outside; 0xA5... where it is not in `mask` or has exited.

template <typename T> inline T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    const unsigned size = static_cast<unsigned>(width), first = emulated_lane() & ~(size - 1);
    return emulated_shuffle(mask, value, first + static_cast<unsigned>(from) % size);
}

template <typename T> inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    const unsigned lane = emulated_lane(), place = lane % static_cast<unsigned>(width);
    return emulated_shuffle(mask, value, by <= place ? lane - by : lane);
}

template <typename T> inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    const unsigned size = static_cast<unsigned>(width), lane = emulated_lane();
    return emulated_shuffle(mask, value, by < size - lane % size ? lane + by : lane);
}

/// An earlier group of `width` lanes may be read, a later one not: that is CUDA's rule.
template <typename T> inline T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32)
{
    const unsigned size = static_cast<unsigned>(width), lane = emulated_lane();
    const unsigned source = (lane ^ static_cast<unsigned>(with)) % 32;
    return emulated_shuffle(mask, value, source <= (lane | (size - 1)) ? source : lane);
}

/// Gives the lanes of `mask` that came with a true predicate; whether any, whether all did.
inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    return static_cast<unsigned>(emulated_warp(warp_operation::vote, mask, predicate != 0, 0));
}

inline int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

inline int __all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate == 0) == 0;
}

/// Gives the lanes of `mask` that came with the same value (of 4 or 8 bytes) as the caller.
template <typename T> inline unsigned __match_any_sync(unsigned mask, T value)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA matches 4 or 8 bytes");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return static_cast<unsigned>(emulated_warp(warp_operation::match, mask, bits, 0));
}

/// Gives the sum of the values of the lanes in `mask`.
inline unsigned __reduce_add_sync(unsigned mask, unsigned value)
{
    return static_cast<unsigned>(emulated_warp(warp_operation::sum, mask, value, 0));
}

/// Gives the caller's lane alone: which other lanes are converged with it is never promised, and
/// this is the answer that kernels wrongly relying on more cannot stand.
inline unsigned __activemask()
{
    return 1u << emulated_lane();
}

//===--- Arithmetic: each gives what CUDA's function of that name gives ----------------------===//

inline int __popc(unsigned value)
{
    return __builtin_popcount(value);
}

inline int __popcll(unsigned long long value)
{
    return __builtin_popcountll(value);
}

/// The lowest set bit, counted from 1; 0 for none.
inline int __ffs(int value)
{
    return __builtin_ffs(value);
}

inline int __ffsll(long long value)
{
    return __builtin_ffsll(value);
}

/// The zeros above the highest set bit, unlike the compiler's built-in also for 0.
inline int __clz(int value)
{
    return value ? __builtin_clz(static_cast<unsigned>(value)) : 32;
}

inline int __clzll(long long value)
{
    return value ? __builtin_clzll(static_cast<unsigned long long>(value)) : 64;
}

inline unsigned __brev(unsigned value)
{
    value = __builtin_bswap32(value);
    value = (value & 0x0f0f0f0fu) << 4 | (value >> 4 & 0x0f0f0f0fu);
    value = (value & 0x33333333u) << 2 | (value >> 2 & 0x33333333u);
    return (value & 0x55555555u) << 1 | (value >> 1 & 0x55555555u);
}

/// Four bytes out of the eight of `high`:`low`, chosen by three bits of each nibble of `selector`.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector)
{
    const std::uint64_t bytes = static_cast<std::uint64_t>(high) << 32 | low;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; i++)
        result |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return result;
}

/// The upper (l) or lower (r) half of `high`:`low` shifted by `shift` mod 32.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    return static_cast<unsigned>(both << (shift & 31) >> 32);
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    return static_cast<unsigned>(both >> (shift & 31));
}

/// The upper half of a product.
inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}

inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    __extension__ typedef unsigned __int128 wide;
    return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}

/// Each rounded by itself: the compiler is told (-ffp-contract=off) not to make one of two.
inline double __dadd_rn(double a, double b)
{
    return a + b;
}

inline float __fadd_rn(float a, float b)
{
    return a + b;
}

inline double __dmul_rn(double a, double b)
{
    return a * b;
}

inline double __ddiv_rn(double a, double b)
{
    return a / b;
}

/// The same bits as another type.
inline float __uint_as_float(unsigned bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline unsigned __float_as_uint(float value)
{
    unsigned bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline double __longlong_as_double(long long bits)
{
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline long long __double_as_longlong(double value)
{
    long long bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// The sum of the products of the four bytes of `a` and `b`, added to `c`, mod 2^32.
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (unsigned i = 0; i < 32; i += 8)
        c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}

inline int __dp4a(int a, int b, int c)
{
    unsigned sum = static_cast<unsigned>(c); // unsigned, as the sum may wrap around
    for (unsigned i = 0; i < 32; i += 8)
        sum += static_cast<unsigned>(static_cast<std::int8_t>(a >> i) *
                                     static_cast<std::int8_t>(b >> i));
    return static_cast<int>(sum);
}

template <typename T> constexpr T min(T a, T b)
{
    return b < a ? b : a;
}

template <typename T> constexpr T max(T a, T b)
{
    return a < b ? b : a;
}

//===--- Memory ------------------------------------------------------------------------------===//

/// Loads with a hint about caches, which there is nobody here to take. Like the hardware, and
/// unlike most hosts, it insists on the alignment of `T`.
template <typename T> inline T __ldg(const T *address)
{
    if (reinterpret_cast<std::uintptr_t>(address) % alignof(T))
        emulated_failure("a load from a misaligned address");
    return *address;
}

template <typename T> inline T __ldcs(const T *address)
{
    return __ldg(address);
}

template <typename T> inline T __ldcg(const T *address)
{
    return __ldg(address);
}

// Atomics give the value before. They are real ones, since launches on two OS threads may share
// memory, and relaxed, as CUDA's are.

inline unsigned atomicAdd(unsigned *address, unsigned value)
{
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

inline unsigned long long atomicAdd(unsigned long long *address, unsigned long long value)
{
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

inline unsigned atomicAdd_block(unsigned *address, unsigned value)
{
    return atomicAdd(address, value);
}

inline unsigned long long atomicAdd_block(unsigned long long *address, unsigned long long value)
{
    return atomicAdd(address, value);
}

inline unsigned atomicOr(unsigned *address, unsigned value)
{
    return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}

inline unsigned atomicXor(unsigned *address, unsigned value)
{
    return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}

inline unsigned atomicExch(unsigned *address, unsigned value)
{
    return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);
}

inline unsigned atomicCAS(unsigned *address, unsigned expected, unsigned value)
{
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    return expected;
}

inline unsigned atomicMax(unsigned *address, unsigned value)
{
    unsigned old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(address, &old, value, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        continue;
    return old;
}

inline unsigned atomicMin(unsigned *address, unsigned value)
{
    unsigned old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (old > value && !__atomic_compare_exchange_n(address, &old, value, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        continue;
    return old;
}

#endif

// SPDX-License-Identifier: MIT
// test_emulation.cpp: is the emulation of CUDA that our kernels are tested on right itself?
// Prints what fails, and exits with 1 if anything does.
#include "emulation.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

constexpr unsigned everyone = 0xffffffffu;
int failures;

#define CHECK(Condition)                                                                           \
    do {                                                                                           \
        if (!(Condition)) {                                                                        \
            std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #Condition);                    \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/// True if all of `values` are `wanted`: kernels write what they saw, and the host checks it.
bool all_are(const std::vector<unsigned> &values, unsigned wanted)
{
    for (unsigned value : values)
        if (value != wanted)
            return false;
    return true;
}

//===--- Blocks ------------------------------------------------------------------------------===//

/// A tree over static shared memory; works for any block size.
__global__ void reduce(const unsigned *in, unsigned long long *sums)
{
    __shared__ unsigned long long partial[1024];
    const unsigned i = threadIdx.x;
    partial[i] = in[blockIdx.x * blockDim.x + i];
    for (unsigned left = blockDim.x; left > 1; left = (left + 1) / 2) {
        __syncthreads();
        if (i < left / 2)
            partial[i] += partial[i + (left + 1) / 2];
    }
    if (i == 0)
        sums[blockIdx.x] = partial[0];
}

void test_reduce()
{
    for (unsigned block : {1u, 31u, 32u, 33u, 256u, 1000u, 1024u})
        for (unsigned grid : {1u, 2u, 7u}) {
            std::vector<unsigned> in(grid * block);
            std::vector<unsigned long long> sums(grid), wanted(grid);
            for (unsigned i = 0; i < in.size(); i++)
                wanted[i / block] += in[i] = i * 2654435761u;
            emulate_launch(grid, block, 0, [&] { reduce(in.data(), sums.data()); });
            CHECK(sums == wanted);
        }
}

/// Every thread writes its neighbour's cell in turn, so that all must wait at every barrier.
__global__ void rotate(unsigned *out)
{
    DYNAMIC_SHARED(unsigned, cells);
    const unsigned i = threadIdx.x, n = blockDim.x;
    if (cells[i] != 0xA5A5A5A5u)
        __trap();
    cells[i] = i;
    for (int round = 0; round < 5; round++) {
        __syncthreads();
        const unsigned next = cells[(i + 1) % n];
        __syncthreads();
        cells[i] = next;
    }
    out[blockIdx.x * n + i] = cells[i];
}

void test_dynamic_shared()
{
    for (unsigned block : {1u, 33u, 1024u}) {
        std::vector<unsigned> out(3 * block);
        emulate_launch(3, block, block * sizeof(unsigned), [&] { rotate(out.data()); });
        bool right = true;
        for (unsigned i = 0; i < out.size(); i++)
            right &= out[i] == (i % block + 5) % block;
        CHECK(right);
    }
}

/// Two of three threads leave before the barriers, and some lanes before the warp's votes.
__global__ void leave_early(unsigned *counts, unsigned *flags)
{
    if (threadIdx.x % 3 != 0)
        return;
    const int count = __syncthreads_count(threadIdx.x % 2);
    const int any = __syncthreads_or(threadIdx.x == 99), none = __syncthreads_or(0);
    const int all = __syncthreads_and(1), not_all = __syncthreads_and(threadIdx.x != 99);
    counts[threadIdx.x / 3] = static_cast<unsigned>(count);
    flags[threadIdx.x / 3] = any && !none && all && !not_all;
    const unsigned lanes = __ballot_sync(everyone, 1);
    if (lanes == everyone || !(lanes >> threadIdx.x % 32 & 1))
        flags[threadIdx.x / 3] = 2;
}

/// One lane at a time leaves, while the others wait for all.
__global__ void crumble(unsigned *out)
{
    unsigned rounds = 0;
    for (unsigned i = 0; i <= threadIdx.x; i++)
        rounds += __ballot_sync(everyone, 1) != 0;
    out[threadIdx.x] = rounds;
}

void test_exit()
{
    std::vector<unsigned> counts(100), flags(100), rounds(50);
    emulate_launch(1, 300, 0, [&] { leave_early(counts.data(), flags.data()); });
    CHECK(all_are(counts, 50));
    CHECK(all_are(flags, 1));
    emulate_launch(1, 50, 0, [&] { crumble(rounds.data()); });
    for (unsigned i = 0; i < 50; i++)
        CHECK(rounds[i] == i + 1);
}

//===--- Warps -------------------------------------------------------------------------------===//

__global__ void shuffle(unsigned *wrong)
{
    const unsigned lane = threadIdx.x % 32;
    const unsigned long long wide = (1ull << 40) + threadIdx.x;
    unsigned sum = lane;
    for (unsigned step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(everyone, sum, static_cast<int>(step));
    unsigned errors = sum != 31 * 32 / 2;
    errors += __shfl_sync(everyone, wide, 5) != (1ull << 40) + (threadIdx.x & ~31u) + 5;
    errors += __shfl_sync(everyone, lane, 35) != 3;
    errors += __shfl_sync(everyone, lane, 1, 8) != (lane & ~7u) + 1;
    errors += __shfl_up_sync(everyone, lane, 3) != (lane < 3 ? lane : lane - 3);
    errors += __shfl_up_sync(everyone, lane, 1, 4) != (lane % 4 ? lane - 1 : lane);
    errors += __shfl_down_sync(everyone, lane, 3) != (lane > 28 ? lane : lane + 3);
    errors += __shfl_down_sync(everyone, lane, 1, 4) != (lane % 4 < 3 ? lane + 1 : lane);
    errors += __shfl_xor_sync(everyone, lane, 8, 8) != (lane & 8 ? lane ^ 8 : lane);
    errors += __shfl_sync(everyone, -1.5f * static_cast<float>(lane), 2) != -3.0f;
    wrong[threadIdx.x] = errors;
}

__global__ void vote(unsigned *wrong)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned errors = __ballot_sync(everyone, lane % 3 == 0) != 0x49249249u;
    errors += __any_sync(everyone, lane == 7) != 1 || __any_sync(everyone, 0) != 0;
    errors += __all_sync(everyone, 2) != 1 || __all_sync(everyone, lane != 7) != 0;
    errors += __match_any_sync(everyone, lane % 4) != 0x11111111u << lane % 4;
    errors += __match_any_sync(everyone, static_cast<unsigned long long>(lane) << 33) != 1u << lane;
    errors += __reduce_add_sync(everyone, 1u << 31 | lane) != 31 * 32 / 2;
    errors += __activemask() >> lane != 1;
    wrong[threadIdx.x] = errors;
}

/// The halves of a warp go separate ways, meet, and the first goes on alone.
__global__ void diverge(unsigned *wrong)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned errors = 0;
    if (lane < 16) {
        errors += __reduce_add_sync(0xffffu, lane) != 120;
        errors += __shfl_sync(0xffffu, lane, 20) != 0xA5A5A5A5u;
    } else {
        errors += __ballot_sync(0xffff0000u, 1) != 0xffff0000u;
    }
    __syncwarp();
    if (lane < 16) {
        for (int i = 0; i < 10; i++)
            __syncwarp(0xffffu);
        errors += __ballot_sync(0xffffu, lane == 3) != 8;
    }
    wrong[threadIdx.x] = errors;
}

void test_warp()
{
    std::vector<unsigned> wrong(96, 99);
    emulate_launch(1, 96, 0, [&] { shuffle(wrong.data()); });
    CHECK(all_are(wrong, 0));
    wrong.assign(96, 99);
    emulate_launch(1, 96, 0, [&] { vote(wrong.data()); });
    CHECK(all_are(wrong, 0));
    wrong.assign(96, 99);
    emulate_launch(1, 96, 0, [&] { diverge(wrong.data()); });
    CHECK(all_are(wrong, 0));
}

/// Each lane's value travels through shared memory, ordered by nothing but __syncwarp().
__global__ void through_warp(unsigned *out)
{
    __shared__ unsigned cells[33];
    cells[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = cells[threadIdx.x ^ 31];
    __syncwarp();
    cells[threadIdx.x] = 0;
}

/// The last warp has one lane: masks may name lanes that do not exist.
__global__ void lonely_lane(unsigned *out)
{
    out[threadIdx.x] = __ballot_sync(everyone, 1);
}

void test_warp_edges()
{
    std::vector<unsigned> out(33);
    emulate_launch(2, 32, 0, [&] { through_warp(out.data()); });
    for (unsigned i = 0; i < 32; i++)
        CHECK(out[i] == (i ^ 31));
    emulate_launch(1, 33, 0, [&] { lonely_lane(out.data()); });
    CHECK(out[31] == everyone && out[32] == 1);
}

//===--- Memory and arithmetic ---------------------------------------------------------------===//

struct totals {
    unsigned sum, largest, smallest, bits, locked, swapped;
    unsigned long long wide;
};

__global__ void update(totals *t, const unsigned char *bytes)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 loaded = __ldg(reinterpret_cast<const uint4 *>(bytes) + i % 4);
    atomicAdd(&t->sum, loaded.x & 0xff);
    atomicAdd_block(&t->wide, 1ull << 32);
    atomicMax(&t->largest, i);
    atomicMin(&t->smallest, i);
    atomicOr(&t->bits, 1u << i % 20);
    atomicCAS(&t->locked, 0, i + 1);
    atomicExch(&t->swapped, i + 1);
    __threadfence();
}

void test_atomics()
{
    const unsigned n = 5 * 100;
    alignas(16) unsigned char bytes[64];
    for (unsigned i = 0; i < 64; i++)
        bytes[i] = static_cast<unsigned char>(i);
    totals t = {0, 0, everyone, 0, 0, 0, 0};
    emulate_launch(5, 100, 0, [&] { update(&t, bytes); });
    CHECK(t.sum == n / 4 * (0 + 16 + 32 + 48));
    CHECK(t.wide == static_cast<unsigned long long>(n) << 32);
    CHECK(t.largest == n - 1 && t.smallest == 0 && t.bits == (1u << 20) - 1);
    CHECK(t.locked >= 1 && t.locked <= n && t.swapped >= 1 && t.swapped <= n);
}

void test_arithmetic()
{
    CHECK(__popc(0xf0f0u) == 8 && __popcll(~0ull) == 64);
    CHECK(__ffs(0) == 0 && __ffs(8) == 4 && __clz(0) == 32 && __clz(1) == 31 && __clz(-1) == 0);
    CHECK(__ffsll(1ll << 40) == 41 && __clzll(0) == 64 && __clzll(1) == 63);
    CHECK(__brev(0x00000001u) == 0x80000000u && __brev(0x12345678u) == 0x1e6a2c48u);
    CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x7531u) == 0x77553311u);
    CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x0123u) == 0x00112233u);
    CHECK(__funnelshift_l(0x89abcdefu, 0x01234567u, 8) == 0x23456789u);
    CHECK(__funnelshift_r(0x89abcdefu, 0x01234567u, 8) == 0x6789abcdu);
    CHECK(__funnelshift_l(1, 2, 32) == 2 && __funnelshift_r(1, 2, 32) == 1);
    CHECK(__dp4a(0x01020304u, 0x01010101u, 5u) == 15);
    CHECK(__dp4a(0xffffffffu, 0xffffffffu, 0u) == 4 * 255 * 255);
    CHECK(__dp4a(-1, 0x01010101, 10) == 6);
    CHECK(min(2, 3) == 2 && max(2u, 3u) == 3);
    CHECK(__umulhi(0x80000000u, 6) == 3 && __umulhi(~0u, ~0u) == ~0u - 1);
    CHECK(__umul64hi(1ull << 63, 6) == 3 && __umul64hi(~0ull, ~0ull) == ~0ull - 1);
    CHECK(__uint_as_float(0x3fc00000u) == 1.5f);
    CHECK(__float_as_uint(-1.5f) == 0xbfc00000u);
    CHECK(__longlong_as_double(0x3ff8000000000000ll) == 1.5);
    CHECK(__double_as_longlong(-0.0) == static_cast<long long>(1ull << 63));
    CHECK(__fadd_rn(0x1p24f, 1) == 0x1p24f && __fadd_rn(0x1p24f, 3) == 0x1p24f + 4);
    // One rounding each: fused, the square of 1 + 2^-30 would leave 2^-60 of itself.
    const double near_one = 1 + 0x1p-30;
    CHECK(__dadd_rn(__dmul_rn(near_one, near_one), -(1 + 0x1p-29)) == 0);
}

//===--- Order -------------------------------------------------------------------------------===//

/// Gives the order in which 64 threads come to an atomic after a barrier.
std::vector<unsigned> order_of_run()
{
    std::vector<unsigned> order(64);
    unsigned next = 0;
    emulate_launch(1, 64, 0, [&] {
        __syncthreads();
        order[atomicAdd(&next, 1)] = threadIdx.x;
    });
    return order;
}

void test_order()
{
    emulate_seed(0);
    const std::vector<unsigned> natural = order_of_run();
    bool sorted = true;
    for (unsigned i = 0; i < 64; i++)
        sorted &= natural[i] == i;
    CHECK(sorted);
    emulate_seed(1);
    const std::vector<unsigned> first = order_of_run();
    CHECK(first != natural);
    CHECK(order_of_run() == first);
    emulate_seed(2);
    CHECK(order_of_run() != first);
}

/// Two OS threads at once, with kernels that share no static memory.
void test_two_machines()
{
    unsigned long long total = 0;
    const auto work = [&total] {
        for (int i = 0; i < 20; i++)
            emulate_launch(3, 64, 64 * sizeof(unsigned), [&total] {
                DYNAMIC_SHARED(unsigned, cells);
                cells[threadIdx.x] = threadIdx.x;
                __syncthreads();
                atomicAdd(&total, static_cast<unsigned long long>(cells[63 - threadIdx.x]));
            });
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    CHECK(total == 2ull * 20 * 3 * (63 * 64 / 2));
}

//===--- Failure -----------------------------------------------------------------------------===//

/// A kernel that must abort when 40 threads run it, and what it must say (the second may be empty).
struct fatal_kernel {
    void (*body)();
    const char *says, *says_too;
};

const fatal_kernel fatal_kernels[] = {
    {[] {
         if (threadIdx.x < 8)
             __syncthreads();
         else
             __shfl_sync(everyone, 1, 0);
     },
     "threads 0 to 7: wait in __syncthreads",
     "threads 8 to 31: wait in a shuffle, mask 0xffffffff"},
    {[] {
         if (threadIdx.x < 32)
             __syncwarp(threadIdx.x < 16 ? everyone : 0xffffff00u);
     },
     "threads 0 to 15: wait in __syncwarp, mask 0xffffffff", "threads 32 to 39: have exited"},
    {[] { __ballot_sync(1u << (threadIdx.x + 1) % 32, 1); }, "does not name the calling lane",
     "block 0"},
    {[] {
         DYNAMIC_SHARED(unsigned char, bytes);
         __ldg(reinterpret_cast<unsigned *>(bytes + (threadIdx.x == 9)));
     },
     "thread 9: a load from a misaligned address", ""},
    {[] { emulate_launch(1, 1, 0, [] {}); }, "a kernel launches a kernel", ""},
    {[] {
         if (threadIdx.x == 5)
             __trap();
     },
     "thread 5: __trap()", ""},
};

/// Runs one of them; returns only if it does not abort.
void run_fatal_kernel(const char *index, const char *seed)
{
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    emulate_seed(static_cast<unsigned>(std::atoi(seed)));
    emulate_launch(1, 40, 16, fatal_kernels[std::atoi(index)].body);
}

/// Runs this program with the arguments `fatal`, `index` and `seed`; gives what it printed before
/// it aborted, or an empty string if it did not abort. (A mere fork would not do: after it,
/// ThreadSanitizer is not itself any more.)
std::string last_words(std::size_t index, unsigned seed)
{
    int ends[2];
    if (pipe(ends))
        return "";
    const std::string number = std::to_string(index), order = std::to_string(seed);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        execl("/proc/self/exe", "test_emulation", "fatal", number.c_str(), order.c_str(), nullptr);
        _exit(127);
    }
    close(ends[1]);
    std::string words;
    char buffer[512];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
        words.append(buffer, static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    const bool died = waitpid(child, &status, 0) == child && WIFSIGNALED(status);
    return died && WTERMSIG(status) == SIGABRT ? words : "";
}

void test_fatal(unsigned seed)
{
    for (std::size_t i = 0; i < sizeof fatal_kernels / sizeof *fatal_kernels; i++) {
        const std::string words = last_words(i, seed);
        const bool right = words.find(fatal_kernels[i].says) != std::string::npos &&
                           words.find(fatal_kernels[i].says_too) != std::string::npos;
        CHECK(right && words.find("data race") == std::string::npos);
        if (!right)
            std::printf("wanted: %s\nprinted: %s\n", fatal_kernels[i].says, words.c_str());
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc > 3 && std::string(argv[1]) == "fatal") {
        run_fatal_kernel(argv[2], argv[3]);
        return 0;
    }
    for (unsigned seed = 0; seed < 4; seed++) {
        emulate_seed(seed);
        test_reduce();
        test_dynamic_shared();
        test_exit();
        test_warp();
        test_warp_edges();
        test_atomics();
        test_two_machines();
        test_fatal(seed);
        if (failures) {
            std::printf("with seed %u\n", seed);
            return 1;
        }
    }
    test_arithmetic();
    test_order();
    return failures != 0;
}

// SPDX-License-Identifier: MIT
// emulation.cpp: the fibers of emulation.h, and what they wait for.
//
// All that belongs to one OS thread is a `machine`. Its fibers are made when a launch first needs
// them and then kept: each loops, running the body of one launch after the other. A fiber that has
// to wait goes straight to the next one that can run; the last to exit returns to the launcher.

// With it, glibc's longjmp refuses to go to another stack. It must go before any header.
#undef _FORTIFY_SOURCE

#include "emulation.h"

#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(Feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define WITH_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define WITH_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#include <sanitizer/tsan_interface.h>
#else
#define WITH_TSAN 0
#endif

// Where the ABI is known, a switch saves the few registers that a function must keep, and no more.
// The sanitizers do not look into it, while they take longjmp() for one within a stack, and
// swapcontext() makes two system calls.
#if defined(__x86_64__) && defined(__linux__)
#define QUICK_SWITCH 1
#else
#define QUICK_SWITCH 0
#endif

#if QUICK_SWITCH
/// Leaves the running stack, whose place goes to *from, for the one that was left at `to`.
extern "C" void emulated_switch(void **from, void *to);
asm(".pushsection .text\n"
    ".type emulated_switch, @function\n"
    "emulated_switch:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size emulated_switch, . - emulated_switch\n"
    ".popsection\n");
#endif

// To ThreadSanitizer fibers are threads if GPUHISTO_RACES says so, and going from one to another
// orders nothing, so that it sees the races of the kernels. It must not see ours: what works on a
// machine is marked with this.
#define UNSEEN __attribute__((no_sanitize_thread))

namespace
{

constexpr unsigned max_threads = 1024;
constexpr unsigned launcher = max_threads; // the launcher's place among the fibers
constexpr std::size_t max_dynamic_shared = 227 * 1024;
constexpr std::size_t guard_size = 64 * 1024; // at least a page everywhere
// Sanitizers make frames larger. Untouched pages cost nothing.
constexpr std::size_t stack_size = WITH_ASAN || WITH_TSAN ? 256 * 1024 : 64 * 1024;
constexpr std::uint64_t undefined_result = 0xA5A5A5A5A5A5A5A5;

/// A stack, and where it was left.
struct fiber {
#if QUICK_SWITCH
    void *place; // the stack's end, where emulated_switch() has put registers
#else
    ucontext_t context;
    std::jmp_buf place;
    bool started; // `place` is valid
#endif
    char *mapping;     // guard, then stack; null for the launcher and for fibers not made yet
    const void *stack; // as AddressSanitizer wants them
    std::size_t size;
    void *fake_stack;
    void *sanitizer_thread; // ThreadSanitizer's
};

enum class state { fresh, running, ready, at_barrier, in_warp, exited };

/// What a thread of the block is doing.
struct waiter {
    state now;
    warp_operation operation; // these four: while in_warp
    unsigned mask;
    unsigned source;
    std::uint64_t value;
    std::uint64_t result; // of the last collective
    char signal;          // its address stands for "may go on" to ThreadSanitizer
};

struct warp {
    unsigned live;    // lanes that have not exited
    unsigned waiting; // lanes in_warp
};

struct machine {
    fiber fibers[max_threads + 1];
    waiter waiters[max_threads];
    warp warps[max_threads / 32];
    unsigned ready[max_threads]; // a ring of `ready_count` threads from `ready_head` on
    unsigned ready_head, ready_count;
    unsigned current;               // the running fiber
    fiber *left;                    // the one that ran before
    unsigned live;                  // threads that have not exited
    unsigned arrived, arrived_true; // at the barrier; those with a true predicate
    std::uint64_t random;           // 0: natural order
    const std::function<void()> *body;
    void *dynamic_shared;
    std::size_t dynamic_shared_bytes;

    machine() = default;
    machine(const machine &) = delete;
    machine &operator=(const machine &) = delete;
    ~machine();
};

std::atomic<unsigned> seed{0};
thread_local std::unique_ptr<machine> owned; // ends with its OS thread
__thread machine *launched;                  // `owned` during a launch, else null; quick to get
#if WITH_TSAN
const bool seen_as_threads = std::getenv("GPUHISTO_RACES") != nullptr;
#endif

} // namespace

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;

//===--- What goes wrong ---------------------------------------------------------------------===//

UNSEEN void emulated_failure(const char *message)
{
    std::fprintf(stderr, "emulation: block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, message);
    std::abort();
}

namespace
{

UNSEEN const char *name_of(warp_operation operation)
{
    switch (operation) {
    case warp_operation::sync:
        return "__syncwarp";
    case warp_operation::shuffle:
        return "a shuffle";
    case warp_operation::vote:
        return "__ballot_sync, __any_sync or __all_sync";
    case warp_operation::match:
        return "__match_any_sync";
    case warp_operation::sum:
        return "__reduce_add_sync";
    case warp_operation::none:
        break;
    }
    return "nothing";
}

/// True if thread `a` and thread `b` wait for the same thing: one line of the message is enough.
UNSEEN bool wait_alike(const machine &m, unsigned a, unsigned b)
{
    const waiter &left = m.waiters[a], &right = m.waiters[b];
    if (left.now != right.now || left.now != state::in_warp)
        return left.now == right.now;
    return a / 32 == b / 32 && left.operation == right.operation && left.mask == right.mask;
}

/// Says what the threads wait for, one line for each run of threads that wait alike, and aborts.
[[noreturn]] UNSEEN void deadlock(const machine &m)
{
    std::fprintf(stderr, "emulation: deadlock in block %u: no thread can go on\n", blockIdx.x);
    for (unsigned first = 0, end; first < blockDim.x; first = end) {
        for (end = first + 1; end < blockDim.x && wait_alike(m, first, end);)
            end++;
        const waiter &w = m.waiters[first];
        std::fprintf(stderr, "emulation: block %u, threads %u to %u: ", blockIdx.x, first, end - 1);
        if (w.now == state::at_barrier)
            std::fprintf(stderr, "wait in __syncthreads\n");
        else if (w.now == state::in_warp)
            std::fprintf(stderr, "wait in %s, mask 0x%08x\n", name_of(w.operation), w.mask);
        else
            std::fprintf(stderr, "have exited\n");
    }
    std::abort();
}

/// The machine of the running launch; aborts when there is none.
UNSEEN machine &running_machine()
{
    if (!launched)
        emulated_failure("a CUDA built-in is used outside of emulate_launch()");
    return *launched;
}

//===--- Fibers ------------------------------------------------------------------------------===//

/// To be called first by whoever has just been switched to.
UNSEEN void has_arrived([[maybe_unused]] machine &m)
{
#if WITH_ASAN
    // What it says about the fiber that was left is news only when that was the launcher.
    fiber &self = m.fibers[m.current];
    __sanitizer_finish_switch_fiber(self.fake_stack, &m.left->stack, &m.left->size);
#endif
}

/// Leaves `from`, the running fiber, for `to`; returns when somebody switches to `from`.
UNSEEN void switch_to(machine &m, fiber &from, fiber &to)
{
    m.left = &from;
#if WITH_ASAN
    __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.size);
#endif
#if WITH_TSAN
    if (seen_as_threads)
        __tsan_switch_to_fiber(to.sanitizer_thread, __tsan_switch_to_fiber_no_sync);
#endif
#if QUICK_SWITCH
    emulated_switch(&from.place, to.place);
#elif WITH_ASAN || WITH_TSAN
    // Both intercept longjmp, and would take it for one within a stack.
    swapcontext(&from.context, &to.context);
#else
    // swapcontext() makes a system call each time; _setjmp() and _longjmp() do not.
    if (_setjmp(from.place) == 0) {
        from.started = true;
        if (to.started)
            _longjmp(to.place, 1);
        setcontext(&to.context);
    }
#endif
    has_arrived(m);
}

/// Takes the next thread that can run from the ring.
UNSEEN unsigned take_ready(machine &m)
{
    unsigned &head = m.ready[m.ready_head];
    if (m.random) {
        m.random ^= m.random << 13; // xorshift64
        m.random ^= m.random >> 7;
        m.random ^= m.random << 17;
        const unsigned chosen = static_cast<unsigned>((m.random >> 32) * m.ready_count >> 32);
        unsigned &other = m.ready[(m.ready_head + chosen) % max_threads];
        const unsigned thread = other;
        other = head;
        head = thread;
    }
    m.ready_head = (m.ready_head + 1) % max_threads;
    m.ready_count--;
    return head;
}

UNSEEN void make_ready(machine &m, unsigned thread)
{
    m.waiters[thread].now = state::ready;
    m.ready[(m.ready_head + m.ready_count++) % max_threads] = thread;
}

/// True if `from` has exited and `to` has not begun: the same stack, which is in a cache, can serve
/// both.
UNSEEN bool may_take_over([[maybe_unused]] const machine &m, [[maybe_unused]] unsigned from,
                          [[maybe_unused]] unsigned to)
{
#if !QUICK_SWITCH
    return false; // a context has pointers into itself
#else
#if WITH_TSAN
    if (seen_as_threads)
        return false;
#endif
    return from != launcher && to != launcher && m.waiters[from].now == state::exited &&
           m.waiters[to].now == state::fresh;
#endif
}

/// Lets another thread run, or the launcher when all have exited; returns when the caller, which
/// may be the launcher too, is to go on. One that has exited may go on as another thread.
UNSEEN void run_another(machine &m)
{
    if (m.ready_count == 0 && m.live > 0)
        deadlock(m);
    const unsigned from = m.current, to = m.live > 0 ? take_ready(m) : launcher;
    const bool takes_over = may_take_over(m, from, to);
    if (to != launcher) {
        m.waiters[to].now = state::running;
        threadIdx.x = to;
    }
    if (to == from)
        return;
    m.current = to;
    if (takes_over)
        std::swap(m.fibers[from], m.fibers[to]);
    else
        switch_to(m, m.fibers[from], m.fibers[to]);
}

//===--- Waiting -----------------------------------------------------------------------------===//

// Memory accesses are ordered for ThreadSanitizer in two steps: who completes a barrier acquires
// what all threads at it have released, and only then releases to each of them. With one step, all
// on one address, a thread that has long gone on and come to the next barrier would seem to be in
// order with one that has not gone on yet, which hides most races.

UNSEEN void release([[maybe_unused]] void *address)
{
#if WITH_TSAN
    if (seen_as_threads)
        __tsan_release(address);
#endif
}

UNSEEN void acquire([[maybe_unused]] void *address)
{
#if WITH_TSAN
    if (seen_as_threads)
        __tsan_acquire(address);
#endif
}

/// Lets all go on when the last one that does not exit has come.
UNSEEN void try_barrier(machine &m)
{
    if (m.arrived == 0 || m.arrived < m.live)
        return;
    const unsigned result = m.arrived_true;
    m.arrived = m.arrived_true = 0;
    acquire(&m.arrived);
    for (unsigned i = 0; i < blockDim.x; i++) {
        if (m.waiters[i].now != state::at_barrier)
            continue;
        m.waiters[i].result = result;
        release(&m.waiters[i].signal);
        make_ready(m, i);
    }
}

/// Gives what the operation of the lanes `members` of the warp that begins at `lanes` gives to
/// `lane`.
UNSEEN std::uint64_t result_of(const waiter *lanes, unsigned members, unsigned lane)
{
    const waiter &w = lanes[lane];
    std::uint64_t result = 0;
    if (w.operation == warp_operation::shuffle)
        return members >> w.source & 1 ? lanes[w.source].value : undefined_result;
    for (unsigned rest = members; rest; rest &= rest - 1) {
        const unsigned other = static_cast<unsigned>(__builtin_ctz(rest));
        const std::uint64_t value = lanes[other].value;
        if (w.operation == warp_operation::vote)
            result |= value << other;
        else if (w.operation == warp_operation::match)
            result |= static_cast<std::uint64_t>(value == w.value) << other;
        else if (w.operation == warp_operation::sum)
            result += value;
    }
    return result;
}

/// Lets the lanes go on that take part in the collective which `thread` waits in, if all are there.
UNSEEN void try_warp(machine &m, unsigned thread)
{
    waiter *const lanes = &m.waiters[thread & ~31u];
    warp &in = m.warps[thread / 32];
    const waiter &asking = m.waiters[thread];
    const unsigned members = asking.mask & in.live;
    if ((in.waiting & members) != members)
        return;
    for (unsigned rest = members; rest; rest &= rest - 1) {
        const waiter &other = lanes[__builtin_ctz(rest)];
        if (other.operation != asking.operation || other.mask != asking.mask)
            return;
    }
    in.waiting &= ~members;
    const bool orders = asking.operation == warp_operation::sync;
    for (unsigned rest = orders ? members : 0; rest; rest &= rest - 1)
        acquire(&lanes[__builtin_ctz(rest)].value);
    for (unsigned rest = members; rest; rest &= rest - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        lanes[lane].result = result_of(lanes, members, lane);
        if (orders)
            release(&lanes[lane].signal);
        make_ready(m, (thread & ~31u) + lane);
    }
}

/// The running thread has returned from the kernel: those who wait need not wait for it any more.
UNSEEN void exit_thread(machine &m)
{
    const unsigned thread = m.current;
    warp &in = m.warps[thread / 32];
    m.waiters[thread].now = state::exited;
    m.live--;
    in.live &= ~(1u << thread % 32);
    try_barrier(m);
    for (unsigned rest = in.waiting; rest; rest &= rest - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        if (in.waiting >> lane & 1) // it may have gone on with one before it
            try_warp(m, (thread & ~31u) + lane);
    }
}

/// What a fiber does all its life: it runs its thread of a block, and waits for the next block.
[[noreturn]] UNSEEN void fiber_main() noexcept
{
    machine &m = *launched;
    has_arrived(m);
    for (;;) {
        acquire(&m.body);
        (*m.body)();
        release(&m.live);
        exit_thread(m);
        run_another(m);
    }
}

//===--- Making and running ------------------------------------------------------------------===//

void make_fiber(fiber &f)
{
    void *const mapping = mmap(nullptr, guard_size + stack_size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED || mprotect(mapping, guard_size, PROT_NONE))
        emulated_failure("no memory for a stack");
    f.mapping = static_cast<char *>(mapping);
    f.stack = f.mapping + guard_size;
    f.size = stack_size;
#if QUICK_SWITCH
    // As emulated_switch() leaves a stack: six registers, and where it returns to. fiber_main()
    // finds the stack as after a call: a return address, 0, at 8 below a multiple of 16.
    std::uintptr_t *const top =
        reinterpret_cast<std::uintptr_t *>(f.mapping + guard_size + stack_size) - 3;
    top[-1] = reinterpret_cast<std::uintptr_t>(fiber_main);
    f.place = top - 7;
#else
    if (getcontext(&f.context))
        emulated_failure("no memory for a stack");
    f.context.uc_stack.ss_sp = f.mapping + guard_size;
    f.context.uc_stack.ss_size = stack_size;
    f.context.uc_link = nullptr;
    makecontext(&f.context, fiber_main, 0);
#if WITH_ASAN
    // At every swapcontext() AddressSanitizer would mark this stack as free of red zones.
    f.context.uc_stack.ss_size = 0;
#endif
#endif
#if WITH_TSAN
    if (seen_as_threads)
        f.sanitizer_thread = __tsan_create_fiber(0);
#endif
}

machine::~machine()
{
    for (fiber &f : fibers) {
        if (!f.mapping)
            continue;
#if WITH_TSAN
        if (seen_as_threads)
            __tsan_destroy_fiber(f.sanitizer_thread);
#endif
#if WITH_ASAN
        // The fiber never returned, and the red zones of its frames are not for the next mapping.
        __asan_unpoison_memory_region(f.stack, f.size);
#endif
        munmap(f.mapping, guard_size + stack_size);
    }
    std::free(dynamic_shared);
}

/// Gets the machine and as much dynamic shared memory and as many fibers as the launch needs.
machine &prepare(unsigned block, std::size_t dynamic_shared_bytes)
{
    if (!owned)
        owned.reset(new machine());
    machine &m = *owned;
    for (unsigned i = 0; i < block; i++)
        if (!m.fibers[i].mapping)
            make_fiber(m.fibers[i]);
#if WITH_TSAN
    if (seen_as_threads)
        m.fibers[launcher].sanitizer_thread = __tsan_get_current_fiber();
#endif
    // Exactly that large, so that AddressSanitizer sees who goes beyond it.
    if (m.dynamic_shared_bytes != dynamic_shared_bytes) {
        std::free(m.dynamic_shared);
        if (posix_memalign(&m.dynamic_shared, 128, dynamic_shared_bytes))
            emulated_failure("no memory for dynamic shared memory");
        m.dynamic_shared_bytes = dynamic_shared_bytes;
    }
    return m;
}

/// Runs all threads of the block that blockIdx names.
UNSEEN void run_block(machine &m)
{
    if (m.dynamic_shared_bytes)
        std::memset(m.dynamic_shared, 0xA5, m.dynamic_shared_bytes);
    m.ready_head = m.ready_count = 0;
    m.arrived = m.arrived_true = 0;
    m.live = blockDim.x;
    for (unsigned first = 0; first < m.live; first += 32) {
        const unsigned lanes = m.live - first;
        m.warps[first / 32] = warp{lanes < 32 ? (1u << lanes) - 1 : ~0u, 0};
    }
    for (unsigned i = 0; i < m.live; i++) {
        make_ready(m, i);
        m.waiters[i].now = state::fresh;
    }
    m.current = launcher;
    release(&m.body);
    run_another(m);
    acquire(&m.live);
}

} // namespace

//===--- What the header declares ------------------------------------------------------------===//

UNSEEN unsigned emulated_barrier(bool predicate)
{
    machine &m = running_machine();
    waiter &self = m.waiters[m.current];
    self.now = state::at_barrier;
    m.arrived++;
    m.arrived_true += predicate;
    release(&m.arrived);
    try_barrier(m);
    run_another(m);
    acquire(&self.signal);
    return static_cast<unsigned>(self.result);
}

UNSEEN std::uint64_t emulated_warp(warp_operation operation, unsigned mask, std::uint64_t value,
                                   unsigned source)
{
    machine &m = running_machine();
    waiter &self = m.waiters[m.current];
    const unsigned own = 1u << m.current % 32;
    if (!(mask & own))
        emulated_failure("the mask of a warp collective does not name the calling lane");
    self.now = state::in_warp;
    self.operation = operation;
    self.mask = mask;
    self.value = value;
    self.source = source;
    m.warps[m.current / 32].waiting |= own;
    if (operation == warp_operation::sync)
        release(&self.value);
    try_warp(m, m.current);
    run_another(m);
    if (operation == warp_operation::sync)
        acquire(&self.signal);
    return self.result;
}

void emulate_launch(unsigned grid, unsigned block, std::size_t dynamic_shared_bytes,
                    const std::function<void()> &body)
{
    if (launched)
        emulated_failure("a kernel launches a kernel");
    if (grid < 1 || block < 1 || block > max_threads || dynamic_shared_bytes > max_dynamic_shared)
        emulated_failure("emulate_launch() with a wrong size of grid, block or shared memory");
    machine &m = prepare(block, dynamic_shared_bytes);
    m.body = &body;
    m.random = seed * std::uint64_t{0x9E3779B97F4A7C15}; // 0 for 0 only, as the factor is odd
    launched = &m;
    gridDim = dim3(grid);
    blockDim = dim3(block);
    const unsigned first = static_cast<unsigned>((m.random >> 32) % grid);
    for (unsigned i = 0; i < grid; i++) {
        blockIdx.x = static_cast<unsigned>((std::uint64_t{first} + i) % grid);
        run_block(m);
    }
    launched = nullptr;
}

void emulate_seed(unsigned value)
{
    seed = value;
}

UNSEEN void *emulated_dynamic_shared()
{
    return running_machine().dynamic_shared;
}

// SPDX-License-Identifier: MIT
// The stages that make the content of a batch of gzip, after place. It is cut into segments, units
// in a row of some 512 KiB (GZIP_SEGMENT):
//
// - copy makes symbols of each segment: bytes, or which of the 32 KiB before the segment they are
//   copied from (GZIP_FROM_WINDOW);
// - windows makes these 32 KiB of each segment, one after the other;
// - resolve replaces symbols by bytes;
// - crc and verify check the content of members.
#ifndef GPUHISTO_GPU_DECODE_GZIP_CONTENT_CUH
#define GPUHISTO_GPU_DECODE_GZIP_CONTENT_CUH

#include "gpu/decode/stages.h"
#include "gpu/decode/tile.cuh"

#include <climits>
#include <cstddef>

DEVICE_INLINE unsigned gzip_segment_count(const decode_batch &batch)
{
    return batch.outcome[batch.counts->blocks - 1].content_at / GZIP_SEGMENT + 1;
}

// Returns where the content of the index-th segment begins; for the number of segments, where all
// content ends.
DEVICE_INLINE unsigned gzip_segment_begin(const decode_batch &batch, unsigned index, unsigned count)
{
    return index < count ? batch.outcome[batch.gzip.segments[index]].content_at
                         : batch.verdict->content;
}

// Returns the byte that a symbol stands for.
DEVICE_INLINE unsigned gzip_byte_of(unsigned symbol, const unsigned char *window)
{
    return symbol & GZIP_FROM_WINDOW ? window[symbol & (GZIP_WINDOW - 1)] : symbol;
}

// --- copy ---
//
// Takes what all stages before it give; gives batch.gzip.symbols, and refuses units with a distance
// that reaches beyond the member.
//
// Each segment has a CUDA block, which goes through it tile by tile (tile.cuh). A match copies
// symbols unchanged.

constexpr unsigned GZIP_COPY_THREADS = 512; // of a tile
constexpr unsigned GZIP_COPY_TOGETHER = 8;  // bytes that each of them fills at a time

// Copies the segments, each by a CUDA block. Two of 512 threads leave each thread 64 registers.
static __global__ void __launch_bounds__(GZIP_COPY_THREADS, 1024 / GZIP_COPY_THREADS)
    gzip_copy(decode_batch batch)
{
    DYNAMIC_SHARED(decode_piece, shared);
    __shared__ unsigned next;
    uint16_t *const symbols = batch.gzip.symbols;
    if (tile_is_refused(batch))
        return;
    const unsigned count = gzip_segment_count(batch);
    if (blockIdx.x >= count)
        return;
    const unsigned begin = batch.gzip.segments[blockIdx.x];
    const unsigned end =
        blockIdx.x + 1 < count ? batch.gzip.segments[blockIdx.x + 1] : batch.counts->blocks;
    const int segment = static_cast<int>(batch.outcome[begin].content_at);
    const auto fill = [=](const decode_tile &tile, unsigned first,
                          unsigned(&links)[DECODE_TILE_EACH]) {
        const int base = static_cast<int>(tile.content_at + tile.begin);
        const auto symbol = [=](unsigned &link) {
            const int source = static_cast<int>(link);
            if (source < segment)
                link = DECODE_VALUE | GZIP_FROM_WINDOW |
                       static_cast<unsigned>(source - segment + static_cast<int>(GZIP_WINDOW));
            else if (source < base)
                link = DECODE_VALUE | symbols[source];
        };
        tile_fill<GZIP_COPY_TOGETHER>(tile, first, nullptr, INT_MIN, links, symbol);
    };
    for (unsigned index = begin; index < end; index++)
        if (tile_copy_block<GZIP_COPY_THREADS>(batch, index, shared, &next, symbols, fill))
            return;
}

// --- windows ---
//
// Takes batch.gzip.symbols, and the content before the batch; gives the last GZIP_WINDOW bytes of
// each segment but the last, in batch.out.
//
// One CUDA block goes from segment to segment: the window of the next one is the end of this one,
// whose symbols are looked up in its own window. That takes a few microseconds for each, while the
// rest of the device does other work. Shared memory: two windows.

constexpr unsigned GZIP_WINDOWS_THREADS = 1024;
constexpr unsigned GZIP_WINDOWS_EACH = GZIP_WINDOW / GZIP_WINDOWS_THREADS;
constexpr unsigned GZIP_WINDOWS_TOGETHER = 16; // symbols that a thread loads at a time
constexpr unsigned GZIP_WINDOWS_SHARED = 2 * GZIP_WINDOW;

// Loads the window before the batch: the bytes that were kept, and zeros, as nobody may have
// written the others.
DEVICE_INLINE void gzip_first_window(const decode_batch &batch, unsigned char *window)
{
    const unsigned kept = min(decode_carry_of(&batch)->kept, unsigned{GZIP_WINDOW});
    const unsigned char *const from = batch.out - GZIP_WINDOW;
    for (unsigned i = threadIdx.x; i < GZIP_WINDOW; i += blockDim.x)
        window[i] = i + kept >= GZIP_WINDOW ? from[i] : static_cast<unsigned char>(0);
}

static __global__ void __launch_bounds__(GZIP_WINDOWS_THREADS) gzip_windows(decode_batch batch)
{
    DYNAMIC_SHARED(unsigned char, windows);
    if (batch.verdict->refused != DECODE_NONE)
        return;
    const unsigned count = gzip_segment_count(batch);
    unsigned char *window = windows, *next = windows + GZIP_WINDOW;
    gzip_first_window(batch, window);
    __syncthreads();
    for (unsigned i = 0; i + 1 < count; i++) {
        // The next segment's window is made from this one's; bytes of this segment are written.
        const int begin = static_cast<int>(gzip_segment_begin(batch, i, count));
        const int end = static_cast<int>(gzip_segment_begin(batch, i + 1, count));
        const int first = end - static_cast<int>(GZIP_WINDOW) + static_cast<int>(threadIdx.x);
        UNROLL_BY(1)
        for (unsigned group = 0; group < GZIP_WINDOWS_EACH; group += GZIP_WINDOWS_TOGETHER) {
            unsigned symbols[GZIP_WINDOWS_TOGETHER];
            UNROLL for (unsigned k = 0; k < GZIP_WINDOWS_TOGETHER; k++)
            {
                const int at = first + static_cast<int>((group + k) * GZIP_WINDOWS_THREADS);
                symbols[k] =
                    at >= begin
                        ? batch.gzip.symbols[at]
                        : GZIP_FROM_WINDOW |
                              static_cast<unsigned>(at - begin + static_cast<int>(GZIP_WINDOW));
            }
            UNROLL for (unsigned k = 0; k < GZIP_WINDOWS_TOGETHER; k++)
            {
                const unsigned position = threadIdx.x + (group + k) * GZIP_WINDOWS_THREADS;
                const int at = first + static_cast<int>((group + k) * GZIP_WINDOWS_THREADS);
                const auto byte = static_cast<unsigned char>(gzip_byte_of(symbols[k], window));
                next[position] = byte;
                if (at >= begin)
                    batch.out[at] = byte;
            }
        }
        unsigned char *const used = window;
        window = next;
        next = used;
        __syncthreads();
    }
}

// --- resolve ---
//
// Takes batch.gzip.symbols, and the windows, which are in batch.out; gives the rest of it.
//
// A CUDA block has a piece of the content, and the window of the segment around it in shared
// memory. Its threads have some bytes in a row, at a multiple of their number, so that symbols are
// loaded and bytes stored by whole words.

constexpr unsigned GZIP_RESOLVE_THREADS = 512;
constexpr unsigned GZIP_RESOLVE_PIECE = 1u << 16; // bytes; less than any segment but the last
constexpr unsigned GZIP_RESOLVE_EACH = 8;         // bytes in a row

// Loads the window before a segment. Returns where in `memory` it begins. What stands around it may
// not be written yet, so its ends are loaded byte by byte.
DEVICE_INLINE const unsigned char *gzip_load_window(const decode_batch &batch, unsigned segment,
                                                    unsigned char *memory)
{
    if (segment == 0) {
        gzip_first_window(batch, memory);
        return memory;
    }
    const unsigned char *const from =
        batch.out + static_cast<int>(segment) - static_cast<int>(GZIP_WINDOW);
    const unsigned shift = static_cast<unsigned>(reinterpret_cast<uintptr_t>(from) % 16);
    const unsigned end = GZIP_WINDOW + shift;
    for (unsigned i = 16 * threadIdx.x; i < end; i += 16 * GZIP_RESOLVE_THREADS) {
        if (i >= shift && i + 16 <= end)
            copy_16(memory + i, from - shift + i);
        else
            for (unsigned k = max(i, shift); k < min(i + 16, end); k++)
                memory[k] = from[k - shift];
    }
    copies_end_group();
    copies_wait<0>();
    return memory + shift;
}

static __global__ void __launch_bounds__(GZIP_RESOLVE_THREADS) gzip_resolve(decode_batch batch)
{
    __shared__ __align__(16) unsigned char memory[GZIP_WINDOW + 16];
    constexpr unsigned each = GZIP_RESOLVE_EACH;
    if (batch.verdict->refused != DECODE_NONE)
        return;
    const unsigned count = gzip_segment_count(batch), content = batch.verdict->content;
    const unsigned pieces = (content + GZIP_RESOLVE_PIECE - 1) / GZIP_RESOLVE_PIECE;
    for (unsigned piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
        unsigned at = piece * GZIP_RESOLVE_PIECE;
        const unsigned piece_end = min(at + GZIP_RESOLVE_PIECE, content);
        // The segment around its first byte is that of this number, or the one before.
        unsigned index = min(at / GZIP_SEGMENT, count - 1);
        if (gzip_segment_begin(batch, index, count) > at)
            index--;
        for (; at < piece_end; index++) {
            const unsigned segment = gzip_segment_begin(batch, index, count);
            const unsigned next = gzip_segment_begin(batch, index + 1, count);
            const unsigned end = min(piece_end, next);
            // From `written` on bytes were written with the windows.
            const unsigned written = index + 1 < count ? max(segment, next - GZIP_WINDOW) : content;
            const unsigned resolved_end = min(end, written);
            __syncthreads(); // whoever still uses the window before
            const unsigned char *const window = gzip_load_window(batch, segment, memory);
            __syncthreads();
            const auto two_bytes = [=](unsigned two) {
                return gzip_byte_of(two & 0xffff, window) | gzip_byte_of(two >> 16, window) << 8;
            };
            UNROLL_BY(4)
            for (unsigned i = at / each * each + each * threadIdx.x; i < end;
                 i += each * GZIP_RESOLVE_THREADS) {
                if (i >= at && i + each <= resolved_end) {
                    const uint4 symbols = *reinterpret_cast<const uint4 *>(batch.gzip.symbols + i);
                    const uint2 bytes = {two_bytes(symbols.x) | two_bytes(symbols.y) << 16,
                                         two_bytes(symbols.z) | two_bytes(symbols.w) << 16};
                    *reinterpret_cast<uint2 *>(batch.out + i) = bytes;
                    continue;
                }
                for (unsigned k = max(i, at); k < min(i + each, resolved_end); k++)
                    batch.out[k] =
                        static_cast<unsigned char>(gzip_byte_of(batch.gzip.symbols[k], window));
            }
            at = end;
        }
    }
}

// --- crc ---
//
// A CRC is a polynomial modulo another one, over bits, so it can be put together from parts: that
// of two messages in a row is that of the first, multiplied by x once for each bit of the second,
// plus (exclusive or) that of the second. CRC-32 begins and ends with 32 bits that are set (RFC
// 1952), which only verify adds.
//
// Takes the content and where units and frames are in it; adds to members[].crc, which begin as 0.
//
// CUDA blocks take one unit after the other, in rows of a word for each thread. A thread has one
// word of each row: from one row to the next its sum is multiplied by x^(32 * threads), by a table
// of each of its four bytes. In the end each sum is multiplied by what comes after it in a row, and
// all of them by what comes after the unit in the member. Zeros before a message do not matter, so
// rows begin at whole words. Zeros after it are taken off: x^-1 is x^(2^32 - 2).
//
// Shared memory: the tables, 4 KiB.

constexpr unsigned GZIP_CRC_THREADS = 256;
constexpr unsigned GZIP_CRC_UNIT = 32u << 10; // bytes of a usual unit

// Polynomials have the coefficient of x^0 in the highest bit. This one is x^32.
constexpr unsigned GZIP_CRC_POLYNOMIAL = 0xedb88320;
constexpr unsigned GZIP_CRC_ONE = 1u << 31;

// Returns the product of two polynomials.
DECODE_ON_BOTH constexpr unsigned gzip_crc_times(unsigned a, unsigned b)
{
    unsigned product = 0;
    UNROLL for (unsigned i = 0; i < 32; i++)
    {
        product ^= b & (0 - (a >> (31 - i) & 1));
        b = b >> 1 ^ (GZIP_CRC_POLYNOMIAL & (0 - (b & 1)));
    }
    return product;
}

struct gzip_crc_tables {
    unsigned row[4][256];             // byte i of a sum, multiplied by x^(32 * threads)
    unsigned after[GZIP_CRC_THREADS]; // x^32, multiplied by x^32 for each thread after this one
    unsigned power[32];               // x^(2^i)
};

constexpr gzip_crc_tables gzip_crc_make_tables()
{
    gzip_crc_tables tables = {};
    tables.power[0] = GZIP_CRC_ONE >> 1;
    for (unsigned i = 1; i < 32; i++)
        tables.power[i] = gzip_crc_times(tables.power[i - 1], tables.power[i - 1]);
    unsigned after = tables.power[5];
    for (unsigned i = GZIP_CRC_THREADS; i-- > 0; after = gzip_crc_times(after, tables.power[5]))
        tables.after[i] = after;
    for (unsigned i = 0; i < 1024; i++)
        tables.row[i / 256][i % 256] = gzip_crc_times(i % 256 << i / 256 * 8, tables.after[0]);
    return tables;
}

static __device__ constexpr gzip_crc_tables gzip_crc_made = gzip_crc_make_tables();

// Returns x^(8 * bytes), where bytes may be below 0. By all lanes of a warp.
DEVICE_INLINE unsigned gzip_crc_after(long long bytes)
{
    // x^(2^32 - 1) is 1, so the exponent is taken modulo 2^32 - 1, which itself may stand for 0.
    unsigned long long bits = 8 * static_cast<unsigned long long>(bytes < 0 ? -bytes : bytes);
    bits = (bits & 0xffffffff) + (bits >> 32);
    bits = (bits & 0xffffffff) + (bits >> 32);
    const unsigned exponent = static_cast<unsigned>(bytes < 0 ? 0xffffffff - bits : bits);
    const unsigned lane = threadIdx.x % 32;
    unsigned product = exponent >> lane & 1 ? gzip_crc_made.power[lane] : GZIP_CRC_ONE;
    for (int by = 1; by < 32; by *= 2)
        product = gzip_crc_times(product, __shfl_xor_sync(0xffffffffu, product, by));
    return product;
}

// Returns the sum of the values of the lanes of a warp.
DEVICE_INLINE unsigned gzip_crc_sum(unsigned value)
{
    for (int by = 1; by < 32; by *= 2)
        value ^= __shfl_xor_sync(0xffffffffu, value, by);
    return value;
}

static __global__ void __launch_bounds__(GZIP_CRC_THREADS) gzip_crc(decode_batch batch)
{
    __shared__ unsigned row[4][256];
    __shared__ unsigned sums[2][GZIP_CRC_THREADS / 32];
    if (batch.verdict->refused != DECODE_NONE)
        return;
    for (unsigned i = threadIdx.x; i < 1024; i += GZIP_CRC_THREADS)
        row[i / 256][i % 256] = gzip_crc_made.row[i / 256][i % 256];
    __syncthreads();
    const unsigned blocks = decode_block_count(&batch);
    unsigned turn = 0;
    for (unsigned index = blockIdx.x; index < blocks; index += gridDim.x, turn ^= 1) {
        const decode_outcome &outcome = batch.outcome[index];
        // Its bytes as words. Of the first one some bits are not of them; the last one is read byte
        // by byte, as nobody may have written what comes after it.
        const unsigned char *const bytes = batch.out + outcome.content_at;
        const unsigned head = static_cast<unsigned>(reinterpret_cast<std::size_t>(bytes) & 3);
        const unsigned *const words = reinterpret_cast<const unsigned *>(bytes - head);
        const unsigned count = (head + outcome.content + 3) / 4;
        const unsigned first_bits = 0xffffffffu << 8 * head;
        const auto word_at = [=](unsigned i) {
            return i + 1 >= count ? 0 : words[i] & (i == 0 ? first_bits : 0xffffffffu);
        };
        // Of this thread's words, each multiplied by what comes after it in all rows.
        unsigned own = 0;
        UNROLL_BY(4)
        for (unsigned first = 0; first < count; first += GZIP_CRC_THREADS)
            own = row[0][own & 255] ^ row[1][own >> 8 & 255] ^ row[2][own >> 16 & 255] ^
                  row[3][own >> 24] ^ word_at(first + threadIdx.x);
        if (threadIdx.x == (count - 1) % GZIP_CRC_THREADS)
            for (unsigned at = max(4 * (count - 1), head); at < head + outcome.content; at++)
                own ^= static_cast<unsigned>(bytes[at - head]) << at % 4 * 8;
        own = gzip_crc_sum(gzip_crc_times(own, gzip_crc_made.after[threadIdx.x]));
        if (threadIdx.x % 32 == 0)
            sums[turn][threadIdx.x / 32] = own;
        __syncthreads();
        if (threadIdx.x >= 32)
            continue;
        // How many bytes come after the unit in its member, as far as the batch has it, less the
        // zeros after it in its last row.
        const decode_frame &frame = batch.frame[batch.block[index].frame];
        const decode_outcome &last = batch.outcome[frame.first + frame.blocks - 1];
        const unsigned rows = (count + GZIP_CRC_THREADS - 1) / GZIP_CRC_THREADS;
        const unsigned after =
            gzip_crc_after(static_cast<long long>(last.content_at) + last.content + head -
                           outcome.content_at - 4ll * GZIP_CRC_THREADS * rows);
        const unsigned sum =
            gzip_crc_sum(threadIdx.x < GZIP_CRC_THREADS / 32 ? sums[turn][threadIdx.x] : 0);
        if (threadIdx.x == 0)
            atomicXor(&batch.gzip.members[batch.block[index].frame].crc,
                      gzip_crc_times(sum, after));
    }
}

// --- verify ---
//
// Checks that members have the CRC-32 and the length that they state, a warp each. Takes members[]
// and the carry; may refuse the last unit of a member, and leaves the CRC of a member that goes on
// in the next carry.

constexpr unsigned GZIP_VERIFY_THREADS = 128;

static __global__ void __launch_bounds__(GZIP_VERIFY_THREADS) gzip_verify(decode_batch batch)
{
    gzip_carry *const next = reinterpret_cast<gzip_carry *>(batch.next + GZIP_CARRY_AT);
    const unsigned frames = decode_frame_count(&batch),
                   warps = gridDim.x * GZIP_VERIFY_THREADS / 32;
    // Another CUDA block may lower it: all threads go by the value that one of them has seen.
    if (__syncthreads_or(load_relaxed(&batch.verdict->refused) != DECODE_NONE))
        return;
    unsigned index = (blockIdx.x * GZIP_VERIFY_THREADS + threadIdx.x) / 32;
    for (; index < frames; index += warps) {
        const decode_frame &frame = batch.frame[index];
        const gzip_member &member = batch.gzip.members[index];
        const unsigned last = frame.first + frame.blocks - 1;
        const unsigned here = batch.outcome[last].content_at + batch.outcome[last].content -
                              batch.outcome[frame.first].content_at;
        unsigned crc = member.crc; // of all of the member so far, as in struct gzip_member
        unsigned long long size = here;
        if (!frame.begins) {
            const gzip_carry &carry = *gzip_carry_of(&batch);
            crc ^= gzip_crc_times(carry.crc, gzip_crc_after(here));
            size += carry.before;
        }
        if (threadIdx.x % 32 == 0 && !frame.ends)
            next->crc = crc;
        if (!frame.ends)
            continue;
        const unsigned before = gzip_crc_after(static_cast<long long>(size));
        const unsigned whole = ~(crc ^ gzip_crc_times(0xffffffff, before));
        if (threadIdx.x % 32 == 0 &&
            (whole != member.stated_crc || static_cast<unsigned>(size) != member.stated_size)) {
            batch.outcome[last].refusal = DECODE_BAD;
            atomicMin(&batch.verdict->refused, last);
        }
    }
}

#endif

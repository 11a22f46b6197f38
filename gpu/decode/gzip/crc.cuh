// SPDX-License-Identifier: MIT
// The stages that check the content of gzip's members: crc and verify.
//
// A CRC is a polynomial modulo another one, over bits, so it can be put together from parts: that
// of two messages in a row is that of the first, multiplied by x once for each bit of the second,
// plus (exclusive or) that of the second. CRC-32 begins and ends with 32 bits that are set (RFC
// 1952), which only verify adds.
#ifndef GPUHISTO_GPU_DECODE_GZIP_CRC_CUH
#define GPUHISTO_GPU_DECODE_GZIP_CRC_CUH

#include "gpu/decode/stages.h"
#include "gpu/ptx.cuh"

#include <cstddef>

// --- crc ---
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
static __device__ inline unsigned gzip_crc_after(long long bytes)
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
static __device__ inline unsigned gzip_crc_sum(unsigned value)
{
    for (int by = 1; by < 32; by *= 2)
        value ^= __shfl_xor_sync(0xffffffffu, value, by);
    return value;
}

// Bytes, as whole words in memory.
struct gzip_crc_words {
    const unsigned *words;
    unsigned head; // bytes of the first word before them
    unsigned count;
    unsigned first, last; // which bits of the first and of the last word are of them

    __device__ __forceinline__ gzip_crc_words(const unsigned char *bytes, unsigned size)
    {
        head = static_cast<unsigned>(reinterpret_cast<std::size_t>(bytes) & 3);
        words = reinterpret_cast<const unsigned *>(bytes - head);
        count = (head + size + 3) / 4;
        first = 0xffffffffu << 8 * head;
        last = 0xffffffffu >> 8 * (4 * count - head - size);
    }

    __device__ __forceinline__ unsigned at(unsigned i) const
    {
        if (i >= count)
            return 0;
        return words[i] & (i == 0 ? first : 0xffffffffu) & (i + 1 == count ? last : 0xffffffffu);
    }
};

// Returns the sum of this thread's words, each multiplied by what comes after it in all rows.
static __device__ inline unsigned gzip_crc_of_thread(const unsigned (&row)[4][256],
                                                     const gzip_crc_words &words)
{
    unsigned sum = 0;
    UNROLL_BY(4)
    for (unsigned first = 0; first < words.count; first += GZIP_CRC_THREADS)
        sum = row[0][sum & 255] ^ row[1][sum >> 8 & 255] ^ row[2][sum >> 16 & 255] ^
              row[3][sum >> 24] ^ words.at(first + threadIdx.x);
    return gzip_crc_times(sum, gzip_crc_made.after[threadIdx.x]);
}

// Returns how many bytes come after a unit in its member, as far as the batch has it, less the
// zeros after it in its last row.
static __device__ inline long long gzip_crc_rest(const decode_batch &batch, unsigned index,
                                                 const gzip_crc_words &words)
{
    const decode_outcome &own = batch.outcome[index];
    const decode_frame &frame = batch.frame[batch.block[index].frame];
    const decode_outcome &last = batch.outcome[frame.first + frame.blocks - 1];
    const unsigned rows = (words.count + GZIP_CRC_THREADS - 1) / GZIP_CRC_THREADS;
    return static_cast<long long>(last.content_at) + last.content + words.head - own.content_at -
           4ll * GZIP_CRC_THREADS * rows;
}

// Returns the number of CUDA blocks that stay, no more than there are units of a usual size.
static inline unsigned gzip_crc_grid(const struct decode_batch *batch, unsigned resident)
{
    return grid_of_resident(batch->room / (32u << 10) + 1, resident);
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
        const gzip_crc_words words(batch.out + outcome.content_at, outcome.content);
        const unsigned own = gzip_crc_sum(gzip_crc_of_thread(row, words));
        if (threadIdx.x % 32 == 0)
            sums[turn][threadIdx.x / 32] = own;
        __syncthreads();
        if (threadIdx.x >= 32)
            continue;
        const unsigned after = gzip_crc_after(gzip_crc_rest(batch, index, words));
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

// Returns the CUDA blocks, a few: a batch has one member, or thousands.
static inline unsigned gzip_verify_grid(const struct decode_batch *batch, unsigned resident)
{
    return grid_of_resident(batch->gzip.frames_max / (GZIP_VERIFY_THREADS / 32) + 1, resident);
}

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

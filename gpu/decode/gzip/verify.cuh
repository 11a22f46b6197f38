// SPDX-License-Identifier: MIT
// The stage verify of gzip: checks that members have the CRC-32 and the length that they state.
//
// Takes members[] and the carry; may refuse the last unit of a member, leaves the CRC of a member
// that goes on in the next carry, and tells the host where the next member begins.
//
// A warp takes a member. No shared memory.
#ifndef GPUHISTO_GZIP_VERIFY_CUH
#define GPUHISTO_GZIP_VERIFY_CUH

#include "gpu/decode/gzip/crc.cuh"

constexpr unsigned GZIP_VERIFY_THREADS = 128;

// Returns the CUDA blocks, a few: a batch has one member, or thousands.
static inline unsigned gzip_verify_grid(const struct decode_batch *batch, unsigned resident)
{
    const unsigned max = batch->gzip.frames_max / (GZIP_VERIFY_THREADS / 32) + 1;
    return max < resident ? max : resident;
}

// The CRC and the length of a whole member, so far.
struct gzip_whole {
    unsigned crc; // as in struct gzip_member
    unsigned long long size;
};

static __device__ inline gzip_whole gzip_whole_of(const decode_batch &batch, unsigned index)
{
    const decode_frame &frame = batch.frame[index];
    const decode_outcome &first = batch.outcome[frame.first],
                         &last = batch.outcome[frame.first + frame.blocks - 1];
    const unsigned size = last.content_at + last.content - first.content_at;
    gzip_whole whole = {batch.gzip.members[index].crc, size};
    if (!frame.begins) {
        const gzip_carry &carry = *reinterpret_cast<const gzip_carry *>(batch.in + GZIP_CARRY_AT);
        whole.crc ^= gzip_crc_times(carry.crc, gzip_crc_after(size));
        whole.size += carry.before;
    }
    return whole;
}

// True if a member has what it states.
static __device__ inline bool gzip_is_as_stated(const decode_batch &batch, unsigned index,
                                                const gzip_whole &whole)
{
    const gzip_member &member = batch.gzip.members[index];
    const unsigned before = gzip_crc_after(static_cast<long long>(whole.size));
    const unsigned crc = ~(whole.crc ^ gzip_crc_times(0xffffffff, before));
    return crc == member.stated_crc && static_cast<unsigned>(whole.size) == member.stated_size;
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
        const gzip_whole whole = gzip_whole_of(batch, index);
        const bool is_good = !frame.ends || gzip_is_as_stated(batch, index, whole);
        const unsigned last = frame.first + frame.blocks - 1;
        if (threadIdx.x % 32 == 0 && !frame.ends)
            next->crc = whole.crc;
        if (threadIdx.x % 32 == 0 && !is_good) {
            batch.outcome[last].refusal = DECODE_BAD_CHECKSUM;
            atomicMin(&batch.verdict->refused, last);
        }
    }
}

#endif

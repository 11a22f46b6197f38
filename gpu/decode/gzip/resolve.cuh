// SPDX-License-Identifier: MIT
// The stage resolve of gzip: turns symbols into bytes.
//
// Takes batch.gzip.symbols, and the windows, which are in batch.out; gives the rest of it.
//
// A CUDA block has a piece of the content, and the window of the segment around it in shared
// memory. Its threads have some bytes in a row, at a multiple of their number, so that symbols are
// loaded and bytes stored by whole words.
#ifndef GPUHISTO_GPU_GZIP_RESOLVE_CUH
#define GPUHISTO_GPU_GZIP_RESOLVE_CUH

#include "gpu/decode/gzip/segments.cuh"

constexpr unsigned GZIP_RESOLVE_THREADS = 512;
constexpr unsigned GZIP_RESOLVE_PIECE = 1u << 16; // bytes; less than any segment but the last
constexpr unsigned GZIP_RESOLVE_EACH = 8;         // bytes in a row

// Returns as many CUDA blocks as there may be pieces; those that stay are enough.
static inline unsigned gzip_resolve_grid(const struct decode_batch *batch, unsigned resident)
{
    const unsigned max = batch->room / GZIP_RESOLVE_PIECE + 1;
    return max < resident ? max : resident;
}

// Some bytes of a segment.
struct gzip_stretch {
    unsigned begin, end;
    unsigned written; // from here on they were written with the windows
};

// Loads the window before a segment. Returns where in `memory` it begins.
static __device__ inline const unsigned char *
gzip_load_window(const decode_batch &batch, unsigned segment, unsigned char *memory)
{
    const unsigned kept =
        min(reinterpret_cast<const decode_carry *>(batch.in)->kept, unsigned{GZIP_WINDOW});
    const unsigned char *const from =
        batch.out + static_cast<int>(segment) - static_cast<int>(GZIP_WINDOW);
    const unsigned shift = static_cast<unsigned>(reinterpret_cast<uintptr_t>(from) % 16);
    if (segment == 0) { // what was not kept, nobody may have written
        for (unsigned i = threadIdx.x; i < GZIP_WINDOW; i += GZIP_RESOLVE_THREADS)
            memory[i] = i + kept >= GZIP_WINDOW ? from[i] : static_cast<unsigned char>(0);
        return memory;
    }
    for (unsigned i = 16 * threadIdx.x; i < GZIP_WINDOW + shift; i += 16 * GZIP_RESOLVE_THREADS)
        copy_16(memory + i, from - shift + i);
    copies_end_group();
    copies_wait<0>();
    return memory + shift;
}

static __device__ __forceinline__ unsigned gzip_byte_of(unsigned symbol,
                                                        const unsigned char *window)
{
    return symbol & GZIP_FROM_WINDOW ? window[symbol & (GZIP_WINDOW - 1)] : symbol;
}

// Returns the bytes of two symbols, in the lowest bits.
static __device__ __forceinline__ unsigned gzip_two_bytes(unsigned symbols,
                                                          const unsigned char *window)
{
    return gzip_byte_of(symbols & 0xffff, window) | gzip_byte_of(symbols >> 16, window) << 8;
}

// Writes bytes at, ..., at + GZIP_RESOLVE_EACH - 1 of the content, as far as they are of the
// stretch.
static __device__ inline void gzip_resolve_some(const decode_batch &batch, unsigned at,
                                                const gzip_stretch &stretch,
                                                const unsigned char *window)
{
    const unsigned end = min(stretch.end, stretch.written);
    if (at >= stretch.begin && at + GZIP_RESOLVE_EACH <= end) {
        const uint4 symbols = *reinterpret_cast<const uint4 *>(batch.gzip.symbols + at);
        const uint2 bytes = {
            gzip_two_bytes(symbols.x, window) | gzip_two_bytes(symbols.y, window) << 16,
            gzip_two_bytes(symbols.z, window) | gzip_two_bytes(symbols.w, window) << 16};
        *reinterpret_cast<uint2 *>(batch.out + at) = bytes;
        return;
    }
    for (unsigned i = max(at, stretch.begin); i < min(at + GZIP_RESOLVE_EACH, end); i++)
        batch.out[i] = static_cast<unsigned char>(gzip_byte_of(batch.gzip.symbols[i], window));
}

static __device__ inline void gzip_resolve_stretch(const decode_batch &batch, unsigned segment,
                                                   const gzip_stretch &stretch,
                                                   unsigned char *memory)
{
    constexpr unsigned each = GZIP_RESOLVE_EACH;
    __syncthreads(); // whoever still uses the window before
    const unsigned char *const window = gzip_load_window(batch, segment, memory);
    __syncthreads();
    UNROLL_BY(4)
    for (unsigned at = stretch.begin / each * each + each * threadIdx.x; at < stretch.end;
         at += each * GZIP_RESOLVE_THREADS)
        gzip_resolve_some(batch, at, stretch, window);
}

static __global__ void __launch_bounds__(GZIP_RESOLVE_THREADS) gzip_resolve(decode_batch batch)
{
    __shared__ __align__(16) unsigned char memory[GZIP_WINDOW + 16];
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
        while (at < piece_end) {
            const unsigned segment = gzip_segment_begin(batch, index, count);
            const unsigned next = gzip_segment_begin(batch, index + 1, count);
            const gzip_stretch stretch = {at, min(piece_end, next),
                                          index + 1 < count ? max(segment, next - GZIP_WINDOW)
                                                            : content};
            gzip_resolve_stretch(batch, segment, stretch, memory);
            at = stretch.end;
            index++;
        }
    }
}

#endif

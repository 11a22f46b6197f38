// SPDX-License-Identifier: MIT
// The stage windows of gzip: makes the GZIP_WINDOW bytes before each segment, to which its symbols
// refer.
//
// Takes batch.gzip.symbols, and the content before the batch; gives the last bytes of each segment
// but the last, in batch.out.
//
// One CUDA block goes from segment to segment: the window of the next one is the end of this one,
// whose symbols are looked up in its own window. That takes a few microseconds for each, while the
// rest of the device does other work. Shared memory: two windows.
#ifndef GPUHISTO_GPU_GZIP_WINDOWS_CUH
#define GPUHISTO_GPU_GZIP_WINDOWS_CUH

#include "gpu/decode/gzip/segments.cuh"

constexpr unsigned GZIP_WINDOWS_THREADS = 1024;
constexpr unsigned GZIP_WINDOWS_EACH = GZIP_WINDOW / GZIP_WINDOWS_THREADS;
constexpr unsigned GZIP_WINDOWS_TOGETHER = 16; // symbols that a thread loads at a time
constexpr unsigned GZIP_WINDOWS_SHARED = 2 * GZIP_WINDOW;

static inline unsigned gzip_windows_grid(const struct decode_batch *, unsigned)
{
    return 1;
}

// Loads the window before the batch: the bytes that were kept, and zeros.
static __device__ inline void gzip_first_window(const decode_batch &batch, unsigned char *window)
{
    const unsigned kept =
        min(reinterpret_cast<const decode_carry *>(batch.in)->kept, unsigned{GZIP_WINDOW});
    for (unsigned i = threadIdx.x; i < GZIP_WINDOW; i += GZIP_WINDOWS_THREADS)
        window[i] = i + kept >= GZIP_WINDOW
                        ? batch.out[static_cast<int>(i) - static_cast<int>(GZIP_WINDOW)]
                        : static_cast<unsigned char>(0);
}

// Makes the window before `end` from that before `begin`, and writes the bytes in between.
static __device__ inline void gzip_next_window(const decode_batch &batch,
                                               const unsigned char *window, unsigned char *next,
                                               int begin, int end)
{
    const int first = end - static_cast<int>(GZIP_WINDOW) + static_cast<int>(threadIdx.x);
    UNROLL_BY(1)
    for (unsigned group = 0; group < GZIP_WINDOWS_EACH; group += GZIP_WINDOWS_TOGETHER) {
        unsigned symbols[GZIP_WINDOWS_TOGETHER];
        UNROLL for (unsigned k = 0; k < GZIP_WINDOWS_TOGETHER; k++)
        {
            const int at = first + static_cast<int>((group + k) * GZIP_WINDOWS_THREADS);
            symbols[k] =
                at >= begin ? batch.gzip.symbols[at]
                            : GZIP_FROM_WINDOW |
                                  static_cast<unsigned>(at - begin + static_cast<int>(GZIP_WINDOW));
        }
        UNROLL for (unsigned k = 0; k < GZIP_WINDOWS_TOGETHER; k++)
        {
            const unsigned position = threadIdx.x + (group + k) * GZIP_WINDOWS_THREADS;
            const int at = first + static_cast<int>((group + k) * GZIP_WINDOWS_THREADS);
            const unsigned char byte = symbols[k] & GZIP_FROM_WINDOW
                                           ? window[symbols[k] & (GZIP_WINDOW - 1)]
                                           : static_cast<unsigned char>(symbols[k]);
            next[position] = byte;
            if (at >= begin)
                batch.out[at] = byte;
        }
    }
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
        gzip_next_window(batch, window, next, static_cast<int>(gzip_segment_begin(batch, i, count)),
                         static_cast<int>(gzip_segment_begin(batch, i + 1, count)));
        unsigned char *const used = window;
        window = next;
        next = used;
        __syncthreads();
    }
}

#endif

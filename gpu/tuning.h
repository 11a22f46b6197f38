/* What was tuned, as data: how each strategy is launched on a device of which compute capability,
 * and which of them auto takes. Each number was the best, or as good as the best, of those tried by
 * bench/kernels (--block, --coarsening, --widths) over 1 GiB of uniform bytes and of text, on an
 * H200 (compute capability 9.0); all that was tried is in bench/results/h200-tuning.csv. */
#ifndef GPUHISTO_TUNING_H
#define GPUHISTO_TUNING_H

#include "gpu/strategy.h"

/* Of numbers: threads a block; and of its second kernel, a warp. */
#define NUMBERS_BLOCK 256
#define NUMBERS_REST_BLOCK 32

struct tuning {
    enum strategy_id strategy;
    unsigned capability; /* 10 * major + minor: holds from this one on, up to a later row's */
    unsigned block;      /* threads */
    unsigned coarsening; /* samples a thread, in as many blocks as that takes; 0: blocks stay, as
                            many as the device holds at a time, and share the data */
    unsigned least;      /* bytes that are worth a thread of a block that stays: small data get
                            fewer blocks */
};

/* Rows of a strategy stand in order of their capability. No device but that of 9.0 was at hand, so
 * they hold for all; what differs most, how many blocks fit, the device is asked. GB/s behind. */
static const struct tuning tunings[] = {
    {STRATEGY_naive, 0, 1024, 1, 0},        /* all the same: 64 to 1024 threads */
    {STRATEGY_privatized, 0, 64, 0, 64},    /* text, letters: 118; with 1024 threads 26 */
    {STRATEGY_shared, 0, 1024, 1, 0},       /* text, bytes: 163; with 512 threads 81 */
    {STRATEGY_contiguous, 0, 1024, 16, 0},  /* text, bytes: 1254; 1024x8 1202, 512x32 843 */
    {STRATEGY_interleaved, 0, 256, 128, 0}, /* text, bytes: 729; 1024x16 667 */
    {STRATEGY_aggregated, 0, 256, 64, 0},   /* text, bytes: 694; 1024x16 632 */
    {STRATEGY_vectorized, 0, 512, 0, 64},   /* text, bytes: 4103; with 256 threads 3995 */
    /* Uniform bytes: 4328; 768 threads 4310, 512 4198. 8 MiB of text: 1330; with 16 bytes a thread
     * 1231, 32 1256, 128 1139. */
    {STRATEGY_lanes, 0, 1024, 0, 64},
    /* Text: 4394; 128 threads 4347, 64 4379. 8 MiB of text: 1269; with 16 bytes a thread 1118, 32
     * 1094, 64 1100, 256 1178. */
    {STRATEGY_bitsliced, 0, 256, 0, 128},
    {STRATEGY_matched, 0, 512, 0, 64}, /* as many threads as a cache of 32 KiB lets stay */
    {STRATEGY_numbers, 0, NUMBERS_BLOCK, 0, 64},
};

/* Values whose table has more rows than this are counted by matched, else by lanes. Uniform u32,
 * GB/s of lanes and matched: 131,072 bins 1708 and 377, 262,144 1026 and 376, 1,048,576 240 and
 * 376. */
#define LANES_ROWS_MAX 300000

/* Columns of counters that lanes lays for values at most: 2 to this power. Then at most 4 lanes of
 * a warp meet in a bank, whatever the data. Uniform u32 into 1024 bins: 4440 GB/s; 32 columns 4337,
 * as they take longer to zero and add up; 1 column 4454, but it has no such bound. */
#define LANES_COLUMNS_LOG_MAX 3

/* Of lanes, for samples of a byte: a row of 64 counters for each of 256 values. */
#define LANES_SHARED (256u * 64 * 4)

/* Of numbers, bytes of shared memory: a block's cache of counters, and a warp's text. */
#define NUMBERS_SHARED (1024u * 8)
#define NUMBERS_SHARED_A_WARP 4400u

/* Letters in ranges of at least so many are counted by bitsliced, everything else by lanes. Least
 * share of the read ceiling over eight kinds of data, bitsliced and lanes: WIDTH 1 0.57 and 0.97, 2
 * 0.89 and 0.97, 3 0.95 and 0.97, 4 0.96 and 0.97, from 8 on 0.97 and 0.97. Where both reach the
 * ceiling, bitsliced has less to set up: over 16 MiB 1890 GB/s to 1510. */
#define BITSLICED_WIDTH_MIN 4

/* Blocks of 1024 that a multiprocessor has threads for, 2048 or fewer of them; the compiler is to
 * keep them within its registers. */
#if defined __CUDA_ARCH__ && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 ||                      \
                              (__CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1100))
#define LANES_RESIDENT 2
#else
#define LANES_RESIDENT 1
#endif

/* Blocks of NUMBERS_BLOCK, likewise: no more than there are threads for. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define NUMBERS_RESIDENT 4
#else
#define NUMBERS_RESIDENT 5
#endif

/* The last row that holds for a strategy on a device of this capability. */
static inline const struct tuning *tuning_for(enum strategy_id strategy, unsigned capability)
{
    const struct tuning *found = 0;
    for (unsigned i = 0; i < sizeof tunings / sizeof tunings[0]; i++)
        if (tunings[i].strategy == strategy && tunings[i].capability <= capability)
            found = &tunings[i];
    return found;
}

#endif

/* What was tuned, as data: how each strategy is launched on a device of which compute capability,
 * and which of them auto takes. Each number was the best, or as good as the best, of those tried by
 * bench/kernels (--block, --coarsening, --widths) over 1 GiB of uniform bytes and of text, on an
 * H200 (compute capability 9.0); all that was tried is in bench/results/h200-tuning.csv. */
#ifndef GPUHISTO_TUNING_H
#define GPUHISTO_TUNING_H

#include "gpu/strategy.h"

/* Threads a block of the strategies numbers and fields, and of its second kernel, which takes a
 * warp. */
#define NUMBERS_BLOCK 256
#define NUMBERS_REST_BLOCK 32

/* Threads a block of the strategy characters. */
#define CHARACTERS_BLOCK 1024

struct tuning {
    enum strategy_id strategy;
    unsigned capability; /* 10 * major + minor: holds from this one on, up to a later row's */
    unsigned block;      /* threads */
    unsigned coarsening; /* samples a thread, in as many blocks as that takes; 0: blocks stay, as
                            many as the device holds at a time, and share the data */
    unsigned least;      /* bytes that are worth a thread of a block that stays: small data get
                            fewer blocks */
};

/* Rows of a strategy stand in order of their capability. All were tuned on a device of 9.0 and hold
 * for all others; what differs most, how many blocks fit, is asked of the device. Measured:
 * doc/kernels.md and bench/results/h200-tuning.csv. */
static const struct tuning tunings[] = {
    {STRATEGY_naive, 0, 1024, 1, 0},
    {STRATEGY_privatized, 0, 64, 0, 64},
    {STRATEGY_shared, 0, 1024, 1, 0},
    {STRATEGY_contiguous, 0, 1024, 16, 0},
    {STRATEGY_interleaved, 0, 256, 128, 0},
    {STRATEGY_aggregated, 0, 256, 64, 0},
    {STRATEGY_vectorized, 0, 512, 0, 64},
    {STRATEGY_lanes, 0, 1024, 0, 64},
    {STRATEGY_bitsliced, 0, 256, 0, 128},
    {STRATEGY_matched, 0, 512, 0, 64}, /* as many threads as a cache of 32 KiB lets stay */
    {STRATEGY_numbers, 0, NUMBERS_BLOCK, 0, 64},
    {STRATEGY_fields, 0, NUMBERS_BLOCK, 0, 64},
    {STRATEGY_pairs, 0, 1024, 0, 128}, /* its kernel knows how many threads there are */
    {STRATEGY_characters, 0, CHARACTERS_BLOCK, 0, 64},
};

/* Values whose table has more rows than this are counted by matched, others by lanes, which takes
 * the more passes the more rows there are (measured: doc/kernels.md). */
#define LANES_ROWS_MAX 300000

/* Columns of counters that lanes lays for values at most: 2 to this power. Then at most 4 lanes of
 * a warp meet in a bank, whatever the data. More columns take longer to zero and add up; fewer have
 * no such bound (measured: doc/kernels.md). */
#define LANES_COLUMNS_LOG_MAX 3

/* Bytes of shared memory that lanes takes for samples of a byte: 64 counters for each of 256
 * values.
 */
#define LANES_SHARED (256u * 64 * 4)

/* Bytes of shared memory that the strategy numbers takes: a block's cache of counters, and a warp's
 * text. */
#define NUMBERS_SHARED (1024u * 8)
#define NUMBERS_SHARED_A_WARP 4400u

/* Words of shared memory that the strategy pairs takes for 256 pairs, and bytes for all of them. In
 * less it counts them in several passes. */
#define PAIRS_STRIDE 257
#define PAIRS_SHARED (226u * 1024)

/* Bytes of shared memory that the strategy characters takes: columns for ASCII, and each lane's
 * words. The places of its cache beyond these, at most: 8 bytes each. */
#define CHARACTERS_SHARED (128u * 64 * 4 + CHARACTERS_BLOCK * 9 * 4)
#define CHARACTERS_PLACES_MAX 16384u

/* Letters in ranges of at least so many are counted by bitsliced, narrower ones by lanes. Where
 * both reach the read ceiling, bitsliced has less to set up (measured: doc/kernels.md). */
#define BITSLICED_WIDTH_MIN 4

/* Blocks of 1024 that a multiprocessor has threads for, 2048 or fewer of them; the compiler is to
 * keep them within its registers. */
#if defined __CUDA_ARCH__ && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 ||                      \
                              (__CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1100))
#define LANES_RESIDENT 2
#else
#define LANES_RESIDENT 1
#endif

/* Blocks of NUMBERS_BLOCK that a multiprocessor has threads for. */
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

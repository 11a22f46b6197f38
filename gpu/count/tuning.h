/* SPDX-License-Identifier: MIT */
/* The tuning, as data: how each strategy is launched on a device of which compute capability, and
 * which of them auto takes. Each number was the best, or as good as the best, of those tried by
 * bench/kernels (--block, --coarsening, --widths) over 1 GiB of uniform bytes and of text, on an
 * H200 (compute capability 9.0); all trials are in bench/results/h200-tuning.csv. */
#ifndef GPUHISTO_TUNING_H
#define GPUHISTO_TUNING_H

#include "strategy.h"

/* Threads a block of the strategies numbers and fields, and of its second kernel, which takes a
 * warp. */
#define NUMBERS_BLOCK 256
#define NUMBERS_REST_BLOCK 32

/* Threads a block of the strategy characters. */
#define CHARACTERS_BLOCK 1024

/* Threads a block of the second kernel of packed. */
#define PACKED_SUM_BLOCK 512

/* Threads a block of the first kernel of partitioned, so that two fit on a multiprocessor with 64
 * registers a thread; and values a thread, half as many of 8 bytes. */
#define PARTITION_BLOCK 512
#define PARTITION_VALUES 32u

/* C++ can check what is constexpr: kernel_table.cu does. */
#ifdef __cplusplus
#define TUNING_CONSTANT static constexpr
#else
#define TUNING_CONSTANT static
#endif

struct tuning {
    enum strategy_id strategy;
    unsigned capability; /* 10 * major + minor: holds from this one on, up to a later row's */
    unsigned block;      /* threads */
    unsigned coarsening; /* samples a thread, in as many blocks as that takes; 0: blocks stay, as
                            many as the device holds at a time, and share the data */
    unsigned min;        /* bytes that are worth a thread of a block that stays: small data get
                              fewer blocks */
    unsigned second;     /* threads a block of the second kernel, if it has one */
};

/* Rows of a strategy stand in order of their capability. All were tuned on a device of 9.0 and hold
 * for all others; what differs most, how many blocks fit, is asked of the device. Measured:
 * doc/kernels.md and bench/results/h200-tuning.csv. */
TUNING_CONSTANT const struct tuning tunings[] = {
    {STRATEGY_naive, 0, 1024, 1, 0, 0},
    {STRATEGY_privatized, 0, 64, 0, 64, 0},
    {STRATEGY_shared, 0, 1024, 1, 0, 0},
    {STRATEGY_contiguous, 0, 1024, 16, 0, 0},
    {STRATEGY_interleaved, 0, 256, 128, 0, 0},
    {STRATEGY_aggregated, 0, 256, 64, 0, 0},
    {STRATEGY_vectorized, 0, 512, 0, 64, 0},
    {STRATEGY_lanes, 0, 1024, 0, 64, 0},
    {STRATEGY_bitsliced, 0, 256, 0, 128, 0},
    {STRATEGY_packed, 0, 1024, 0, 64, PACKED_SUM_BLOCK},
    {STRATEGY_partitioned, 0, PARTITION_BLOCK, 0, 64, 512},
    {STRATEGY_matched, 0, 512, 0, 64, 0}, /* as many threads as a cache of 32 KiB lets stay */
    {STRATEGY_numbers, 0, NUMBERS_BLOCK, 0, 64, NUMBERS_REST_BLOCK},
    {STRATEGY_fields, 0, NUMBERS_BLOCK, 0, 64, NUMBERS_REST_BLOCK},
    {STRATEGY_pairs, 0, 1024, 0, 128, 0}, /* its kernel knows how many threads there are */
    {STRATEGY_characters, 0, CHARACTERS_BLOCK, 0, 64, 0},
};

/* Values are counted by lanes up to as many rows as it counts in one pass, then by packed, which
 * takes the more passes the more rows there are, then by matched, or if chunks are so large that
 * sorting pays, by partitioned (measured: doc/kernels.md). */
#define LANES_ROWS_MAX 58111
#define PACKED_ROWS_MAX 300000
#define PARTITIONED_CHUNK_MIN ((size_t)32 << 20)

/* Ranges of bins that partitioned sorts values into. Their number is odd, so that values with a
 * power of two between them go to all of them, and at most about that of the blocks of its second
 * kernel that stay on a device of 132 multiprocessors; but with so many rows a range at least, and
 * 65536 at most. There is room for PARTITION_RANGES_MAX, a multiple of 32. */
#define PARTITION_RANGES 263u
#define PARTITION_RANGES_MAX 288u
#define PARTITION_ROWS_MIN 4096u

/* Rows of a range that are counted by words; more by bytes. */
#define PARTITION_WORDS_MAX 16384u

/* Bytes of shared memory that the kernel which counts ranges has beside its table, at most. */
#define PARTITION_STATIC (11u * 1024)

/* Bytes of a range's table beyond which half as many blocks of twice as many threads count. */
#define PARTITION_TABLE_LARGE (48u * 1024)

/* Tiles that partitioned has room for: at least so many, whatever the size of chunks, as
 * decompressed data come in larger pieces; and at most, some 620 MB. */
#define PARTITION_TILES_MIN 1024u
#define PARTITION_TILES_MAX 16384u

/* Columns of counters that lanes builds for values at most: 2 to this power. Then at most 4 lanes
 * of a warp meet in a bank, whatever the data. More columns take longer to zero and add up; fewer
 * have no such bound (measured: doc/kernels.md). */
#define LANES_COLUMNS_LOG_MAX 3

/* Bytes of shared memory that lanes takes for samples of a byte: 64 counters for each of 256
 * values.
 */
#define LANES_SHARED (256u * 64 * 4)

/* Bytes of shared memory that packed takes besides its counters: caches of carries and of runs, and
 * a word for each lane. */
#define PACKED_SHARED (2u * 1024 * 8 + 128)

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
#define CHARACTERS_SLOTS_MAX 16384u

/* Letters in ranges of at least so many are counted by bitsliced, narrower ones by lanes. Where
 * both reach the read ceiling, bitsliced has less to set up (measured: doc/kernels.md). */
#define BITSLICED_WIDTH_MIN 4

/* Blocks of 1024 that a multiprocessor has threads for, 2048 or fewer of them; the compiler is to
 * keep them within its registers. */
#if defined __CUDA_ARCH__ && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 ||                      \
                              (__CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1100))
#define RESIDENT_OF_1024 2
#else
#define RESIDENT_OF_1024 1
#endif

/* Blocks of NUMBERS_BLOCK that a multiprocessor has threads for. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define NUMBERS_RESIDENT 4
#else
#define NUMBERS_RESIDENT 5
#endif

/* The last row that holds for a strategy on a device of this capability. */
TUNING_CONSTANT inline const struct tuning *tuning_for(enum strategy_id strategy,
                                                       unsigned capability)
{
    const struct tuning *found = 0;
    for (unsigned i = 0; i < sizeof tunings / sizeof tunings[0]; i++)
        if (tunings[i].strategy == strategy && tunings[i].capability <= capability)
            found = &tunings[i];
    return found;
}

#endif

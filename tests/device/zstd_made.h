/* SPDX-License-Identifier: MIT */
// zstd frames assembled by hand, of all that the format allows: what libzstd's compressor never
// writes, too. libzstd's decoder says what they hold.
#ifndef GPUHISTO_TESTS_ZSTD_MADE_H
#define GPUHISTO_TESTS_ZSTD_MADE_H

#include <cstddef>
#include <vector>

// A kind that is drawn at random where the format allows it.
constexpr int any_kind = -1;
constexpr size_t any_size = ~size_t{0};

// Offsets of a block's sequences.
enum made_offsets {
    ANY_OFFSETS,
    NEAR_OFFSETS,   // 1 to 40, most of them: matches overlap themselves
    FAR_OFFSETS,    // as far as may be
    BEYOND_OFFSETS, // all are as they may be, but the last one reaches a byte further
    ZERO_OFFSET,    // but the last one is 0: the offset 1 again, less one
};

// How one block is to be made.
struct made_block {
    int type = any_kind;     // 0 raw, 1 RLE, 2 compressed
    size_t plain = any_size; // bytes of content of a raw or an RLE one

    // Of literals: 0 raw, 1 RLE, 2 with a tree, 3 with that of a block before (2 if there is none).
    int literals = any_kind;
    int streams = any_kind; // 1 or 4, if they are enough for 4
    int weights = any_kind; // of a tree: 0 direct, if that can be, 1 coded
    size_t literals_max = 2000;

    // Of the tables of sequences, in their order: 0 predefined, 1 one symbol, 2 described, 3 that
    // of a block before (0 if there is none).
    int modes[3] = {any_kind, any_kind, any_kind};
    bool most_accurate = false; // described ones have as many cells as they may
    size_t sequences_max = 100;
    bool lacks_a_literal = false; // sequences take one more than there are, if they take any
    made_offsets offsets =
        ANY_OFFSETS; // others than any want all offset codes, as modes[1] = 0 has
};

// A frame of such blocks, in which the last tables and offsets go on from block to block. Each call
// makes another one (tests/helpers/random.h). Its header states a window of 2^window_log bytes;
// blocks are made for one of 2^made_for, so what is stated to have a smaller one may not be valid.
std::vector<unsigned char> zstd_made_frame(const std::vector<made_block> &blocks,
                                           unsigned window_log = 20, unsigned made_for = 20);

#endif

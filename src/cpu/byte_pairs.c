/* SPDX-License-Identifier: MIT */
/* Counts pairs of bytes by one table of 8-bit counters: 64 KiB, most of which the L1 cache holds
 * even if the data are random. Wider counters or a second table would not fit. A counter that wraps
 * adds 256 to the tally.
 *
 * The two halves of the data alternate: neighbouring pairs are often equal, as in a row of blanks,
 * and each would wait for the increment before it to leave the store buffer. */
#include "byte_pairs.h"
#include "src/base/byte_word.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Bytes of each half in a turn. */
#define TURN 8

/* Fewer bytes than this are not worth setting up the table. */
#define PAIRS_FEW ((size_t)16 << 10)

/* Rows that are checked at once: in text, most pairs never occur. */
#define ROWS_AT_ONCE 64

struct pair_counts {
    uint64_t *counts; /* the tally's */
    struct paged_counts *paged;
    uint8_t table[PAIR_ROWS];
};

static void add_times(struct pair_counts *pairs, uint32_t row, uint64_t times)
{
    if (pairs->paged)
        paged_count_times(pairs->paged, row, times);
    else
        pairs->counts[row] += times;
}

static __attribute__((noinline, cold)) void carry(struct pair_counts *pairs, uint32_t row)
{
    add_times(pairs, row, 256);
}

/* Counts the pair that a word ends with. The address is computed first: if it is in one register,
 * the processor forwards the counter from the last store to it much sooner, which makes equal pairs
 * 2.5 times as fast. */
INLINE void count_pair(struct pair_counts *pairs, uint64_t word)
{
    uint8_t *at = pairs->table + (word & 0xffff);
    __asm__("" : "+r"(at));
    if (__builtin_expect(++*at == 0, 0))
        carry(pairs, (uint32_t)(at - pairs->table));
}

/* Returns eight bytes, the first one highest, so that a pair is a 16-bit number in it. */
INLINE uint64_t word_of_pairs(const unsigned char *data)
{
    return __builtin_bswap64(byte_word(data));
}

/* Counts the pairs that begin in the next eight bytes of each half. */
INLINE void count_turn(struct pair_counts *pairs, const unsigned char *one,
                       const unsigned char *other, bool is_aligned)
{
    const uint64_t a = word_of_pairs(one), b = word_of_pairs(other);
    const uint64_t a_odd = is_aligned ? 0 : word_of_pairs(one + 1);
    const uint64_t b_odd = is_aligned ? 0 : word_of_pairs(other + 1);
#pragma GCC unroll 4
    for (unsigned shift = 64; shift > 0; shift -= 16) {
        count_pair(pairs, a >> (shift - 16));
        count_pair(pairs, b >> (shift - 16));
        if (!is_aligned) {
            count_pair(pairs, a_odd >> (shift - 16));
            count_pair(pairs, b_odd >> (shift - 16));
        }
    }
}

/* Counts the pairs that begin in data[begin..end). data[end] may be the last byte. */
static void count_one_by_one(struct pair_counts *pairs, const unsigned char *data, size_t begin,
                             size_t end, size_t step)
{
    for (size_t i = begin; i < end; i += step)
        add_times(pairs, (uint32_t)data[i] << 8 | data[i + 1], 1);
}

/* Adds ROWS_AT_ONCE rows. Skipping zeros would cost more: no processor can predict them. */
static void add_rows(struct pair_counts *pairs, uint32_t begin)
{
    const uint8_t *rows = pairs->table + begin;
    if (pairs->paged) {
        for (uint32_t i = 0; i < ROWS_AT_ONCE; i++)
            paged_count_times(pairs->paged, begin + i, rows[i]);
        return;
    }
    uint64_t *counts = pairs->counts + begin;
    for (uint32_t i = 0; i < ROWS_AT_ONCE; i++)
        counts[i] += rows[i];
}

static void add_table(struct pair_counts *pairs)
{
    for (uint32_t row = 0; row < PAIR_ROWS; row += ROWS_AT_ONCE) {
        uint64_t any = 0;
        for (uint32_t i = 0; i < ROWS_AT_ONCE; i += sizeof any)
            any |= byte_word(pairs->table + row + i);
        if (any > 0)
            add_rows(pairs, row);
    }
}

/* Counts the pairs that begin in data[0..begins). */
INLINE void count_all(struct pair_counts *pairs, const unsigned char *data, size_t begins,
                      bool is_aligned)
{
    const size_t step = is_aligned ? 2 : 1;
    const size_t half = begins / 2 & ~(size_t)(TURN - 1);
    memset(pairs->table, 0, sizeof pairs->table);
    for (size_t i = 0; i < half; i += TURN)
        count_turn(pairs, data + i, data + half + i, is_aligned);
    add_table(pairs);
    count_one_by_one(pairs, data, 2 * half, begins, step);
}

void count_byte_pairs(const unsigned char *data, size_t len, bool is_aligned, struct tally *tally,
                      struct paged_counts *paged)
{
    struct pair_counts pairs;
    const size_t begins = len > 0 ? len - 1 : 0;
    pairs.counts = tally->counts;
    pairs.paged = paged;
    tally->samples += is_aligned ? len / 2 : begins;
    if (begins < PAIRS_FEW)
        count_one_by_one(&pairs, data, 0, begins, is_aligned ? 2 : 1);
    else if (is_aligned)
        count_all(&pairs, data, begins, true);
    else
        count_all(&pairs, data, begins, false);
}

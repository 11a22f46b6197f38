/* SPDX-License-Identifier: MIT */
/* Counts bytes by tables of bytes and of pairs of bytes: the body of a file of kernels. That file
 * defines first
 *
 *     TARGET, INLINE        as for count_numbers.h
 *     PAIRS_VECTOR          bytes of a vector, for adding up
 *     step_is_ascii(data)   true if BYTE_STEP bytes are all below 128
 *
 * and gets count_in_pieces for its struct cpu_kernels.
 *
 * The limit is one increment a byte, or with pairs one for two bytes. A few bytes of each block
 * decide which tables suit it:
 *
 *     text    mostly ASCII: two tables of pairs with 16-bit counters, used alternately
 *     any     one table of pairs with 8-bit counters, which just fits the L1 cache
 *     bytes   where pairs repeat, each would wait for the increment before it to leave the store
 *             buffer: eight tables of bytes, used alternately
 *
 * In the end, counts of pairs are added to those of their bytes. */
#include "count.h"

#include <string.h>

/* --- sums of pairs --- */

/* Counts of pairs are added to those of the bytes. A table has a row for each second byte and a
 * column for each first one; on a big-endian processor it is the other way round. A pair counts
 * once for its row and once for its column. */

/* A table of pairs with 16-bit counters has no second byte above 127, and uses every other half
 * row. The other halves are a second table. */
#define ASCII_HALF 128

/* The index of the narrow counter that is the low half of a wide one. */
#define LOW_HALF (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

typedef uint32_t wide_vector __attribute__((vector_size(PAIRS_VECTOR)));
typedef uint16_t half_vector __attribute__((vector_size(PAIRS_VECTOR)));

/* Returns the sum of the 16-bit counters of a vector, less than 2^16. */
INLINE unsigned sum_of_halves(const void *halves)
{
    uint64_t words[PAIRS_VECTOR / 8], sums = 0; /* four of 16 bits */
    memcpy(words, halves, sizeof words);
    for (size_t i = 0; i < PAIRS_VECTOR / 8; i++)
        sums += words[i];
    return (unsigned)(sums * 0x0001000100010001u >> 48);
}

/* Adds the pairs of text. */
TARGET static void add_text(const uint16_t *table, uint64_t *counts)
{
    enum { LANES = sizeof(wide_vector) / sizeof(uint32_t) };
    wide_vector rows[128] = {{0}};
    for (size_t column = 0; column < 256; column += 4 * LANES) {
        wide_vector a_low = {0}, a_high = {0}, b_low = {0}, b_high = {0};
        for (size_t row = 0; row < 128; row++) {
            wide_vector a, b;
            memcpy(&a, table + row * 256 + column, sizeof a);
            memcpy(&b, table + row * 256 + column + 2 * LANES, sizeof b);
            a_low += a & 0xffff;
            b_low += b & 0xffff;
            a_high += a >> 16;
            b_high += b >> 16;
            rows[row] += (a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16);
        }
        uint64_t *at = counts + column % ASCII_HALF;
        for (size_t i = 0; i < LANES; i++) {
            at[2 * i + LOW_HALF] += a_low[i];
            at[2 * i + !LOW_HALF] += a_high[i];
            at[2 * LANES + 2 * i + LOW_HALF] += b_low[i];
            at[2 * LANES + 2 * i + !LOW_HALF] += b_high[i];
        }
    }
    for (size_t row = 0; row < 128; row++) {
        uint64_t words[PAIRS_VECTOR / 8], sums = 0; /* two of 32 bits */
        memcpy(words, &rows[row], sizeof words);
        for (size_t i = 0; i < PAIRS_VECTOR / 8; i++)
            sums += words[i];
        counts[row] += (sums & UINT32_MAX) + (sums >> 32);
    }
}

/* Adds any pairs. The sum of a row or a column is at most 256 times 255, which has 16 bits. */
TARGET static void add_any(const uint8_t *table, uint64_t *counts)
{
    enum { LANES = sizeof(half_vector) / sizeof(uint16_t) };
    half_vector rows[256] = {{0}};
    for (size_t column = 0; column < 256; column += 4 * LANES) {
        half_vector a_low = {0}, a_high = {0}, b_low = {0}, b_high = {0};
        for (size_t row = 0; row < 256; row++) {
            half_vector a, b;
            memcpy(&a, table + row * 256 + column, sizeof a);
            memcpy(&b, table + row * 256 + column + 2 * LANES, sizeof b);
            a_low += a & 0xff;
            b_low += b & 0xff;
            a_high += a >> 8;
            b_high += b >> 8;
            rows[row] += (a & 0xff) + (a >> 8) + (b & 0xff) + (b >> 8);
        }
        uint64_t *at = counts + column;
        for (size_t i = 0; i < LANES; i++) {
            at[2 * i + LOW_HALF] += a_low[i];
            at[2 * i + !LOW_HALF] += a_high[i];
            at[2 * LANES + 2 * i + LOW_HALF] += b_low[i];
            at[2 * LANES + 2 * i + !LOW_HALF] += b_high[i];
        }
    }
    for (size_t row = 0; row < 256; row++)
        counts[row] += sum_of_halves(&rows[row]);
}

/* --- tables --- */

/* Bytes in a step of the loops. With 16, gcc generates slower code. */
#define BYTE_STEP 64

/* Tables of bytes are used alternately, so that equal neighbours do not wait for each other's
 * increment to leave the store buffer (Yann Collet's idea, in zstd and FSE). */
#define BYTE_TABLES 8

/* Words between the tables: with tables of 1 KiB, every fourth would be 4 KiB away, where a load
 * seems to depend on the store before it. */
#define BYTE_TABLE_WORDS (256 + 16)

/* Prefetch distance, bytes: the hardware prefetcher stops at the end of a page. */
#define BYTES_AHEAD 2048

/* Fewer bytes than this are not worth setting up the tables of bytes. */
#define BYTES_FEW 512

/* Fewer bytes than this are not worth setting up a table of pairs. */
#define PAIRS_FEW ((size_t)48 << 10)

/* The most bytes that the 16-bit counters of two tables can count, even if all pairs are equal. */
#define PIECE_MAX ((size_t)UINT16_MAX * 4 / BYTE_STEP * BYTE_STEP)
_Static_assert(PIECE_MAX / 4 <= UINT16_MAX, "a counter of 16 bits must not come round");

/* Bytes that are counted by one kind of table. */
#define PAIRS_BLOCK ((size_t)32 << 10)

/* Steps of a block that are sampled, how far apart they are, and how many bytes of the block that
 * takes, with the pair after next. */
#define SAMPLES 8
#define SAMPLES_APART (PAIRS_BLOCK / SAMPLES)
#define SAMPLES_REACH ((SAMPLES - 1) * SAMPLES_APART + BYTE_STEP + 4)

/* The most sampled pairs that may equal the pair after next, in text; or the next one or the one
 * after it, in other data. */
#define TEXT_ALIKE (SAMPLES * BYTE_STEP / 2 / 3)
#define ANY_ALIKE (SAMPLES * BYTE_STEP / 32)

enum pair_table { PAIRS_NONE, PAIRS_TEXT, PAIRS_ANY };

/* The tables for a piece of data. */
struct byte_counting {
    union {
        uint16_t text[128 * 256];
        uint8_t any[256 * 256];
    } pairs; /* set up when first needed */
    uint32_t tables[BYTE_TABLES][BYTE_TABLE_WORDS];
};

INLINE uint64_t word_at(const unsigned char *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

INLINE unsigned pair_at(const unsigned char *data)
{
    uint16_t pair;
    memcpy(&pair, data, sizeof pair);
    return pair;
}

/* True if BYTE_STEP bytes are all equal. */
INLINE bool step_is_run(const unsigned char *data)
{
    uint64_t first = word_at(data);
    for (size_t i = 8; i < BYTE_STEP; i += 8)
        if (word_at(data + i) != first)
            return false;
    return first == (first << 8 | first >> 56);
}

INLINE void count_word(uint64_t word, uint32_t (*tables)[BYTE_TABLE_WORDS])
{
#pragma GCC unroll 8
    for (unsigned i = 0; i < BYTE_TABLES; i++)
        tables[i][word >> 8 * i & 0xff]++;
}

/* Counts whole steps, and returns how many bytes they are. A run is counted at once, as all its
 * increments would be to the same counters. */
TARGET static size_t count_in_tables(const unsigned char *data, size_t len,
                                     uint32_t (*tables)[BYTE_TABLE_WORDS])
{
    size_t i = 0;
    for (; i + BYTE_STEP <= len; i += BYTE_STEP) {
        __builtin_prefetch(data + i + BYTES_AHEAD);
        if (step_is_run(data + i)) {
            tables[0][data[i]] += BYTE_STEP;
            continue;
        }
        for (size_t word = 0; word < BYTE_STEP; word += 8)
            count_word(word_at(data + i + word), tables);
    }
    return i;
}

/* Counts 32 bytes. Loading pairs one by one takes fewer instructions than taking them out of a
 * word. */
INLINE void count_text_pairs(const unsigned char *data, uint16_t *table)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < 32; i += 4) {
        table[pair_at(data + i)]++;
        table[ASCII_HALF + pair_at(data + i + 2)]++;
    }
}

/* Counts whole steps. Steps that are not ASCII are counted as bytes. */
TARGET static void count_text(const unsigned char *data, size_t len, struct byte_counting *counting)
{
    for (const unsigned char *end = data + len; data < end; data += BYTE_STEP) {
        __builtin_prefetch(data + BYTES_AHEAD);
        if (step_is_run(data)) {
            counting->tables[0][*data] += BYTE_STEP;
        } else if (!step_is_ascii(data)) {
            for (size_t word = 0; word < BYTE_STEP; word += 8)
                count_word(word_at(data + word), counting->tables);
        } else {
            count_text_pairs(data, counting->pairs.text);
            count_text_pairs(data + 32, counting->pairs.text);
        }
    }
}

/* Adds a pair whose 8-bit counter has wrapped to 0. */
static __attribute__((noinline, cold)) void carry_pair(unsigned pair,
                                                       struct byte_counting *counting)
{
    counting->tables[0][pair & 0xff] += 256;
    counting->tables[1][pair >> 8] += 256;
}

INLINE void count_pair(const unsigned char *data, struct byte_counting *counting)
{
    unsigned pair = pair_at(data);
    if (__builtin_expect(++counting->pairs.any[pair] == 0, 0))
        carry_pair(pair, counting);
}

/* Counts whole steps. */
TARGET static void count_any(const unsigned char *data, size_t len, struct byte_counting *counting)
{
    for (const unsigned char *end = data + len; data < end; data += BYTE_STEP) {
        __builtin_prefetch(data + BYTES_AHEAD);
        if (step_is_run(data)) {
            counting->tables[0][*data] += BYTE_STEP;
            continue;
        }
        for (size_t i = 0; i < BYTE_STEP; i += 16)
#pragma GCC unroll 8
            for (size_t j = 0; j < 16; j += 2)
                count_pair(data + i + j, counting);
    }
}

typedef int16_t pair_vector __attribute__((vector_size(PAIRS_VECTOR)));

/* Prefetches what sample_block reads. */
INLINE void prefetch_samples(const unsigned char *data)
{
    for (size_t at = 0; at < PAIRS_BLOCK; at += SAMPLES_APART) {
        __builtin_prefetch(data + at);
        __builtin_prefetch(data + at + BYTE_STEP);
    }
}

/* Returns the table that suits a block of at least SAMPLES_REACH bytes. Runs are counted without a
 * table in any case. */
TARGET static enum pair_table sample_block(const unsigned char *data)
{
    pair_vector next = {0}, second = {0};
    unsigned runs = 0, ascii = 0;
    for (size_t at = 0; at < PAIRS_BLOCK; at += SAMPLES_APART) {
        if (step_is_run(data + at)) {
            runs++;
            continue;
        }
        ascii += step_is_ascii(data + at);
        for (size_t i = at; i < at + BYTE_STEP; i += sizeof(pair_vector)) {
            pair_vector here, after;
            memcpy(&here, data + i, sizeof here);
            memcpy(&after, data + i + 2, sizeof after);
            next -= here == after;
            memcpy(&after, data + i + 4, sizeof after);
            second -= here == after;
        }
    }
    if (runs > SAMPLES / 2)
        return PAIRS_NONE;
    unsigned alike_next = sum_of_halves(&next), alike_second = sum_of_halves(&second);
    if (ascii + runs >= SAMPLES * 3 / 4 && alike_second <= TEXT_ALIKE)
        return PAIRS_TEXT;
    return alike_next + alike_second <= ANY_ALIKE ? PAIRS_ANY : PAIRS_NONE;
}

INLINE void add_tables(uint32_t (*tables)[BYTE_TABLE_WORDS], uint64_t *counts)
{
    for (unsigned value = 0; value < 256; value++)
        for (unsigned table = 0; table < BYTE_TABLES; table++)
            counts[value] += tables[table][value];
}

/* Counts whole steps, PAIRS_FEW to PIECE_MAX bytes. */
TARGET static __attribute__((noinline)) void count_piece(const unsigned char *data, size_t len,
                                                         uint64_t *counts)
{
    struct byte_counting counting;
    memset(counting.tables, 0, sizeof counting.tables);
    enum pair_table has = PAIRS_NONE, suits = sample_block(data);
    for (size_t block; len > 0; data += block, len -= block) {
        block = len < PAIRS_BLOCK ? len : PAIRS_BLOCK;
        prefetch_samples(data + PAIRS_BLOCK);
        if (has == PAIRS_NONE && suits != PAIRS_NONE && len >= PAIRS_FEW) {
            has = suits;
            memset(&counting.pairs, 0, sizeof counting.pairs);
        }
        if (has == PAIRS_TEXT && suits == PAIRS_TEXT)
            count_text(data, block, &counting);
        else if (has == PAIRS_ANY && suits != PAIRS_NONE)
            count_any(data, block, &counting);
        else
            count_in_tables(data, block, counting.tables);
        if (len - block >= SAMPLES_REACH)
            suits = sample_block(data + block);
    }
    if (has == PAIRS_TEXT)
        add_text(counting.pairs.text, counts);
    else if (has == PAIRS_ANY)
        add_any(counting.pairs.any, counts);
    add_tables(counting.tables, counts);
}

/* Counts whole steps, fewer than PAIRS_FEW bytes. */
TARGET static __attribute__((noinline)) void count_little(const unsigned char *data, size_t len,
                                                          uint64_t *counts)
{
    uint32_t tables[BYTE_TABLES][BYTE_TABLE_WORDS] = {{0}};
    count_in_tables(data, len, tables);
    add_tables(tables, counts);
}

TARGET static void count_in_pieces(const unsigned char *data, size_t len, uint64_t *counts)
{
    while (len >= BYTES_FEW) {
        size_t now = len < PIECE_MAX ? len - len % BYTE_STEP : PIECE_MAX;
        if (now < PAIRS_FEW)
            count_little(data, now, counts);
        else
            count_piece(data, now, counts);
        data += now;
        len -= now;
    }
    for (size_t i = 0; i < len; i++)
        counts[data[i]]++;
}

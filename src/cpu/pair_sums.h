/* SPDX-License-Identifier: MIT */
/* Adds counts of pairs of bytes to those of the bytes: a part of count_bytes.h. A table has a row
 * for each second byte and a column for each first one; on a big-endian processor it is the other
 * way round. A pair counts once for its row and once for its column. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

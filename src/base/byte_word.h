/* SPDX-License-Identifier: MIT */
/* Bytes as a word, and words of 128 bits. */
#ifndef GPUHISTO_BYTE_WORD_H
#define GPUHISTO_BYTE_WORD_H

#include <stdint.h>
#include <string.h>

/* Integers wide enough for values of 64 bits, signed or not, and for sums and differences. */
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/* A word whose bytes are all the same. */
#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns eight bytes, the first one lowest. */
static inline uint64_t byte_word(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Returns four bytes, the first one lowest. */
static inline uint32_t byte_word_of_4(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

/* Stores two bytes, the lower one first. */
static inline void byte_word_of_2_store(unsigned char *at, uint16_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap16(word);
#endif
    memcpy(at, &word, sizeof word);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Finds characters with AVX-512: a part of count_avx512.c. count_characters.h has the contract. */
#ifndef GPUHISTO_CHARACTERS_AVX512_H
#define GPUHISTO_CHARACTERS_AVX512_H

#include "characters_ascii.h"

#include <immintrin.h>

/* 0, 1, 2, ...; and each four times. */
static const uint8_t byte_numbers[64] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
static const uint8_t byte_quarters[64] = {
    0,  0,  0,  0,  1,  1,  1,  1,  2,  2,  2,  2,  3,  3,  3,  3,  4,  4,  4,  4,  5,  5,
    5,  5,  6,  6,  6,  6,  7,  7,  7,  7,  8,  8,  8,  8,  9,  9,  9,  9,  10, 10, 10, 10,
    11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15};

/* Returns which of 64 bytes are from lo to hi. */
TARGET INLINE uint64_t bytes_from_to(__m512i bytes, unsigned char lo, unsigned char hi)
{
    const __m512i above = _mm512_sub_epi8(bytes, _mm512_set1_epi8((char)lo));
    return _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((char)(hi - lo)));
}

/* Returns the code points of sixteen characters, given four bytes for each; those after a
 * character's own may be any. Sets *wrong to the characters that have another number of bytes than
 * they need. Six bits of each byte are joined, and those of other bytes shifted out; a first byte
 * of three or four leaves some of its own bits in front. */
TARGET INLINE __m512i points_of(__m512i four, __mmask16 *wrong)
{
    /* By the upper half of the first byte. */
    const __m512i shifts = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 12, 6, 0);
    const __m512i masks =
        _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7ff, 0x7ff, 0xffff, 0x1fffff);
    const __m512i leasts =
        _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x80, 0x800, 0x10000);
    const __m512i kind = _mm512_srli_epi32(four, 4);
    const __m512i sixes = _mm512_and_si512(four, _mm512_set1_epi8(0x3f));
    const __m512i twelves = _mm512_maddubs_epi16(sixes, _mm512_set1_epi16(1 << 8 | 64));
    const __m512i all = _mm512_madd_epi16(twelves, _mm512_set1_epi32(1 << 16 | 4096));
    const __m512i shifted = _mm512_srlv_epi32(all, _mm512_permutexvar_epi32(kind, shifts));
    const __m512i points = _mm512_and_si512(shifted, _mm512_permutexvar_epi32(kind, masks));
    const __m512i surrogates = _mm512_sub_epi32(points, _mm512_set1_epi32(0xd800));
    *wrong = _mm512_cmplt_epu32_mask(points, _mm512_permutexvar_epi32(kind, leasts)) |
             _mm512_cmplt_epu32_mask(surrogates, _mm512_set1_epi32(0x800)) |
             _mm512_cmpgt_epu32_mask(points, _mm512_set1_epi32(0x10ffff));
    return points;
}

TARGET INLINE size_t find_characters(const unsigned char *data, uint32_t *rows, size_t *n,
                                     struct character_bytes *bytes)
{
    const __m512i window = _mm512_loadu_si512(data);
    const uint64_t beyond = _mm512_movepi8_mask(window);
    if (beyond == 0)
        return CHARACTERS_ASCII;
    const uint64_t next = bytes_from_to(window, 0x80, 0xbf);
    const uint64_t of_2 = bytes_from_to(window, 0xc2, 0xdf);
    const uint64_t of_3 = bytes_from_to(window, 0xe0, 0xef);
    const uint64_t of_4 = bytes_from_to(window, 0xf0, 0xf4);
    const uint64_t expected = (of_2 | of_3 | of_4) << 1 | (of_3 | of_4) << 2 | of_4 << 3;
    const uint64_t cut = (of_2 & 1ull << 63) | (of_3 & 3ull << 62) | (of_4 & 7ull << 61);
    if (expected != next || (next | of_2 | of_3 | of_4) != beyond)
        return 0;
    const unsigned used = cut ? (unsigned)__builtin_ctzll(cut) : 64;
    const uint64_t inside = used < 64 ? (1ull << used) - 1 : UINT64_MAX;
    const uint64_t first = (of_2 | of_3 | of_4) & inside, ascii = ~beyond & inside;
    const unsigned found = (unsigned)__builtin_popcountll(first);
    const __m512i numbered = _mm512_loadu_si512(byte_numbers);
    const __m512i quarters = _mm512_loadu_si512(byte_quarters);
    const __m512i positions = _mm512_maskz_compress_epi8(first, numbered);
    for (unsigned i = 0; i < found; i += 16) {
        const __m512i at = _mm512_add_epi8(quarters, _mm512_set1_epi8((char)i));
        const __m512i which =
            _mm512_add_epi8(_mm512_permutexvar_epi8(at, positions), _mm512_set1_epi32(0x03020100));
        const unsigned there = found - i < 16 ? (1u << (found - i)) - 1 : 0xffff;
        __mmask16 wrong;
        const __m512i points = points_of(_mm512_permutexvar_epi8(which, window), &wrong);
        if (wrong & there)
            return 0;
        _mm512_storeu_si512(rows + *n + i, points);
    }
    _mm512_storeu_si512(bytes->gathered + bytes->len, _mm512_maskz_compress_epi8(ascii, window));
    bytes->len += (unsigned)__builtin_popcountll(ascii);
    *n += found;
    return used;
}

#endif

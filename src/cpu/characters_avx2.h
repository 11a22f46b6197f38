/* SPDX-License-Identifier: MIT */
/* Finds characters with AVX2: a part of count_avx2.c. count_characters.h has the contract. */
#ifndef GPUHISTO_CHARACTERS_AVX2_H
#define GPUHISTO_CHARACTERS_AVX2_H

#include "characters_ascii.h"
#include "src/base/byte_word.h"

#include <immintrin.h>

/* Above this number of ASCII bytes among 64, all bytes are gathered. */
#define ASCII_MUCH 39

/* Returns which of 64 bytes are from lo to hi, a bit each. */
TARGET INLINE uint64_t bytes_from_to(vector low, vector high, unsigned char lo, unsigned char hi)
{
    const vector first = _mm256_set1_epi8((char)lo), max = _mm256_set1_epi8((char)(hi - lo));
    const vector a = _mm256_sub_epi8(low, first), b = _mm256_sub_epi8(high, first);
    const vector is_a = _mm256_cmpeq_epi8(_mm256_min_epu8(a, max), a);
    const vector is_b = _mm256_cmpeq_epi8(_mm256_min_epu8(b, max), b);
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(is_b) << 32 |
           (uint32_t)_mm256_movemask_epi8(is_a);
}

/* Returns which of eight words are less than others, all below 2^31. */
TARGET INLINE vector words_below(vector words, vector others)
{
    return _mm256_cmpgt_epi32(others, words);
}

/* Widens eight bits to masks of eight bits each. */
TARGET INLINE uint64_t byte_masks(uint64_t bits)
{
    return _pdep_u64(bits & 0xff, EACH_BYTE(1)) * 0xff;
}

/* Returns the places, of eight, that have a bit, in the lowest bytes. */
TARGET INLINE __m128i positions_of(uint64_t bits)
{
    return _mm_cvtsi64_si128((long long)_pext_u64(0x0706050403020100u, byte_masks(bits)));
}

/* Gathers the ASCII of 64 bytes, or all of them if that is most. */
TARGET INLINE void gather_ascii(const unsigned char *data, uint64_t ascii,
                                struct character_bytes *bytes)
{
    if (__builtin_popcountll(ascii) > ASCII_MUCH) {
        characters_gather_all(data, bytes);
        return;
    }
    for (unsigned i = 0; i < 64; i += 8, ascii >>= 8) {
        const uint64_t chosen = _pext_u64(byte_word(data + i), byte_masks(ascii));
        memcpy(bytes->gathered + bytes->len, &chosen, sizeof chosen);
        bytes->len += (unsigned)__builtin_popcount((unsigned)(ascii & 0xff));
    }
}

/* Returns the code points of eight characters, given four bytes for each; those after a character's
 * own may be any. Sets *wrong to the characters that have another number of bytes than they need.
 * Six bits of each byte are joined, and those of other bytes shifted out; a first byte of three or
 * four leaves some of its own bits in front. */
TARGET INLINE vector points_of(vector four, unsigned *wrong)
{
    /* By the upper half of the first byte without its highest bit. */
    const vector shifts = _mm256_setr_epi32(0, 0, 0, 0, 12, 12, 6, 0);
    const vector masks = _mm256_setr_epi32(0, 0, 0, 0, 0x7ff, 0x7ff, 0xffff, 0x1fffff);
    const vector leasts = _mm256_setr_epi32(0, 0, 0, 0, 0x80, 0x80, 0x800, 0x10000);
    const vector kind = _mm256_srli_epi32(four, 4);
    const vector sixes = _mm256_and_si256(four, _mm256_set1_epi8(0x3f));
    const vector twelves = _mm256_maddubs_epi16(sixes, _mm256_set1_epi16(1 << 8 | 64));
    const vector all = _mm256_madd_epi16(twelves, _mm256_set1_epi32(1 << 16 | 4096));
    const vector shifted = _mm256_srlv_epi32(all, _mm256_permutevar8x32_epi32(shifts, kind));
    const vector points = _mm256_and_si256(shifted, _mm256_permutevar8x32_epi32(masks, kind));
    const vector surrogates = _mm256_cmpeq_epi32(
        _mm256_and_si256(points, _mm256_set1_epi32(0x1ff800)), _mm256_set1_epi32(0xd800));
    const vector outside =
        _mm256_or_si256(words_below(points, _mm256_permutevar8x32_epi32(leasts, kind)),
                        words_below(_mm256_set1_epi32(0x10ffff), points));
    *wrong =
        (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(surrogates, outside)));
    return points;
}

/* Finds the characters of more than one byte that begin in data[0..16), at the bits of `first`.
 * Reads 24 bytes. Returns how many there are, or -1 if some are wrong. */
TARGET INLINE int find_in_16_bytes(const unsigned char *data, uint64_t first, uint32_t *rows)
{
    const vector spread =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
    const vector steps = _mm256_set1_epi32(0x03020100);
    const unsigned in_low = (unsigned)__builtin_popcount((unsigned)(first & 0xff));
    const unsigned in_high = (unsigned)__builtin_popcount((unsigned)(first >> 8 & 0xff));
    const vector positions = _mm256_set_m128i(positions_of(first >> 8), positions_of(first));
    const vector bytes =
        _mm256_set_m128i(_mm_loadu_si128((const __m128i *)(const void *)(data + 8)),
                         _mm_loadu_si128((const __m128i *)(const void *)data));
    const vector which = _mm256_add_epi8(_mm256_shuffle_epi8(positions, spread), steps);
    unsigned wrong;
    const vector points = points_of(_mm256_shuffle_epi8(bytes, which), &wrong);
    _mm_storeu_si128((__m128i *)(void *)rows, _mm256_castsi256_si128(points));
    _mm_storeu_si128((__m128i *)(void *)(rows + in_low), _mm256_extracti128_si256(points, 1));
    const unsigned there = ((1u << in_low) - 1) | ((1u << in_high) - 1) << 4;
    return wrong & there ? -1 : (int)(in_low + in_high);
}

TARGET INLINE size_t find_characters(const unsigned char *data, uint32_t *rows, size_t *n,
                                     struct character_bytes *bytes)
{
    const __m256i *at = (const __m256i *)(const void *)data;
    const vector low = _mm256_loadu_si256(at), high = _mm256_loadu_si256(at + 1);
    const uint64_t beyond =
        (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32 | (uint32_t)_mm256_movemask_epi8(low);
    if (beyond == 0)
        return CHARACTERS_ASCII;
    const uint64_t next = bytes_from_to(low, high, 0x80, 0xbf);
    const uint64_t of_2 = bytes_from_to(low, high, 0xc2, 0xdf);
    const uint64_t of_3 = bytes_from_to(low, high, 0xe0, 0xef);
    const uint64_t of_4 = bytes_from_to(low, high, 0xf0, 0xf4);
    const uint64_t expected = (of_2 | of_3 | of_4) << 1 | (of_3 | of_4) << 2 | of_4 << 3;
    const uint64_t cut = (of_2 & 1ull << 63) | (of_3 & 3ull << 62) | (of_4 & 7ull << 61);
    if (expected != next || (next | of_2 | of_3 | of_4) != beyond)
        return 0;
    const unsigned used = cut ? (unsigned)__builtin_ctzll(cut) : 64;
    const uint64_t inside = used < 64 ? (1ull << used) - 1 : UINT64_MAX;
    const uint64_t first = (of_2 | of_3 | of_4) & inside;
    size_t found = *n;
    for (unsigned i = 0; i < 64; i += 16) {
        const int more = find_in_16_bytes(data + i, first >> i, rows + found);
        if (more < 0)
            return 0;
        found += (unsigned)more;
    }
    gather_ascii(data, ~beyond & inside, bytes);
    *n = found;
    return used;
}

#endif

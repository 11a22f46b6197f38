/* SPDX-License-Identifier: MIT */
/* Counts classes of bytes with AVX-512, a bit of every byte each, by carry-save adders (Harley and
 * Seal): one popcount for 16 vectors. A part of count_avx512.c. */
#ifndef GPUHISTO_CLASSES_AVX512_H
#define GPUHISTO_CLASSES_AVX512_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VECTOR 64
#define ROUND (16 * VECTOR) /* bytes between two popcounts */

/* Rounds that the bytes of an accumulator can count, at most eight each. */
#define ROUNDS_MAX 31

/* The table that gives a byte's classes, by its lower six bits or by all seven of ASCII. */
struct lookup {
    bool ascii;
    __m512i table[2];
};

/* Counts in planes of weight 1, 2, 4 and 8. */
struct planes {
    __m512i ones, twos, fours, eights;
};

/* 0x7f, which is no letter, stands for all that is not ASCII. */
TARGET INLINE __m512i classes_at(const unsigned char *data, const struct lookup *by)
{
    __m512i bytes = _mm512_loadu_si512(data);
    if (!by->ascii)
        return _mm512_permutexvar_epi8(bytes, by->table[0]);
    bytes = _mm512_min_epu8(bytes, _mm512_set1_epi8(0x7f));
    return _mm512_permutex2var_epi8(by->table[0], bytes, by->table[1]);
}

/* Adds two to a plane and returns the carry. */
TARGET INLINE __m512i add_two(__m512i *plane, __m512i a, __m512i b)
{
    __m512i carry = _mm512_ternarylogic_epi64(*plane, a, b, 0xe8); /* majority */
    *plane = _mm512_ternarylogic_epi64(*plane, a, b, 0x96);        /* parity */
    return carry;
}

TARGET INLINE __m512i add_2(struct planes *planes, const unsigned char *data,
                            const struct lookup *by)
{
    return add_two(&planes->ones, classes_at(data, by), classes_at(data + VECTOR, by));
}

TARGET INLINE __m512i add_4(struct planes *planes, const unsigned char *data,
                            const struct lookup *by)
{
    __m512i carry = add_2(planes, data, by);
    return add_two(&planes->twos, carry, add_2(planes, data + 2 * VECTOR, by));
}

TARGET INLINE __m512i add_8(struct planes *planes, const unsigned char *data,
                            const struct lookup *by)
{
    __m512i carry = add_4(planes, data, by);
    return add_two(&planes->fours, carry, add_4(planes, data + 4 * VECTOR, by));
}

TARGET INLINE __m512i add_16(struct planes *planes, const unsigned char *data,
                             const struct lookup *by)
{
    __m512i carry = add_8(planes, data, by);
    return add_two(&planes->eights, carry, add_8(planes, data + 8 * VECTOR, by));
}

/* Puts into byte k, for each 8 bytes of a plane, how many have the bit of class k: transposes 8 x 8
 * bits by a product of matrices. */
TARGET INLINE __m512i bits_by_class(__m512i plane)
{
    __m512i unit = _mm512_set1_epi64((long long)0x8040201008040201ull);
    return _mm512_popcnt_epi8(_mm512_gf2p8affine_epi64_epi8(unit, plane, 0));
}

/* Returns the eight sums, 64 bits each, of bytes that bits_by_class returned. */
TARGET INLINE __m512i sum_by_class(__m512i bits)
{
    static const uint8_t by_class[64] = {
        0,  8,  16, 24, 32, 40, 48, 56, 1,  9,  17, 25, 33, 41, 49, 57, 2,  10, 18, 26, 34, 42,
        50, 58, 3,  11, 19, 27, 35, 43, 51, 59, 4,  12, 20, 28, 36, 44, 52, 60, 5,  13, 21, 29,
        37, 45, 53, 61, 6,  14, 22, 30, 38, 46, 54, 62, 7,  15, 23, 31, 39, 47, 55, 63};
    __m512i sorted = _mm512_permutexvar_epi8(_mm512_loadu_si512(by_class), bits);
    return _mm512_sad_epu8(sorted, _mm512_setzero_si512());
}

/* Adds the classes of whole rounds, ROUNDS_MAX at most, to eight totals. */
TARGET INLINE void count_rounds(const unsigned char *data, size_t rounds, const struct lookup *by,
                                uint64_t *totals)
{
    const __m512i zero = _mm512_setzero_si512();
    struct planes planes = {zero, zero, zero, zero};
    __m512i sixteens = zero;
    for (size_t i = 0; i < rounds; i++)
        sixteens = _mm512_add_epi8(sixteens, bits_by_class(add_16(&planes, data + i * ROUND, by)));
    /* The rest of the planes: at most 8 x 15 in a byte. */
    __m512i rest = _mm512_slli_epi16(bits_by_class(planes.eights), 1);
    rest = _mm512_slli_epi16(_mm512_add_epi8(rest, bits_by_class(planes.fours)), 1);
    rest = _mm512_slli_epi16(_mm512_add_epi8(rest, bits_by_class(planes.twos)), 1);
    rest = _mm512_add_epi8(rest, bits_by_class(planes.ones));
    __m512i sums =
        _mm512_add_epi64(_mm512_slli_epi64(sum_by_class(sixteens), 4), sum_by_class(rest));
    _mm512_storeu_si512(totals, _mm512_add_epi64(_mm512_loadu_si512(totals), sums));
}

#endif

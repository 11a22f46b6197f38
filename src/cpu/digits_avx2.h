/* SPDX-License-Identifier: MIT */
/* Rows of decimal digits by AVX2: a part of count_avx2.c.
 *
 * As in digits_avx512.h, but a register holds the powers of ten of eight decades: the upper word of
 * a double is enough for 1e0 to 1e9. The batch's first value decides which decades these are. */
#ifndef GPUHISTO_DIGITS_AVX2_H
#define GPUHISTO_DIGITS_AVX2_H

#include "batch.h"
#include "src/bins/binning.h"

#include <immintrin.h>
#include <string.h>

#define DIGITS_QUICK_MAX 3 /* layouts with more digits are left to another loop */

#define WINDOW_DECADES 8
#define WINDOW_BEFORE 4 /* decades before that of the first value */

/* floor(log10(2^k)) is (k + DECADE_ADDED) * DECADE_FACTOR >> 16, less DECADE_ZERO, for k from -120
 * to 120. */
#define DECADE_ADDED 196
#define DECADE_FACTOR 19728
#define DECADE_ZERO 59

/* Adding it to a number below 2^51 rounds that to a whole number, which is in the low bits. */
#define ROUNDER 0x1.8p52

/* By the decade in the window. The number of a value is about value * guess. A value is at or above
 * a number if value * exact >= number * unit; one of `exact` and `unit` is 1. */
struct window {
    __m256i guess, unit; /* upper words of doubles */
    __m256i begin;       /* the row of number 0 of the decade */
    __m256i first;       /* the first decade plus DECADE_ZERO */
};

TARGET INLINE __m256d word_of_decade(__m256i words, __m256i decade)
{
    const __m256i upper = _mm256_set1_epi64x((long long)0xffffffff00000000);
    return _mm256_castsi256_pd(_mm256_and_si256(_mm256_permutevar8x32_epi32(words, decade), upper));
}

/* Returns the numbers of four values in their decades, in the lower words, and sets *decade in the
 * upper words. Both are 0 for zero. */
TARGET INLINE __m256i numbers_of_four(const struct window *window, __m256d value, __m256i *decade)
{
    const __m256d rounder = _mm256_set1_pd(ROUNDER);
    const __m256i bits = _mm256_castpd_si256(value);
    const __m256d is_zero = _mm256_cmp_pd(value, _mm256_setzero_pd(), _CMP_EQ_OQ);
    const __m256i exponent =
        _mm256_sub_epi32(_mm256_srli_epi32(bits, 20), _mm256_set1_epi32(1023 - DECADE_ADDED));
    const __m256i any = _mm256_sub_epi32(
        _mm256_mulhi_epu16(exponent, _mm256_set1_epi32(DECADE_FACTOR)), window->first);
    *decade = _mm256_andnot_si256(_mm256_castpd_si256(is_zero), any);
    const __m256d guess = word_of_decade(window->guess, *decade);
    const __m256d unit = word_of_decade(window->unit, *decade);
    const __m256d exact = _mm256_max_pd(guess, _mm256_set1_pd(1));
    const __m256d power_of_two = _mm256_and_pd(
        value, _mm256_castsi256_pd(_mm256_set1_epi64x((long long)(UINT64_C(0x7ff) << 52))));
    const __m256d half = _mm256_mul_pd(power_of_two, _mm256_set1_pd(0x1p-53));
    /* The nearest whole number, unless that is above the middle between the value and the next. */
    const __m256d nearest = _mm256_fmadd_pd(value, guess, rounder);
    const __m256d number = _mm256_sub_pd(nearest, rounder);
    __m256d above = _mm256_fnmadd_pd(value, exact, _mm256_mul_pd(number, unit));
    above = _mm256_fnmadd_pd(half, exact, above);
    const __m256d is_above = _mm256_cmp_pd(above, _mm256_setzero_pd(), _CMP_GT_OQ);
    return _mm256_add_epi64(_mm256_castpd_si256(nearest), _mm256_castpd_si256(is_above));
}

TARGET INLINE __m256i words_of(__m256i a, __m256i b, bool upper)
{
    const __m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b);
    return _mm256_castps_si256(upper ? _mm256_shuffle_ps(x, y, 0xdd)
                                     : _mm256_shuffle_ps(x, y, 0x88));
}

TARGET INLINE bool all_below(__m256i words, int end)
{
    const __m256i last = _mm256_set1_epi32(end - 1);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(words, last), last)) == -1;
}

/* Finds the rows of a batch. False if a value is neither in the window nor zero; its row is
 * undefined. */
TARGET INLINE bool digits_of_batch(const struct digits_layout *layout, const struct window *window,
                                   const double *values, uint32_t *rows)
{
    const __m256i per_decade = _mm256_set1_epi32((int)layout->per_decade);
    const __m256i zero_row = _mm256_set1_epi32((int)DIGITS_SIDE(layout->per_decade) + 2);
    const __m256i zero = _mm256_broadcastd_epi32(_mm256_castsi256_si128(window->begin));
    __m256i max = _mm256_setzero_si256();
    for (size_t i = 0; i < BATCH; i += 8) {
        __m256i decade_a, decade_b;
        const __m256i a = numbers_of_four(window, _mm256_loadu_pd(values + i), &decade_a);
        const __m256i b = numbers_of_four(window, _mm256_loadu_pd(values + i + 4), &decade_b);
        const __m256i numbers = words_of(a, b, false), decades = words_of(decade_a, decade_b, true);
        /* A number of the next decade is a tenth of itself there, which is less; it is below
         * 2^14. */
        const __m256i tenths = _mm256_mulhi_epu16(numbers, _mm256_set1_epi32(6554));
        const __m256i begins = _mm256_permutevar8x32_epi32(window->begin, decades);
        const __m256i found = _mm256_add_epi32(
            begins, _mm256_min_epu32(numbers, _mm256_add_epi32(tenths, per_decade)));
        /* Zero became number 0 of decade 0. */
        const __m256i all = _mm256_blendv_epi8(found, zero_row, _mm256_cmpeq_epi32(found, zero));
        _mm256_storeu_si256((__m256i *)(void *)(rows + i), _mm256_permute4x64_epi64(all, 0xd8));
        max = _mm256_max_epu32(max, decades);
        if (i % 128 == 0 && !all_below(max, WINDOW_DECADES))
            return false; /* usually because of signs, which are left to another loop */
    }
    return all_below(max, WINDOW_DECADES);
}

/* Returns the upper word of 10^power, for powers from -9 to 9, rounded if the power is not
 * whole. */
static inline uint32_t upper_word_of_ten(int power)
{
    static const double ten_to[] = {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0,
                                    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9};
    uint64_t bits;
    memcpy(&bits, &ten_to[power + 9], sizeof bits);
    return (uint32_t)((bits + (UINT64_C(1) << 31)) >> 32);
}

/* Finds the rows of a batch of doubles. False if some are left to be found. */
TARGET static bool quick_rows_of_digits(const struct digits_layout *layout, const double *values,
                                        uint32_t *rows)
{
    const int digits = (int)layout->digits;
    uint32_t guess[WINDOW_DECADES], unit[WINDOW_DECADES], begin[WINDOW_DECADES];
    uint64_t bits;
    memcpy(&bits, &values[0], sizeof bits);
    int first = digits_decade((int)(bits >> 52 & 0x7ff) - 1023) - WINDOW_BEFORE;
    first = bits == 0 ? -WINDOW_BEFORE : first;
    /* All powers are from -9 to 9. */
    first = first > digits - 10 ? first : digits - 10;
    first = first + WINDOW_DECADES <= digits + 9 ? first : digits + 9 - WINDOW_DECADES;
    for (int i = 0; i < WINDOW_DECADES; i++) {
        const int power = digits - 1 - (first + i);
        guess[i] = upper_word_of_ten(power);
        unit[i] = upper_word_of_ten(power < 0 ? -power : 0);
        begin[i] = DIGITS_SIDE(layout->per_decade) + 4 - layout->next / 10 +
                   (uint32_t)(first + i - DECADE_FIRST) * layout->per_decade;
    }
    const struct window window = {
        .guess = _mm256_loadu_si256((const __m256i *)(const void *)guess),
        .unit = _mm256_loadu_si256((const __m256i *)(const void *)unit),
        .begin = _mm256_loadu_si256((const __m256i *)(const void *)begin),
        .first = _mm256_set1_epi32(first + DECADE_ZERO),
    };
    return digits <= DIGITS_QUICK_MAX && digits_of_batch(layout, &window, values, rows);
}

#endif

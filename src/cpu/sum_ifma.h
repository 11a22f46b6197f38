/* SPDX-License-Identifier: MIT */
/* Exact sums of a batch of doubles and of their squares by AVX-512 IFMA: what batch_sums.h includes
 * in place of its own limbs if SUM_BY_IFMA is defined.
 *
 * A number becomes a fixed-point number a * 2^51 + b, or a alone if that has enough bits. The
 * greatest number of the batch decides the unit. 2^52 and half of a limb's range are added, so that
 * a limb is the low 52 bits of a double and never negative, as the multiplication needs it: there
 * are no conversions and no signs, and what was added is subtracted from the sums once. Low and
 * high halves of products are added up apart in 64 bits, so nothing overflows within a batch.
 * (Kulisch's long accumulator, of which two digits are in use at a time.) */
#ifndef GPUHISTO_SUM_IFMA_H
#define GPUHISTO_SUM_IFMA_H

#include <immintrin.h>

#define IFMA_LANES 8

/* Numbers that are added at a time, while rows of others are counted. */
#define PARTS_BLOCK 64

/* Bits of a and b. A number times the scale is below 2^IFMA_HIGH. */
#define IFMA_HIGH 24
#define IFMA_LOW 51

/* Bits of a alone. */
#define IFMA_SINGLE 50

/* Numbers down to the greatest one / IFMA_SPAN have no bit below the unit. */
#define IFMA_SPAN 0x1p22

/* Between these, the scale is neither infinite nor 0. */
#define IFMA_MAX 0x1p480
#define IFMA_MIN 0x1p-480

/* Adding it puts a whole number of `bits` bits, with its sign, into the low bits of a double. */
#define IFMA_BIAS(bits) ((uint64_t)1 << (bits))
#define IFMA_ROUNDER(bits) (0x1p52 + (double)IFMA_BIAS(bits))
#define IFMA_ROUNDER_BITS(bits) ((uint64_t)1075 << 52 | IFMA_BIAS(bits))

/* The sums of a batch. Limbs are added as bits of doubles: a + 2^IFMA_HIGH and b + 2^(IFMA_LOW -
 * 1), with the exponent; products are of limbs without the exponent. */
struct ifma_sums {
    __m512i a, b;
    __m512i aa_low, aa_high, ab_low, ab_high, bb_low, bb_high; /* high halves are times 2^52 */
    __m512i seen;  /* all bits of a, if numbers are not checked */
    __m512i below; /* not 0 if a number has bits below the unit */
};

/* Records whether eight numbers have bits that are not in `part`, their limbs. */
TARGET INLINE void ifma_check(struct ifma_sums *sums, __m512d number, __m512d scale, __m512d part)
{
    const __m512i rest = _mm512_castpd_si512(_mm512_fmsub_pd(number, scale, part));
    const __m512i magnitude = _mm512_set1_epi64(INT64_MAX);
    sums->below = _mm512_ternarylogic_epi64(sums->below, rest, magnitude, 0xf8); /* x | y & z */
}

/* Adds eight numbers of two limbs. `check` is a constant. */
TARGET INLINE void ifma_add_eight(struct ifma_sums *sums, __m512d x, __m512d scale, bool check)
{
    const __m512d rounder_a = _mm512_set1_pd(IFMA_ROUNDER(IFMA_HIGH));
    const __m512d rounder_b = _mm512_set1_pd(IFMA_ROUNDER(IFMA_LOW - 1));
    const __m512d low_scale = _mm512_set1_pd((double)((uint64_t)1 << IFMA_LOW));
    const __m512d rounded = _mm512_fmadd_pd(x, scale, rounder_a);
    const __m512d rest = _mm512_fmsub_pd(x, scale, _mm512_sub_pd(rounded, rounder_a));
    const __m512d low = _mm512_fmadd_pd(rest, low_scale, rounder_b);
    const __m512i a = _mm512_castpd_si512(rounded), b = _mm512_castpd_si512(low);
    if (check)
        ifma_check(sums, rest, low_scale, _mm512_sub_pd(low, rounder_b));
    else
        sums->seen = _mm512_or_si512(sums->seen, a);
    sums->a = _mm512_add_epi64(sums->a, a);
    sums->b = _mm512_add_epi64(sums->b, b);
    sums->aa_low = _mm512_madd52lo_epu64(sums->aa_low, a, a);
    sums->ab_low = _mm512_madd52lo_epu64(sums->ab_low, a, b);
    sums->ab_high = _mm512_madd52hi_epu64(sums->ab_high, a, b);
    sums->bb_low = _mm512_madd52lo_epu64(sums->bb_low, b, b);
    sums->bb_high = _mm512_madd52hi_epu64(sums->bb_high, b, b);
}

/* Adds eight numbers of one limb. */
TARGET INLINE void ifma_add_eight_short(struct ifma_sums *sums, __m512d x, __m512d scale)
{
    const __m512d rounder = _mm512_set1_pd(IFMA_ROUNDER(IFMA_SINGLE));
    const __m512d rounded = _mm512_fmadd_pd(x, scale, rounder);
    const __m512i a = _mm512_castpd_si512(rounded);
    ifma_check(sums, x, scale, _mm512_sub_pd(rounded, rounder));
    sums->a = _mm512_add_epi64(sums->a, a);
    sums->aa_low = _mm512_madd52lo_epu64(sums->aa_low, a, a);
    sums->aa_high = _mm512_madd52hi_epu64(sums->aa_high, a, a);
}

/* Adds lanes of two vectors in pairs: lane 2 * i is the sum of x's lanes 2 * i and 2 * i + 1, the
 * next is the same of y. */
TARGET INLINE __m512i ifma_add_pairs(__m512i x, __m512i y)
{
    return _mm512_add_epi64(_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
}

/* Adds halves of two vectors: the lower half is of x, the upper of y. */
TARGET INLINE __m512i ifma_add_halves(__m512i x, __m512i y)
{
    return _mm512_add_epi64(_mm512_shuffle_i64x2(x, y, 0x44), _mm512_shuffle_i64x2(x, y, 0xee));
}

/* The order of totals, each the sum of a member's lanes. */
enum {
    TOTAL_A,
    TOTAL_B,
    TOTAL_AB_LOW,
    TOTAL_AB_HIGH,
    TOTAL_AA_LOW,
    TOTAL_AA_HIGH,
    TOTAL_BB_LOW,
    TOTAL_BB_HIGH,
    TOTALS
};

TARGET INLINE void ifma_sum_lanes(const struct ifma_sums *sums, uint64_t totals[TOTALS])
{
    const __m512i a_b = ifma_add_pairs(sums->a, sums->b);
    const __m512i ab = ifma_add_pairs(sums->ab_low, sums->ab_high);
    const __m512i aa = ifma_add_pairs(sums->aa_low, sums->aa_high);
    const __m512i bb = ifma_add_pairs(sums->bb_low, sums->bb_high);
    const __m512i low = ifma_add_halves(a_b, ab), high = ifma_add_halves(aa, bb);
    const __m512i all = _mm512_add_epi64(_mm512_shuffle_i64x2(low, high, 0x88),
                                         _mm512_shuffle_i64x2(low, high, 0xdd));
    _mm512_storeu_si512(totals, all);
}

/* Joins the low and the high sum of products. */
static inline int128 ifma_product(const uint64_t low_and_high[2])
{
    return (int128)low_and_high[0] + ((int128)low_and_high[1] << 52);
}

/* Returns the sum of the limbs of a batch, given the sum of the doubles that hold them. */
static inline int64_t ifma_unbiased_sum(uint64_t total, unsigned bits)
{
    return (int64_t)(total - BATCH * IFMA_ROUNDER_BITS(bits));
}

/* Returns the sum of (x - c) * (y - d) of a batch, given the sums of x * y, of x - c and of
 * y - d. */
static inline int128 ifma_unbiased(int128 product, int64_t x, uint64_t c, int64_t y, uint64_t d)
{
    return product - (int128)d * x - (int128)c * y - (int128)c * (int128)d * BATCH;
}

/* Adds the sums of a batch whose unit is 2^exponent. */
TARGET INLINE void ifma_put_together(struct moments *moments, const struct ifma_sums *sums,
                                     int exponent)
{
    const uint64_t c = IFMA_BIAS(IFMA_HIGH), d = IFMA_BIAS(IFMA_LOW - 1);
    uint64_t totals[TOTALS];
    ifma_sum_lanes(sums, totals);
    const int64_t a = ifma_unbiased_sum(totals[TOTAL_A], IFMA_HIGH);
    const int64_t b = ifma_unbiased_sum(totals[TOTAL_B], IFMA_LOW - 1);
    const int128 aa = ifma_product(totals + TOTAL_AA_LOW), ab = ifma_product(totals + TOTAL_AB_LOW),
                 bb = ifma_product(totals + TOTAL_BB_LOW);
    exact_sum_add_int128(&moments->sum, (int128)a * ((int128)1 << IFMA_LOW) + b, exponent);
    exact_sum_add_int128(&moments->squares, ifma_unbiased(aa, a, c, a, c),
                         2 * exponent + 2 * IFMA_LOW);
    exact_sum_add_int128(&moments->squares, 2 * ifma_unbiased(ab, a, c, b, d),
                         2 * exponent + IFMA_LOW);
    exact_sum_add_int128(&moments->squares, ifma_unbiased(bb, b, d, b, d), 2 * exponent);
}

/* Adds the sums of a batch of one limb a number. */
TARGET INLINE void ifma_put_short_together(struct moments *moments, const struct ifma_sums *sums,
                                           int exponent)
{
    const uint64_t c = IFMA_BIAS(IFMA_SINGLE);
    uint64_t totals[TOTALS];
    ifma_sum_lanes(sums, totals);
    const int64_t a = ifma_unbiased_sum(totals[TOTAL_A], IFMA_SINGLE);
    const int128 aa = ifma_product(totals + TOTAL_AA_LOW);
    exact_sum_add_int128(&moments->sum, a, exponent);
    exact_sum_add_int128(&moments->squares, ifma_unbiased(aa, a, c, a, c), 2 * exponent);
}

/* The least and the greatest of each lane. */
struct ifma_range {
    __m512d min, max;
};

TARGET INLINE void ifma_widen(struct ifma_range *range, const double *values)
{
    const __m512d x = _mm512_loadu_pd(values);
    range->min = _mm512_min_pd(x, range->min); /* range->min if x is NaN */
    range->max = _mm512_max_pd(x, range->max);
}

/* Finds the range of a batch, without NaN unless that is the first value. Four vectors alternate,
 * so that none waits for the one before it. */
TARGET INLINE void ifma_find_range(const double *values, double *least, double *greatest)
{
    const __m512d first = _mm512_set1_pd(values[0]);
    struct ifma_range p = {first, first}, q = p, r = p, s = p;
    for (size_t i = 0; i < BATCH; i += 4 * IFMA_LANES) {
        ifma_widen(&p, values + i);
        ifma_widen(&q, values + i + IFMA_LANES);
        ifma_widen(&r, values + i + 2 * IFMA_LANES);
        ifma_widen(&s, values + i + 3 * IFMA_LANES);
    }
    *least = _mm512_reduce_min_pd(
        _mm512_min_pd(_mm512_min_pd(p.min, q.min), _mm512_min_pd(r.min, s.min)));
    *greatest = _mm512_reduce_max_pd(
        _mm512_max_pd(_mm512_max_pd(p.max, q.max), _mm512_max_pd(r.max, s.max)));
}

/* The ways of adding up the numbers of a batch. */
enum ifma_way { IFMA_SHORT, IFMA_ALL_FIT, IFMA_CHECKED };

/* A batch that is being added up, a block at a time. */
struct batch_parts {
    struct ifma_sums sums;
    enum ifma_way way;
    int bound; /* all magnitudes are below 2^bound */
    double min, max;
};

/* True if eight numbers have few bits: then nearly all of the batch do. */
TARGET INLINE bool ifma_are_short(const double *values, int bound)
{
    struct ifma_sums sums = {0};
    ifma_add_eight_short(&sums, _mm512_loadu_pd(values),
                         _mm512_set1_pd(power_of_two(IFMA_SINGLE - bound)));
    return _mm512_test_epi64_mask(sums.below, sums.below) == 0;
}

/* Returns the bits of the greatest number above the unit of the first limb. */
static inline int ifma_bits_above(const struct batch_parts *parts)
{
    return parts->way == IFMA_SHORT ? IFMA_SINGLE : IFMA_HIGH;
}

/* Begins with a batch. False if its numbers are too large or too small, the first is NaN, or a lost
 * bit might go unnoticed. */
TARGET static bool parts_begin(struct batch_parts *parts, const double *values)
{
    uint64_t bits;
    ifma_find_range(values, &parts->min, &parts->max);
    const double max = parts->max > -parts->min ? parts->max : -parts->min;
    if (!(max >= IFMA_MIN && max < IFMA_MAX))
        return false;
    memcpy(&bits, &max, sizeof bits);
    parts->bound = (int)(bits >> 52) - 1022;
    parts->way = ifma_are_short(values, parts->bound)                    ? IFMA_SHORT
                 : parts->min > 0 && parts->max < parts->min * IFMA_SPAN ? IFMA_ALL_FIT
                                                                         : IFMA_CHECKED;
    memset(&parts->sums, 0, sizeof parts->sums);
    return parts->way == IFMA_ALL_FIT ||
           !batch_may_vanish(values, parts->bound - ifma_bits_above(parts));
}

/* Adds PARTS_BLOCK numbers, and counts as many rows unless `rows` is NULL, which is a constant. */
TARGET INLINE void parts_add_block(struct batch_parts *parts, const double *values,
                                   const uint32_t *rows, uint64_t *counts)
{
    struct ifma_sums sums = parts->sums; /* in registers */
    const __m512d scale = _mm512_set1_pd(power_of_two(ifma_bits_above(parts) - parts->bound));
    if (parts->way == IFMA_ALL_FIT)
        for (size_t i = 0; i < PARTS_BLOCK; i += IFMA_LANES)
            ifma_add_eight(&sums, _mm512_loadu_pd(values + i), scale, false);
    else if (parts->way == IFMA_CHECKED)
        for (size_t i = 0; i < PARTS_BLOCK; i += IFMA_LANES)
            ifma_add_eight(&sums, _mm512_loadu_pd(values + i), scale, true);
    else
        for (size_t i = 0; i < PARTS_BLOCK; i += IFMA_LANES)
            ifma_add_eight_short(&sums, _mm512_loadu_pd(values + i), scale);
    parts->sums = sums;
    if (rows)
        count_unrolled(rows, PARTS_BLOCK, counts);
}

/* Adds the sums of a batch to the moments. False, and nothing is added, if a number is NaN or has
 * bits below the unit. */
TARGET static bool parts_end(const struct batch_parts *parts, struct moments *moments)
{
    const uint64_t usual = IFMA_ROUNDER_BITS(IFMA_HIGH) >> (IFMA_HIGH + 2);
    if (_mm512_test_epi64_mask(parts->sums.below, parts->sums.below))
        return false;
    /* NaN has another exponent. */
    if (parts->way == IFMA_ALL_FIT &&
        (uint64_t)_mm512_reduce_or_epi64(parts->sums.seen) >> (IFMA_HIGH + 2) != usual)
        return false;
    if (parts->way == IFMA_SHORT)
        ifma_put_short_together(moments, &parts->sums, parts->bound - IFMA_SINGLE);
    else
        ifma_put_together(moments, &parts->sums, parts->bound - IFMA_HIGH - IFMA_LOW);
    return true;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Exact sums of a batch of doubles that are not too far apart, and of their squares, in any
 * vectors: a part of batch_moments.h.
 *
 * A number is cut into three limbs, whole numbers of at most 22 bits and a sign: x is (a * 2^46 + b
 * * 2^23 + c) times a power of two that depends on the greatest number of the batch. Products of
 * two limbs have 44 bits, so a double adds up 512 of them without rounding, and a vector a whole
 * batch. The square of x is a * a, 2 * a * b and so on. Limbs of 24 bits are for numbers that are
 * farther apart: a double adds up 32 of their products, and these sums are added up in two parts.
 * At the end all sums are joined as whole numbers. */
#ifndef GPUHISTO_SUM_LIMBS_H
#define GPUHISTO_SUM_LIMBS_H

#include "batch.h"
#include "src/bins/sums.h"

/* Doubles in a vector, each with sums of its own. */
#ifdef VECTOR
#define LIMB_LANES (VECTOR / sizeof(double))
#else
#define LIMB_LANES 2
#endif

/* Products of long limbs that a double adds up. */
#define LIMB_ADDENDS 32

/* Numbers that are added at a time, while rows of others are counted. */
#define PARTS_BLOCK (4 * LIMB_LANES * LIMB_ADDENDS)

/* Bits from limb to limb; bits of the greatest number above the unit of c; and how far numbers may
 * be apart if none is to have bits below the unit. */
#define LIMB_STEP(is_long) ((is_long) ? 25 : 23)
#define LIMBS_ABOVE(is_long) (3 * LIMB_STEP(is_long) - 2)
#define LIMBS_SPAN(is_long) ((is_long) ? 0x1p21 : 0x1p15)

#define LIMBS_MAX 0x1p480 /* beyond this range, powers of two would be infinite or 0 */
#define LIMBS_MIN 0x1p-480

/* Adding and subtracting it rounds to a multiple of 2^bits. */
#define LIMB_ROUNDER(bits) (0x1.8p52 * (double)((uint64_t)1 << (bits)))

/* The sums that are kept: of limbs, and of products of two. */
enum limb_sum { SUM_A, SUM_B, SUM_C, SUM_AA, SUM_AB, SUM_AC, SUM_BB, SUM_BC, SUM_CC, LIMB_SUMS };

/* Steps from 1 to the unit of each. */
#define LIMB_STEPS_OF_SUMS                                                                         \
    {                                                                                              \
        [SUM_A] = 2, [SUM_B] = 1, [SUM_C] = 0, [SUM_AA] = 4, [SUM_AB] = 3, [SUM_AC] = 2,           \
        [SUM_BB] = 2, [SUM_BC] = 1, [SUM_CC] = 0                                                   \
    }

/* Sums of long limbs, of up to 53 bits, are added up as multiples of 2^27 units, and the rest.
 * Those of short limbs are all in `low`. */
struct limb_lanes {
    double high[LIMB_SUMS][LIMB_LANES], low[LIMB_SUMS][LIMB_LANES];
    double wrong[LIMB_LANES]; /* not 0 if a number is NaN or has bits below the unit */
};

/* The ways of adding up the numbers of a batch. Without a check, only NaN is noticed. */
enum limb_way { LIMBS_SHORT, LIMBS_LONG, LIMBS_CHECKED };

/* Numbers that sums of limbs take before they are folded. */
#define LIMB_PART(way) ((way) == LIMBS_SHORT ? PARTS_BLOCK : LIMB_LANES * LIMB_ADDENDS)

/* A batch that is being added up, a block at a time. */
struct batch_parts {
    struct limb_lanes lanes;
    enum limb_way way;
    int exponent; /* of the unit */
    double min, max;
};

/* Returns x * y + z, which is exact wherever this is used. */
TARGET INLINE double exact_fma(double x, double y, double z)
{
#ifdef SQUARE_BY_FMA
    return __builtin_fma(x, y, z);
#else
    return x * y + z;
#endif
}

/* Adds the sums of a part of long limbs. */
TARGET INLINE void limbs_fold(struct limb_lanes *lanes, double sums[LIMB_SUMS][LIMB_LANES])
{
    static const unsigned steps[LIMB_SUMS] = LIMB_STEPS_OF_SUMS;
    for (size_t sum = 0; sum < LIMB_SUMS; sum++) {
        const double rounder = LIMB_ROUNDER(27) * power_of_two((int)(LIMB_STEP(true) * steps[sum]));
        for (size_t j = 0; j < LIMB_LANES; j++) {
            const double part = (sums[sum][j] + rounder) - rounder;
            lanes->high[sum][j] += part;
            lanes->low[sum][j] += sums[sum][j] - part;
        }
    }
}

/* Adds LIMB_PART(way) numbers, and counts as many rows unless `rows` is NULL. `way` is a
 * constant. */
TARGET INLINE void limbs_add_up(struct batch_parts *parts, const double *values, enum limb_way way,
                                const uint32_t *rows, uint64_t *counts)
{
    const bool is_long = way != LIMBS_SHORT;
    const double scale = power_of_two(-parts->exponent);
    const double rounder_a = LIMB_ROUNDER(2 * LIMB_STEP(is_long));
    const double rounder_b = LIMB_ROUNDER(LIMB_STEP(is_long)), rounder_c = LIMB_ROUNDER(0);
    double sums[LIMB_SUMS][LIMB_LANES] = {{0}}, wrong[LIMB_LANES] = {0};
    for (size_t i = 0; i < LIMB_PART(way); i += LIMB_LANES) {
        for (size_t j = 0; rows && j < LIMB_LANES; j++)
            counts[rows[i + j]]++;
        for (size_t j = 0; j < LIMB_LANES; j++) {
            const double x = values[i + j];
            const double a = exact_fma(x, scale, rounder_a) - rounder_a;
            const double rest = exact_fma(x, scale, -a);
            const double b = (rest + rounder_b) - rounder_b, c = rest - b;
            sums[SUM_A][j] += a;
            sums[SUM_B][j] += b;
            sums[SUM_C][j] += c;
            sums[SUM_AA][j] = exact_fma(a, a, sums[SUM_AA][j]);
            sums[SUM_AB][j] = exact_fma(a, b, sums[SUM_AB][j]);
            sums[SUM_AC][j] = exact_fma(a, c, sums[SUM_AC][j]);
            sums[SUM_BB][j] = exact_fma(b, b, sums[SUM_BB][j]);
            sums[SUM_BC][j] = exact_fma(b, c, sums[SUM_BC][j]);
            sums[SUM_CC][j] = exact_fma(c, c, sums[SUM_CC][j]);
            if (way == LIMBS_CHECKED)
                wrong[j] += fabs(c - ((c + rounder_c) - rounder_c));
        }
    }
    struct limb_lanes *lanes = &parts->lanes;
    if (is_long)
        limbs_fold(lanes, sums);
    for (size_t sum = 0; !is_long && sum < LIMB_SUMS; sum++)
        for (size_t j = 0; j < LIMB_LANES; j++)
            lanes->low[sum][j] += sums[sum][j];
    for (size_t j = 0; way == LIMBS_CHECKED && j < LIMB_LANES; j++)
        lanes->wrong[j] += wrong[j];
}

/* Returns the sum of all lanes in units, less than 2^60. */
TARGET INLINE int128 limbs_total(const struct limb_lanes *lanes, enum limb_sum sum, bool is_long)
{
    static const unsigned steps[LIMB_SUMS] = LIMB_STEPS_OF_SUMS;
    const double scale = power_of_two(-(int)(LIMB_STEP(is_long) * steps[sum]));
    int64_t total = 0;
    for (size_t j = 0; j < LIMB_LANES; j++)
        total += (int64_t)(lanes->low[sum][j] * scale);
    for (size_t j = 0; is_long && j < LIMB_LANES; j++)
        total += (int64_t)(lanes->high[sum][j] * scale);
    return total;
}

/* Adds the sums of lanes whose unit is 2^exponent. */
TARGET INLINE void limbs_put_together(struct moments *moments, const struct limb_lanes *lanes,
                                      int exponent, bool is_long)
{
    const int128 step = (int128)1 << LIMB_STEP(is_long);
    int128 of[LIMB_SUMS];
    for (enum limb_sum sum = 0; sum < LIMB_SUMS; sum++)
        of[sum] = limbs_total(lanes, sum, is_long);
    exact_sum_add_int128(&moments->sum, (of[SUM_A] * step + of[SUM_B]) * step + of[SUM_C],
                         exponent);
    exact_sum_add_int128(&moments->squares, of[SUM_AA] * step + 2 * of[SUM_AB],
                         2 * exponent + 3 * LIMB_STEP(is_long));
    exact_sum_add_int128(
        &moments->squares,
        ((2 * of[SUM_AC] + of[SUM_BB]) * step + 2 * of[SUM_BC]) * step + of[SUM_CC], 2 * exponent);
}

/* The least and the greatest of each lane. */
struct limb_range {
    double min[LIMB_LANES], max[LIMB_LANES];
};

TARGET INLINE void limbs_widen(struct limb_range *range, const double *values)
{
    for (size_t j = 0; j < LIMB_LANES; j++)
        range->min[j] = values[j] < range->min[j] ? values[j] : range->min[j];
    for (size_t j = 0; j < LIMB_LANES; j++)
        range->max[j] = values[j] > range->max[j] ? values[j] : range->max[j];
}

/* Finds the range of a batch, without NaN unless that is the first value. Four vectors alternate,
 * so that none waits for the one before it. */
TARGET INLINE void limbs_find_range(const double *values, double *least, double *greatest)
{
    struct limb_range a, b, c, d;
    for (size_t j = 0; j < LIMB_LANES; j++)
        a.min[j] = a.max[j] = values[0];
    b = c = d = a;
    for (size_t i = 0; i < BATCH; i += 4 * LIMB_LANES) {
        limbs_widen(&a, values + i);
        limbs_widen(&b, values + i + LIMB_LANES);
        limbs_widen(&c, values + i + 2 * LIMB_LANES);
        limbs_widen(&d, values + i + 3 * LIMB_LANES);
    }
    limbs_widen(&a, b.min);
    limbs_widen(&a, b.max);
    limbs_widen(&a, c.min);
    limbs_widen(&a, c.max);
    limbs_widen(&a, d.min);
    limbs_widen(&a, d.max);
    *least = *greatest = values[0];
    for (size_t j = 0; j < LIMB_LANES; j++) {
        *least = a.min[j] < *least ? a.min[j] : *least;
        *greatest = a.max[j] > *greatest ? a.max[j] : *greatest;
    }
}

/* Begins with a batch. False if its numbers are too large or too small, the first is NaN, or a lost
 * bit might go unnoticed. */
TARGET static bool parts_begin(struct batch_parts *parts, const double *values)
{
    uint64_t bits;
    limbs_find_range(values, &parts->min, &parts->max);
    const double min = parts->min, max = parts->max, limit = max > -min ? max : -min;
    if (!(limit >= LIMBS_MIN && limit < LIMBS_MAX))
        return false;
    memcpy(&bits, &limit, sizeof bits);
    parts->way = min > 0 && max < min * LIMBS_SPAN(false)  ? LIMBS_SHORT
                 : min > 0 && max < min * LIMBS_SPAN(true) ? LIMBS_LONG
                                                           : LIMBS_CHECKED;
    parts->exponent = (int)(bits >> 52) - 1023 - LIMBS_ABOVE(parts->way != LIMBS_SHORT);
    memset(&parts->lanes, 0, sizeof parts->lanes);
    return parts->way != LIMBS_CHECKED || !batch_may_vanish(values, parts->exponent);
}

/* Adds PARTS_BLOCK numbers, and counts as many rows unless `rows` is NULL, which is a constant. */
TARGET INLINE void parts_add_block(struct batch_parts *parts, const double *values,
                                   const uint32_t *rows, uint64_t *counts)
{
    if (parts->way == LIMBS_SHORT) {
        limbs_add_up(parts, values, LIMBS_SHORT, rows, counts);
        return;
    }
    for (size_t i = 0; i < PARTS_BLOCK; i += LIMB_PART(LIMBS_LONG))
        if (parts->way == LIMBS_CHECKED)
            limbs_add_up(parts, values + i, LIMBS_CHECKED, rows ? rows + i : NULL, counts);
        else
            limbs_add_up(parts, values + i, LIMBS_LONG, rows ? rows + i : NULL, counts);
}

/* Adds the sums of a batch to the moments. False, and nothing is added, if a number is NaN or has
 * bits below the unit. */
TARGET static bool parts_end(const struct batch_parts *parts, struct moments *moments)
{
    double wrong = 0;
    for (size_t j = 0; j < LIMB_LANES; j++)
        wrong +=
            parts->way == LIMBS_CHECKED ? parts->lanes.wrong[j] : parts->lanes.low[SUM_A][j] * 0;
    if (wrong != 0)
        return false; /* or NaN */
    if (parts->way != LIMBS_SHORT)
        limbs_put_together(moments, &parts->lanes, parts->exponent, true);
    else
        limbs_put_together(moments, &parts->lanes, parts->exponent, false);
    return true;
}

#endif

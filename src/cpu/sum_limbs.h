/* Exact sums of a batch of numbers that are not too far apart, and of their squares: a part of
 * count_moments.h.
 *
 * A number is cut into three limbs, whole numbers of at most 24 bits and a sign: x is (a * 2^50 +
 * b * 2^25 + c) times a power of two, which the greatest number of the batch decides. Products of
 * two limbs have 48 bits, so a double adds up 32 of them without rounding; and the square of x is
 * a * a, 2 * a * b and so on. These sums are added up in two parts, and at last put together as
 * whole numbers. */
#ifndef GPUHISTO_SUM_LIMBS_H
#define GPUHISTO_SUM_LIMBS_H

#include "src/histogram/moments.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Doubles of a vector, all of which have sums of their own. */
#ifdef VECTOR
#define LIMB_LANES (VECTOR / sizeof(double))
#else
#define LIMB_LANES 2
#endif

/* Numbers of a lane whose products a double adds up. */
#define LIMB_ADDENDS 32

/* Numbers that are added at a time, while rows of others are counted. */
#define PARTS_BLOCK (LIMB_LANES * LIMB_ADDENDS)

#define LIMB_STEP 25      /* bits from limb to limb */
#define LIMBS_ABOVE 73    /* bits of the greatest number above the unit of c */
#define LIMBS_SPAN 0x1p21 /* times the least number: then the unit is in no number's bits */
#define LIMBS_MAX 0x1p480 /* beyond, and below the next, powers of two would be infinite or 0 */
#define LIMBS_LEAST 0x1p-480

/* Adding it, and taking it away again, rounds to a multiple of 2^bits. */
#define LIMB_ROUNDER(bits) (0x1.8p52 * (double)((uint64_t)1 << (bits)))

/* What is added up: limbs, and products of two of them. */
enum limb_sum { SUM_A, SUM_B, SUM_C, SUM_AA, SUM_AB, SUM_AC, SUM_BB, SUM_BC, SUM_CC, LIMB_SUMS };

/* The unit of each, as a power of two; that of c is 1. */
#define LIMB_UNITS                                                                                 \
    {                                                                                              \
        [SUM_A] = 0x1p50, [SUM_B] = 0x1p25, [SUM_C] = 1, [SUM_AA] = 0x1p100, [SUM_AB] = 0x1p75,    \
        [SUM_AC] = 0x1p50, [SUM_BB] = 0x1p50, [SUM_BC] = 0x1p25, [SUM_CC] = 1                      \
    }

/* Sums of up to 53 bits are added up as multiples of 2^27 units, and what is left. */
struct limb_lanes {
    double high[LIMB_SUMS][LIMB_LANES], low[LIMB_SUMS][LIMB_LANES];
    double wrong[LIMB_LANES]; /* not 0: a number has bits below the unit, or is none */
};

/* x * y + z, which is exact wherever it is used. */
TARGET INLINE double exact_fma(double x, double y, double z)
{
#ifdef SQUARE_BY_FMA
    return __builtin_fma(x, y, z);
#else
    return x * y + z;
#endif
}

/* Adds PARTS_BLOCK numbers, each times scale. */
TARGET INLINE void limbs_add_up(struct limb_lanes *lanes, const double *values, double scale,
                                bool check)
{
    static const double units[LIMB_SUMS] = LIMB_UNITS;
    const double rounder_a = LIMB_ROUNDER(2 * LIMB_STEP), rounder_b = LIMB_ROUNDER(LIMB_STEP);
    double sums[LIMB_SUMS][LIMB_LANES] = {{0}};
    for (size_t i = 0; i < PARTS_BLOCK; i += LIMB_LANES)
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
            if (check)
                lanes->wrong[j] =
                    (c + LIMB_ROUNDER(0)) - LIMB_ROUNDER(0) == c ? lanes->wrong[j] : 1;
        }
    for (size_t sum = 0; sum < LIMB_SUMS; sum++)
        for (size_t j = 0; j < LIMB_LANES; j++) {
            const double rounder = LIMB_ROUNDER(27) * units[sum];
            const double part = (sums[sum][j] + rounder) - rounder;
            lanes->high[sum][j] += part;
            lanes->low[sum][j] += sums[sum][j] - part;
        }
}

/* The sum of all lanes, in units, of which it has less than 2^60. */
TARGET INLINE whole limbs_total(const struct limb_lanes *lanes, enum limb_sum sum)
{
    static const double units[LIMB_SUMS] = LIMB_UNITS;
    double high = 0, low = 0;
    for (size_t j = 0; j < LIMB_LANES; j++) {
        high += lanes->high[sum][j];
        low += lanes->low[sum][j];
    }
    return (whole)(int64_t)(high / units[sum]) + (whole)(int64_t)(low / units[sum]);
}

/* Adds the sums of lanes whose unit is 2^exponent. */
TARGET INLINE void limbs_put_together(struct moments *moments, const struct limb_lanes *lanes,
                                      int exponent)
{
    const whole step = (whole)1 << LIMB_STEP;
    whole of[LIMB_SUMS];
    for (enum limb_sum sum = 0; sum < LIMB_SUMS; sum++)
        of[sum] = limbs_total(lanes, sum);
    exact_sum_add_whole(&moments->sum, (of[SUM_A] * step + of[SUM_B]) * step + of[SUM_C], exponent);
    exact_sum_add_whole(&moments->squares, of[SUM_AA] * step + 2 * of[SUM_AB],
                        2 * exponent + 3 * LIMB_STEP);
    exact_sum_add_whole(&moments->squares,
                        ((2 * of[SUM_AC] + of[SUM_BB]) * step + 2 * of[SUM_BC]) * step + of[SUM_CC],
                        2 * exponent);
}

/* 2^exponent, for exponents of normal doubles. */
TARGET INLINE double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
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

/* The least and the greatest of a batch, without NaN unless the first is one. Four vectors take
 * turns, so that none waits for the one before it. */
TARGET INLINE void limbs_take_range(const double *values, double *least, double *greatest)
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

/* A batch that is being added up, a block at a time. */
struct batch_parts {
    struct limb_lanes lanes;
    bool check;   /* numbers may have bits below the unit; otherwise only NaN is looked for */
    int exponent; /* of the unit */
    double min, max;
};

/* Begins with a batch, unless its numbers are too large or too small, or the first is NaN. */
TARGET static bool parts_begin(struct batch_parts *parts, const double *values)
{
    uint64_t bits;
    limbs_take_range(values, &parts->min, &parts->max);
    const double most = parts->max > -parts->min ? parts->max : -parts->min;
    if (!(most >= LIMBS_LEAST && most < LIMBS_MAX))
        return false;
    memcpy(&bits, &most, sizeof bits);
    parts->exponent = (int)(bits >> 52) - 1023 - LIMBS_ABOVE;
    parts->check = !(parts->min > 0 && parts->max < parts->min * LIMBS_SPAN);
    memset(&parts->lanes, 0, sizeof parts->lanes);
    return true;
}

/* Adds a block of a batch, PARTS_BLOCK numbers. */
TARGET INLINE void parts_add_block(struct batch_parts *parts, const double *values)
{
    const double scale = power_of_two(-parts->exponent);
    if (parts->check)
        limbs_add_up(&parts->lanes, values, scale, true);
    else
        limbs_add_up(&parts->lanes, values, scale, false);
}

/* Adds the blocks of a batch, all of which were added, to moments; unless a number is NaN, or has
 * bits below the unit. Whether it did. */
TARGET static bool parts_end(const struct batch_parts *parts, struct moments *moments)
{
    double wrong = 0;
    for (size_t j = 0; j < LIMB_LANES; j++)
        wrong += parts->check ? parts->lanes.wrong[j] : parts->lanes.low[SUM_A][j] * 0;
    if (wrong != 0)
        return false; /* also if it is NaN */
    limbs_put_together(moments, &parts->lanes, parts->exponent);
    moments_widen(moments, parts->min, parts->max);
    return true;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Adds a batch of numbers to moments, exactly: a part of a file of kernels, which defines
 * SQUARE_BY_FMA if it has such an instruction, and SUM_BY_IFMA if it has AVX-512 IFMA.
 *
 * Most batches are added up in limbs while their rows are counted. struct batch_parts, PARTS_BLOCK,
 * parts_begin, parts_add_block and parts_end do that: those below, or those of sum_ifma.h. Batches
 * that these do not take, and parts of a batch, are split. */
#ifndef GPUHISTO_BATCH_SUMS_H
#define GPUHISTO_BATCH_SUMS_H

#include "batch.h"
#include "src/bins/sums.h"

#include <float.h>
#include <math.h>

/* Returns 2^exponent, for exponents of normal doubles. */
TARGET INLINE double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* True if a number of a batch may lose bits when it is multiplied by 2^-exponent. The check for
 * bits below the unit of limbs would not notice. */
TARGET static bool batch_may_vanish(const double *values, int exponent)
{
    if (exponent <= 0)
        return false;
    const double normal = power_of_two(exponent - 1022);
    uint64_t tiny = 0;
    for (size_t i = 0; i < BATCH; i++)
        tiny |= (uint64_t)(fabs(values[i]) < normal) & (uint64_t)(values[i] != 0);
    return tiny != 0;
}

#ifdef SUM_BY_IFMA
#include "sum_ifma.h"
#else

/* --- limbs --- */

/* Exact sums of a batch of doubles that are not too far apart, and of their squares, in any
 * vectors.
 *
 * A number is cut into three limbs, whole numbers of at most 22 bits and a sign: x is (a * 2^46 + b
 * * 2^23 + c) times a power of two that depends on the greatest number of the batch. Products of
 * two limbs have 44 bits, so a double adds up 512 of them without rounding, and a vector a whole
 * batch. The square of x is a * a, 2 * a * b and so on. Limbs of 24 bits are for numbers that are
 * farther apart: a double adds up 32 of their products, and these sums are added up in two parts.
 * At the end all sums are joined as whole numbers. */

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

/* --- splits --- */

/* (x + big) - big is x rounded to a multiple of a power of two that
 * depends on the greatest number of the batch. The remainder of x is exact, and is split again. The
 * parts have so few bits that their sums are exact in any order (Demmel and Nguyen, "Fast
 * reproducible floating-point summation", 2013). A square is its product and the product's error,
 * which is a double, too (Dekker, "A floating-point technique for extending the available
 * precision", 1971). If numbers are so far apart that a remainder is left after all splits,
 * remainders are added one by one. */

#define MOMENT_LANES 8

/* A split takes 42 bits. If numbers are at most NEAR apart, nothing is left of them after two
 * splits, and nothing of their squares after four. */
#define SUM_SPLITS 2
#define SQUARE_SPLITS 4
#define NEAR 0x1p29
#define SPLIT_STEP 0x1p-42
#define SPLIT_FIRST (1.5 * 4096) /* times the power of two at or below the greatest number */

/* Between these, squares neither overflow nor lose bits. */
#define SQUARED_MIN 0x1p-480
#define SQUARED_MAX 0x1p480

/* The range of a batch. */
struct batch_range {
    double min, max;    /* +inf and -inf if there is no number */
    double least, most; /* magnitudes over 0 of finite numbers; +inf and 0 if there are none */
};

static struct batch_range join_ranges(const struct batch_range lanes[MOMENT_LANES])
{
    struct batch_range all = lanes[0];
    for (size_t j = 1; j < MOMENT_LANES; j++) {
        all.min = lanes[j].min < all.min ? lanes[j].min : all.min;
        all.max = lanes[j].max > all.max ? lanes[j].max : all.max;
        all.least = lanes[j].least < all.least ? lanes[j].least : all.least;
        all.most = lanes[j].most > all.most ? lanes[j].most : all.most;
    }
    return all;
}

/* Finds the range, and replaces infinities and NaN by 0. */
TARGET static struct batch_range find_range(double *restrict values)
{
    double min[MOMENT_LANES], max[MOMENT_LANES], least[MOMENT_LANES], most[MOMENT_LANES];
    struct batch_range lanes[MOMENT_LANES];
    for (size_t j = 0; j < MOMENT_LANES; j++) {
        min[j] = least[j] = HUGE_VAL;
        max[j] = -HUGE_VAL;
        most[j] = 0;
    }
    for (size_t i = 0; i < BATCH; i += MOMENT_LANES)
        for (size_t j = 0; j < MOMENT_LANES; j++) {
            double value = values[i + j], size = fabs(value);
            double finite = size <= DBL_MAX ? value : 0, kept = size <= DBL_MAX ? size : 0;
            double not_zero = size > 0 ? size : HUGE_VAL;
            min[j] = value < min[j] ? value : min[j];
            max[j] = value > max[j] ? value : max[j];
            least[j] = not_zero < least[j] ? not_zero : least[j];
            most[j] = kept > most[j] ? kept : most[j];
            values[i + j] = finite;
        }
    for (size_t j = 0; j < MOMENT_LANES; j++)
        lanes[j] = (struct batch_range){min[j], max[j], least[j], most[j]};
    return join_ranges(lanes);
}

/* Splits a part off *rest. */
TARGET INLINE double split_off(double *rest, double big)
{
    double part = (*rest + big) - big;
    *rest -= part;
    return part;
}

/* Returns the error of the product value * value. */
TARGET INLINE double square_error(double value, double square)
{
#ifdef SQUARE_BY_FMA
    return __builtin_fma(value, value, -square);
#else
    double scaled = value * 0x8000001p0, high = scaled - (scaled - value), low = value - high;
    return ((high * high - square) + 2 * high * low) + low * low;
#endif
}

/* Returns the greatest power of two up to a size. */
static double power_below(double size)
{
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    bits &= (uint64_t)0x7ff << 52;
    memcpy(&size, &bits, sizeof size);
    return size;
}

static void set_bigs(double *bigs, size_t count, double greatest)
{
    bigs[0] = SPLIT_FIRST * power_below(greatest);
    for (size_t split = 1; split < count; split++)
        bigs[split] = SPLIT_STEP * bigs[split - 1];
}

static void add_lanes(struct exact_sum *sum, double lanes[][MOMENT_LANES], size_t count)
{
    for (size_t split = 0; split < count; split++) {
        double all = 0;
        for (size_t j = 0; j < MOMENT_LANES; j++)
            all += lanes[split][j];
        exact_sum_add(sum, all);
    }
}

/* Adds the remainders of numbers, which are rarely anything but 0. */
static void add_rests(struct exact_sum *sum, const double rests[BATCH])
{
    for (size_t i = 0; i < BATCH; i++)
        if (rests[i] != 0)
            exact_sum_add(sum, rests[i]);
}

/* Adds up a batch whose greatest magnitude is `most`. `near` is a constant. */
TARGET INLINE void sum_batch(struct exact_sum *sum, const double *values, double most, bool near)
{
    double bigs[SUM_SPLITS], lanes[SUM_SPLITS][MOMENT_LANES] = {{0}}, rests[BATCH];
    set_bigs(bigs, SUM_SPLITS, most);
    for (size_t i = 0; i < BATCH; i += MOMENT_LANES)
        for (size_t j = 0; j < MOMENT_LANES; j++) {
            double rest = values[i + j];
            lanes[0][j] += split_off(&rest, bigs[0]);
            lanes[1][j] += near ? rest : split_off(&rest, bigs[1]);
            if (!near)
                rests[i + j] = rest;
        }
    add_lanes(sum, lanes, SUM_SPLITS);
    if (!near)
        add_rests(sum, rests);
}

/* Adds up the squares of a batch whose greatest magnitude is `most`. `near` is a constant. */
TARGET INLINE void sum_squares(struct exact_sum *sum, const double *values, double most, bool near)
{
    double bigs[SQUARE_SPLITS], lanes[SQUARE_SPLITS][MOMENT_LANES] = {{0}};
    ALIGNED double rests[BATCH], errors[BATCH];
    set_bigs(bigs, SQUARE_SPLITS, most * most);
    for (size_t i = 0; i < BATCH; i += MOMENT_LANES)
        for (size_t j = 0; j < MOMENT_LANES; j++) {
            double value = values[i + j], rest = value * value, error = square_error(value, rest);
            lanes[0][j] += split_off(&rest, bigs[0]);
            lanes[1][j] += split_off(&rest, bigs[1]) + split_off(&error, bigs[1]);
            lanes[2][j] += split_off(&rest, bigs[2]) + split_off(&error, bigs[2]);
            if (near) {
                lanes[3][j] += rest + error;
            } else {
                lanes[3][j] += split_off(&rest, bigs[3]) + split_off(&error, bigs[3]);
                rests[i + j] = rest;
                errors[i + j] = error;
            }
        }
    add_lanes(sum, lanes, SQUARE_SPLITS);
    if (near)
        return;
    add_rests(sum, rests);
    add_rests(sum, errors);
}

/* Adds values[0..n), n up to BATCH, any values but NaN. */
TARGET static void add_moments(struct moments *moments, const double *values, size_t n)
{
    ALIGNED double finite[BATCH];
    memcpy(finite, values, n * sizeof values[0]);
    for (size_t i = n; i < BATCH; i++)
        finite[i] = NAN;
    struct batch_range range = find_range(finite);
    if (!(range.min <= range.max))
        return;
    moments_widen(moments, range.min, range.max);
    for (size_t i = 0; (isinf(range.min) || isinf(range.max)) && i < n; i++) {
        moments->lowest += values[i] == -HUGE_VAL;
        moments->highest += values[i] == HUGE_VAL;
    }
    if (range.most == 0)
        return;
    if (range.least < SQUARED_MIN || range.most > SQUARED_MAX) {
        for (size_t i = 0; i < n; i++) {
            exact_sum_add(&moments->sum, finite[i]);
            exact_sum_add_square(&moments->squares, finite[i]);
        }
    } else if (range.most <= range.least * NEAR) {
        sum_batch(&moments->sum, finite, range.most, true);
        sum_squares(&moments->squares, finite, range.most, true);
    } else {
        sum_batch(&moments->sum, finite, range.most, false);
        sum_squares(&moments->squares, finite, range.most, false);
    }
}

/* --- batches that are added up while their rows are counted --- */

/* Counting waits for memory, and adding up for arithmetic: where blocks of both alternate, an
 * out-of-order processor does them at the same time. */
struct batch_moments {
    struct moments *moments; /* NULL if there are none */
    const double *values;    /* the batch that is being added up; NULL if there is none */
    bool are_whole;          /* values were whole numbers, whose range was added already */
    struct batch_parts parts;
    ALIGNED double doubles[BATCH]; /* values of another type */
};

static inline void batch_moments_open(struct batch_moments *batch, struct moments *moments)
{
    batch->moments = moments;
    batch->values = NULL;
}

/* Adds values[0..n), n up to BATCH, without NaN; or begins with them: then the values must stay
 * until batch_moments_end. */
TARGET static void batch_moments_add(struct batch_moments *batch, const double *values, size_t n)
{
    batch->are_whole = false;
    if (n == BATCH && parts_begin(&batch->parts, values))
        batch->values = values;
    else
        add_moments(batch->moments, values, n);
}

/* True if a number is so large that a whole number may have been rounded to it. */
TARGET static bool has_large(const double *values, size_t n)
{
    bool is_large = false;
    for (size_t i = 0; i < n; i++)
        is_large |= fabs(values[i]) >= MOMENTS_LARGE;
    return is_large;
}

/* Does what has_large does, for numbers that were added or begun with. */
TARGET static bool batch_moments_has_large(const struct batch_moments *batch, const double *values,
                                           size_t n)
{
    if (batch->values)
        return batch->parts.max >= MOMENTS_LARGE || batch->parts.min <= -MOMENTS_LARGE;
    return has_large(values, n);
}

/* Adds the block from i on, if a batch was begun. */
TARGET INLINE void batch_moments_block(struct batch_moments *batch, size_t i)
{
    if (batch->values)
        parts_add_block(&batch->parts, batch->values + i, NULL, NULL);
}

/* Ends a batch if one was begun and all its blocks were added. */
TARGET INLINE void batch_moments_end(struct batch_moments *batch)
{
    if (!batch->values)
        return;
    if (!parts_end(&batch->parts, batch->moments))
        add_moments(batch->moments, batch->values, BATCH);
    else if (!batch->are_whole)
        moments_widen(batch->moments, batch->parts.min, batch->parts.max);
    batch->values = NULL;
}

/* Adds all blocks of a batch that was begun, counts its rows at the same time, and ends it. */
TARGET static void batch_moments_end_counting(struct batch_moments *batch, const uint32_t *rows,
                                              uint64_t *counts)
{
    for (size_t i = 0; i < BATCH; i += PARTS_BLOCK)
        parts_add_block(&batch->parts, batch->values + i, rows + i, counts);
    batch_moments_end(batch);
}

/* Adds all blocks of a batch, if one was begun, and ends it. */
TARGET static void batch_moments_end_all(struct batch_moments *batch)
{
    for (size_t i = 0; i < BATCH; i += PARTS_BLOCK)
        batch_moments_block(batch, i);
    batch_moments_end(batch);
}

/* --- whole numbers: size and kind are constants --- */

/* Adds n values of up to 32 bits. */
TARGET INLINE void add_short_wholes(struct moments *moments, const union batch *batch, size_t n,
                                    size_t size, char kind)
{
    int64_t sum = 0, least = INT64_MAX, greatest = INT64_MIN;
    uint64_t low = 0, high = 0; /* halves of the squares */
    for (size_t i = 0; i < n; i++) {
        int64_t value = (int64_t)whole_at(batch, i, size, kind);
        uint64_t square = (uint64_t)value * (uint64_t)value;
        sum += value;
        low += (uint32_t)square;
        high += square >> 32;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
    }
    moments_widen_whole(moments, least, greatest);
    exact_sum_add_int128(&moments->sum, sum, 0);
    exact_sum_add_int128(&moments->squares, low, 0);
    exact_sum_add_int128(&moments->squares, high, 32);
}

/* Adds n values of 64 bits. */
TARGET INLINE void add_long_wholes(struct moments *moments, const union batch *batch, size_t n,
                                   char kind)
{
    int128 sum = 0, least = 0, greatest = 0, low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = whole_at(batch, i, 8, kind);
        int128 value = kind == 'i' ? (int128)(int64_t)bits : (int128)bits;
        uint64_t magnitude = value < 0 ? -bits : bits;
        uint128 square = (uint128)magnitude * magnitude;
        sum += value;
        low += (uint64_t)square;
        high += (uint64_t)(square >> 64);
        least = i == 0 || value < least ? value : least;
        greatest = i == 0 || value > greatest ? value : greatest;
    }
    moments_widen_whole(moments, least, greatest);
    exact_sum_add_int128(&moments->sum, sum, 0);
    exact_sum_add_int128(&moments->squares, low, 0);
    exact_sum_add_int128(&moments->squares, high, 64);
}

#ifdef SQUARE_BY_FMA

/* Values of 64 bits that need no more bits than this are added up as doubles: these are exact, and
 * sums of limbs can take them. */
#define WHOLE_BITS 49

/* Adding it puts a whole number into the low bits of a double. */
#define WHOLE_ROUNDER 0x1.8p52
#define WHOLE_ROUNDER_BITS ((uint64_t)0x4338 << 48)

/* Converts a batch of values of 64 bits to doubles, and adds their range. False, and nothing was
 * added, if one has more than WHOLE_BITS. */
TARGET INLINE bool make_wholes_doubles(struct batch_moments *moments, const union batch *batch,
                                       char kind)
{
    const uint64_t half = kind == 'i' ? (uint64_t)1 << WHOLE_BITS : 0;
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    uint64_t all = 0;
    for (size_t i = 0; i < BATCH; i++) {
        const uint64_t bits = batch->bits64[i], moved = bits + WHOLE_ROUNDER_BITS;
        const int64_t value = (int64_t)bits;
        double rounded;
        memcpy(&rounded, &moved, sizeof rounded);
        moments->doubles[i] = rounded - WHOLE_ROUNDER;
        all |= bits + half;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
    }
    if (all >> (WHOLE_BITS + (kind == 'i')) != 0)
        return false;
    moments_widen_whole(moments->moments, least, greatest);
    return true;
}

#endif

/* Adds n values of 64 bits, or begins with them. */
TARGET INLINE void batch_moments_add_wholes(struct batch_moments *moments, const union batch *batch,
                                            size_t n, char kind)
{
#ifdef SQUARE_BY_FMA /* without it, this is slower than adding whole numbers */
    if (n == BATCH && make_wholes_doubles(moments, batch, kind)) {
        moments->are_whole = true;
        if (parts_begin(&moments->parts, moments->doubles))
            moments->values = moments->doubles; /* otherwise all are 0 */
        return;
    }
#endif
    add_long_wholes(moments->moments, batch, n, kind);
}

/* Adds n values of `size` bytes, n over 0, or begins with them. */
TARGET INLINE void add_value_moments(struct batch_moments *moments, const struct value_type *type,
                                     const union batch *batch, size_t n, size_t size)
{
    if (type->kind == 'f' && size == 8) {
        batch_moments_add(moments, batch->doubles, n);
    } else if (type->kind == 'f') {
        for (size_t i = 0; i < n; i++)
            moments->doubles[i] = double_at(batch, i, size);
        batch_moments_add(moments, moments->doubles, n);
    } else if (size == 8 && type->kind == 'i') {
        batch_moments_add_wholes(moments, batch, n, 'i');
    } else if (size == 8) {
        batch_moments_add_wholes(moments, batch, n, 'u');
    } else if (type->kind == 'i') {
        add_short_wholes(moments->moments, batch, n, size, 'i');
    } else {
        add_short_wholes(moments->moments, batch, n, size, 'u');
    }
}

#endif

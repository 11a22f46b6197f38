/* SPDX-License-Identifier: MIT */
/* A batch of values in this machine's byte order, and loops without a branch that find its rows,
 * one for each kind of bins. The plan of src/tally/histogram_spec.h says which. A part of a file of
 * kernels, which defines TARGET and INLINE as for count_numbers.h, and HAS_QUICK_DIGITS if it has
 * quick_rows_of_digits. */
#ifndef GPUHISTO_BATCH_H
#define GPUHISTO_BATCH_H

#include "count.h"
#include "src/tally/histogram_spec.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The values of a batch: few enough that their rows stay in the L1 cache. */
#define BATCH 1024

/* Vectors are aligned to a cache line, which is the longest vector: one across two lines takes
 * twice as long. */
#define ALIGNED _Alignas(64)

union batch {
    ALIGNED unsigned char bytes[BATCH * 8];
    uint16_t bits16[BATCH];
    uint32_t bits32[BATCH];
    uint64_t bits64[BATCH];
    float singles[BATCH];
    double doubles[BATCH];
};

/* Returns value i. Size and kind are constants wherever this is used. */
TARGET INLINE uint64_t whole_at(const union batch *batch, size_t i, size_t size, char kind)
{
    if (size == 2)
        return kind == 'i' ? (uint64_t)(int16_t)batch->bits16[i] : batch->bits16[i];
    if (size == 4)
        return kind == 'i' ? (uint64_t)(int32_t)batch->bits32[i] : batch->bits32[i];
    return batch->bits64[i];
}

TARGET INLINE double double_at(const union batch *batch, size_t i, size_t size)
{
    return size == 4 ? (double)batch->singles[i] : batch->doubles[i];
}

TARGET INLINE uint64_t double_bits_at(const union batch *batch, size_t i, size_t size)
{
    const double value = double_at(batch, i, size);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

TARGET INLINE void swap_bytes(union batch *batch, size_t size)
{
    for (size_t i = 0; i < BATCH; i++)
        if (size == 2)
            batch->bits16[i] = __builtin_bswap16(batch->bits16[i]);
        else if (size == 4)
            batch->bits32[i] = __builtin_bswap32(batch->bits32[i]);
        else
            batch->bits64[i] = __builtin_bswap64(batch->bits64[i]);
}

/* Widens values of 3 bytes to 4, with their sign, and fills up with zeros. */
TARGET INLINE void widen_3_bytes(const struct value_type *type, const unsigned char *data,
                                 size_t values, union batch *batch)
{
    const size_t low = type->big_endian ? 2 : 0, high = 2 - low;
    const uint32_t sign = type->kind == 'i' ? (uint32_t)1 << 23 : 0;
    for (size_t i = 0; i < values; i++, data += 3) {
        uint32_t bits = data[low] | (uint32_t)data[1] << 8 | (uint32_t)data[high] << 16;
        batch->bits32[i] = (bits ^ sign) - sign;
    }
    memset(batch->bits32 + values, 0, (BATCH - values) * sizeof batch->bits32[0]);
}

/* Counts n rows. How fast a loop over single rows is would depend on its alignment. */
TARGET INLINE void count_unrolled(const uint32_t *rows, size_t n, uint64_t *counts)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++)
        counts[rows[i]]++;
}

/* --- rows --- */

/* Finds rows in equal bins of values of up to 32 bits, with edges of as many, by offsets of 32
 * bits. */
TARGET INLINE void rows_by_32_bits(const struct binning *binning, const union batch *batch,
                                   uint32_t *restrict rows, size_t size, char kind)
{
    const uint32_t first = (uint32_t)binning->first, last = (uint32_t)(binning->span - 1);
    const uint64_t high = binning->reciprocal >> 32, low = (uint32_t)binning->reciprocal;
    const uint32_t above = (uint32_t)ROW_ABOVE(binning), own = binning->reciprocal == 0;
    for (size_t i = 0; i < BATCH; i++) {
        uint32_t value = (uint32_t)whole_at(batch, i, size, kind), offset = value - first;
        uint32_t bin = (uint32_t)((offset * high + (offset * low >> 32)) >> 32);
        bool below = kind == 'i' ? (int32_t)value < (int32_t)first : value < first;
        uint32_t outside = below ? ROW_BELOW : above;
        rows[i] = offset > last ? outside : 1 + (own ? offset : bin);
    }
}

/* Finds rows in equal bins of values of any size, by offsets of 64 bits. */
TARGET INLINE void rows_by_64_bits(const struct binning *binning, const union batch *batch,
                                   uint32_t *restrict rows, size_t size, char kind)
{
    const struct binning copy = *binning; /* which rows cannot point into */
    const uint64_t first = (uint64_t)copy.first, last = (uint64_t)(copy.span - 1);
    const uint32_t above = (uint32_t)ROW_ABOVE(binning);
    for (size_t i = 0; i < BATCH; i++) {
        uint64_t value = whole_at(batch, i, size, kind), offset = value - first;
        uint64_t bin = copy.reciprocal ? binning_of_offset(&copy, offset) : offset;
        bool below = kind == 'i' ? (int64_t)value < (int64_t)first : value < first;
        uint32_t outside = below ? ROW_BELOW : above;
        rows[i] = offset <= last ? 1 + (uint32_t)bin : outside;
    }
}

/* Finds rows in any bins, a value at a time. */
TARGET INLINE void rows_one_by_one(const struct binning *binning, const union batch *batch,
                                   uint32_t *restrict rows, size_t size, char kind)
{
    for (size_t i = 0; i < BATCH; i++) {
        if (kind == 'f') {
            rows[i] = (uint32_t)binning_row(binning, double_at(batch, i, size));
            continue;
        }
        uint64_t value = whole_at(batch, i, size, kind);
        int128 number = kind == 'i' ? (int128)(int64_t)value : (int128)value;
        rows[i] = (uint32_t)binning_row_whole(binning, number);
    }
}

/* Comparing with all edges is faster than a search if there are fewer than these. */
#define FEW_EDGES 32

/* Finds rows in bins of doubles with few edges: the row is the number of edges at or below the
 * value. */
TARGET INLINE void rows_by_edges(const struct binning *binning, const union batch *batch,
                                 uint32_t *restrict rows)
{
    const uint32_t invalid = (uint32_t)ROW_INVALID(binning);
    memset(rows, 0, BATCH * sizeof rows[0]);
    for (size_t k = 0; k <= binning->bins; k++) {
        const double edge = binning->edges[k];
        for (size_t i = 0; i < BATCH; i++)
            rows[i] += batch->doubles[i] >= edge;
    }
    for (size_t i = 0; i < BATCH; i++)
        rows[i] = batch->doubles[i] == batch->doubles[i] ? rows[i] : invalid;
}

#define NOT_PROVEN UINT32_MAX

/* Finds rows in equal bins of doubles as binning_row does, which gets the values whose guess is
 * wrong. */
TARGET INLINE void rows_of_doubles(const struct binning *binning, const union batch *batch,
                                   uint32_t *restrict rows, size_t size)
{
    const double min = binning->min, max = binning->max, step = binning->step;
    const double per_step = binning->per_step, bins = (double)binning->bins;
    const uint32_t above = (uint32_t)ROW_ABOVE(binning), invalid = (uint32_t)ROW_INVALID(binning);
    uint32_t wrong = 0;
    for (size_t i = 0; i < BATCH; i++) {
        double value = double_at(batch, i, size), guess = (value - min) * per_step;
        guess = guess > 0 ? guess : 0; /* also if it is NaN */
        guess = guess < bins - 1 ? guess : bins - 1;
        int32_t bin = (int32_t)guess;
        double from = (double)bin * step + min, to = (double)(bin + 1) * step + min;
        to = bin + 1 < (int32_t)binning->bins ? to : max;
        uint32_t row = value >= from && value < to ? (uint32_t)bin + 1 : NOT_PROVEN;
        row = value < min ? ROW_BELOW : row;
        row = value >= max ? above : row;
        rows[i] = value == value ? row : invalid;
        wrong |= rows[i] == NOT_PROVEN;
    }
    for (size_t i = 0; wrong && i < BATCH; i++)
        if (rows[i] == NOT_PROVEN)
            rows[i] = (uint32_t)binning_row(binning, double_at(batch, i, size));
}

/* Finds rows in log-linear bins of doubles. Nearly all values are not negative. */
TARGET INLINE void rows_log_linear(const union batch *batch, uint32_t *restrict rows)
{
    const uint64_t infinity = (uint64_t)0x7ff << 52, first = ROW_ABOVE_ZERO;
    uint64_t others = 0;
    for (size_t i = 0; i < BATCH; i++) {
        uint64_t bits = batch->bits64[i];
        rows[i] = (uint32_t)(first + (bits >> LOG_LINEAR_SHIFT) - (bits == 0));
        others |= bits > infinity;
    }
    for (size_t i = 0; others && i < BATCH; i++)
        rows[i] = binning_row_log_linear(batch->doubles[i]);
}

/* The constants that a loop of rows_by_steps is compiled for: size and with_signs. */
struct steps_kind {
    size_t size;
    uint32_t shift; /* of the layout; a constant if it is the usual one */
    bool with_signs;
};

/* Finds rows in bins of decimal digits. Values that are very small, very large or not finite get
 * NOT_PROVEN. False if there are such values.
 *
 * The middle between a value and the next, times 64 bits of the scale, is exact if the scale is a
 * power of ten with a positive exponent. Otherwise the scale is a quotient that was rounded up, and
 * middles have so few bits that the product does not reach the next whole number. */
TARGET INLINE bool rows_by_steps(const struct digits_layout *layout, const union batch *batch,
                                 uint32_t *restrict rows, struct steps_kind kind)
{
    const size_t size = kind.size;
    const bool with_signs = kind.with_signs;
    const uint64_t min = (uint64_t)(1023 + DIGITS_STEP_FIRST);
    const unsigned unit = size == 4 ? 29 : 0; /* the last bit of a float, as a double */
    const uint64_t beyond =
        UINT64_C(1) << 63 | UINT64_C(1) << (unit + 10); /* the leading bit, which is not stored */
    const uint32_t side = DIGITS_SIDE(layout->per_decade), mirror = 2 * side + 4;
    const struct digits_step *const steps = layout->steps;
    uint32_t all = 0;
    for (size_t i = 0; i < BATCH; i++) {
        if (!with_signs && i % 64 == 0 && all > NOT_PROVEN / 2)
            return false; /* once there is a sign, the other loop is faster */
        const uint64_t bits = double_bits_at(batch, i, size),
                       negative = with_signs ? bits >> 63 : 0;
        const uint64_t magnitude = with_signs ? (bits & INT64_MAX) - (negative << unit) : bits;
        const uint64_t exponent = (magnitude >> 52) - min;
        const struct digits_step *const step =
            &steps[exponent < DIGITS_STEPS ? exponent : DIGITS_STEPS];
        const bool next = magnitude >= step->next;
        uint64_t unused;
        const uint64_t product =
            number_product(magnitude << 11 | beyond, step->scale[next], &unused);
        uint32_t row = step->row[next] + (uint32_t)(product >> kind.shift);
        row = bits << with_signs == 0 ? side + 2 : row; /* zero, whatever its sign */
        all |= row;
        const uint32_t sign = 0 - (uint32_t)negative; /* mirror - row is mirror + 1 + ~row */
        rows[i] = with_signs ? (row ^ sign) + (sign & (mirror + 1)) : row;
    }
    return all <= NOT_PROVEN / 2;
}

#ifdef HAS_QUICK_DIGITS
/* Finds the rows of a batch of doubles. False if some are left to be found. */
TARGET static bool quick_rows_of_digits(const struct digits_layout *layout, const double *values,
                                        uint32_t *rows);
#endif

/* Finds rows in bins of decimal digits. */
TARGET INLINE void rows_of_digits(const struct binning *binning, const union batch *batch,
                                  uint32_t *restrict rows, size_t size)
{
    const struct digits_layout layout = binning->digits; /* which rows cannot point into */
    const uint32_t shift = layout.shift, usual = 53;     /* of DIGITS_DEFAULT */
#ifdef HAS_QUICK_DIGITS
    if (size == 8 && quick_rows_of_digits(&layout, batch->doubles, rows))
        return;
#endif
    if ((shift == usual
             ? rows_by_steps(&layout, batch, rows, (struct steps_kind){size, usual, false})
             : rows_by_steps(&layout, batch, rows, (struct steps_kind){size, shift, false})) ||
        rows_by_steps(&layout, batch, rows, (struct steps_kind){size, shift, true}))
        return;
    for (size_t i = 0; i < BATCH; i++)
        /* A row that was not proven may have been mirrored to that of NaN. */
        if (rows[i] == NOT_PROVEN || rows[i] == ROW_INVALID(binning))
            rows[i] = digits_row(&layout, double_bits_at(batch, i, size));
}

TARGET INLINE void rows_of_wholes(const struct count_plan *plan, const union batch *batch,
                                  uint32_t *rows, size_t size, char kind)
{
    /* The loops compare values as their type does. */
    const struct binning *binning = &plan->spec->binning;
    const struct row_plan *by = &plan->rows;
    bool by_offset = by->way == PLAN_OFFSETS && by->is_signed == (kind == 'i');
    if (by_offset && by->bits == 32 && size <= 4)
        rows_by_32_bits(binning, batch, rows, size, kind);
    else if (by_offset && by->bits == 64)
        rows_by_64_bits(binning, batch, rows, size, kind);
    else
        rows_one_by_one(binning, batch, rows, size, kind);
}

TARGET INLINE void rows_of_floats(const struct count_plan *plan, const union batch *batch,
                                  uint32_t *rows, size_t size)
{
    const struct binning *binning = &plan->spec->binning;
    const enum row_plan_way way = plan->rows.way;
    if (way == PLAN_EQUAL_DOUBLES)
        rows_of_doubles(binning, batch, rows, size);
    else if (way == PLAN_DOUBLE_EDGES && size == 8 && binning->bins < FEW_EDGES)
        rows_by_edges(binning, batch, rows);
    else if (way == PLAN_LOG_LINEAR && size == 8)
        rows_log_linear(batch, rows);
    else if (way == PLAN_DIGITS)
        rows_of_digits(binning, batch, rows, size);
    else
        rows_one_by_one(binning, batch, rows, size, 'f');
}

#endif

/* SPDX-License-Identifier: MIT */
/* Moments of the numbers of a key, in a twentieth of the memory: exact sums with as many bits as
 * similar numbers need. A key whose numbers are further apart gets a struct moments. */
#ifndef GPUHISTO_KEY_SUMS_H
#define GPUHISTO_KEY_SUMS_H

#include "src/bins/sums.h"

#include <math.h>
#include <stddef.h>

#define KEY_SUM_WORDS 3     /* of 64 bits */
#define KEY_SQUARES_WORDS 5 /* twice the bits of numbers need twice the width */

/* Exact sums, all zeros before any number. They are whole numbers in words of 64 bits, the lowest
 * first. */
struct key_sums {
    struct moments
        *moments; /* all numbers so far, and nothing below counts; NULL: they are below */
    double min, max;
    uint64_t sum[KEY_SUM_WORDS];         /* times 2^exponent; two's complement */
    uint64_t squares[KEY_SQUARES_WORDS]; /* times 2^(2 * exponent) */
    int exponent;                        /* if has_exponent */
    bool has_exponent;                   /* a number that is not 0 was added */
    bool any;
};

/* Adds a number, which may be infinite. False if memory is short: the number is lost. */
bool key_sums_add(struct key_sums *sums, double value);

/* The same, 1 or more times. All numbers of a run together are added less than 2^64 times. */
bool key_sums_add_times(struct key_sums *sums, double value, uint64_t times);

/* Adds a whole number of at most 64 bits, of MOMENTS_LARGE at least, and the double nearest to it,
 * so many times. False if memory is short. */
bool key_sums_add_large(struct key_sums *sums, double nearest, int128 number, uint64_t times);

/* Adds other sums, and makes `from` all zeros. False if memory is short. */
bool key_sums_move(struct key_sums *into, struct key_sums *from);

/* Adds moments. False if memory is short. */
bool key_sums_add_moments(struct key_sums *sums, const struct moments *moments);

/* Adds the sums to moments. */
void key_sums_add_to(const struct key_sums *sums, struct moments *moments);

/* Frees the memory of sums. */
void key_sums_close(struct key_sums *sums);

/* --- sums of numbers of similar size, added in a few instructions --- */

/* A sum of numbers below the limit [1], and of others [0], as whole numbers of 64 bits. */
struct quick_sum {
    int128 sum[2];
    uint128 squares[2];
    uint64_t carries[2]; /* above the squares */
    double min, max;
};

/* Sums by the number of a key, all zeros at first; the caller frees the list. The first numbers
 * decide how far the decimals of others reach, for all keys. */
struct quick_sums {
    struct quick_sum *list;
    size_t count; /* keys that have room; 0: no scale was chosen */
    double scale[2], limit;
    int exponent;    /* scale[1] is 2^-exponent */
    uint64_t others; /* numbers that were not added since then */
};

/* Makes room for `count` keys, `max` at most, once one of n numbers, or of others before, tells a
 * scale. Where there is no room, numbers are not added. */
void quick_sums_prepare(struct quick_sums *quick, size_t count, size_t max, const double *values,
                        size_t n);

/* Adds a number. False if it is too large, or has bits that are too low. */
static inline bool quick_sums_add(struct quick_sums *quick, uint32_t key, double value)
{
    const bool part = fabs(value) < quick->limit;
    const double scaled = value * quick->scale[part];
    if (key >= quick->count || !(fabs(scaled) < 0x1p63) || (double)(int64_t)scaled != scaled) {
        quick->others++;
        return false;
    }
    const int64_t whole = (int64_t)scaled;
    struct quick_sum *sum = &quick->list[key];
    const uint128 square = (uint128)((int128)whole * whole);
    sum->sum[part] += whole;
    sum->squares[part] += square;
    sum->carries[part] += sum->squares[part] < square;
    sum->min = value < sum->min ? value : sum->min;
    sum->max = value > sum->max ? value : sum->max;
    return true;
}

/* Moves the sums of all keys to those of a list; then another scale is chosen. False if memory is
 * short. */
bool quick_sums_move(struct quick_sums *quick, struct key_sums *into);

#endif

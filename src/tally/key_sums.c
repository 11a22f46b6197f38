/* SPDX-License-Identifier: MIT */
#include "key_tallies.h"
#include "src/bins/sums.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number fits if its lowest bit counts 2^exponent to 2^(exponent + SHIFT_MAX): then the sum of
 * 2^40 numbers has up to 53 + SHIFT_MAX + 40 bits and a sign, and that of their squares
 * 2 * (53 + SHIFT_MAX) + 40. Sums that were merged may have 8 bits more. */
#define SHIFT_MAX 80
#define SUM_BITS (53 + SHIFT_MAX + 48)
#define SQUARES_BITS (2 * (53 + SHIFT_MAX) + 48)

/* If numbers are added several times, up to 2^64 in all, sums have up to 53 + SHIFT_TIMES_MAX + 64
 * bits and a sign, and those of squares 2 * (53 + SHIFT_TIMES_MAX) + 64: no more than the words. */
#define SHIFT_TIMES_MAX 72

/* The first number fits so that later ones may be less, or have more digits. */
#define SHIFT_FIRST 40

/* Exponents for which exact_sum_add_words takes all words. */
#define EXPONENT_MIN (-1074)
#define EXPONENT_MAX 384

/* --- words --- */

/* Adds `count` words. */
static inline void add_words(uint64_t *into, const uint64_t *from, size_t count)
{
    uint128 carry = 0;
    for (size_t i = 0; i < count; i++) {
        carry += (uint128)into[i] + from[i];
        into[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

static void negate_words(uint64_t *words, size_t count)
{
    uint128 carry = 1;
    for (size_t i = 0; i < count; i++) {
        carry += ~words[i];
        words[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

/* Returns the number of bits up to the highest one. */
static unsigned width_of(const uint64_t *words, size_t count)
{
    while (count > 0 && words[count - 1] == 0)
        count--;
    return count > 0 ? (unsigned)count * 64 - (unsigned)__builtin_clzll(words[count - 1]) : 0;
}

static void shift_words(uint64_t *words, size_t count, unsigned by)
{
    const size_t skipped = by / 64;
    for (size_t i = count; i-- > 0;) {
        const uint64_t high = i >= skipped ? words[i - skipped] : 0;
        const uint64_t low = i > skipped ? words[i - skipped - 1] : 0;
        words[i] = by % 64 == 0 ? high : high << by % 64 | low >> (64 - by % 64);
    }
}

/* --- moments of their own --- */

static bool is_negative(const struct key_sums *sums)
{
    return sums->sum[KEY_SUM_WORDS - 1] >> 63;
}

/* Sets `words` to the magnitude of the sum. */
static void magnitude_of(const struct key_sums *sums, uint64_t words[KEY_SUM_WORDS])
{
    memcpy(words, sums->sum, sizeof sums->sum);
    if (is_negative(sums))
        negate_words(words, KEY_SUM_WORDS);
}

void key_sums_add_to(const struct key_sums *sums, struct moments *moments)
{
    uint64_t words[KEY_SUM_WORDS];
    if (sums->moments)
        moments_merge(moments, sums->moments);
    if (!sums->any)
        return;
    moments_widen(moments, sums->min, sums->max);
    if (!sums->has_exponent)
        return;
    magnitude_of(sums, words);
    exact_sum_add_words(&moments->sum, words, KEY_SUM_WORDS, sums->exponent, is_negative(sums));
    exact_sum_add_words(&moments->squares, sums->squares, KEY_SQUARES_WORDS, 2 * sums->exponent,
                        false);
}

/* Makes moments of what was added so far, to which others can be added. False if memory is short.
 */
static bool make_moments(struct key_sums *sums)
{
    if (sums->moments)
        return true;
    struct moments *moments = calloc(1, sizeof *moments);
    if (!moments)
        return false;
    key_sums_add_to(sums, moments);
    *sums = (struct key_sums){.moments = moments};
    return true;
}

static bool add_to_moments(struct key_sums *sums, double value, uint64_t times)
{
    if (!make_moments(sums))
        return false;
    moments_add_double(sums->moments, value, times);
    return true;
}

bool key_sums_add_large(struct key_sums *sums, double nearest, int128 number, uint64_t times)
{
    if (!make_moments(sums))
        return false;
    moments_add_rounded(sums->moments, nearest, number, times);
    return true;
}

/* --- sums of few bits --- */

static void widen(struct key_sums *sums, double min, double max)
{
    sums->min = !sums->any || min < sums->min ? min : sums->min;
    sums->max = !sums->any || max > sums->max ? max : sums->max;
    sums->any = true;
}

/* Adds mantissa * 2^shift. */
static inline void add_parts(struct key_sums *sums, uint64_t mantissa, unsigned shift,
                             bool is_negative)
{
    const uint128 moved = (uint128)mantissa << shift % 64;
    const uint128 square = (uint128)mantissa * mantissa;
    const unsigned by = 2 * shift % 64, at = shift / 64, square_at = 2 * shift / 64;
    const uint64_t flip = is_negative ? UINT64_MAX : 0;
    uint64_t words[KEY_SUM_WORDS] = {0}, squares[KEY_SQUARES_WORDS] = {0};
    words[at] = (uint64_t)moved;
    words[at + 1] = (uint64_t)(moved >> 64);
    uint128 carry = is_negative;
    for (size_t i = 0; i < KEY_SUM_WORDS; i++) {
        carry += (uint128)sums->sum[i] + (words[i] ^ flip);
        sums->sum[i] = (uint64_t)carry;
        carry >>= 64;
    }
    squares[square_at] = (uint64_t)(square << by);
    squares[square_at + 1] = (uint64_t)(square << by >> 64);
    squares[square_at + 2] = by > 0 ? (uint64_t)(square >> 64) >> (64 - by) : 0;
    add_words(sums->squares, squares, KEY_SQUARES_WORDS);
}

/* Writes `count` words * 2^shift to others, all zeros, one more than the highest bit is in. */
static inline void put_shifted(uint64_t *to, const uint64_t *words, size_t count, unsigned shift)
{
    const size_t at = shift / 64;
    uint64_t carry = 0;
    for (size_t i = 0; i < count; i++) {
        to[at + i] = words[i] << shift % 64 | carry;
        carry = words[i] >> 1 >> (63 - shift % 64);
    }
    to[at + count] = carry;
}

/* Adds mantissa * 2^shift, so many times. */
static void add_parts_times(struct key_sums *sums, uint64_t mantissa, unsigned shift,
                            bool is_negative, uint64_t times)
{
    const uint128 square = (uint128)mantissa * mantissa, product = (uint128)mantissa * times;
    const uint128 low = (uint128)(uint64_t)square * times;
    const uint128 high = (square >> 64) * times + (low >> 64);
    uint64_t words[KEY_SUM_WORDS + 1] = {0}, squares[KEY_SQUARES_WORDS + 1] = {0};
    put_shifted(words, (uint64_t[]){(uint64_t)product, (uint64_t)(product >> 64)}, 2, shift);
    put_shifted(squares, (uint64_t[]){(uint64_t)low, (uint64_t)high, (uint64_t)(high >> 64)}, 3,
                2 * shift);
    if (is_negative)
        negate_words(words, KEY_SUM_WORDS);
    add_words(sums->sum, words, KEY_SUM_WORDS);
    add_words(sums->squares, squares, KEY_SQUARES_WORDS);
}

/* Adds a number that does not fit as it is: perhaps without the zeros that its mantissa ends with.
 */
static __attribute__((noinline)) bool add_odd(struct key_sums *sums, double value, uint64_t times)
{
    int exponent;
    uint64_t mantissa = double_mantissa(value, &exponent);
    const int zeros = mantissa > 0 ? __builtin_ctzll(mantissa) : 0;
    if (sums->moments || isinf(value))
        return add_to_moments(sums, value, times);
    if (!sums->has_exponent) {
        const int first = exponent - SHIFT_FIRST;
        if (first > EXPONENT_MAX)
            return add_to_moments(sums, value, times);
        sums->exponent = first > EXPONENT_MIN ? first : EXPONENT_MIN;
        sums->has_exponent = true;
    } else {
        mantissa >>= zeros;
        exponent += zeros;
    }
    const unsigned shift = (unsigned)(exponent - sums->exponent);
    if (shift > (times == 1 ? SHIFT_MAX : SHIFT_TIMES_MAX))
        return add_to_moments(sums, value, times);
    widen(sums, value, value);
    add_parts_times(sums, mantissa, shift, signbit(value), times);
    return true;
}

bool key_sums_add(struct key_sums *sums, double value)
{
    int exponent;
    const uint64_t mantissa = double_mantissa(value, &exponent);
    const unsigned shift = (unsigned)(exponent - sums->exponent);
    const bool fits = sums->has_exponent && shift <= SHIFT_MAX && !isinf(value);
    if (!fits && (value != 0 || sums->moments))
        return add_odd(sums, value, 1);
    widen(sums, value, value);
    if (fits)
        add_parts(sums, mantissa, shift, signbit(value));
    return true;
}

bool key_sums_add_times(struct key_sums *sums, double value, uint64_t times)
{
    int exponent;
    const uint64_t mantissa = double_mantissa(value, &exponent);
    const unsigned shift = (unsigned)(exponent - sums->exponent);
    if (value == 0)
        return key_sums_add(sums, value);
    if (!sums->has_exponent || shift > SHIFT_TIMES_MAX || isinf(value))
        return add_odd(sums, value, times);
    widen(sums, value, value);
    add_parts_times(sums, mantissa, shift, signbit(value), times);
    return true;
}

/* Lowers the exponent. False, and nothing changes, if the sums would have too many bits. */
static bool lower(struct key_sums *sums, int exponent)
{
    uint64_t words[KEY_SUM_WORDS];
    const unsigned by = (unsigned)(sums->exponent - exponent);
    magnitude_of(sums, words);
    if (width_of(words, KEY_SUM_WORDS) + by > SUM_BITS ||
        width_of(sums->squares, KEY_SQUARES_WORDS) + 2 * by > SQUARES_BITS)
        return false;
    shift_words(sums->sum, KEY_SUM_WORDS, by);
    shift_words(sums->squares, KEY_SQUARES_WORDS, 2 * by);
    sums->exponent = exponent;
    return true;
}

/* Adds sums of few bits. False, and nothing changes, if both together need too many. */
static bool add_sums(struct key_sums *into, struct key_sums *from)
{
    if (into->moments || from->moments)
        return false;
    const int min = into->exponent < from->exponent ? into->exponent : from->exponent;
    if (into->has_exponent && from->has_exponent && !(lower(into, min) && lower(from, min)))
        return false;
    widen(into, from->min, from->max);
    if (!from->has_exponent)
        return true;
    into->exponent = from->exponent;
    into->has_exponent = true;
    add_words(into->sum, from->sum, KEY_SUM_WORDS);
    add_words(into->squares, from->squares, KEY_SQUARES_WORDS);
    return true;
}

bool key_sums_move(struct key_sums *into, struct key_sums *from)
{
    bool done = true;
    if (!from->any && !from->moments)
        return true;
    if (!into->any && !into->moments) {
        *into = *from;
        *from = (struct key_sums){.moments = NULL};
        return true;
    }
    if (add_sums(into, from)) {
        done = lower(into, into->exponent) || make_moments(into);
    } else {
        done = make_moments(into);
        if (done)
            key_sums_add_to(from, into->moments);
    }
    key_sums_close(from);
    return done;
}

/* --- moments of tables --- */

/* Returns which power of two the lowest bit of a number counts; INT_MAX if it is 0. */
static int lowest_bit(const struct exact_number *number)
{
    int i = 0;
    while (i < number->count && number->words[i] == 0)
        i++;
    return i < number->count ? number->exponent + 64 * i + __builtin_ctzll(number->words[i])
                             : INT_MAX;
}

/* Sets `words` to the magnitude of a number, none of whose bits counts less than 2^exponent, times
 * 2^-exponent. False if it has more than `bits` bits. */
static bool take_words(const struct exact_number *number, int exponent, uint64_t *words,
                       size_t count, unsigned bits)
{
    memset(words, 0, count * sizeof words[0]);
    for (int i = 0; i < number->count; i++) {
        const uint64_t from = number->words[i];
        const int at = number->exponent + 64 * i - exponent; /* of its lowest bit */
        const size_t word = at > 0 ? (size_t)at / 64 : 0;
        const uint64_t high = at > 0 && at % 64 > 0 ? from >> (64 - at % 64) : 0;
        if (from == 0)
            continue;
        if (word + (high > 0) >= count)
            return false;
        words[word] |= at < 0 ? from >> -at : from << at % 64;
        if (high > 0)
            words[word + 1] |= high;
    }
    return width_of(words, count) <= bits;
}

/* Makes sums of few bits of moments. False if these need more, or are none that numbers have. */
static bool take_moments(struct key_sums *sums, const struct moments *moments)
{
    struct exact_number sum, squares;
    exact_sum_read(&moments->sum, &sum);
    exact_sum_read(&moments->squares, &squares);
    const int of_sum = lowest_bit(&sum), of_squares = lowest_bit(&squares);
    *sums = (struct key_sums){.any = moments->any, .min = moments->min, .max = moments->max};
    if (of_sum == INT_MAX && of_squares == INT_MAX && moments->lowest + moments->highest == 0)
        return !moments->any_large;
    if (!moments->any || moments->any_large || moments->lowest > 0 || moments->highest > 0 ||
        squares.is_negative)
        return false;
    const int half = (of_squares - (of_squares & 1)) / 2;
    sums->exponent = of_sum < half ? of_sum : half;
    sums->has_exponent = true;
    if (sums->exponent < EXPONENT_MIN || sums->exponent > EXPONENT_MAX ||
        !take_words(&sum, sums->exponent, sums->sum, KEY_SUM_WORDS, SUM_BITS) ||
        !take_words(&squares, 2 * sums->exponent, sums->squares, KEY_SQUARES_WORDS, SQUARES_BITS))
        return false;
    if (sum.is_negative)
        negate_words(sums->sum, KEY_SUM_WORDS);
    return true;
}

bool key_sums_add_moments(struct key_sums *sums, const struct moments *moments)
{
    struct key_sums few;
    if (take_moments(&few, moments))
        return key_sums_move(sums, &few);
    if (!make_moments(sums))
        return false;
    moments_merge(sums->moments, moments);
    return true;
}

void key_sums_close(struct key_sums *sums)
{
    free(sums->moments);
    *sums = (struct key_sums){.moments = NULL};
}

/* --- quick sums --- */

/* Bits from one scale to the other: so numbers of 53 bits are added that are 2^21 times less than
 * the greatest. */
#define QUICK_STEP 11

/* Bits above the greatest of the first numbers. */
#define QUICK_SPARE 1

void quick_sums_prepare(struct quick_sums *quick, size_t count, size_t max, const double *values,
                        size_t n)
{
    double most = 0;
    int exponent;
    for (size_t i = 0; i < n && quick->count == 0; i++)
        most = fabs(values[i]) > most && !isinf(values[i]) ? fabs(values[i]) : most;
    frexp(most, &exponent);
    exponent += QUICK_SPARE - 63;
    /* By a scale of 1 or more no number vanishes. */
    if (quick->count == 0 && (most == 0 || exponent > 0 || exponent < -900))
        return;
    if (!quick->list && !(quick->list = malloc(max * sizeof quick->list[0])))
        return;
    if (quick->count == 0)
        *quick =
            (struct quick_sums){.list = quick->list,
                                .exponent = exponent - QUICK_STEP,
                                .scale = {ldexp(1, -exponent), ldexp(1, QUICK_STEP - exponent)},
                                .limit = ldexp(1, exponent + 52)};
    for (; quick->count < count; quick->count++)
        quick->list[quick->count] = (struct quick_sum){.min = HUGE_VAL, .max = -HUGE_VAL};
}

bool quick_sums_move(struct quick_sums *quick, struct key_sums *into)
{
    bool done = true;
    for (size_t i = 0; i < 2 * quick->count; i++) {
        const struct quick_sum *from = &quick->list[i / 2];
        const size_t part = i % 2;
        const uint128 sum = (uint128)from->sum[part], squares = from->squares[part];
        struct key_sums few = {
            .any = from->min <= from->max,
            .min = from->min,
            .max = from->max,
            .sum = {(uint64_t)sum, (uint64_t)(sum >> 64), from->sum[part] < 0 ? UINT64_MAX : 0},
            .squares = {(uint64_t)squares, (uint64_t)(squares >> 64), from->carries[part]},
            .has_exponent = squares > 0 || from->carries[part] > 0,
            .exponent = quick->exponent + (part == 0 ? QUICK_STEP : 0)};
        done &= key_sums_move(&into[i / 2], &few);
    }
    quick->count = 0;
    return done;
}

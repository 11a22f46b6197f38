/* SPDX-License-Identifier: MIT */
/* Exact sums: numbers are added digit by digit, a sum is read as a long number, and that is divided
 * and rounded once. Then moments, which are made of them. */
#include "sums.h"

#include <math.h>
#include <string.h>

/* --- adding --- */

#define DIGIT_BITS 32
#define WORD_BITS 64
#define ADDED_MAX ((uint32_t)1 << 29) /* a number changes a digit by less than 2^33 */

static int first_digit(const struct exact_sum *sum)
{
    return EXACT_DIGITS - sum->used;
}

void exact_sum_clear(struct exact_sum *sum)
{
    if (sum->end > 0)
        memset(sum->digits + first_digit(sum), 0,
               (size_t)(sum->end - first_digit(sum)) * sizeof sum->digits[0]);
    sum->added = sum->used = sum->end = 0;
}

/* Carries digits, so that all but the last are from 0 up to 2^32. The last one keeps the sign. */
static void carry_digits(struct exact_sum *sum)
{
    sum->end = EXACT_DIGITS;
    for (int i = first_digit(sum); i < EXACT_DIGITS - 1; i++) {
        const int64_t low = sum->digits[i] & UINT32_MAX;
        sum->digits[i + 1] += (sum->digits[i] - low) / ((int64_t)1 << DIGIT_BITS);
        sum->digits[i] = low;
    }
    sum->added = 0;
}

/* Adds magnitude * 2^exponent, or subtracts it. The magnitude has up to magnitude_digits digits.
 * All are added, 0 or not, as a branch would be mispredicted. */
static inline void add_magnitude(struct exact_sum *sum, uint128 magnitude, int magnitude_digits,
                                 int exponent, bool negative)
{
    const unsigned offset = (unsigned)(exponent - EXACT_LOWEST), shift = offset % DIGIT_BITS;
    const int first = (int)(offset / DIGIT_BITS), end = first + magnitude_digits + 1;
    int64_t *digit = sum->digits + first, sign = negative ? -1 : 1;
    if (++sum->added == ADDED_MAX)
        carry_digits(sum);
    sum->used = (uint16_t)(sum->used > EXACT_DIGITS - first ? sum->used : EXACT_DIGITS - first);
    sum->end = (uint16_t)(sum->end > end ? sum->end : end);
    for (int i = 0; i < magnitude_digits; i++, magnitude >>= DIGIT_BITS, digit++) {
        uint64_t part = (uint64_t)(uint32_t)magnitude << shift;
        digit[0] += sign * (int64_t)(uint32_t)part;
        digit[1] += sign * (int64_t)(part >> DIGIT_BITS);
    }
}

void exact_sum_add(struct exact_sum *sum, double value)
{
    int exponent;
    uint64_t mantissa = double_mantissa(value, &exponent);
    add_magnitude(sum, mantissa, 2, exponent, signbit(value));
}

void exact_sum_add_square(struct exact_sum *sum, double value)
{
    int exponent;
    uint64_t mantissa = double_mantissa(value, &exponent);
    add_magnitude(sum, (uint128)mantissa * mantissa, 4, 2 * exponent, false);
}

void exact_sum_add_int128(struct exact_sum *sum, int128 value, int exponent)
{
    uint128 magnitude = value < 0 ? -(uint128)value : (uint128)value;
    add_magnitude(sum, magnitude, 4, exponent, value < 0);
}

void exact_sum_add_words(struct exact_sum *sum, const uint64_t *words, int count, int exponent,
                         bool is_negative)
{
    for (int i = 0; i < count; i++)
        if (words[i] != 0)
            add_magnitude(sum, words[i], 2, exponent + WORD_BITS * i, is_negative);
}

void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from)
{
    struct exact_number number;
    exact_sum_read(from, &number);
    exact_sum_add_words(into, number.words, number.count, number.exponent, number.is_negative);
}

/* --- long numbers --- */

/* Forgets zeros in front. */
static void trim(struct exact_number *number)
{
    while (number->count > 0 && number->words[number->count - 1] == 0)
        number->count--;
}

/* Adds a word in front of all others. Zeros behind them become part of the exponent. */
static inline void push(struct exact_number *number, uint64_t word)
{
    if (number->count == 0 && word == 0)
        number->exponent += WORD_BITS;
    else
        number->words[number->count++] = word;
}

static void negate(struct exact_number *number)
{
    uint128 carry = 1;
    for (int i = 0; i < number->count; i++, carry >>= WORD_BITS) {
        carry += ~number->words[i];
        number->words[i] = (uint64_t)carry;
    }
}

void exact_sum_read(const struct exact_sum *sum, struct exact_number *number)
{
    const int begin = first_digit(sum) & ~1; /* of a word */
    int128 carry = 0;
    number->count = 0;
    number->exponent = EXACT_LOWEST + DIGIT_BITS * begin;
    for (int i = begin; i < sum->end; i += 2) {
        carry += sum->digits[i] + (int128)sum->digits[i + 1] * ((int128)1 << DIGIT_BITS);
        push(number, (uint64_t)carry);
        carry >>= WORD_BITS;
    }
    push(number, (uint64_t)carry);
    number->is_negative = carry < 0;
    if (number->is_negative)
        negate(number);
    trim(number);
}

/* Makes what follows the lowest word visible, down to 2^exponent. */
static void extend(struct exact_number *number, int exponent)
{
    const int more = (number->exponent - exponent) / WORD_BITS;
    if (more <= 0)
        return;
    memmove(number->words + more, number->words, (size_t)number->count * sizeof number->words[0]);
    memset(number->words, 0, (size_t)more * sizeof number->words[0]);
    number->count += more;
    number->exponent = exponent;
}

static void multiply(const struct exact_number *a, const struct exact_number *b,
                     struct exact_number *product)
{
    product->count = a->count + b->count;
    product->exponent = a->exponent + b->exponent;
    product->is_negative = a->is_negative != b->is_negative;
    memset(product->words, 0, (size_t)product->count * sizeof product->words[0]);
    for (int i = 0; i < a->count; i++) {
        uint128 carry = 0;
        for (int k = 0; k < b->count; k++, carry >>= WORD_BITS) {
            carry += product->words[i + k] + (uint128)a->words[i] * b->words[k];
            product->words[i + k] = (uint64_t)carry;
        }
        product->words[i + b->count] = (uint64_t)carry;
    }
    trim(product);
}

/* Subtracts a number that is not greater; both are not negative. */
static void subtract(struct exact_number *number, struct exact_number *other)
{
    int128 borrow = 0;
    extend(number, other->exponent);
    extend(other, number->exponent);
    for (int i = 0; i < number->count; i++, borrow >>= WORD_BITS) {
        borrow += (int128)number->words[i] - (int128)(i < other->count ? other->words[i] : 0);
        number->words[i] = (uint64_t)borrow;
    }
    trim(number);
}

/* Makes a number that is not 0 one of so many words. True if something is cut off. */
static bool resize(struct exact_number *number, int count)
{
    const int fewer = number->count - count;
    bool more = false;
    if (fewer <= 0) {
        extend(number, number->exponent + WORD_BITS * fewer);
        return false;
    }
    for (int i = 0; i < fewer; i++)
        more |= number->words[i] != 0;
    memmove(number->words, number->words + fewer, (size_t)count * sizeof number->words[0]);
    number->count = count;
    number->exponent += WORD_BITS * fewer;
    return more;
}

/* Divides by n. True if there is a remainder. */
static bool divide(struct exact_number *number, uint64_t n)
{
    uint64_t rest = 0;
    for (int i = number->count - 1; i >= 0; i--) {
        const uint128 dividend = (uint128)rest << WORD_BITS | number->words[i];
        number->words[i] = (uint64_t)(dividend / n);
        rest = (uint64_t)(dividend % n);
    }
    trim(number);
    return rest != 0;
}

/* Returns the 64 bits of a number from so many of its last ones on, which there are. */
static uint64_t bits_from(const struct exact_number *number, int bit)
{
    const int at = bit / WORD_BITS, shift = bit % WORD_BITS;
    const uint64_t low = at < number->count ? number->words[at] >> shift : 0;
    if (shift == 0 || at + 1 >= number->count)
        return low;
    return low | number->words[at + 1] << (WORD_BITS - shift);
}

/* Rounds a number, or a little more than it if `more`, to 53 leading bits, none below 2^least; half
 * way to even. Returns the mantissa, and in *exponent what it counts. */
static uint64_t round_number(const struct exact_number *number, bool more, int min, int *exponent)
{
    const uint64_t top = number->count > 0 ? number->words[number->count - 1] : 1;
    const int width = number->count * WORD_BITS - __builtin_clzll(top);
    const int last = min - number->exponent; /* bit that may be kept */
    int cut = width - 53 > last ? width - 53 : last;
    cut = cut > 0 ? cut : 0;
    *exponent = number->exponent + cut;
    const uint64_t mantissa = bits_from(number, cut);
    if (cut == 0)
        return mantissa;
    bool below = more;
    for (int i = 0; i < number->count && WORD_BITS * i < cut - 1 && !below; i++) {
        const int bits = cut - 1 - WORD_BITS * i;
        below = bits < WORD_BITS ? number->words[i] << (WORD_BITS - bits) : number->words[i];
    }
    return mantissa + ((bits_from(number, cut - 1) & 1) && (below || (mantissa & 1)));
}

/* --- reading --- */

/* Words of a dividend whose quotient has more than 64 bits, if it is divided by a word, and by two;
 * what is cut off only tells whether there is more. */
#define DIVIDEND_WORDS 3
#define DIVIDEND_WORDS_TWICE 4

double exact_sum_quotient(const struct exact_sum *sum, uint64_t n)
{
    struct exact_number number;
    int exponent;
    bool more = false;
    exact_sum_read(sum, &number);
    if (number.count > 0 && n > 1) {
        more = resize(&number, DIVIDEND_WORDS);
        more |= divide(&number, n);
    }
    const uint64_t mantissa = round_number(&number, more, -1074, &exponent);
    const double value = ldexp((double)mantissa, exponent);
    return number.is_negative ? -value : value;
}

/* --- moments --- */

void moments_clear(struct moments *moments)
{
    moments->any = moments->any_large = false;
    moments->min = moments->max = 0;
    moments->least = moments->greatest = 0;
    moments->lowest = moments->highest = 0;
    exact_sum_clear(&moments->sum);
    exact_sum_clear(&moments->squares);
}

void moments_widen(struct moments *moments, double min, double max)
{
    if (!moments->any || min < moments->min)
        moments->min = min;
    if (!moments->any || max > moments->max)
        moments->max = max;
    moments->any = true;
}

/* Widens the range of whole numbers, which there is if *any. */
static void widen_whole(struct moments *moments, bool *any, int128 least, int128 greatest)
{
    if (!*any || least < moments->least)
        moments->least = least;
    if (!*any || greatest > moments->greatest)
        moments->greatest = greatest;
    *any = true;
}

void moments_widen_whole(struct moments *moments, int128 least, int128 greatest)
{
    widen_whole(moments, &moments->any, least, greatest);
}

/* Adds magnitude * 2^exponent, or subtracts it, and its square, so many times. */
static void add_times(struct moments *moments, uint64_t magnitude, int exponent, bool negative,
                      uint64_t times)
{
    const uint128 square = (uint128)magnitude * magnitude, high = square >> WORD_BITS;
    add_magnitude(&moments->sum, (uint128)magnitude * times, 4, exponent, negative);
    add_magnitude(&moments->squares, (uint128)(uint64_t)square * times, 4, 2 * exponent, false);
    if (high > 0)
        add_magnitude(&moments->squares, high * times, 4, 2 * exponent + WORD_BITS, false);
}

void moments_add_times(struct moments *moments, int128 value, uint64_t times)
{
    if (times == 0)
        return;
    moments_widen_whole(moments, value, value);
    add_times(moments, (uint64_t)(value < 0 ? -value : value), 0, value < 0, times);
}

void moments_add_double(struct moments *moments, double value, uint64_t times)
{
    moments_widen(moments, value, value);
    if (isinf(value)) {
        *(value < 0 ? &moments->lowest : &moments->highest) += times;
        return;
    }
    int exponent;
    uint64_t mantissa = double_mantissa(value, &exponent);
    const int zeros = mantissa > 0 ? __builtin_ctzll(mantissa) : 0; /* so squares are short */
    add_times(moments, mantissa >> zeros, exponent + zeros, signbit(value), times);
}

void moments_add_rounded(struct moments *moments, double nearest, int128 number, uint64_t times)
{
    moments_widen(moments, nearest, nearest);
    widen_whole(moments, &moments->any_large, number, number);
    const uint128 magnitude = (uint128)(number < 0 ? -number : number);
    const int is_wide = magnitude >> WORD_BITS > 0; /* 2^64 */
    add_times(moments, (uint64_t)(magnitude >> is_wide), is_wide, number < 0, times);
}

void moments_add_large(struct moments *moments, const struct large_numbers *large)
{
    if (!large->any)
        return;
    widen_whole(moments, &moments->any_large, large->least, large->greatest);
    exact_sum_add_int128(&moments->sum, large->rests, 0);
    exact_sum_add_int128(&moments->squares, large->squares, 0);
}

/* True if a number was rounded to the double `nearest`, which does not equal it. */
static bool is_rounded(int128 number, double nearest)
{
    return (double)number == nearest && number != (int128)nearest;
}

bool moments_least_large(const struct moments *moments, int128 *least)
{
    *least = moments->least;
    return moments->any_large && is_rounded(moments->least, moments->min);
}

bool moments_greatest_large(const struct moments *moments, int128 *greatest)
{
    *greatest = moments->greatest;
    return moments->any_large && is_rounded(moments->greatest, moments->max);
}

bool moments_sum_large(const struct moments *moments, int128 *sum)
{
    struct exact_number read;
    exact_sum_read(&moments->sum, &read);
    if (moments->lowest != 0 || moments->highest != 0 || read.count > 1 ||
        (read.count == 1 && read.exponent != 0))
        return false;
    *sum = read.count > 0 ? (int128)read.words[0] : 0;
    *sum = read.is_negative ? -*sum : *sum;
    return *sum != (int128)(double)*sum;
}

void moments_merge(struct moments *into, const struct moments *from)
{
    if (!from->any)
        return;
    bool any = into->any;
    moments_widen(into, from->min, from->max);
    into->any = any;
    if (from->any_large)
        widen_whole(into, &into->any_large, from->least, from->greatest);
    else if (!into->any_large)
        moments_widen_whole(into, from->least, from->greatest);
    into->any = true;
    into->lowest += from->lowest;
    into->highest += from->highest;
    exact_sum_merge(&into->sum, &from->sum);
    exact_sum_merge(&into->squares, &from->squares);
}

double moments_mean(const struct moments *moments, uint64_t n)
{
    if (moments->lowest && moments->highest)
        return NAN;
    if (moments->lowest || moments->highest)
        return moments->lowest ? -HUGE_VAL : HUGE_VAL;
    return exact_sum_quotient(&moments->sum, n);
}

double moments_sum(const struct moments *moments)
{
    return moments_mean(moments, 1);
}

double moments_deviation(const struct moments *moments, uint64_t n)
{
    const struct exact_number times = {.words = {n}, .count = 1};
    struct exact_number number, square, variance; /* times n^2: n * squares - sum^2 */
    int exponent;
    if (moments->lowest || moments->highest)
        return NAN;
    exact_sum_read(&moments->squares, &number);
    multiply(&times, &number, &variance);
    exact_sum_read(&moments->sum, &number);
    multiply(&number, &number, &square);
    subtract(&variance, &square);
    if (variance.count == 0)
        return 0;
    bool more = resize(&variance, DIVIDEND_WORDS_TWICE);
    if (n <= UINT32_MAX) {
        more |= divide(&variance, n * n);
    } else {
        more |= divide(&variance, n);
        more |= divide(&variance, n);
    }
    const uint64_t mantissa = round_number(&variance, more, EXACT_LOWEST, &exponent);
    if (exponent % 2 != 0)
        return ldexp(sqrt(2 * (double)mantissa), (exponent - 1) / 2);
    return ldexp(sqrt((double)mantissa), exponent / 2);
}

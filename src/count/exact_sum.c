/* SPDX-License-Identifier: MIT */
#include "exact_sum.h"

#include <math.h>
#include <string.h>

#define DIGIT_BITS 32
#define ADDED_MAX ((uint32_t)1 << 29) /* a number changes a digit by less than 2^33 */

/* Carries digits, so that all but the last are from 0 up to 2^32. The last one keeps the sign. Most
 * digits are 0, which costs less to find out than to carry them: a result by key has many sums. */
static void carry_digits(struct exact_sum *sum)
{
    int64_t carry = 0;
    for (int i = 0; i < EXACT_DIGITS - 1; i++) {
        int64_t digit = sum->digits[i] + carry, low = digit & UINT32_MAX;
        if (digit == 0) {
            sum->digits[i] = carry = 0;
            continue;
        }
        carry = (digit - low) / ((int64_t)1 << DIGIT_BITS);
        sum->digits[i] = low;
    }
    sum->digits[EXACT_DIGITS - 1] += carry;
    sum->added = 0;
}

/* Adds magnitude * 2^exponent, or subtracts it. The magnitude has up to magnitude_digits digits.
 * All are added, 0 or not, as a branch would be mispredicted. */
static inline void add_magnitude(struct exact_sum *sum, unsigned_whole magnitude,
                                 int magnitude_digits, int exponent, bool negative)
{
    unsigned offset = (unsigned)(exponent - EXACT_LOWEST), shift = offset % DIGIT_BITS;
    int64_t *digit = sum->digits + offset / DIGIT_BITS, sign = negative ? -1 : 1;
    if (++sum->added == ADDED_MAX)
        carry_digits(sum);
    for (int i = 0; i < magnitude_digits; i++, magnitude >>= DIGIT_BITS, digit++) {
        uint64_t part = (uint64_t)(uint32_t)magnitude << shift;
        digit[0] += sign * (int64_t)(uint32_t)part;
        digit[1] += sign * (int64_t)(part >> DIGIT_BITS);
    }
}

/* Returns the mantissa of a finite double, which is mantissa * 2^*exponent without its sign. */
static uint64_t mantissa_of(double value, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int biased = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    *exponent = (biased > 0 ? biased : 1) - 1075;
    return biased > 0 ? fraction | (uint64_t)1 << 52 : fraction;
}

void exact_sum_add(struct exact_sum *sum, double value)
{
    int exponent;
    uint64_t mantissa = mantissa_of(value, &exponent);
    add_magnitude(sum, mantissa, 2, exponent, signbit(value));
}

void exact_sum_add_square(struct exact_sum *sum, double value)
{
    int exponent;
    uint64_t mantissa = mantissa_of(value, &exponent);
    add_magnitude(sum, (unsigned_whole)mantissa * mantissa, 4, 2 * exponent, false);
}

void exact_sum_add_whole(struct exact_sum *sum, whole value, int exponent)
{
    unsigned_whole magnitude = value < 0 ? -(unsigned_whole)value : (unsigned_whole)value;
    add_magnitude(sum, magnitude, 4, exponent, value < 0);
}

void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from)
{
    struct exact_sum other = *from;
    carry_digits(into);
    carry_digits(&other);
    for (int i = 0; i < EXACT_DIGITS; i++)
        into->digits[i] += other.digits[i];
    into->added = 1;
}

bool exact_sum_make_positive(struct exact_sum *sum)
{
    carry_digits(sum);
    if (sum->digits[EXACT_DIGITS - 1] >= 0)
        return false;
    for (int i = 0; i < EXACT_DIGITS; i++)
        sum->digits[i] = -sum->digits[i];
    carry_digits(sum);
    return true;
}

bool exact_sum_is_whole(const struct exact_sum *sum, whole *number)
{
    const int one = -EXACT_LOWEST / DIGIT_BITS; /* the digit that counts 1 */
    struct exact_sum carried = *sum;
    const bool negative = exact_sum_make_positive(&carried);
    for (int i = 0; i < EXACT_DIGITS; i++)
        if (i != one && i != one + 1 && carried.digits[i] != 0)
            return false;
    *number = (whole)carried.digits[one] + ((whole)carried.digits[one + 1] << DIGIT_BITS);
    *number = negative ? -*number : *number;
    return true;
}

/* --- long whole numbers, the lowest digit first --- */

/* Enough for n * squares, and for the square of a sum without its digits below the least double. */
#define LONG_DIGITS (2 * EXACT_DIGITS + 4)

/* What digit 0 of such a sum counts: no double has a lower bit. */
#define SUM_LOWEST (EXACT_LOWEST / 2)

struct long_number {
    uint32_t digits[LONG_DIGITS];
};

/* Sets *number to the magnitude of a sum. True if it is negative. */
static bool read_sum(const struct exact_sum *sum, struct long_number *number)
{
    struct exact_sum carried = *sum;
    bool negative = exact_sum_make_positive(&carried);
    memset(number, 0, sizeof *number);
    for (int i = 0; i < EXACT_DIGITS; i++)
        number->digits[i] = (uint32_t)carried.digits[i];
    return negative;
}

/* Returns how many digits a number has without zeros in front. */
static int length_of(const struct long_number *number)
{
    int length = LONG_DIGITS;
    while (length > 0 && number->digits[length - 1] == 0)
        length--;
    return length;
}

/* Multiplies a number by another, or by itself. */
static void multiply(struct long_number *number, const struct long_number *by)
{
    struct long_number product = {{0}};
    const int length = length_of(by);
    for (int i = 0; i < LONG_DIGITS; i++) {
        uint64_t carry = 0;
        if (number->digits[i] == 0)
            continue;
        for (int k = 0; (k < length || carry != 0) && i + k < LONG_DIGITS; k++) {
            carry += product.digits[i + k] + (uint64_t)number->digits[i] * by->digits[k];
            product.digits[i + k] = (uint32_t)carry;
            carry >>= DIGIT_BITS;
        }
    }
    *number = product;
}

/* Divides by n. True if there is a remainder. */
static bool divide(struct long_number *number, uint64_t n)
{
    uint64_t rest = 0;
    for (int i = length_of(number) - 1; i >= 0; i--) {
        unsigned_whole dividend = (unsigned_whole)rest << DIGIT_BITS | number->digits[i];
        number->digits[i] = (uint32_t)(dividend / n);
        rest = (uint64_t)(dividend % n);
    }
    return rest != 0;
}

/* Subtracts a number that is not greater. */
static void subtract(struct long_number *number, const struct long_number *other)
{
    int64_t borrow = 0;
    for (int i = 0; i < LONG_DIGITS; i++) {
        int64_t digit = (int64_t)number->digits[i] - other->digits[i] + borrow;
        number->digits[i] = (uint32_t)digit;
        borrow = digit < 0 ? -1 : 0;
    }
}

static bool bit_of(const struct long_number *number, int bit)
{
    return number->digits[bit / DIGIT_BITS] >> bit % DIGIT_BITS & 1;
}

/* Rounds a number, or a little more than it if `more`, to 53 leading bits, none below bit `least`;
 * half way to even. Returns the mantissa, and in *bit where it begins. */
static uint64_t round_number(const struct long_number *number, bool more, int least, int *bit)
{
    const int length = length_of(number);
    int top = (length > 0 ? length : 1) * DIGIT_BITS - 1;
    while (top > 0 && !bit_of(number, top))
        top--;
    *bit = top - 52 > least ? top - 52 : least;
    uint64_t mantissa = 0;
    for (int i = top; i >= *bit; i--)
        mantissa = mantissa << 1 | bit_of(number, i);
    bool half = *bit > 0 && bit_of(number, *bit - 1), below = more;
    for (int i = 0; i < *bit - 1 && !below; i++) {
        if (i % DIGIT_BITS == 0 && i + DIGIT_BITS < *bit && number->digits[i / DIGIT_BITS] == 0)
            i += DIGIT_BITS - 1;
        else
            below = bit_of(number, i);
    }
    return mantissa + (half && (below || (mantissa & 1)));
}

double exact_sum_quotient(const struct exact_sum *sum, uint64_t n)
{
    struct long_number number;
    bool negative = read_sum(sum, &number), more = divide(&number, n);
    int bit;
    uint64_t mantissa = round_number(&number, more, -1074 - EXACT_LOWEST, &bit);
    double value = ldexp((double)mantissa, bit + EXACT_LOWEST);
    return negative ? -value : value;
}

/* Reads a sum of doubles as a number whose digit 0 counts 2^SUM_LOWEST. */
static void read_doubles(const struct exact_sum *sum, struct long_number *number)
{
    const int skipped = (SUM_LOWEST - EXACT_LOWEST) / DIGIT_BITS;
    read_sum(sum, number);
    memmove(number->digits, number->digits + skipped,
            sizeof number->digits - (size_t)skipped * sizeof number->digits[0]);
    memset(number->digits + LONG_DIGITS - skipped, 0, (size_t)skipped * sizeof number->digits[0]);
}

/* The variance is (n * squares - sum^2) / n^2. */
double exact_deviation(const struct exact_sum *sum, const struct exact_sum *squares, uint64_t n)
{
    struct long_number variance, square, times = {{(uint32_t)n, (uint32_t)(n >> DIGIT_BITS)}};
    read_sum(squares, &variance);
    multiply(&variance, &times);
    read_doubles(sum, &square);
    multiply(&square, &square);
    subtract(&variance, &square);
    bool more = divide(&variance, n);
    more |= divide(&variance, n);
    int bit;
    uint64_t mantissa = round_number(&variance, more, 0, &bit);
    int exponent = bit + EXACT_LOWEST;
    if (exponent % 2 != 0)
        return ldexp(sqrt(2 * (double)mantissa), (exponent - 1) / 2);
    return ldexp(sqrt((double)mantissa), exponent / 2);
}

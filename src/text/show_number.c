/* SPDX-License-Identifier: MIT */
#include "show_number.h"
#include "number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WHOLE_DIGITS 38  /* no more overflow */
#define DIGITS_MAX 20    /* of a 64-bit integer */
#define WHOLE_LIMIT 1e17 /* numbers from here on are written with an exponent */
#define FIXED_MIN (-4)   /* the exponent of the first digit, as in printf's %g */
#define FIXED_MAX 16

/* digits * 10^exponent */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* --- digits --- */

/* floor(log10(2^exponent)), or floor(log10(3/4 * 2^exponent)). */
static int decimal_exponent(int exponent, bool three_quarters)
{
    return (exponent * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

/* Returns the upper 64 of the product's 192 bits, the last of which is set if anything was dropped:
 * comparisons are still right. */
static uint64_t scaled(struct power power, uint64_t factor)
{
    uint64_t low, middle;
    uint64_t carry = number_product(power.low, factor, &low);
    uint64_t high = number_product(power.high, factor, &middle);
    middle += carry;
    high += middle < carry;
    return high | (middle > 1);
}

/* Returns the shortest decimal between the middles to the neighbours of mantissa * 2^exponent;
 * these middles read back the same if the mantissa is even. `uneven`: the neighbour below is half
 * as far away. */
static struct decimal shortest(uint64_t mantissa, int exponent, bool uneven)
{
    const int power = decimal_exponent(exponent, uneven);
    const int shift = exponent + number_exponent(-power) + 1;
    const struct power scale = number_power_above(-power);
    const uint64_t odd = mantissa & 1;
    /* Four times the value, and the interval around it. */
    const uint64_t value = scaled(scale, 4 * mantissa << shift);
    const uint64_t lower = scaled(scale, (4 * mantissa - 2 + uneven) << shift) + odd;
    const uint64_t upper = scaled(scale, (4 * mantissa + 2) << shift) - odd;

    const uint64_t below = value / 4, tens = below / 10;
    bool below_fits = below >= 10 && lower <= 40 * tens;
    bool above_fits = below >= 10 && 40 * tens + 40 <= upper;
    if (below_fits != above_fits)
        return (struct decimal){tens + above_fits, power + 1};
    below_fits = lower <= 4 * below;
    above_fits = 4 * below + 4 <= upper;
    if (below_fits != above_fits)
        return (struct decimal){below + above_fits, power};
    uint64_t middle = 4 * below + 2;
    bool up = value > middle || (value == middle && (below & 1));
    return (struct decimal){below + up, power};
}

/* Returns the decimal of a finite double over 0. */
static struct decimal decimal_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t hidden = UINT64_C(1) << NUMBER_STORED, stored = bits & (hidden - 1);
    const int exponent = (int)(bits >> NUMBER_STORED);
    const int min = 1 - NUMBER_EXPONENT_BIAS - NUMBER_STORED; /* of the last bit */
    struct decimal decimal =
        exponent > 0 ? shortest(hidden | stored, min + exponent - 1, stored == 0 && exponent > 1)
                     : shortest(stored, min, false);
    while (decimal.digits % 10 == 0) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    return decimal;
}

/* --- text --- */

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

/* Writes digits that end at `end`. Returns where they begin. */
static char *digits_before(char *end, uint64_t value)
{
    while (value >= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, pairs + 2 * value, 2);
    } else {
        *--end = (char)('0' + (int)value);
    }
    return end;
}

size_t show_unsigned(uint64_t value, char *text)
{
    char digits[DIGITS_MAX], *end = digits + sizeof digits, *begin = digits_before(end, value);
    size_t len = (size_t)(end - begin);
    memcpy(text, begin, len);
    text[len] = '\0';
    return len;
}

/* Each of these writes digits, the first of which counts 10^first, and returns where they end. */

/* Writes a decimal fraction, or a whole number if no digit counts less than 1. */
static char *put_fixed(char *at, const char *digits, size_t len, int first)
{
    if (first < 0) {
        size_t zeros = (size_t)-first + 1; /* and the point */
        memcpy(at, "0.000", zeros);
        at += zeros;
        memcpy(at, digits, len);
        return at + len;
    }
    size_t before = (size_t)first + 1;
    if (before >= len) {
        memcpy(at, digits, len);
        memset(at + len, '0', before - len);
        return at + before;
    }
    memcpy(at, digits, before);
    at[before] = '.';
    memcpy(at + before + 1, digits + before, len - before);
    return at + len + 1;
}

/* Writes the digits with an exponent of two digits or more. */
static char *put_scientific(char *at, const char *digits, size_t len, int first)
{
    *at++ = digits[0];
    if (len > 1) {
        *at++ = '.';
        memcpy(at, digits + 1, len - 1);
        at += len - 1;
    }
    *at++ = 'e';
    *at++ = first < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(first < 0 ? -first : first);
    if (magnitude < 10)
        *at++ = '0';
    return at + show_unsigned(magnitude, at);
}

static char *put_digits(char *at, const char *digits, size_t len, int first)
{
    return first < FIXED_MIN || first > FIXED_MAX ? put_scientific(at, digits, len, first)
                                                  : put_fixed(at, digits, len, first);
}

static char *put_decimal(char *at, struct decimal decimal)
{
    char digits[DIGITS_MAX], *end = digits + sizeof digits;
    char *begin = digits_before(end, decimal.digits);
    size_t len = (size_t)(end - begin);
    return put_digits(at, begin, len, decimal.exponent + (int)len - 1);
}

static char *put_positive(char *at, double value)
{
    if (value < WHOLE_LIMIT && (double)(uint64_t)value == value)
        return at + show_unsigned((uint64_t)value, at);
    return put_decimal(at, decimal_of(value));
}

size_t show_double(double value, char *text)
{
    char *at = text;
    number_prepare();
    if (isnan(value)) {
        strcpy(text, "nan");
        return 3;
    }
    if (signbit(value))
        *at++ = '-';
    if (isinf(value)) {
        strcpy(at, "inf");
        at += 3;
    } else {
        at = put_positive(at, fabs(value));
    }
    *at = '\0';
    return (size_t)(at - text);
}

size_t show_decimal(const char *digits, int exponent, char *text)
{
    const size_t len = strlen(digits);
    char *end = len > 0 ? put_digits(text, digits, len, exponent - 1) : put_fixed(text, "0", 1, 0);
    *end = '\0';
    return (size_t)(end - text);
}

void show_whole(int128 value, char *text)
{
    if (value < 0)
        *text++ = '-';
    uint128 magnitude = (uint128)(value < 0 ? -value : value);
    if (magnitude <= UINT64_MAX) {
        show_unsigned((uint64_t)magnitude, text);
        return;
    }
    /* Edges of --log end at the first power that covers 2^64: at most BASE times that. */
    const uint64_t low = UINT64_C(10000000000000000000); /* 10^19 */
    snprintf(text, SHOW_NUMBER - 1, "%" PRIu64 "%019" PRIu64, (uint64_t)(magnitude / low),
             (uint64_t)(magnitude % low));
}

/* --- text read back --- */

bool read_shown_whole(const char *text, int128 *value)
{
    const bool negative = *text == '-';
    const char *at = text + negative;
    const size_t count = strspn(at, "0123456789");
    if (count == 0 || count > WHOLE_DIGITS || at[count])
        return false;
    for (*value = 0; *at; at++)
        *value = *value * 10 + (*at - '0');
    *value = negative ? -*value : *value;
    return true;
}

bool read_shown_double(const char *text, double *value)
{
    char *end;
    if (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0) {
        *value = *text == '-' ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    if (!*text || text[strspn(text, "+-.0123456789eE")])
        return false;
    *value = strtod(text, &end);
    return !*end && isfinite(*value);
}

/* SPDX-License-Identifier: MIT */
/* Decimal numbers in text: the rules that all parsers follow, on the CPU (field_parser_*.c) and
 * on the GPU (gpu/count/numbers.cuh), and what these share. Tokens stand between white space:
 * space, \t, \n, \v, \f, \r.
 *
 * A number is [+-]? (digits [. digits*]? | . digits) ([eE] [+-]? digits)?, or [+-]? inf or infinity
 * in any case. Its value is the one that strtod gives in the C locale: the nearest double, half way
 * the even one, infinity for what is too large. The value of any other token, and of a token longer
 * than NUMBER_MAX bytes, is NaN. */
#ifndef GPUHISTO_NUMBER_H
#define GPUHISTO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_MAX 4096

/* Marks functions that a GPU calls too: nvcc compiles them for both. */
#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

/* Powers of ten that a double holds exactly. */
#define TEN_TO_MAX 22
#define TEN_TO                                                                                     \
    {                                                                                              \
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,      \
            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22                                               \
    }

/* Makes the tables that parsers need, once. Any thread. */
void number_prepare(void);

/* Returns the value of the token [begin, end), which is not empty. Bytes up to limit may be read;
 * if end is not limit, white space is there. After number_prepare. Any thread. */
double number_of_token(const unsigned char *begin, const unsigned char *end,
                       const unsigned char *limit);

/* Sets *value to the double nearest to mantissa * 10^power. False, and nothing is set, if that
 * would take more than 128 bits. After number_prepare. */
bool number_to_double(uint64_t mantissa, int64_t power, double *value);

/* Reads up to `cap` tokens from *at on, and moves *at past them. Returns how many values were
 * written. */
size_t numbers_by_token(const unsigned char **at, const unsigned char *limit, double *values,
                        size_t cap);

/* Returns where the exponent at `at` ends, [eE] [+-]? digits, and sets *exponent to it, or to one
 * that no digits of a token can make up for. NULL, and nothing is set, if there is none. */
const unsigned char *number_exponent_end(const unsigned char *at, const unsigned char *end,
                                         int64_t *exponent);

/* Returns where the token at `at` ends: at white space or at limit. */
const unsigned char *number_token_end(const unsigned char *at, const unsigned char *limit);

/* Turns a number with a comma before its decimals and points between its thousands, 1.234,5, into
 * one with a point, 1234.5. Points may only stand after one to three digits and then after each
 * three. Returns the length of the token, which is no number if it was none. */
size_t number_swap_comma(unsigned char *token, size_t len);

/* Finds the first token of text[0..len) that is not a number: text[*at..*at+*token_len). False if
 * there is none. Slow. Any thread. */
bool numbers_find_invalid(const unsigned char *text, size_t len, size_t *at, size_t *token_len);

/* True if [at, end) is inf or infinity, without a sign. */
bool number_is_infinity(const unsigned char *at, const unsigned char *end);

static inline ON_BOTH bool number_is_space(unsigned char c)
{
    const uint64_t spaces = UINT64_C(1) << ' ' | UINT64_C(0x1f) << '\t';
    return c <= ' ' && (spaces >> c & 1);
}

static inline ON_BOTH bool number_is_blank(int c)
{
    return c == ' ' || c == '\t';
}

static inline ON_BOTH bool number_is_digit(unsigned char c)
{
    return (unsigned char)(c - '0') < 10;
}

static inline ON_BOTH bool number_is_letter(unsigned char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

#define NUMBER_ESCAPE 0x1b

/* Returns where the colours at `at` end: sequences of ESC, [, digits, semicolons and colons, and m,
 * or K, with which grep clears the rest of a line. */
static inline ON_BOTH const unsigned char *number_colour_end(const unsigned char *at,
                                                             const unsigned char *limit)
{
    while (limit - at > 2 && at[0] == NUMBER_ESCAPE && at[1] == '[') {
        const unsigned char *end = at + 2;
        while (end < limit && (number_is_digit(*end) || *end == ';' || *end == ':'))
            end++;
        if (end == limit || (*end != 'm' && *end != 'K'))
            break;
        at = end + 1;
    }
    return at;
}

/* Returns where the colours begin that end at `end`, not before `begin`. */
static inline ON_BOTH const unsigned char *number_colour_begin(const unsigned char *begin,
                                                               const unsigned char *end)
{
    while (end - begin > 2 && (end[-1] == 'm' || end[-1] == 'K')) {
        const unsigned char *at = end - 1;
        while (at > begin && (number_is_digit(at[-1]) || at[-1] == ';' || at[-1] == ':'))
            at--;
        if (at - begin < 2 || at[-1] != '[' || at[-2] != NUMBER_ESCAPE)
            break;
        end = at - 2;
    }
    return end;
}

/* Returns the number of eight digits, given as values of 0 to 9 in a word, the first one lowest.
 * Neighbours are joined to numbers of two, four and eight digits. */
static inline uint64_t number_of_digits(uint64_t digits)
{
    digits = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits * 100 + (digits >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (digits * 10000 + (digits >> 32)) & UINT64_C(0xffffffff);
}

/* The last step of a parser: the double nearest to an integer times a power of ten. CPUs and GPUs
 * use it; GPUs have a copy of the table.
 *
 * The algorithm of Eisel and Lemire: Daniel Lemire, "Number Parsing at a Gigabyte per Second",
 * Software: Practice and Experience 51 (8), 2021, sections 5 to 9. The mantissa is multiplied by
 * the first 128 bits of the power of five; powers of two only count in the exponent. */

/* A mantissa of 64 bits times a smaller power is less than half of the least double, times a
 * greater one more than the largest. */
#define POWER_MIN (-342)
#define POWER_MAX 308

/* The last power of the table. show_double needs it to turn the least double into an integer. */
#define POWER_SHOWN_MAX 324

/* The last power by which a mantissa can be divided without a remainder. Powers from here to -1 are
 * rounded up, so that the product does not come out just below. */
#define NUMBER_EXACT_MIN (-27)

/* The last power that 128 bits hold exactly. */
#define POWER_EXACT_MAX 55

/* Bits of a double's mantissa that are stored, and bits of the product that are used: these, the
 * one that is not stored, one to round by, and one more as the product's first bit may be 0. */
#define NUMBER_STORED 52
#define NUMBER_WANTED (NUMBER_STORED + 3)

#define NUMBER_EXPONENT_MAX 0x7ff
#define NUMBER_EXPONENT_BIAS 1023

/* The first bits of 5^power, with the highest bit set. */
struct power {
    uint64_t high, low;
};

/* Returns the table, of the powers from POWER_MIN to POWER_SHOWN_MAX. Parsers use it up to
 * POWER_MAX. */
const struct power *number_powers(void);

/* Returns a power of the table rounded up, where 128 bits do not hold it. */
struct power number_power_above(int power);

/* Returns the high word of a product, and sets *low to the other one. */
static inline ON_BOTH uint64_t number_product(uint64_t a, uint64_t b, uint64_t *low)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    *low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

/* Returns floor(log2(10^power)), exact for all powers of the table. */
static inline ON_BOTH int number_exponent(int power)
{
    return 217706 * power >> 16;
}

/* Rounds a mantissa to all bits but the last. */
static inline ON_BOTH uint64_t number_halved(uint64_t mantissa)
{
    return (mantissa + (mantissa & 1)) >> 1;
}

static inline ON_BOTH double number_from_bits(uint64_t exponent, uint64_t mantissa)
{
    uint64_t bits = exponent << NUMBER_STORED | (mantissa & ((UINT64_C(1) << NUMBER_STORED) - 1));
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Makes a double below the least normal one by cutting the mantissa. No such power of ten is half
 * way between two doubles. */
static inline ON_BOTH double number_subnormal(int exponent, uint64_t mantissa)
{
    if (exponent <= -63)
        return 0;
    mantissa = number_halved(mantissa >> (1 - exponent));
    return number_from_bits(mantissa >> NUMBER_STORED, mantissa);
}

/* Sets *value to the double nearest to mantissa * 10^power, half way the even one, infinity if it
 * is too large. False, and nothing is set, if that would take more than 128 bits. `powers` is
 * number_powers() or a copy of it. */
static inline ON_BOTH bool decimal_to_double(const struct power *powers, uint64_t mantissa,
                                             int64_t power, double *value)
{
    if (mantissa == 0 || power < POWER_MIN) {
        *value = 0;
        return true;
    }
    if (power > POWER_MAX) {
        *value = number_from_bits(NUMBER_EXPONENT_MAX, 0);
        return true;
    }
    const struct power *five = &powers[power - POWER_MIN];
    const int zeros = __builtin_clzll(mantissa);
    const uint64_t below = UINT64_MAX >> NUMBER_WANTED;
    uint64_t low, high = number_product(mantissa << zeros, five->high, &low);
    if ((high & below) == below) {
        /* The other half of the power may carry up to the bits that are wanted. */
        uint64_t unused, more = number_product(mantissa << zeros, five->low, &unused);
        low += more;
        high += low < more;
    }
    if (low == UINT64_MAX && (power < NUMBER_EXACT_MIN || power > POWER_EXACT_MAX))
        return false;

    const int first = (int)(high >> 63), shift = 64 - NUMBER_WANTED + first;
    uint64_t bits = high >> shift;
    int exponent = number_exponent((int)power) + 63 + first - zeros + NUMBER_EXPONENT_BIAS;
    if (exponent <= 0) {
        *value = number_subnormal(exponent, bits);
        return true;
    }
    /* Half way, and rounded down to an even one, only where nothing was dropped. With other powers
     * what is half way has more than 64 bits. */
    if (low == 0 && power >= -4 && power <= 23 && (bits & 3) == 1 && bits << shift == high)
        bits--;
    bits = number_halved(bits);
    if (bits >> (NUMBER_STORED + 1)) {
        bits >>= 1;
        exponent++;
    }
    *value = exponent >= NUMBER_EXPONENT_MAX ? number_from_bits(NUMBER_EXPONENT_MAX, 0)
                                             : number_from_bits((uint64_t)exponent, bits);
    return true;
}

/* --- numbers as they are shown --- */

/* Numbers as tables show them, whatever the locale, and read back.
 *
 * The digits of a double are found by Raffaello Giulietti's algorithm: "The Schubfach way to render
 * doubles", 2020. It multiplies by the table of powers that parsers use. */

#define SHOW_NUMBER 48 /* bytes that are enough for any number, with the end */

/* Writes a double, terminated, with as few digits as read back the same; of several such texts the
 * one nearest to the value. Whole numbers below 1e17 have all their digits. Others are written as a
 * decimal fraction from 0.0001 to below 1e17, and as 1.5e-07 beyond; or as "-0", "inf", "-inf" and
 * "nan". Returns the length, at most 24. Any thread. */
size_t show_double(double value, char *text);

/* Bytes that are enough for a decimal of so many digits and its end: a point, zeros before them, or
 * an exponent of up to ten digits. */
#define SHOW_DECIMAL(digits) ((digits) + 14)

/* Writes 0.DIGITS * 10^exponent, terminated, in the form of show_double, with all of its digits,
 * the first of which is not 0; without any, "0". Returns the length. Any thread. */
size_t show_decimal(const char *digits, int exponent, char *text);

/* Writes an integer, terminated. Returns the length, at most 20. Any thread. */
size_t show_unsigned(uint64_t value, char *text);

/* Writes a whole number of at most 38 digits, terminated. Any thread. */
void show_whole(__int128 value, char *text);

/* Reads all of a text as a whole number of at most 38 digits, with a minus sign or without. False
 * if it is not one. */
bool read_shown_whole(const char *text, __int128 *value);

/* Reads all of a text as a decimal number, "inf" or "-inf": the nearest double. False if it is not
 * one, or too large. */
bool read_shown_double(const char *text, double *value);

#endif

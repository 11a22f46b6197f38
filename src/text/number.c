/* SPDX-License-Identifier: MIT */
/* One token by all the rules, for those that the fast ways of parsers do not take; and numbers as
 * they are shown. */
#include "number.h"
#include "src/base/byte_word.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGITS_MAX 19 /* that fit in 64 bits, whatever they are */

/* Exponents stop growing here, far beyond what the digits of a token can make up for. */
#define EXPONENT_FAR (INT64_MAX / 4)

/* mantissa * 10^power */
struct decimal {
    uint64_t mantissa;
    int64_t power;
    bool more; /* the number lies between that and the next mantissa */
};

static const double ten_to[] = TEN_TO;

/* byte_word with zeros beyond limit. */
static inline uint64_t word_before(const unsigned char *at, const unsigned char *limit)
{
    if (limit - at >= 8)
        return byte_word(at);
    uint64_t word = 0;
    for (unsigned i = 0; at + i < limit; i++)
        word |= (uint64_t)at[i] << 8 * i;
    return word;
}

/* Appends the digits from `at` on to the mantissa, which may overflow. Returns where they end. */
static inline const unsigned char *read_digits(const unsigned char *at, const unsigned char *limit,
                                               uint64_t *mantissa)
{
    static const uint32_t shift[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    for (;;) {
        uint64_t digits = word_before(at, limit) ^ EACH_BYTE('0');
        /* The highest bit of each byte that is not a digit. */
        uint64_t others =
            (((digits & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | digits) & EACH_BYTE(0x80);
        if (others == 0) {
            *mantissa = *mantissa * shift[8] + number_of_digits(digits);
            at += 8;
            continue;
        }
        unsigned count = (unsigned)__builtin_ctzll(others) / 8;
        /* To the high end, with zeros before them; by 64 in two halves. */
        digits = digits << (32 - 4 * count) << (32 - 4 * count);
        *mantissa = *mantissa * shift[count] + number_of_digits(digits);
        return at + count;
    }
}

const unsigned char *number_exponent_end(const unsigned char *at, const unsigned char *end,
                                         int64_t *exponent)
{
    if (at == end || (*at | 0x20) != 'e')
        return NULL;
    at++;
    const bool negative = at < end && *at == '-';
    at += negative || (at < end && *at == '+');
    if (at == end || !number_is_digit(*at))
        return NULL;
    int64_t magnitude = 0;
    for (; at < end && number_is_digit(*at); at++)
        magnitude = magnitude < EXPONENT_FAR / 10 ? magnitude * 10 + (*at - '0') : EXPONENT_FAR;
    *exponent = negative ? -magnitude : magnitude;
    return at;
}

/* Reads more digits than a mantissa holds: the first DIGITS_MAX that matter. */
static struct decimal read_first_digits(const unsigned char *at, const unsigned char *end,
                                        int64_t exponent)
{
    const uint64_t full = UINT64_C(1000000000000000000); /* DIGITS_MAX digits */
    struct decimal decimal = {0, exponent, false};
    bool fraction = false;
    for (; at < end && (number_is_digit(*at) || *at == '.'); at++) {
        if (*at == '.') {
            fraction = true;
        } else if (decimal.mantissa < full) {
            decimal.mantissa = decimal.mantissa * 10 + (uint64_t)(*at - '0');
            decimal.power -= fraction;
        } else {
            decimal.power += !fraction;
            decimal.more |= *at != '0';
        }
    }
    return decimal;
}

/* number_to_double, inline. */
static inline bool nearest_to(uint64_t mantissa, int64_t power, double *value)
{
    if (power == 0) {
        *value = (double)mantissa;
        return true;
    }
    /* One operation on two exact numbers is rounded once (Clinger, "How to Read Floating Point
     * Numbers Accurately", 1990). */
    if (FLT_EVAL_METHOD == 0 && mantissa <= UINT64_C(1) << DBL_MANT_DIG && power >= -TEN_TO_MAX &&
        power <= TEN_TO_MAX) {
        const double exact = (double)(int64_t)mantissa;
        *value = power < 0 ? exact / ten_to[-power] : exact * ten_to[power];
        return true;
    }
    return decimal_to_double(number_powers(), mantissa, power, value);
}

bool number_to_double(uint64_t mantissa, int64_t power, double *value)
{
    return nearest_to(mantissa, power, value);
}

/* Rounds the decimal of [begin, end), a number without its sign. Not inlined, as it takes a page of
 * the stack. */
static __attribute__((noinline)) double
rounded(const struct decimal *decimal, const unsigned char *begin, const unsigned char *end)
{
    double value, next;
    if (nearest_to(decimal->mantissa, decimal->power, &value) &&
        (!decimal->more ||
         (number_to_double(decimal->mantissa + 1, decimal->power, &next) && value == next)))
        return value;
    /* It takes more than 128 bits: one token in thousands, or in millions. */
    char text[NUMBER_MAX + 1];
    const size_t len = (size_t)(end - begin);
    memcpy(text, begin, len);
    text[len] = '\0';
    return strtod(text, NULL);
}

bool number_is_infinity(const unsigned char *at, const unsigned char *end)
{
    const char *word = "infinity", *at_word = word;
    for (; at < end && *at_word && (*at | 0x20) == *at_word; at++)
        at_word++;
    return at == end && (at_word == word + 3 || !*at_word);
}

double number_of_token(const unsigned char *begin, const unsigned char *end,
                       const unsigned char *limit)
{
    if (end - begin > NUMBER_MAX)
        return NAN;
    const bool negative = *begin == '-';
    begin += negative || *begin == '+';

    struct decimal decimal = {0, 0, false};
    const unsigned char *at = read_digits(begin, limit, &decimal.mantissa);
    size_t digits = (size_t)(at - begin);
    if (at < end && *at == '.') {
        const unsigned char *fraction = ++at;
        at = read_digits(at, limit, &decimal.mantissa);
        decimal.power = fraction - at;
        digits += (size_t)(at - fraction);
    }
    if (digits == 0) {
        return !number_is_infinity(begin, end) ? NAN : negative ? -HUGE_VAL : HUGE_VAL;
    }
    int64_t exponent = 0;
    if (at < end && number_exponent_end(at, end, &exponent) != end)
        return NAN;
    decimal.power += exponent;
    if (digits > DIGITS_MAX)
        decimal = read_first_digits(begin, end, exponent);
    return copysign(rounded(&decimal, begin, end), negative ? -1 : 1);
}

const unsigned char *number_token_end(const unsigned char *at, const unsigned char *limit)
{
    for (; limit - at >= 8; at += 8) {
        uint64_t word = byte_word(at);
        /* The lowest bit tells the first byte up to a space. Higher bits may be borrowed. */
        uint64_t low = (word - EACH_BYTE(' ' + 1)) & ~word & EACH_BYTE(0x80);
        if (low == 0)
            continue;
        at += __builtin_ctzll(low) / 8;
        if (number_is_space(*at))
            return at;
        at -= 7; /* past another control character */
    }
    while (at < limit && !number_is_space(*at))
        at++;
    return at;
}

size_t number_swap_comma(unsigned char *token, size_t len)
{
    size_t at = 0, to = 0, digits = 0;
    bool has_points = false, is_number = true;
    if (len > 0 && (token[0] == '+' || token[0] == '-'))
        to = at = 1;
    for (; at < len && (number_is_digit(token[at]) || token[at] == '.'); at++) {
        if (token[at] != '.') {
            digits++;
            token[to++] = token[at];
            continue;
        }
        is_number &= digits > 0 && (has_points ? digits == 3 : digits <= 3);
        has_points = true;
        digits = 0;
    }
    is_number &= !has_points || digits == 3;
    const size_t comma = at < len && token[at] == ',' ? at : len;
    for (; at < len; at++) {
        is_number &= token[at] != '.' && (token[at] != ',' || at == comma);
        token[to++] = at == comma ? '.' : token[at];
    }
    if (is_number)
        return to;
    token[0] = '?';
    return len > 0;
}

size_t numbers_by_token(const unsigned char **from, const unsigned char *limit, double *values,
                        size_t cap)
{
    const unsigned char *at = *from;
    size_t count = 0;
    while (count < cap) {
        while (at < limit && number_is_space(*at))
            at++;
        if (at == limit)
            break;
        const unsigned char *end = number_token_end(at, limit);
        values[count++] = number_of_token(at, end, limit);
        at = end;
    }
    *from = at;
    return count;
}

bool numbers_find_invalid(const unsigned char *text, size_t len, size_t *at, size_t *token_len)
{
    const unsigned char *token = text, *limit = text + len, *end;
    number_prepare();
    for (;; token = end) {
        while (token < limit && number_is_space(*token))
            token++;
        if (token == limit)
            return false;
        end = number_token_end(token, limit);
        if (isnan(number_of_token(token, end, limit)))
            break;
    }
    *at = (size_t)(token - text);
    *token_len = (size_t)(end - token);
    return true;
}

/* The table of powers of five, from the powers themselves. */

static struct power powers[POWER_SHOWN_MAX - POWER_MIN + 1];

/* An integer large enough for 5^324 (753 bits), and for 2^1023 / 5^342 (795 bits less) to have 128
 * bits left. The lowest limb is first. */
#define BIG_LIMBS 32

struct big {
    uint32_t limbs[BIG_LIMBS];
    unsigned top; /* limbs up to the last one that is not 0 */
};

/* Returns the first 128 bits, with zeros after them if there are fewer. */
static struct power first_bits(const struct big *big)
{
    uint32_t limbs[5];
    for (unsigned i = 0; i < 5; i++)
        limbs[i] = big->top > i ? big->limbs[big->top - 1 - i] : 0;
    unsigned shift = (unsigned)__builtin_clz(limbs[0]);
    for (unsigned i = 0; i < 4; i++)
        limbs[i] = (uint32_t)(((uint64_t)limbs[i] << 32 | limbs[i + 1]) << shift >> 32);
    return (struct power){(uint64_t)limbs[0] << 32 | limbs[1], (uint64_t)limbs[2] << 32 | limbs[3]};
}

static void increment(struct power *bits)
{
    if (++bits->low == 0)
        bits->high++;
}

static void make_powers(void)
{
    struct big big = {{1}, 1};
    for (int power = 0; power <= POWER_SHOWN_MAX; power++) {
        uint64_t carry = 0;
        powers[power - POWER_MIN] = first_bits(&big);
        for (unsigned i = 0; i < big.top; i++) { /* times five */
            carry += (uint64_t)big.limbs[i] * 5;
            big.limbs[i] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry > 0)
            big.limbs[big.top++] = (uint32_t)carry;
    }
    big = (struct big){{0}, BIG_LIMBS};
    big.limbs[BIG_LIMBS - 1] = (uint32_t)1 << 31;
    for (int power = -1; power >= POWER_MIN; power--) {
        /* Rounding down repeatedly is exact, as floor(floor(x / 5) / 5) is floor(x / 25). */
        uint64_t rest = 0;
        for (unsigned i = big.top; i-- > 0;) {
            rest = rest << 32 | big.limbs[i];
            big.limbs[i] = (uint32_t)(rest / 5);
            rest %= 5;
        }
        big.top -= big.limbs[big.top - 1] == 0;
        struct power bits = first_bits(&big);
        if (power >= NUMBER_EXACT_MIN)
            increment(&bits);
        powers[power - POWER_MIN] = bits;
    }
}

void number_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_powers);
}

const struct power *number_powers(void)
{
    return powers;
}

struct power number_power_above(int power)
{
    struct power bits = powers[power - POWER_MIN];
    if (power < NUMBER_EXACT_MIN || power > POWER_EXACT_MAX)
        increment(&bits);
    return bits;
}

/* --- numbers as they are shown --- */

#define WHOLE_DIGITS 38    /* no more overflow */
#define UNSIGNED_DIGITS 20 /* of a 64-bit integer */
#define WHOLE_LIMIT 1e17   /* numbers from here on are written with an exponent */
#define FIXED_MIN (-4)     /* the exponent of the first digit, as in printf's %g */
#define FIXED_MAX 16

/* digits * 10^exponent */
struct shown_decimal {
    uint64_t digits;
    int exponent;
};

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
static struct shown_decimal shortest(uint64_t mantissa, int exponent, bool uneven)
{
    /* floor(log10(2^exponent)), or floor(log10(3/4 * 2^exponent)). */
    const int power = (exponent * 1262611 - (uneven ? 524031 : 0)) >> 22;
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
        return (struct shown_decimal){tens + above_fits, power + 1};
    below_fits = lower <= 4 * below;
    above_fits = 4 * below + 4 <= upper;
    if (below_fits != above_fits)
        return (struct shown_decimal){below + above_fits, power};
    uint64_t middle = 4 * below + 2;
    bool up = value > middle || (value == middle && (below & 1));
    return (struct shown_decimal){below + up, power};
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
    char digits[UNSIGNED_DIGITS], *end = digits + sizeof digits, *begin = digits_before(end, value);
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

/* Writes a finite double over 0, or 0. */
static char *put_positive(char *at, double value)
{
    if (value < WHOLE_LIMIT && (double)(uint64_t)value == value)
        return at + show_unsigned((uint64_t)value, at);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t hidden = UINT64_C(1) << NUMBER_STORED, stored = bits & (hidden - 1);
    const int exponent = (int)(bits >> NUMBER_STORED);
    const int min = 1 - NUMBER_EXPONENT_BIAS - NUMBER_STORED; /* of the last bit */
    struct shown_decimal decimal =
        exponent > 0 ? shortest(hidden | stored, min + exponent - 1, stored == 0 && exponent > 1)
                     : shortest(stored, min, false);
    while (decimal.digits % 10 == 0) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    char digits[UNSIGNED_DIGITS], *end = digits + sizeof digits;
    char *begin = digits_before(end, decimal.digits);
    size_t len = (size_t)(end - begin);
    return put_digits(at, begin, len, decimal.exponent + (int)len - 1);
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

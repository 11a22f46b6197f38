/* SPDX-License-Identifier: MIT */
/* Numbers and words of the command line. */
#include "option.h"
#include "src/bins/binning.h"
#include "src/tally/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MAX ((int128)1 << 64) /* no value of 64 bits lies outside, and nothing overflows */
#define DECIMAL_LIMIT 1000000000000000000u /* 10^DECIMAL_DIGITS */
#define LENGTH_MAX 1000000 /* of a probability, and of its exponent: an int holds both together */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool parse_whole(const char **text, int128 *value)
{
    const char *at = *text;
    bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    if (!is_digit(*at))
        return false;
    for (*value = 0; is_digit(*at); at++) {
        *value = *value * 10 + (*at - '0');
        if (*value > WHOLE_MAX)
            return false;
    }
    *value = negative ? -*value : *value;
    *text = at;
    return true;
}

static const char *skip_digits(const char *at)
{
    while (is_digit(*at))
        at++;
    return at;
}

/* Returns the end of the decimal number at `at`; `at` itself if there is none. */
static const char *end_of_number(const char *at)
{
    const char *begin = at, *digits;
    at += *at == '-' || *at == '+';
    digits = at;
    at = skip_digits(at);
    bool any = at > digits;
    if (*at == '.') {
        any |= is_digit(at[1]);
        at = skip_digits(at + 1);
    }
    if (!any)
        return begin;
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
        at = is_digit(*exponent) ? skip_digits(exponent) : at;
    }
    return at;
}

bool parse_double(const char **text, double *value)
{
    const char *expected = end_of_number(*text);
    char *end;
    if (expected == *text)
        return false;
    *value = strtod(*text, &end); /* which also reads hexadecimal */
    *text = expected;
    return end == expected && isfinite(*value);
}

/* Reads the digits and the point of the number that ends at `end`, from *at on, as 0.DIGITS *
 * 10^exponent: zeros at both ends are left out. Moves *at past them. False if there are too many.
 */
static bool read_digits(const char **at, const char *end, struct probability *value)
{
    size_t len = 0, zeros = 0; /* that belong to the digits only if another digit follows */
    int exponent = 0;
    bool fraction = false;
    for (; *at < end && (is_digit(**at) || **at == '.'); ++*at) {
        const bool is_leading = len == 0 && **at == '0';
        if (**at == '.') {
            fraction = true;
            continue;
        }
        exponent += is_leading ? -fraction : !fraction;
        if (**at == '0') {
            zeros += !is_leading;
            continue;
        }
        if (len + zeros >= PROBABILITY_DIGITS)
            return false;
        memset(value->digits + len, '0', zeros);
        len += zeros;
        value->digits[len++] = **at;
        zeros = 0;
    }
    value->digits[len] = '\0';
    value->exponent = len > 0 ? exponent : 0;
    return true;
}

/* Reads a number without its sign, exactly. Moves *text past it. False if there is none, or it has
 * too many digits. */
static bool parse_exact(const char **text, struct probability *value)
{
    const char *at = *text, *end = end_of_number(at);
    if (end == at || end - at > LENGTH_MAX)
        return false;
    at += *at == '-' || *at == '+';
    if (!read_digits(&at, end, value))
        return false;
    *text = end;
    const long typed = at < end && *value->digits ? strtol(at + 1, NULL, 10) : 0;
    if (typed > LENGTH_MAX || typed < -LENGTH_MAX)
        return false;
    value->exponent += (int)typed;
    return true;
}

bool parse_decimal(const char **text, struct decimal *value)
{
    struct probability exact;
    if (**text == '-' || !parse_exact(text, &exact) || strlen(exact.digits) > DECIMAL_DIGITS)
        return false;
    uint64_t digits = strtoull(exact.digits, NULL, 10);
    int exponent = exact.exponent - (int)strlen(exact.digits);
    for (; exponent > 0 && digits > 0; exponent--) {
        if (digits >= DECIMAL_LIMIT / 10)
            return false;
        digits *= 10;
    }
    *value = (struct decimal){digits, exponent < 0 ? (unsigned)-exponent : 0};
    return exponent >= -DECIMAL_DIGITS;
}

bool parse_probability(const char **text, struct probability *value)
{
    const bool is_negative = **text == '-';
    if (!parse_exact(text, value))
        return false;
    value->name[0] = 'p';
    show_decimal(value->digits, value->exponent + 2, value->name + 1);
    const bool is_zero = !*value->digits, is_one = strcmp(value->digits, "1") == 0;
    return is_zero || (!is_negative && value->exponent < 1 + is_one);
}

bool parse_digits(const char **text, uint64_t max, uint64_t *value)
{
    int128 number;
    if (!is_digit(**text) || !parse_whole(text, &number) || number > (int128)max)
        return false;
    *value = (uint64_t)number;
    return true;
}

int parse_count(const char *text, unsigned max, unsigned *value, struct error *error)
{
    const char *at = text;
    uint64_t number;
    if (!parse_digits(&at, max, &number) || *at || number < 1)
        return error_set(error, "must be a whole number from 1 to %u", max);
    *value = (unsigned)number;
    return 0;
}

int parse_size(const char *text, const struct size_range *range, uint64_t *value,
               struct error *error)
{
    static const char units[] = "KMGkmg";
    const char *at = text, *unit;
    int128 number;
    if (is_digit(*text) && parse_whole(&at, &number)) {
        if (*at && (unit = strchr(units, *at))) {
            number <<= 10 * ((unit - units) % 3 + 1);
            at++;
        }
        if (!*at && number >= (int128)range->min && number <= (int128)range->max) {
            *value = (uint64_t)number;
            return 0;
        }
    }
    return error_set(error, "must be a size from %s, such as 64M", range->text);
}

int parse_word(const char *text, const char *const *words, struct error *error)
{
    char allowed[200] = "";
    size_t len = 0;
    for (int i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        len +=
            (size_t)snprintf(allowed + len, sizeof allowed - len, "%s%s", i ? ", " : "", words[i]);
        len = len < sizeof allowed ? len : sizeof allowed - 1;
    }
    return error_set(error, "must be one of %s", allowed);
}

/* SPDX-License-Identifier: MIT */
#include "tests/helpers/naive_number.h"
#include "src/histogram/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static size_t digits_from(const char *text)
{
    return strspn(text, "0123456789");
}

/* The grammar, as src/number.h gives it. */
static bool is_number(const char *text)
{
    text += *text == '+' || *text == '-';
    if (strcasecmp(text, "inf") == 0 || strcasecmp(text, "infinity") == 0)
        return true;
    size_t whole = digits_from(text), fraction = 0;
    text += whole;
    if (*text == '.') {
        fraction = digits_from(++text);
        text += fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '+' || *text == '-';
        size_t exponent = digits_from(text);
        if (exponent == 0)
            return false;
        text += exponent;
    }
    return *text == '\0';
}

double naive_number(const unsigned char *token, size_t len)
{
    char text[NUMBER_MAX + 1];
    if (len > NUMBER_MAX || memchr(token, '\0', len))
        return NAN;
    memcpy(text, token, len);
    text[len] = '\0';
    return is_number(text) ? strtod(text, NULL) : NAN;
}

static bool is_space(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r';
}

bool naive_token(const unsigned char *text, size_t len, size_t at, size_t *begin, size_t *end)
{
    while (at < len && is_space(text[at]))
        at++;
    *begin = at;
    while (at < len && !is_space(text[at]))
        at++;
    *end = at;
    return *begin < *end;
}

bool naive_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* SPDX-License-Identifier: MIT */
#include "tests/helpers/naive_number.h"
#include "src/text/number.h"

#include <math.h>
#include <stdio.h>
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

/* --- with units --- */

/* A unit is multiplier * multiplier * ... (`times` of them), with `zeros` more digits; the greater
 * of two times has the lower order. */
static const struct naive_unit {
    const char *name;
    unsigned multiplier, times;
    int zeros, order;
    const char
        *words; /* that mean the same in any case, also with an s, each with spaces around it */
} naive_units[] = {
    {"w", 7 * 24 * 3600, 1, 0, 1, " week "},
    {"d", 24 * 3600, 1, 0, 2, " day "},
    {"h", 3600, 1, 0, 3, " hour hr "},
    {"m", 60, 1, 0, 4, " minute min "},
    {"s", 1, 1, 0, 5, " second sec "},
    {"ms", 1, 1, -3, 6, " millisecond msec "},
    {"us", 1, 1, -6, 7, " microsecond usec "},
    {"µs", 1, 1, -6, 7, ""},
    {"μs", 1, 1, -6, 7, ""},
    {"ns", 1, 1, -9, 8, " nanosecond nsec "},
    {"B", 1, 1, 0, 0, " byte "},
    {"k", 1, 1, 3, 0, ""},
    {"kB", 1, 1, 3, 0, ""},
    {"M", 1, 1, 6, 0, ""},
    {"MB", 1, 1, 6, 0, ""},
    {"G", 1, 1, 9, 0, ""},
    {"GB", 1, 1, 9, 0, ""},
    {"T", 1, 1, 12, 0, ""},
    {"TB", 1, 1, 12, 0, ""},
    {"P", 1, 1, 15, 0, ""},
    {"PB", 1, 1, 15, 0, ""},
    {"Ki", 1024, 1, 0, 0, ""},
    {"KiB", 1024, 1, 0, 0, ""},
    {"Mi", 1024, 2, 0, 0, ""},
    {"MiB", 1024, 2, 0, 0, ""},
    {"Gi", 1024, 3, 0, 0, ""},
    {"GiB", 1024, 3, 0, 0, ""},
    {"Ti", 1024, 4, 0, 0, ""},
    {"TiB", 1024, 4, 0, 0, ""},
    {"Pi", 1024, 5, 0, 0, ""},
    {"PiB", 1024, 5, 0, 0, ""},
};

#define NAIVE_UNITS (sizeof naive_units / sizeof naive_units[0])

/* True if a word without white space is in a list of words with spaces around them. */
static bool is_listed(const char *word, const char *list)
{
    char spaced[32];
    if (strlen(word) > 20 || strchr(word, ' '))
        return false;
    snprintf(spaced, sizeof spaced, " %s ", word);
    return strcasestr(list, spaced) != NULL;
}

/* True if a word is in a list, or is one of it and an s. */
static bool is_listed_once(const char *word, const char *list)
{
    char one[32];
    const size_t len = strlen(word);
    if (len == 0 || len > 20)
        return false;
    snprintf(one, sizeof one, "%.*s", (int)len - 1, word);
    return is_listed(word, list) ||
           (strchr("sS", word[len - 1]) && len > 1 && is_listed(one, list));
}

static const struct naive_unit *find_naive_unit(const char *name)
{
    for (size_t i = 0; i < NAIVE_UNITS; i++)
        if (strcmp(naive_units[i].name, name) == 0 || is_listed_once(name, naive_units[i].words))
            return &naive_units[i];
    return NULL;
}

#define DIGITS_MAX (2 * NUMBER_MAX + 64)

/* digits * 10^power, the first digit first. */
struct digits {
    char text[DIGITS_MAX + 1];
    int power;
};

static void multiply(struct digits *digits, unsigned by)
{
    size_t len = strlen(digits->text);
    unsigned carry = 0;
    memmove(digits->text + 8, digits->text, len + 1);
    memset(digits->text, '0', 8);
    for (size_t i = len + 8; i-- > 0; carry /= 10) {
        carry += (unsigned)(digits->text[i] - '0') * by;
        digits->text[i] = (char)('0' + carry % 10);
    }
    for (len = strspn(digits->text, "0"); len > 0 && digits->text[len] == '\0';)
        len--;
    memmove(digits->text, digits->text + len, strlen(digits->text + len) + 1);
}

/* Adds one that has the same power. */
static void add(struct digits *sum, const struct digits *other)
{
    size_t len = strlen(sum->text), more = strlen(other->text);
    const size_t width = (len > more ? len : more) + 1;
    unsigned carry = 0;
    memmove(sum->text + width - len, sum->text, len + 1);
    memset(sum->text, '0', width - len);
    for (size_t i = 1; i <= width; i++, carry /= 10) {
        carry += (unsigned)(sum->text[width - i] - '0');
        carry += i <= more ? (unsigned)(other->text[more - i] - '0') : 0;
        sum->text[width - i] = (char)('0' + carry % 10);
    }
}

static void lower_power(struct digits *digits, int power)
{
    for (; digits->power > power; digits->power--)
        strcat(digits->text, "0");
}

/* Reads a decimal of digits, a point and an exponent that is_number has seen. */
static void read_digits(const char *text, struct digits *digits)
{
    size_t len = 0;
    bool fraction = false;
    digits->power = 0;
    for (; *text && (*text | 0x20) != 'e'; text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        digits->text[len++] = *text;
        digits->power -= fraction;
    }
    digits->text[len] = '\0';
    long exponent = *text ? strtol(text + 1, NULL, 10) : 0; /* LONG_MAX if it is longer */
    digits->power += (int)(exponent > 99999 ? 99999 : exponent < -99999 ? -99999 : exponent);
}

/* Reads the decimal and the unit at *text, and moves *text past them. NULL: there are none. */
static const struct naive_unit *read_part(const char **text, char decimal[NUMBER_MAX + 1],
                                          struct digits *digits)
{
    const char *name = *text + strspn(*text, "0123456789.eE+-");
    const size_t len = strcspn(name, "0123456789.");
    memcpy(decimal, *text, (size_t)(name - *text));
    decimal[name - *text] = '\0';
    if (**text == '+' || **text == '-' || !is_number(decimal))
        return NULL;
    *text = name + len;
    read_digits(decimal, digits);
    char copy[32];
    if (len >= sizeof copy)
        return NULL;
    memcpy(copy, name, len);
    copy[len] = '\0';
    const struct naive_unit *unit = find_naive_unit(copy);
    for (unsigned time = 0; unit && time < unit->times; time++)
        multiply(digits, unit->multiplier);
    digits->power += unit ? unit->zeros : 0;
    return unit;
}

/* True if a text consists of digits, of which there are `wanted` if that is not 0. */
static bool are_digits(const char *text, size_t len, size_t wanted)
{
    return len > 0 && (wanted == 0 || len == wanted) && strspn(text, "0123456789") >= len;
}

/* Writes a clock at the end of a token with units: 1:02:03.5 as 1h02m03.5s. False if there is one
 * that is wrong. */
static bool spell_clock(const char *text, bool is_negative, char *spelled)
{
    const char *first = strchr(text, ':'), *begin = first;
    strcpy(spelled, text);
    if (!first)
        return true;
    const char *second = strchr(first + 1, ':'), *seconds = second ? second + 1 : first + 1;
    const char *point = strchr(seconds, '.'), *end = text + strlen(text);
    const char *whole_end = point ? point : end;
    while (begin > text && strchr("0123456789", begin[-1]))
        begin--;
    if (!are_digits(begin, (size_t)(first - begin), 0) ||
        (second && (!are_digits(first + 1, (size_t)(second - first - 1), 2) || first[1] > '5')) ||
        !are_digits(seconds, (size_t)(whole_end - seconds), 2) || *seconds > '5')
        return false;
    if (point && point[1] && !are_digits(point + 1, (size_t)(end - point - 1), 0))
        return false;
    if (!second && (!point || !point[1]))
        return false;
    size_t len = (size_t)(begin - text);
    if (len > 0 && (!second || is_negative))
        return false;
    if (len > 1 && text[len - 1] == '-') {
        if (!are_digits(text, len - 1, 0))
            return false;
        spelled[len - 1] = 'd';
    } else if (len > 0) { /* days or weeks come before */
        const char *name = begin;
        while (name > text && !strchr("0123456789.", name[-1]))
            name--;
        char copy[32];
        if (begin - name >= (long)sizeof copy)
            return false;
        snprintf(copy, sizeof copy, "%.*s", (int)(begin - name), name);
        const struct naive_unit *unit = find_naive_unit(copy);
        if (!unit || unit->order == 0 || unit->order > 2)
            return false;
    }
    char *at = spelled + len;
    memcpy(at, begin, (size_t)(first - begin));
    at += first - begin;
    *at++ = second ? 'h' : 'm';
    if (second) {
        memcpy(at, first + 1, 2);
        at[2] = 'm';
        at += 3;
    }
    strcpy(at, seconds);
    strcat(at, "s");
    return true;
}

/* The sum of several parts in units of 10^-9, which takes a fraction of the last one only. */
static double value_of_parts(const char *text)
{
    static _Thread_local struct digits sum, part;
    static _Thread_local char decimal[NUMBER_MAX + 1], result[DIGITS_MAX + 32];
    const struct naive_unit *unit, *before = NULL;
    bool is_first_whole = false;
    for (; *text; before = unit) {
        unit = read_part(&text, decimal, &part);
        const bool is_whole = decimal[strspn(decimal, "0123456789")] == '\0';
        if (!unit)
            return NAN;
        if (!before) {
            sum = part;
            is_first_whole = is_whole;
            continue;
        }
        if (!is_first_whole || before->order == 0 || unit->order <= before->order ||
            strpbrk(decimal, "eE") || (!is_whole && *text))
            return NAN;
        lower_power(&sum, part.power);
        lower_power(&part, sum.power);
        add(&sum, &part);
    }
    snprintf(result, sizeof result, "%se%d", sum.text, sum.power);
    return strtod(result, NULL);
}

double naive_number_with_units(const unsigned char *token, size_t len)
{
    char text[NUMBER_MAX + 1], spelled[NUMBER_MAX + 8];
    const double value = naive_number(token, len);
    if (!isnan(value) || len > NUMBER_MAX || len == 0 || memchr(token, '\0', len))
        return value;
    memcpy(text, token, len);
    text[len] = '\0';
    const bool has_sign = *text == '+' || *text == '-';
    if (!text[has_sign] || !spell_clock(text + has_sign, *text == '-', spelled))
        return NAN;
    return copysign(value_of_parts(spelled), *text == '-' ? -1 : 1);
}

const char *naive_advice(const unsigned char *token, size_t len)
{
    return isnan(naive_number_with_units(token, len)) ? "" : "; to read units, use --units";
}

/* --- tokens --- */

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

/* SPDX-License-Identifier: MIT */
/* Numbers as text: they read back the same, no shorter text does, and printf, which is slow, would
 * write the same digits in the same form. Shares in percent are the same decimals, times 100. */
#include "src/text/number.h"
#include "tests/helpers/bits.h"
#include "tests/helpers/random.h"
#include "tests/helpers/vectors.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned cases, failures;

static void failed(double value, const char *text, const char *what)
{
    printf("FAILED: %a: '%s': %s\n", value, text, what);
    if (++failures > 30)
        exit(1);
}

/* The digits of a number without its zeros on the left and on the right. Returns how many. */
static int significant(const char *text, char digits[SHOW_NUMBER])
{
    int len = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '1' + (len > 0 ? -1 : 0) && *text <= '9')
            digits[len++] = *text;
    while (len > 0 && digits[len - 1] == '0')
        len--;
    digits[len] = '\0';
    return len;
}

/* What printf writes with as few of 15 to 17 digits as read back the same. */
static void by_printf(double value, char text[SHOW_NUMBER])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, SHOW_NUMBER, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (strchr(text, 'e') && fabs(value) >= 1 && fabs(value) < 1e17)
        snprintf(text, SHOW_NUMBER, "%.0f", value);
}

/* Of finite numbers. */
static void check(double value)
{
    char text[SHOW_NUMBER], printed[SHOW_NUMBER], digits[SHOW_NUMBER], others[SHOW_NUMBER];
    memset(text, '#', sizeof text);
    size_t length = show_double(value, text);
    cases++;
    if (length != strlen(text) || length > 24)
        failed(value, text, "its length");
    if (bits_of_double(strtod(text, NULL)) != bits_of_double(value))
        failed(value, text, "reads back as another number");
    int len = significant(text, digits);
    bool is_whole = fabs(value) < 1e17 && value == trunc(value);
    for (int fewer = is_whole ? 17 : 1; fewer < len; fewer++) {
        snprintf(printed, sizeof printed, "%.*e", fewer - 1, value);
        if (strtod(printed, NULL) == value)
            failed(value, text, "a shorter one reads back the same");
    }
    by_printf(value, printed);
    if (significant(printed, others) == len && strcmp(text, printed) != 0)
        failed(value, text, printed);
    /* Only next to a power of two can a shorter one be had that is not printf's. */
    uint64_t mantissa = bits_of_double(value) & (UINT64_MAX >> 12);
    bool is_normal = fabs(value) >= DBL_MIN;
    if (is_normal && mantissa != 0 && significant(printed, others) != len)
        failed(value, text, printed);
}

static void check_around(double value)
{
    check(nextafter(value, 0));
    check(value);
    check(nextafter(value, DBL_MAX));
}

static void powers(void)
{
    char text[16];
    for (int exponent = -1074; exponent <= 1023; exponent++)
        check_around(ldexp(1, exponent));
    for (int exponent = -323; exponent <= 308; exponent++)
        for (int digit = 1; digit <= 9 && (exponent < 308 || digit < 2); digit++) {
            snprintf(text, sizeof text, "%de%d", digit, exponent);
            check_around(strtod(text, NULL));
        }
}

static void random_numbers(void)
{
    for (unsigned i = 0; i < 20000; i++) {
        double value = double_of_bits(random_word());
        if (isfinite(value))
            check(value);
        check(double_of_bits(random_word() >> (12 + random_word() % 52))); /* subnormal */
        check((double)(int64_t)random_word() / 1000);
        check(random_fraction());
        check((double)(float)(random_word() % 100000) / 100);
        check((double)(random_word() >> random_word() % 64));
    }
}

static void integers(void)
{
    char text[SHOW_NUMBER], printed[SHOW_NUMBER];
    for (unsigned i = 0; i < 10000; i++) {
        uint64_t value = i < 2 ? i - UINT64_C(1) : random_word() >> random_word() % 64;
        snprintf(printed, sizeof printed, "%" PRIu64, value);
        size_t length = show_unsigned(value, text);
        cases++;
        if (strcmp(text, printed) != 0 || length != strlen(printed))
            failed((double)value, text, printed);
    }
}

/* --- decimals --- */

static void expect_decimal(const char *digits, int exponent, const char *wanted)
{
    char text[SHOW_DECIMAL(20)];
    size_t length = show_decimal(digits, exponent, text);
    cases++;
    if (strcmp(text, wanted) != 0 || length != strlen(wanted))
        failed(exponent, text, wanted);
}

/* The digits of a double, as show_double writes them. */
static void check_decimal(double value)
{
    char printed[SHOW_NUMBER], digits[SHOW_NUMBER];
    show_double(value, printed);
    significant(printed, digits);
    snprintf(printed, sizeof printed, "%.0e", value);
    int exponent = atoi(strchr(printed, 'e') + 1);
    if (printed[0] == '1' && digits[0] == '9')
        exponent--;
    show_double(value, printed);
    expect_decimal(digits, exponent + 1, printed);
}

static void decimals(void)
{
    for (unsigned i = 0; i < 20000; i++)
        check_decimal(ldexp(random_fraction(), -(int)(random_word() % 1000)));
}

/* Numbers and decimals that are known. */
static void check_vectors(void)
{
    while (vectors_next("numbers")) {
        const char *number = vector_optional("number"), *wanted = vector_text("shown");
        char text[SHOW_NUMBER];
        if (!*number) {
            expect_decimal(vector_text("digits"), atoi(vector_text("point")), wanted);
            continue;
        }
        const double value = strtod(number, NULL);
        const size_t length = show_double(value, text);
        cases++;
        if (strcmp(text, wanted) != 0 || length != strlen(wanted))
            failed(value, text, wanted);
    }
}

int main(void)
{
    check_vectors();
    powers();
    random_numbers();
    integers();
    decimals();
    printf("%u cases, %u failed\n", cases, failures);
    return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/* oracle_numbers BINS FILE...: the table that --numbers must give, and the message about the first
 * token that is not a number; BINS is MIN:MAX:COUNT, digits:N or log-linear.
 *
 * By the definition and nothing else: a token at a time, one edge after the other, all values
 * sorted. A FILE's name is what messages call it, but "standard input" is read as such. */
#include "src/base/error.h"
#include "tests/helpers/naive_number.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *values;
static size_t count, cap;
static bool told;

static void keep(double value)
{
    if (count == cap && !(values = realloc(values, (cap = 2 * cap + 1024) * sizeof *values)))
        abort();
    values[count++] = value;
}

static void tell(const char *name, size_t line, const unsigned char *token, size_t len)
{
    if (told)
        return;
    told = true;
    char shown[4 * 40 + 4];
    size_t head = len;
    if (len > 40)
        for (head = 40; head > 37 && (token[head] & 0xc0) == 0x80;)
            head--;
    show_text((const char *)token, head, shown, sizeof shown);
    fprintf(stderr, "gpuhisto: %s: line %zu: '%s%s' is not a number%s\n", name, line, shown,
            len > 40 ? "..." : "", naive_advice(token, len));
}

static void read_tokens(const char *name)
{
    FILE *file = strcmp(name, "standard input") == 0 ? stdin : fopen(name, "rb");
    unsigned char *text = NULL;
    size_t len = 0, capacity = 0, got, begin, end = 0, line = 1, seen = 0;
    if (!file)
        exit(2);
    do {
        capacity += 1 << 20;
        if (!(text = realloc(text, capacity)))
            abort();
        got = fread(text + len, 1, capacity - len, file);
        len += got;
    } while (got > 0);
    while (naive_token(text, len, end, &begin, &end)) {
        for (; seen < begin; seen++)
            line += text[seen] == '\n';
        double value = naive_number(text + begin, end - begin);
        if (isnan(value))
            tell(name, line, text + begin, end - begin);
        keep(value);
    }
    free(text);
}

/* The bin of |x|, a power of two cut into 32, below which denormals go on as before them. */
static void part_of(double magnitude, bool upper_edge_belongs, double *lo, double *hi)
{
    int exponent;
    frexp(magnitude, &exponent); /* magnitude < 2^exponent */
    if (upper_edge_belongs && magnitude == ldexp(1, exponent - 1))
        exponent--;
    double width = ldexp(1, exponent < -1021 ? -1027 : exponent - 6), parts = magnitude / width;
    double part = upper_edge_belongs ? ceil(parts) - 1 : floor(parts);
    *lo = part * width;
    *hi = (part + 1) * width; /* may be infinity */
}

static void log_linear_bin(double value, double *lo, double *hi)
{
    if (value == 0) {
        *lo = *hi = 0;
    } else if (isinf(value)) {
        *lo = *hi = value;
    } else if (value > 0) {
        part_of(value, false, lo, hi);
        *lo = *lo == 0 ? ldexp(1, -1074) : *lo;
    } else {
        part_of(-value, true, hi, lo);
        *lo = -*lo;
        *hi = 0 - *hi;
    }
}

static double decimal(long number, int power)
{
    char text[48];
    snprintf(text, sizeof text, "%lde%d", number, power);
    return strtod(text, NULL);
}

/* The edges around a magnitude from 1e-38 to 1e39, which belongs to the upper one or to the lower.
 * Its exact decimal cut off after some digits is an edge, or rounded up to one. */
static void decimals_around(double magnitude, bool upper_edge_belongs, int digits, double *lo,
                            double *hi)
{
    static char text[900];
    char head[16];
    long first = 1;
    snprintf(text, sizeof text, "%.800e", magnitude);
    int power = atoi(strchr(text, 'e') + 1) - digits + 1;
    snprintf(head, sizeof head, "%c%.*s", text[0], digits - 1, text + 2);
    long number = atol(head);
    for (int i = 1; i < digits; i++)
        first *= 10;
    if (upper_edge_belongs && decimal(number, power) == magnitude) {
        number--;
        if (number < first) {
            number = 10 * first - 1;
            power--;
        }
    }
    *hi = decimal(number + 1, power);
    if (*hi < magnitude || (*hi == magnitude && !upper_edge_belongs))
        *hi = decimal(++number + 1, power);
    *lo = decimal(number, power);
}

static void digits_bin(double value, int digits, double *lo, double *hi)
{
    const double min = 1e-38, end = 1e39;
    if (value == 0) {
        *lo = *hi = 0;
    } else if (value >= end || value < -end) {
        *lo = value > 0 ? end : -HUGE_VAL;
        *hi = value > 0 ? HUGE_VAL : -end;
    } else if (value >= -min && value < min) {
        *lo = value > 0 ? ldexp(1, -1074) : -min;
        *hi = value > 0 ? min : 0;
    } else if (value > 0) {
        decimals_around(value, false, digits, lo, hi);
    } else {
        decimals_around(-value, true, digits, hi, lo);
        *lo = -*lo;
        *hi = -*hi;
    }
}

static void show(double edge)
{
    char text[400];
    int digits = fabs(edge) < DBL_MIN ? 1 : 15; /* what has fewer ends in zeros, which %g drops */
    do
        snprintf(text, sizeof text, "%.*g", digits++, edge);
    while (strtod(text, NULL) != edge);
    if (strchr(text, 'e') && fabs(edge) >= 1 && fabs(edge) < 1e17)
        snprintf(text, sizeof text, "%.0f", edge);
    fputs(text, stdout);
}

static void row(double lo, size_t samples, double hi)
{
    show(lo);
    printf("\t%zu\t", samples);
    show(hi);
    putchar('\n');
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rows that hold values; digits 0: log-linear bins. */
static void print_seen(int digits)
{
    for (size_t i = 0, j; i < count; i = j) {
        double lo, hi;
        if (digits)
            digits_bin(values[i], digits, &lo, &hi);
        else
            log_linear_bin(values[i], &lo, &hi);
        for (j = i + 1; j < count; j++)
            if (!(values[j] < hi || values[j] == values[i] || (digits && isinf(hi))))
                break;
        row(lo, j - i, hi);
    }
}

static void print_equal(double min, double max, size_t bins)
{
    volatile double step = (max - min) / (double)bins, offset;
    double lo = -HUGE_VAL, hi;
    for (size_t bin = 0, i = 0, begin; bin <= bins + 1; bin++, lo = hi) {
        offset = (double)bin * step;
        hi = bin > bins ? HUGE_VAL : bin == bins ? max : offset + min;
        for (begin = i; i < count && (values[i] < hi || bin > bins); i++)
            continue;
        row(lo, i - begin, hi);
    }
}

int main(int argc, char **argv)
{
    double min, max;
    size_t bins, all;
    int digits = 0;
    if (argc < 3)
        return 2;
    for (int i = 2; i < argc; i++)
        read_tokens(argv[i]);
    all = count;
    count = 0;
    for (size_t i = 0; i < all; i++)
        if (!isnan(values[i]))
            values[count++] = values[i];
    qsort(values, count, sizeof *values, ascending);
    if (sscanf(argv[1], "%lf:%lf:%zu", &min, &max, &bins) == 3)
        print_equal(min, max, bins);
    else
        print_seen(sscanf(argv[1], "digits:%d", &digits) == 1 ? digits : 0);
    printf("invalid\t%zu\n", all - count);
    free(values);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* oracle_numbers BINS FILE...: the table that --numbers must give, and the message about the first
 * token that is not a number; BINS is MIN:MAX:COUNT, digits:N or log-linear.
 * oracle_numbers -q LIST TABLE FILE...: whether the intervals in TABLE hold the quantiles of LIST.
 *
 * By the definition and nothing else: a token at a time, one edge after the other, all values
 * sorted. A FILE's name is what messages call it, but "standard input" is read as such. */
#include "src/base/error.h"
#include "tests/helpers/naive_number.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
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

#define PLACES 160 /* decimal places of each number */

/* A whole number, the lowest decimal place first. */
struct places {
    int at[2 * PLACES];
};

static struct places positions_of(uint64_t number)
{
    struct places places = {{0}};
    for (int i = 0; number > 0; i++, number /= 10)
        places.at[i] = (int)(number % 10);
    return places;
}

/* Adds a * 10^shift to b. */
static void add_shifted(struct places *b, const struct places *a, int shift)
{
    int carry = 0;
    for (int i = 0; i + shift < 2 * PLACES; i++) {
        int sum = b->at[i + shift] + a->at[i] + carry;
        b->at[i + shift] = sum % 10;
        carry = sum / 10;
    }
}

/* Sets the fraction q to top / 10^(the value returned). */
static int read_fraction(const char *q, struct places *top)
{
    const size_t len = strcspn(q, ",eE");
    int places = 0, at = 0;
    *top = (struct places){{0}};
    for (size_t i = len; i-- > 0;) {
        if (q[i] == '.')
            places = at;
        else if (q[i] >= '0' && q[i] <= '9')
            top->at[at++] = q[i] - '0';
        if (at > PLACES)
            abort();
    }
    if (q[len] != 'e' && q[len] != 'E')
        return places;
    places -= atoi(q + len + 1);
    for (; places < 0; places++) { /* fractions have no negative exponents */
        memmove(top->at + 1, top->at, sizeof top->at - sizeof top->at[0]);
        top->at[0] = 0;
    }
    return places;
}

/* Returns the rank of the q-quantile of n samples by the definition: the least k for which k/n >=
 * q, in fractions. q ends before a comma or with the text. */
static uint64_t naive_rank(const char *q, uint64_t n)
{
    struct places top, product = {{0}}, samples = positions_of(n);
    const int places = read_fraction(q, &top);
    for (int i = 0; i < PLACES; i++)
        for (int times = 0; times < top.at[i]; times++)
            add_shifted(&product, &samples, i);
    uint64_t rank = 0, more = 0;
    for (int i = 2 * PLACES - 1; i >= places; i--)
        rank = 10 * rank + (uint64_t)product.at[i];
    for (int i = 0; i < places && i < 2 * PLACES; i++)
        more |= product.at[i] != 0;
    rank += more;
    return rank > 0 ? rank : 1;
}

/* Rows "pPERCENT LOWER [UPPER]" of the table: whether they are those of the list, in its order, and
 * each interval holds its sample and lies between the least and the greatest. */
static int check_quantiles(const char *list, const char *name)
{
    FILE *table = fopen(name, "r");
    char line[256], lower_text[64], upper_text[64], *at = (char *)(uintptr_t)list;
    double percent, q;
    while (table && fgets(line, sizeof line, table)) {
        int fields = sscanf(line, "p%lf %63s %63s", &percent, lower_text, upper_text);
        if (fields < 2)
            continue;
        const size_t rank = naive_rank(at, count);
        q = strtod(at, &at);
        at += *at == ',';
        double lower = strtod(lower_text, NULL);
        double upper = fields == 3 ? strtod(upper_text, NULL) : lower;
        double sample = values[rank - 1];
        if (fabs(percent - 100 * q) < 1e-9 && sample >= lower && sample <= upper &&
            lower >= values[0] && upper <= values[count - 1])
            continue;
        fprintf(stderr, "the %g-quantile is %.17g, not from %s to %g\n", q, sample, lower_text,
                upper);
        return 1;
    }
    return at == list || *at != '\0';
}

int main(int argc, char **argv)
{
    double min, max;
    size_t bins, all;
    int digits = 0;
    bool quantiles = argc > 3 && strcmp(argv[1], "-q") == 0;
    if (argc < 3)
        return 2;
    for (int i = quantiles ? 4 : 2; i < argc; i++)
        read_tokens(argv[i]);
    all = count;
    count = 0;
    for (size_t i = 0; i < all; i++)
        if (!isnan(values[i]))
            values[count++] = values[i];
    qsort(values, count, sizeof *values, ascending);
    if (quantiles)
        return check_quantiles(argv[2], argv[3]);
    if (sscanf(argv[1], "%lf:%lf:%zu", &min, &max, &bins) == 3)
        print_equal(min, max, bins);
    else
        print_seen(sscanf(argv[1], "digits:%d", &digits) == 1 ? digits : 0);
    printf("invalid\t%zu\n", all - count);
    free(values);
    return 0;
}

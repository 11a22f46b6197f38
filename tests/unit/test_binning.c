/* SPDX-License-Identifier: MIT */
/* Binnings against their definitions: whole values by cross-multiplication, doubles by going
 * through the edges one after the other. On every edge, beside it, far away, and at random between.
 */
#include "src/bins/binning.h"
#include "tests/helpers/bits.h"
#include "tests/helpers/random.h"
#include "tests/helpers/vectors.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long cases, wrong;

static void complain(const char *what, const char *min, const char *max, size_t bins)
{
    if (wrong++ < 20)
        fprintf(stderr, "FAIL: %s: %s to %s, %zu bins\n", what, min, max, bins);
}

/* --- whole values --- */

struct range {
    const char *min, *max; /* as messages show them */
    int128 first, last;    /* the same; last is not in it */
};

#define RANGE(min, max)                                                                            \
    {                                                                                              \
#min, #max, (int128)min, (int128)max                                                       \
    }
static const int128 top = (int128)1 << 64;

/* The bin by definition: the last k whose edge first + k * span / bins is not above the value. */
static bool is_row(const struct range *range, size_t bins, int128 value, size_t row)
{
    int128 span = range->last - range->first, scaled = (value - range->first) * (int128)bins;
    if (value < range->first)
        return row == 0;
    if (value >= range->last)
        return row == bins + 1;
    return row >= 1 && row <= bins && (int128)(row - 1) * span <= scaled &&
           (int128)row * span > scaled;
}

static void check_whole(const struct binning *binning, const struct range *range, int128 value)
{
    cases++;
    if (!is_row(range, binning->bins, value, binning_row_whole(binning, value)))
        complain("wrong row", range->min, range->max, binning->bins);
}

static void check_range(const struct range *range, size_t bins)
{
    struct binning binning;
    if (binning_equal_whole(&binning, range->first, range->last, bins) != BINNING_OK) {
        complain("not laid", range->min, range->max, bins);
        return;
    }
    int128 span = range->last - range->first;
    for (unsigned i = 0; i < 3000; i++) {
        int128 k = (int128)(i < 1000 && i <= bins ? i : random_word() % (bins + 1));
        int128 edge = range->first + k * span / (int128)bins;
        for (int beside = -2; beside <= 2; beside++)
            check_whole(&binning, range, edge + beside);
        unsigned bits = (unsigned)(random_word() % 64);
        check_whole(&binning, range, range->first + (int128)(random_word() >> bits));
        check_whole(&binning, range, (int128)random_word());
        check_whole(&binning, range, (int128)(int64_t)random_word());
    }
    binning_free(&binning);
}

static void check_whole_values(void)
{
    const struct range ranges[] = {
        RANGE(0, 1),
        RANGE(0, 256),
        RANGE(1, 101),
        RANGE(-5, 5),
        RANGE(-128, 128),
        RANGE(0, 65536),
        RANGE(7, 1000003),
        RANGE(0, 4294967295),
        RANGE(0, 4294967296),
        RANGE(0, 4294967297),
        RANGE(-2147483648, 2147483648),
        RANGE(1000000007, 5294967303),
        {"0", "18446744073709551616", 0, top},
        {"-9223372036854775808", "9223372036854775808", -top / 2, top / 2},
        {"18446744073709551615", "18446744073709551616", top - 1, top},
        {"-18446744073709551616", "18446744073709551616", -top, top},
    };
    static const size_t bins[] = {1, 2, 3, 5, 7, 10, 255, 256, 257, 1000, 1024, 99991, BINS_MAX};
    for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++)
        for (size_t b = 0; b < sizeof bins / sizeof bins[0]; b++)
            check_range(&ranges[r], bins[b]);
    for (unsigned i = 0; i < 200; i++) { /* reciprocals of all sorts */
        char min[32], max[32];
        int128 first = (int128)(random_word() % 1000000), span = (int128)(random_word() >> 32) + 1;
        snprintf(min, sizeof min, "%llu", (unsigned long long)first);
        snprintf(max, sizeof max, "%llu", (unsigned long long)(first + span));
        check_range(&(struct range){min, max, first, first + span}, random_word() % 5000 + 1);
    }
}

/* --- doubles --- */

static size_t row_by_edges(const double *edges, size_t count, double value)
{
    size_t row = 0;
    while (row < count && edges[row] <= value)
        row++;
    return isnan(value) ? count + 1 : row;
}

static void check_double(const struct binning *binning, const double *edges, double value,
                         const char *min, const char *max)
{
    cases++;
    if (binning_row(binning, value) != row_by_edges(edges, binning->bins + 1, value))
        complain("wrong row of a double", min, max, binning->bins);
}

/* The next double above, or below, by its bits. */
static double beside(double value, bool above)
{
    if (value == 0)
        return above ? 5e-324 : -5e-324;
    uint64_t bits = bits_of_double(value);
    return double_of_bits((value > 0) == above ? bits + 1 : bits - 1);
}

static void check_around(const struct binning *binning, const double *edges, const char *min,
                         const char *max)
{
    static const double corners[] = {0.0,     -0.0,     5e-324,   -5e-324,   DBL_MIN,
                                     DBL_MAX, -DBL_MAX, INFINITY, -INFINITY, NAN,
                                     1,       -1,       0.1,      1e16};
    for (size_t i = 0; i < sizeof corners / sizeof corners[0]; i++)
        check_double(binning, edges, corners[i], min, max);
    for (unsigned i = 0; i < 1000; i++) {
        double edge = edges[i <= binning->bins ? i : random_word() % (binning->bins + 1)];
        check_double(binning, edges, edge, min, max);
        check_double(binning, edges, beside(edge, true), min, max);
        check_double(binning, edges, beside(edge, false), min, max);
        double fraction = random_fraction();
        check_double(binning, edges, edges[0] + fraction * (edges[binning->bins] - edges[0]), min,
                     max);
    }
}

static void check_linspace(const char *min, const char *max, size_t bins)
{
    struct binning binning;
    double first = strtod(min, NULL), last = strtod(max, NULL);
    if (binning_equal(&binning, first, last, bins) != BINNING_OK) {
        complain("not laid", min, max, bins);
        return;
    }
    double *edges = calloc(bins + 1, sizeof *edges);
    if (!edges)
        abort();
    volatile double step = (last - first) / (double)bins, offset;
    for (size_t k = 0; k < bins; k++) {
        offset = (double)k * step; /* volatile: never one operation with the addition */
        edges[k] = offset + first;
    }
    edges[bins] = last;
    check_around(&binning, edges, min, max);
    free(edges);
    binning_free(&binning);
}

static void check_doubles(void)
{
    static const char *const ranges[][2] = {
        {"0", "1"},
        {"-1", "1"},
        {"0.1", "0.7"},
        {"-3.3", "1e9"},
        {"1e16", "10000000000000100"},
        {"-8.9e307", "8.9e307"},
        {"1e-300", "2e-300"},
        {"0", "1e-290"},
        {"-0.3", "-0.1"},
    };
    static const size_t bins[] = {1, 2, 3, 7, 10, 49, 100, 1000, 1024};
    for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++)
        for (size_t b = 0; b < sizeof bins / sizeof bins[0]; b++)
            check_linspace(ranges[r][0], ranges[r][1], bins[b]);
}

/* --- layouts: their edges as they are shown, and their errors --- */

static int128 read_whole(const char *text)
{
    int128 value = 0;
    for (const char *at = text + (*text == '-'); *at; at++)
        value = 10 * value + (*at - '0');
    return *text == '-' ? -value : value;
}

/* A decimal such as 1.0001. */
static struct decimal read_decimal(const char *text)
{
    struct decimal decimal = {0, 0};
    for (const char *at = text, *point = strchr(text, '.'); *at; at++)
        if (at != point) {
            decimal.digits = 10 * decimal.digits + (unsigned)(*at - '0');
            decimal.places += point && at > point;
        }
    return decimal;
}

/* Builds the layout of a vector. */
static enum binning_error build(struct binning *binning, const char *layout, bool whole)
{
    const char *min = vector_optional("min"), *max = vector_optional("max");
    const size_t given = vector_count("given"), count = strtoul(vector_optional("count"), NULL, 10);
    const unsigned parts = (unsigned)strtoul(vector_optional("parts"), NULL, 10),
                   bits = (unsigned)strtoul(vector_optional("bits"), NULL, 10);
    const bool is_signed = strcmp(vector_optional("signed"), "true") == 0;
    int128 integers[8];
    double numbers[8];
    for (size_t i = 0; i < given && i < 8; i++) {
        integers[i] = whole ? read_whole(vector_element("given", i)) : 0;
        numbers[i] = strtod(vector_element("given", i), NULL);
    }
    if (strcmp(layout, "edges") == 0)
        return whole ? binning_edges_whole(binning, integers, given)
                     : binning_edges(binning, numbers, given);
    if (strcmp(layout, "equal") == 0)
        return whole ? binning_equal_whole(binning, read_whole(min), read_whole(max), count)
                     : binning_equal(binning, strtod(min, NULL), strtod(max, NULL), count);
    if (strcmp(layout, "decades") == 0)
        return binning_decades_whole(binning, parts, bits, is_signed);
    const struct decimal base = read_decimal(vector_optional("base"));
    return whole ? binning_log_whole(binning, read_whole(min), read_whole(max), base)
                 : binning_log(binning, strtod(min, NULL), strtod(max, NULL), base);
}

static void check_vectors(void)
{
    static const char *const errors[] = {
        [BINNING_NOT_ASCENDING] = "not ascending", [BINNING_TOO_FEW] = "too few",
        [BINNING_TOO_WIDE] = "too wide",           [BINNING_TOO_NARROW] = "too narrow",
        [BINNING_NOT_POSITIVE] = "not positive",   [BINNING_BAD_BASE] = "bad base",
        [BINNING_TOO_LARGE] = "too large",         [BINNING_OK] = ""};
    while (vectors_next("bins")) {
        const char *layout = vector_text("layout"), *error = vector_optional("error");
        const bool whole = strcmp(vector_text("whole"), "true") == 0;
        struct binning binning;
        const enum binning_error got = build(&binning, layout, whole);
        const size_t edges = vector_count("edges");
        char edge[48];
        cases++;
        if (got == BINNING_NO_MEMORY || got > BINNING_TOO_LARGE || strcmp(errors[got], error) != 0)
            complain("wrong error", layout, error, (size_t)got);
        if (got != BINNING_OK)
            continue;
        if (binning.bins + 1 != edges)
            complain("wrong number of edges", layout, "", binning.bins);
        for (size_t k = 0; k < edges && k <= binning.bins; k++, cases++) {
            binning_show_edge(&binning, k, edge);
            if (strcmp(edge, vector_element("edges", k)) != 0)
                complain("wrong edge", edge, vector_element("edges", k), k);
        }
        for (size_t i = 0; i < vector_count("rows"); i++, cases++) {
            const char *value = vector_element("values", i), *row = vector_element("rows", i);
            if (strtoul(row, NULL, 10) != (whole ? binning_row_whole(&binning, read_whole(value))
                                                 : binning_row(&binning, strtod(value, NULL))))
                complain("wrong row of a value", value, row, binning.bins);
        }
        binning_free(&binning);
    }
}

/* --- powers --- */

/* The same edges with one limb at first as with many: what takes more is found out. */
static void check_limbs(struct decimal base, double min, double max)
{
    struct binning narrow, wide;
    if (binning_log_limbs(&narrow, min, max, base, 1) != BINNING_OK ||
        binning_log_limbs(&wide, min, max, base, 64) != BINNING_OK) {
        complain("powers not laid", "", "", 0);
        return;
    }
    cases += narrow.bins;
    if (narrow.bins != wide.bins ||
        memcmp(narrow.edges, wide.edges, (narrow.bins + 1) * sizeof narrow.edges[0]) != 0)
        complain("limbs change powers", "", "", narrow.bins);
    binning_free(&narrow);
    binning_free(&wide);
}

/* --- log-linear bins --- */

/* By the edges alone, which must ascend; and negative bins mirror the positive ones. */
static void check_log_linear(const struct binning *binning, double value)
{
    size_t row = binning_row(binning, value);
    bool right = row <= ROW_INVALID(binning);
    if (isnan(value))
        right = row == ROW_INVALID(binning);
    else if (isinf(value))
        right = row == (value < 0 ? ROW_BELOW : ROW_ABOVE(binning));
    else
        right = row >= 1 && row <= binning->bins && binning_edge(binning, row - 1) <= value &&
                value < binning_edge(binning, row);
    cases++;
    if (!right) {
        char text[32];
        snprintf(text, sizeof text, "%a", value);
        complain("wrong log-linear row", text, text, row);
    }
}

static void check_beside(const struct binning *binning, double value)
{
    double below = nextafter(value, -HUGE_VAL), above = nextafter(value, HUGE_VAL);
    check_log_linear(binning, value);
    check_log_linear(binning, below);
    check_log_linear(binning, above);
    check_log_linear(binning, -value);
    check_log_linear(binning, -below);
    check_log_linear(binning, -above);
}

static void check_log_linear_bins(void)
{
    struct binning binning;
    binning_log_linear(&binning);
    size_t half = binning.bins / 2; /* the bin of zero */
    if (binning.bins != 131009 || binning_edge(&binning, half) != 0 ||
        binning_edge(&binning, half + 1) != DBL_TRUE_MIN ||
        binning_edge(&binning, 0) != -HUGE_VAL || binning_edge(&binning, binning.bins) != HUGE_VAL)
        complain("log-linear edges", "", "", binning.bins);
    for (size_t k = 0; k < binning.bins; k++) {
        double edge = binning_edge(&binning, k), next = binning_edge(&binning, k + 1);
        if (!(edge < next))
            complain("log-linear edges do not ascend", "", "", k);
        if (k > half + 1 && edge >= DBL_MIN && next <= DBL_MAX && next - edge > edge / 32)
            complain("a log-linear bin is too wide", "", "", k);
        check_beside(&binning, edge);
    }
    for (int exponent = -1074; exponent <= 1023; exponent++)
        check_beside(&binning, ldexp(1, exponent));
    check_beside(&binning, 0);
    check_beside(&binning, HUGE_VAL);
    check_beside(&binning, DBL_MAX);
    check_beside(&binning, DBL_MIN);
    check_log_linear(&binning, (double)NAN);
    check_log_linear(&binning, -(double)NAN);
    for (unsigned i = 0; i < 1000000; i++) {
        check_log_linear(&binning, double_of_bits(random_word()));
    }
    binning_free(&binning);
}

/* --- decimal digits of whole values --- */

/* The bin by definition: all digits of the value but the first ones are 0 at its lower end, 9 at
 * the upper one. Those below zero are counted from -1 on. */
static void check_whole_digits(const struct binning *binning, unsigned digits, int128 value)
{
    const size_t row = binning_row_whole(binning, value);
    const int128 magnitude = value < 0 ? -1 - value : value;
    int128 unit = 1, limit = 1;
    for (unsigned i = 0; i < digits; i++)
        limit *= 10;
    for (; magnitude / unit >= limit; unit *= 10)
        continue;
    const int128 from = magnitude / unit * unit, to = from + unit;
    cases++;
    if (row < 1 || row > binning->bins ||
        binning_whole_edge(binning, row - 1) != (value < 0 ? -to : from) ||
        binning_whole_edge(binning, row) != (value < 0 ? -from : to))
        complain("digits of whole values", "", "", row);
}

static void check_whole_digits_bins(unsigned digits)
{
    struct binning binning;
    binning_digits_whole(&binning, digits);
    for (size_t k = 0; k <= binning.bins; k++) {
        const int128 edge = binning_whole_edge(&binning, k);
        if (k > 0 && edge <= binning_whole_edge(&binning, k - 1))
            complain("digits of whole values do not ascend", "", "", k);
        for (int128 value = edge - 1; value <= edge + 1; value++)
            if (value > -top && value < top)
                check_whole_digits(&binning, digits, value);
    }
    for (unsigned i = 0; i < 100000; i++) {
        const int128 value = (int128)(random_word() >> random_word() % 64);
        check_whole_digits(&binning, digits, value);
        check_whole_digits(&binning, digits, -value);
    }
    check_whole_digits(&binning, digits, top - 1);
    check_whole_digits(&binning, digits, -(top >> 1));
    binning_free(&binning);
}

/* --- decades --- */

static double shown_number(const struct binning *binning, size_t k)
{
    char text[48];
    binning_show_edge(binning, k, text);
    return strtod(text, NULL);
}

/* Edges ascend, are those of bins of so many decimal digits, and have zero alone in the middle. */
static void check_decades(unsigned parts, unsigned of_digits)
{
    struct binning binning, digits;
    if (binning_decades(&binning, parts) != BINNING_OK ||
        binning_digits(&digits, of_digits, false) != BINNING_OK) {
        complain("decades", "no memory", "", parts);
        return;
    }
    const size_t zero = binning.bins / 2;
    if (binning.bins != 2 * binning.decade_bins + 3 || binning.decade_bins != 77 * parts ||
        !binning_is_zero_alone(&binning, zero) || binning_row(&binning, -0.0) != zero + 1 ||
        binning_row(&binning, DBL_TRUE_MIN) != zero + 2 || binning_edge(&binning, 0) != -1e39)
        complain("decades", "around zero", "", parts);
    for (size_t k = 0; k <= binning.bins; k++) {
        const double edge = binning_edge(&binning, k);
        const size_t row = binning_row(&digits, edge);
        cases++;
        if (row == 0 || digits_edge(&digits.digits, row - 1) != edge ||
            shown_number(&binning, k) != edge || binning_row(&binning, edge) != k + 1 ||
            (k > 0 && edge <= binning_edge(&binning, k - 1)))
            complain("decades", "edge", "", k);
    }
    binning_free(&binning);
    binning_free(&digits);
}

/* Fine bins are nearly as wide as each other on a logarithmic scale, and begin at powers of ten. */
static void check_fine_decades(void)
{
    struct binning binning;
    if (binning_decades(&binning, DECADE_PARTS_FINE) != BINNING_OK) {
        complain("fine decades", "no memory", "", DECADE_PARTS_FINE);
        return;
    }
    const size_t one = (size_t)binning_row(&binning, 1) - 1;
    for (size_t k = binning.bins / 2 + 2; k < binning.bins; k++) {
        const double wider = binning_edge(&binning, k + 1) / binning_edge(&binning, k);
        cases++;
        if (wider < 1.2499 || wider > 1.2801)
            complain("fine decades", "width", "", k);
    }
    for (size_t k = 0; k < 3; k++)
        if (binning_edge(&binning, one + k * DECADE_PARTS_FINE) != pow(10, (double)k))
            complain("fine decades", "power of ten", "", k);
    binning_free(&binning);
}

static void check_whole_decades(void)
{
    struct binning b;
    for (unsigned bits = 8; bits <= 64; bits += 8)
        for (unsigned parts = 1; parts <= 3; parts += 2) {
            const int128 end = (int128)1 << bits;
            cases++;
            if (binning_decades_whole(&b, parts, bits, false) != BINNING_OK ||
                binning_row_whole(&b, end - 1) != b.bins || binning_row_whole(&b, 0) != 1)
                complain("decades", "whole", "", bits);
            binning_free(&b);
            if (binning_decades_whole(&b, parts, bits, true) != BINNING_OK ||
                binning_row_whole(&b, end / 2 - 1) != b.bins ||
                binning_row_whole(&b, -end / 2) != 1)
                complain("decades", "whole with a sign", "", bits);
            binning_free(&b);
        }
}

int main(void)
{
    check_decades(1, 1);
    check_decades(DECADE_PARTS, 1);
    check_decades(DECADE_PARTS_FINE, 3);
    check_fine_decades();
    check_whole_decades();
    for (unsigned digits = DIGITS_MIN; digits <= 4; digits++)
        check_whole_digits_bins(digits);
    check_log_linear_bins();
    check_whole_values();
    check_doubles();
    check_vectors();
    check_limbs((struct decimal){10, 0}, 1e-320, 1e300);
    check_limbs((struct decimal){15, 1}, 5e-324, 1e308);
    check_limbs((struct decimal){16, 1}, 5e-324, 1e308);
    check_limbs((struct decimal){11, 1}, 1e-300, 1e300);
    check_limbs((struct decimal){271828182845904524, 17}, 5e-324, 1e300);
    check_limbs((struct decimal){10001, 4}, 0.5, 2);
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong != 0;
}

/* SPDX-License-Identifier: MIT */
/* Bins of significant decimal digits against their definition: an edge is what strtod, or strtof,
 * gives for its decimal, and a value's row is found by bisection among the edges. Every edge and
 * its neighbours, but of 5 digits only some at random unless all are asked for; texts of many
 * digits beside edges; values at random; and the loops of every counter. */
#include "src/cpu/count.h"
#include "src/text/number.h"
#include "tests/helpers/bits.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEST 5 /* digits */
#define EDGES_MAX ((size_t)77 * 90000 + 1)
#define BATCHED 5000 /* values that are counted at once */
#define LONGEST 800  /* digits of a text */
#define DRAWN 16     /* one edge of so many, where not all are looked at */

static unsigned long cases, wrong;

/* The bins of one number of digits, and the edges over zero that they must have. */
struct subject {
    bool drawn; /* not all edges are looked at */
    unsigned digits;
    bool singles;
    struct binning binning;
    size_t side; /* bins of the decades over zero */
    double *edges;
};

static void complain(const struct subject *subject, const char *what, double value, size_t row,
                     size_t expected)
{
    if (wrong++ < 20)
        fprintf(stderr, "FAIL: %u digits%s, %s of %a (%.17g): %zu, not %zu\n", subject->digits,
                subject->singles ? " of floats" : "", what, value, value, row, expected);
}

/* --- the definition --- */

static double edge_of_text(const char *text, bool singles)
{
    double edge = strtod(text, NULL);
    float single = strtof(text, NULL);
    return singles && isfinite(single) ? (double)single : edge;
}

static void make_edges(struct subject *subject)
{
    unsigned first = 1, bins = 0;
    char text[32];
    for (unsigned i = 1; i < subject->digits; i++)
        first *= 10;
    for (int decade = -38; decade <= 38; decade++)
        for (unsigned number = first; number < 10 * first; number++) {
            snprintf(text, sizeof text, "%ue%d", number, decade - (int)subject->digits + 1);
            subject->edges[bins++] = edge_of_text(text, subject->singles);
        }
    subject->edges[bins] = edge_of_text("1e39", subject->singles);
    subject->side = bins;
}

/* How many edges over zero are not above the value. */
static size_t edges_up_to(const struct subject *subject, double value)
{
    size_t low = 0, high = subject->side + 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (subject->edges[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double before(const struct subject *subject, double value)
{
    return subject->singles ? (double)nextafterf((float)value, 0) : nextafter(value, 0);
}

static size_t row_of(const struct subject *subject, double value)
{
    const size_t zero = subject->side + 2;
    if (isnan(value))
        return ROW_INVALID(&subject->binning);
    if (value == 0)
        return zero;
    if (value > 0)
        return zero + 1 + edges_up_to(subject, value);
    /* -12 begins the bin up to -11: 12 belongs to the edge below it. */
    size_t up_to = isinf(value) ? subject->side + 1 : edges_up_to(subject, before(subject, -value));
    return zero - 1 - up_to;
}

/* --- one value, and many --- */

static void check(const struct subject *subject, double value)
{
    size_t row = binning_row(&subject->binning, value), expected = row_of(subject, value);
    cases++;
    if (row != expected)
        complain(subject, "row", value, row, expected);
}

static void check_both_signs(const struct subject *subject, double value)
{
    check(subject, value);
    check(subject, -value);
}

/* True if an edge is shown as the double nearest to it is. */
static bool is_shown(const struct binning *binning, size_t k)
{
    char text[SHOW_NUMBER], expected[SHOW_NUMBER];
    binning_show_edge(binning, k, text);
    show_double(binning_shown_edge(binning, k), expected);
    return strcmp(text, expected) == 0;
}

/* The edge itself, and how it is shown: it reads back as the decimal. */
static void check_edge(const struct subject *subject, size_t k)
{
    const struct binning *binning = &subject->binning;
    const size_t up = subject->side + 3 + k, down = subject->side - k;
    char text[SHOW_NUMBER];
    binning_show_edge(binning, up, text);
    cases++;
    if (!is_shown(binning, up) || !is_shown(binning, down) ||
        binning_edge(binning, up) != subject->edges[k] ||
        binning_edge(binning, down) != -subject->edges[k] ||
        edge_of_text(text, subject->singles) != subject->edges[k] ||
        strspn(text, "0123456789.e+-") != strlen(text) || strlen(text) > 23)
        complain(subject, "edge", subject->edges[k], up, k);
}

static void check_edges(const struct subject *subject)
{
    for (size_t k = 0; k <= subject->side; k++) {
        const double edge = subject->edges[k];
        const bool is_end = k % (subject->side / 77) == 0;
        if (subject->drawn && !is_end && random_below(DRAWN) > 0)
            continue;
        check_edge(subject, k);
        if (subject->singles && edge > (double)FLT_MAX)
            continue; /* no value is there */
        check_both_signs(subject, edge);
        const double after = subject->singles ? (double)nextafterf((float)edge, HUGE_VALF)
                                              : nextafter(edge, HUGE_VAL);
        check_both_signs(subject, before(subject, edge));
        check_both_signs(subject, after);
    }
}

enum { ODD = 9 };

static double odd_value(const struct subject *subject, unsigned i)
{
    const double tiny = subject->singles ? 0x1p-149 : DBL_TRUE_MIN;
    const double min = subject->singles ? (double)FLT_MIN : DBL_MIN;
    const double max = subject->singles ? (double)FLT_MAX : DBL_MAX;
    const double odd[ODD] = {0, tiny, 3 * tiny, min, before(subject, min), max, HUGE_VAL, NAN, 1};
    return odd[i];
}

static void check_odd(const struct subject *subject)
{
    for (unsigned i = 0; i < ODD; i++)
        check_both_signs(subject, odd_value(subject, i));
    for (int exponent = -149; exponent <= 127; exponent++) {
        check_both_signs(subject, ldexp(1, exponent));
        check_both_signs(subject, before(subject, ldexp(1, exponent)));
    }
}

/* Any bits; or such that the value is in the decades. */
static double draw(const struct subject *subject)
{
    if (subject->singles) {
        uint32_t bits = (uint32_t)random_word();
        float single;
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    }
    uint64_t bits = random_word();
    if (bits & 1)
        return double_of_bits(random_word());
    return ldexp(1 + (double)(bits >> 12) * 0x1p-52, (int)random_below(262) - 131);
}

/* A text beside an edge, or at the middle between it and a neighbour, of up to LONGEST digits. */
static void check_text(const struct subject *subject)
{
    char text[LONGEST + 64];
    const double edge = subject->edges[random_below((unsigned)subject->side)];
    const unsigned digits = 17 + random_below(LONGEST - 17);
    int len = random_below(2) ? snprintf(text, sizeof text, "%.*e", (int)digits, edge)
                              : snprintf(text, sizeof text, "%.4e", edge);
    char *exponent = strchr(text, 'e');
    char tail[16];
    memcpy(tail, exponent, (size_t)(text + len - exponent) + 1);
    if (exponent - text > 20) {
        exponent[-1] = (char)('0' + (exponent[-1] - '0' + 1 + (int)random_below(9)) % 10);
    } else {
        memset(exponent, random_below(2) ? '0' : '9', digits);
        exponent += digits;
        exponent[-1] = '1';
        memcpy(exponent, tail, strlen(tail) + 1);
    }
    double value = subject->singles ? (double)strtof(text, NULL) : strtod(text, NULL);
    check_both_signs(subject, value);
}

/* --- the loops --- */

/* A value for them: an edge or beside it, of a few decades or of all, or any value. */
static double draw_for_loops(const struct subject *subject, unsigned kind)
{
    size_t k = random_below((unsigned)subject->side);
    if (kind % 3 == 0)
        k = subject->side / 77 * 30 + k % (subject->side / 77 * 20);
    double value = random_below(8) || kind % 3 == 0 ? subject->edges[k] : draw(subject);
    value = subject->singles && fabs(value) > (double)FLT_MAX ? 1 : value;
    value = random_below(4) ? value : before(subject, value);
    value = random_below(100) ? value : odd_value(subject, random_below(ODD));
    return kind % 2 && random_below(2) ? -value : value;
}

static void check_kernels(const struct cpu_kernels *kernels, const struct histogram_spec *spec,
                          const void *data, const uint64_t *expected)
{
    struct count_plan plan = count_plan(kernels, spec);
    struct tally tally;
    if (tally_open(&tally, spec) != 0)
        abort();
    count_samples(&plan, data, BATCHED * spec->type.size, &tally);
    cases += BATCHED;
    if (memcmp(tally.counts, expected, tally.bins * sizeof tally.counts[0]) != 0 && wrong++ < 20)
        fprintf(stderr, "FAIL: %s, %zu bins of %s: wrong counts\n", kernels->name, spec->bins,
                spec->type.name);
    tally_close(&tally);
}

static void check_all_kernels(const struct subject *subject, unsigned kind)
{
    static double doubles[BATCHED];
    static float singles[BATCHED];
    struct histogram_spec spec;
    uint64_t *expected = calloc(ROWS(&subject->binning), sizeof *expected);
    if (!expected)
        abort();
    histogram_spec_values(&spec, value_type_native(subject->singles ? "f32" : "f64"),
                          &subject->binning);
    for (size_t i = 0; i < BATCHED; i++) {
        doubles[i] = draw_for_loops(subject, kind);
        singles[i] = (float)doubles[i];
        expected[row_of(subject, doubles[i])]++;
    }
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++)
        if ((*kernels)->runs_here())
            check_kernels(*kernels, &spec, subject->singles ? (const void *)singles : doubles,
                          expected);
    free(expected);
}

/* Every edge of the decades that loops know best, or every value before an edge, by one counter. */
static void check_edges_counted(const struct subject *subject, const struct cpu_kernels *kernels,
                                const struct histogram_spec *spec, bool is_before, double sign)
{
    static double doubles[BATCHED];
    static float singles[BATCHED];
    const size_t per_decade = subject->side / 77;
    struct count_plan plan = count_plan(kernels, spec);
    struct tally tally, expected;
    if (tally_open(&tally, spec) != 0 || tally_open(&expected, spec) != 0)
        abort();
    for (size_t k = 15 * per_decade, i; k < 60 * per_decade; k += i) {
        i = BATCHED;
        if (subject->drawn && random_below(DRAWN) > 0)
            continue;
        for (i = 0; i < BATCHED && k + i < 60 * per_decade; i++) {
            const double edge = subject->edges[k + i];
            doubles[i] = sign * (is_before ? before(subject, edge) : edge);
            singles[i] = (float)doubles[i];
            expected.counts[row_of(subject, doubles[i])]++;
        }
        count_samples(&plan, subject->singles ? (const void *)singles : doubles,
                      i * spec->type.size, &tally);
        cases += i;
    }
    for (size_t row = 0; row < tally.bins; row++)
        if (tally.counts[row] != expected.counts[row] && wrong++ < 20)
            fprintf(stderr, "FAIL: %s, %u digits of %s, row %zu: %llu %s, not %llu\n",
                    kernels->name, subject->digits, spec->type.name, row,
                    (unsigned long long)tally.counts[row],
                    is_before ? "values before edges" : "edges",
                    (unsigned long long)expected.counts[row]);
    tally_close(&tally);
    tally_close(&expected);
}

static void check_all_edges_counted(const struct subject *subject)
{
    struct histogram_spec spec;
    histogram_spec_values(&spec, value_type_native(subject->singles ? "f32" : "f64"),
                          &subject->binning);
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++)
        for (int way = 0; (*kernels)->runs_here() && way < 4; way++)
            check_edges_counted(subject, *kernels, &spec, way & 1, way & 2 ? -1 : 1);
}

static void check_subject(unsigned digits, bool singles, double *edges)
{
    struct subject subject = {.digits = digits, .singles = singles, .edges = edges};
    subject.drawn = digits == BEST && !scale_is_all();
    const bool small = scale_is_small_or_slow();
    const unsigned many = small ? 20000 : 1000000, loops = small || subject.drawn ? 12 : 120;
    if (binning_digits(&subject.binning, digits, singles) != BINNING_OK)
        abort();
    make_edges(&subject);
    if (subject.binning.bins != 2 * subject.side + 3 ||
        !binning_is_zero_alone(&subject.binning, subject.side + 1))
        complain(&subject, "bins", 0, subject.binning.bins, 2 * subject.side + 3);
    check_edges(&subject);
    check_odd(&subject);
    for (unsigned i = 0; i < many; i++)
        check_both_signs(&subject, draw(&subject));
    for (unsigned i = 0; i < many / 10; i++)
        check_text(&subject);
    check_all_edges_counted(&subject);
    for (unsigned kind = 0; kind < loops; kind++)
        check_all_kernels(&subject, kind);
    binning_free(&subject.binning);
}

int main(void)
{
    double *edges = malloc(EDGES_MAX * sizeof *edges);
    const unsigned max = scale_is_small_or_slow() ? BEST - 1 : BEST;
    if (!edges)
        return 1;
    for (unsigned digits = 1; digits <= max; digits++) {
        check_subject(digits, false, edges);
        check_subject(digits, true, edges);
    }
    free(edges);
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong != 0;
}

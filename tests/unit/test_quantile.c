/* SPDX-License-Identifier: MIT */
/* The sample of a quantile is that of the exact rank. The interval of a quantile is the bin, and
 * its error is a bound: for every log-linear bin, those of decimal digits and bins at random,
 * whatever sample of the bin it was, in exact arithmetic; and also as it is printed. */
#include "src/cli/option.h"
#include "src/tally/statistics.h"
#include "src/text/number.h"
#include "tests/helpers/bits.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/vectors.h"
#include "src/tally/histogram_spec.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long cases, wrong;

/* A sum of two doubles that is exact: high is what it rounds to. */
struct exact {
    double high, low;
};

static struct exact exact_sum(double a, double b)
{
    volatile double high = a + b, rest = high - a, lost = a - (high - rest);
    return (struct exact){high, lost + (b - rest)};
}

static struct exact exact_product(double a, double b)
{
    return (struct exact){a * b, fma(a, b, -(a * b))};
}

/* Whether |value - sample| <= error * |sample|. */
static bool is_bound(double value, double sample, double error)
{
    if (fabs(sample) < 0x1p-500) { /* where a product would be rounded off */
        value *= 0x1p500;
        sample *= 0x1p500;
    }
    struct exact off = exact_sum(value, -sample), bound = exact_product(error, fabs(sample));
    if (off.high < 0)
        off = (struct exact){-off.high, -off.low};
    return off.high < bound.high || (off.high == bound.high && off.low <= bound.low);
}

/* A tally of three samples, of which the second is to be put into a bin. */
struct sampled {
    struct histogram_spec spec;
    struct moments moments;
    struct tally tally;
};

static void sampled_open(struct sampled *sampled, const struct binning *binning)
{
    *sampled = (struct sampled){.moments = {.any = true, .min = -HUGE_VAL, .max = HUGE_VAL}};
    sampled->spec.binning = *binning;
    sampled->tally =
        (struct tally){.bins = ROWS(binning),
                       .samples = 3,
                       .moments = &sampled->moments,
                       .counts = calloc(ROWS(binning), sizeof sampled->tally.counts[0])};
    if (!sampled->tally.counts)
        abort();
    sampled->tally.counts[ROW_BELOW] = sampled->tally.counts[ROW_ABOVE(binning)] = 1;
}

static const struct probability median = {.digits = "5"};

static struct quantile median_in_row(struct sampled *sampled, size_t row)
{
    sampled->tally.counts[row]++;
    struct quantiles quantiles = quantiles_of(&sampled->spec, &sampled->tally);
    struct quantile found = quantiles_find(&quantiles, &median);
    sampled->tally.counts[row]--;
    return found;
}

/* The quantile of a sample in a bin against all that the sample can have been. The worst ones are
 * at the ends of the bin. */
static void check_bin(struct sampled *sampled, size_t bin, bool singles)
{
    const struct binning *binning = &sampled->spec.binning;
    double a = binning_edge(binning, bin), edge = binning_edge(binning, bin + 1);
    double b = singles ? nextafterf((float)edge, -HUGE_VALF) : nextafter(edge, -HUGE_VAL);
    b = b < a ? a : b; /* zero alone, below the least double */
    struct quantile found = median_in_row(sampled, 1 + bin);
    struct estimate estimate = quantile_estimate(&found);
    bool is_bin = found.lower == a && found.upper == (a == b ? b : edge) &&
                  strtod(found.lower_text, NULL) <= a && strtod(found.upper_text, NULL) >= b;
    a = a < -DBL_MAX ? -DBL_MAX : a;
    /* A decimal that reads back as the error is above the midpoint below it. */
    double printed =
        estimate.error == 0 || estimate.error == 1 ? estimate.error : nextafter(estimate.error, 0);
    cases++;
    if (is_bin && is_bound(estimate.value, a, printed) && is_bound(estimate.value, b, printed))
        return;
    if (wrong++ < 20)
        fprintf(stderr,
                "FAIL: samples from %.17g to %.17g (%s to %s): %.17g errs by more than %.17g\n", a,
                b, found.lower_text, found.upper_text, estimate.value, estimate.error);
}

static void check_bins(const struct binning *binning, bool singles)
{
    struct sampled sampled;
    sampled_open(&sampled, binning);
    for (size_t bin = 0; bin < binning->bins; bin++) {
        double a = binning_edge(binning, bin), b = binning_edge(binning, bin + 1);
        if (!singles || (a >= -FLT_MAX && b <= FLT_MAX)) /* no float is beyond these */
            check_bin(&sampled, bin, singles);
    }
    free(sampled.tally.counts);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Edges of any size, or near each other. */
static void check_random_edges(void)
{
    double edges[64];
    for (unsigned i = 0; i < 64; i++) {
        uint64_t bits = random_word();
        if (i % 2)
            bits = (bits >> 20) | (uint64_t)0x3ff << 52;
        edges[i] = double_of_bits(bits);
        if (!isfinite(edges[i]))
            edges[i] = i;
    }
    qsort(edges, 64, sizeof edges[0], ascending);
    struct binning binning;
    if (binning_edges(&binning, edges, 64) != BINNING_OK)
        return; /* two are the same */
    check_bins(&binning, false);
    binning_free(&binning);
}

/* How many digits a number is printed with. */
static size_t digits_of(double value)
{
    char text[SHOW_NUMBER];
    size_t digits = 0;
    show_double(value, text);
    for (const char *at = text; *at && *at != 'e'; at++)
        digits += (*at >= '0' && *at <= '9') && (digits > 0 || *at != '0');
    return digits;
}

/* The bound that the man page promises, for all bins from a value on; and few digits. */
static void check_tight(const struct binning *binning, double from, double bound, size_t digits)
{
    struct sampled sampled;
    sampled_open(&sampled, binning);
    for (size_t row = binning_row(binning, from); row < ROW_ABOVE(binning); row++) {
        struct quantile found = median_in_row(&sampled, row);
        struct estimate estimate = quantile_estimate(&found);
        bool short_value =
            estimate.value < 1 && estimate.value > 0 && digits_of(estimate.value) <= digits;
        cases++;
        if (!(estimate.error <= bound && (short_value || estimate.value >= 1)) && wrong++ < 20)
            fprintf(stderr, "FAIL: row %zu: %.17g may err by %.17g\n", row, estimate.value,
                    estimate.error);
    }
    free(sampled.tally.counts);
}

/* --- which sample --- */

static void expect_rank(const char *q, uint64_t n, uint64_t wanted)
{
    struct probability probability;
    const char *at = q;
    const bool is_read = parse_probability(&at, &probability) && !*at;
    const uint64_t rank = is_read ? probability_rank(&probability, n) : 0;
    cases++;
    if (rank != wanted && wrong++ < 20)
        fprintf(stderr,
                "FAIL: the %s-quantile of %" PRIu64 " is number %" PRIu64 ", not %" PRIu64 "\n", q,
                n, rank, wanted);
}

/* Wanted is 0 where the text is no probability. */
static void check_ranks(void)
{
    while (vectors_next("ranks"))
        expect_rank(vector_text("q"), strtoull(vector_text("n"), NULL, 10),
                    strtoull(vector_text("rank"), NULL, 10));
}

/* digits / 10^places, below 1, as a decimal point may stand anywhere, and zeros around the digits;
 * `power` is 10^places. */
static void check_spellings(uint64_t digits, uint64_t power, uint8_t places, uint64_t n)
{
    char q[300]; /* for any number of places, as gcc looks at it */
    const uint64_t rank = (uint64_t)(((uint128)digits * n + power - 1) / power);
    const uint64_t wanted = rank > 0 ? rank : 1;
    snprintf(q, sizeof q, "%" PRIu64 "e-%d", digits, places);
    expect_rank(q, n, wanted);
    snprintf(q, sizeof q, "+0.%0*" PRIu64 "00", places, digits);
    expect_rank(q, n, wanted);
    snprintf(q, sizeof q, "0.000%0*" PRIu64 "E+3", places, digits);
    expect_rank(q, n, wanted);
}

static void check_random_ranks(void)
{
    uint64_t power = 1;
    for (uint8_t places = 1; places <= 18; places++) {
        power *= 10;
        for (unsigned i = 0; i < scale_of(40, 200, 200); i++) {
            const uint64_t n = random_word() >> random_word() % 64;
            check_spellings(random_word() % power, power, places, n ? n : 1);
            check_spellings(random_word() % power, power, places, power); /* without a rest */
        }
    }
    for (uint64_t n = 1; n <= 200; n += n < 26 ? 1 : scale_of(6, 1, 1)) /* 50, 98, 200 among them */
        for (uint64_t percent = 0; percent < 100; percent++)
            check_spellings(percent, 100, 2, n);
}

int main(void)
{
    struct binning binning;
    check_ranks();
    check_random_ranks();
    binning_log_linear(&binning);
    check_bins(&binning, false);
    check_tight(&binning, DBL_MIN, 1.11 / 65, 4);
    const unsigned max = scale_is_small_or_slow() ? 1 : 2; /* time goes by the square of bins */
    for (unsigned digits = 1; digits <= max; digits++) {
        if (binning_digits(&binning, digits, false) != BINNING_OK)
            return 1;
        check_bins(&binning, false);
        check_tight(&binning, 1e-38, 1.11 / (2 * pow(10, digits - 1) + 1), digits + 2);
        binning_free(&binning);
    }
    for (unsigned digits = 1; digits <= 2; digits++) { /* of floats */
        if (binning_digits(&binning, digits, true) != BINNING_OK)
            return 1;
        check_bins(&binning, true);
        binning_free(&binning);
    }
    for (unsigned i = 0; i < scale_of(300, 2000, 2000); i++)
        check_random_edges();
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong != 0;
}

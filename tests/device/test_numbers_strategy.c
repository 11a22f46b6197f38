/* SPDX-License-Identifier: MIT */
/* Decimal text counted by the device against the CPU's parser, over every way to build bins.
 * Through the seam, as test_strategies.c. */
#include "gpu/count/strategy.h"
#include "tests/helpers/bits.h"
#include "tests/helpers/layouts.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/seam.h"
#include "tests/helpers/text_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_SIZE ((size_t)1 << 20)
#define PUT_MAX ((size_t)20004) /* bytes that one token takes at most, with white space */

static unsigned char text[SLOT_SIZE];
static unsigned cases, wrong;

/* --- texts --- */

static double any_double(void)
{
    return double_of_bits(random_word());
}

static size_t put_latency(char *to)
{
    return (size_t)sprintf(to, "0.%03u", random_below(1000));
}

static size_t put_digit(char *to)
{
    return (size_t)sprintf(to, "%u", random_below(10));
}

static size_t put_integer(char *to)
{
    return (size_t)sprintf(to, "%lld", (long long)random_word() >> random_below(64));
}

static size_t put_double(char *to)
{
    return (size_t)sprintf(to, random_below(2) ? "%.*g" : "%.*e", (int)random_below(30),
                           any_double());
}

/* Near the middle of two doubles, or just that. */
static size_t put_middle(char *to)
{
    return (size_t)sprintf(to, "%s%llu.%0*u", random_below(2) ? "-" : "",
                           (unsigned long long)1 << 53 | (random_word() & 0xffff),
                           3 + (int)random_below(900), random_below(2));
}

static size_t put_odd(char *to)
{
    static const char *const odd[] = {"nan", "inf", "-Infinity", "0x10",  "12abc", "--1", ".",
                                      "1e",  "-0",  "\xff",      "1e999", "5.",    ".5"};
    return (size_t)sprintf(to, "%s", odd[random_below(sizeof odd / sizeof odd[0])]);
}

static size_t put_long(char *to)
{
    static const unsigned lens[] = {31, 32, 33, 2048, 4095, 4096, 4097, 20000};
    return (size_t)sprintf(to, "%0*u", (int)lens[random_below(sizeof lens / sizeof lens[0])],
                           random_below(1000));
}

static size_t put_any(char *to)
{
    static size_t (*const put[])(char *) = {put_latency, put_digit,  put_integer,
                                            put_double,  put_middle, put_odd};
    return put[random_below(sizeof put / sizeof put[0])](to);
}

static size_t (*const kinds[])(char *) = {put_latency, put_digit, put_integer, put_double,
                                          put_middle,  put_odd,   put_long,    put_any};

/* Text of one kind, up to len bytes; nothing need follow the last token. */
static size_t fill(size_t (*put)(char *), size_t len)
{
    static char token[PUT_MAX + 1];
    size_t at = 0;
    for (;;) {
        size_t size = put(token);
        if (at + size > len)
            return at;
        memcpy(text + at, token, size);
        at += size;
        do {
            if (at == len)
                return at;
            text[at++] = random_below(8) ? '\n' : (unsigned char)"\t\n\v\f\r "[random_below(6)];
        } while (random_below(20) == 0);
    }
}

/* --- counting --- */

/* Many texts, one histogram. */
static void run_texts(struct device *device, const struct histogram_spec *spec, size_t max)
{
    size_t size = device_histogram_words(spec) * sizeof(uint64_t);
    uint64_t *expected = calloc(1, size), *counts = calloc(1, size);
    if (!expected || !counts)
        exit(1);
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (size_t len = 1; len <= max; len = len * 5 + random_below(7)) {
            size_t filled = fill(kinds[i], len);
            if (filled == 0)
                continue;
            cases++;
            text_rows_add(spec, text, filled, expected);
            if (seam_count(device, i % 2, text, filled, counts, size / sizeof *counts) != 0) {
                fprintf(stderr, "FAIL: %s\n", device_error(device));
                exit(1);
            }
            if (memcmp(counts, expected, size) != 0) {
                fprintf(stderr, "FAIL: %zu bins, kind %u, %zu bytes: wrong counts\n", spec->bins, i,
                        filled);
                wrong++;
                memcpy(expected, counts, size);
            }
        }
    free(expected);
    free(counts);
}

/* The binning is freed. */
static void run(struct binning *binning, size_t max)
{
    struct histogram_spec spec;
    struct error error;
    histogram_spec_numbers(&spec, binning);
    struct device *device = seam_open(STRATEGY_numbers, &spec, SLOT_SIZE, &error);
    if (!device) {
        fprintf(stderr, "FAIL: %zu bins: %s\n", spec.bins, error.text);
        exit(1);
    }
    run_texts(device, &spec, max);
    device_close(device);
    binning_free(&spec.binning);
}

int main(void)
{
    static const struct double_layout layouts[] = {
        {.max = 1, .bins = 10},
        {.min = -1e6, .max = 1e6, .bins = 1 << 20},
        {.edges = {-1e308, -1, 0, 0.25, 0.5, 9007199254740994, 1e300}, .edge_count = 7},
        {.digits = 1},
        {.digits = 3},
        {.digits = 5},
    };
    size_t max = scale_is_small_or_slow() ? 70000 : SLOT_SIZE;
    struct binning binning;
    if (!seam_has_device())
        return SEAM_SKIP;
    binning_log_linear(&binning);
    run(&binning, max);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (layout_double(&layouts[i], false, &binning) != BINNING_OK)
            return 1;
        run(&binning, max);
    }
    printf("%u texts, %u wrong\n", cases, wrong);
    return wrong != 0;
}

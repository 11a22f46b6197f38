/* SPDX-License-Identifier: MIT */
/* Every strategy that counts values, over every type and way to build bins, against binning.c.
 * Through the seam, as test_strategies.c. */
#include "gpu/count/strategy.h"
#include "tests/helpers/layouts.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/seam.h"
#include "tests/helpers/values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 26001 /* of any size: lanes takes four vectors a thread at a time */
#define VALUES_MAX_OF_OTHERS 5001

#define TOP ((int128)1 << 64)

static const struct whole_layout whole_layouts[] = {
    {.bins = 256},
    {.bins = 1000},
    {.bins = 65536},
    {.max = 1000, .bins = 7},
    {.max = 65536, .bins = 1000}, /* the reciprocal is rounded, as far as 16 bits allow */
    {.min = -32768, .max = 32768, .bins = 65535},
    {.min = -40001, .max = -39000, .bins = 10}, /* no value has so few */
    {.min = 70001, .max = 70100, .bins = 10},   /* or so many, of 16 bits */
    {.min = -3, .max = 100, .bins = 7},
    {.max = 4294967296, .bins = 1024},
    {.max = 4294967295, .bins = 7},
    {.min = -2147483648, .max = 2147483648, .bins = 64},
    {.min = -1000, .max = 9000000000, .bins = 12},
    {.max = TOP, .bins = 50},
    {.min = -TOP / 2, .max = TOP / 2, .bins = 33},
    {.min = 3, .max = TOP - 59, .bins = 1000}, /* the reciprocal is rounded */
    {.min = -TOP / 2, .max = TOP, .bins = 9},  /* no value has so many bits */
    {.min = 5, .max = 8, .bins = 20},          /* bins without a value */
    {.edges = {-5, 0, 3, 200, 70000, 5000000000, TOP - 1, TOP}, .edge_count = 8},
    {.min = 1, .max = 100000, .base = {2, 0}},
    {.max = 70000, .bins = 70000},              /* too many for one block's shared memory */
    {.min = -5, .max = 700000, .bins = 280000}, /* and for a few passes */
};

static const struct double_layout double_layouts[] = {
    {.max = 1, .bins = 10},
    {.min = -1e10, .max = 1e10, .bins = 1024},
    {.min = -1e300, .max = 1e300, .bins = 3},
    {.min = 1e-5, .max = 2e-5, .bins = 7},
    {.max = 1000, .bins = 1024},
    {.min = 0.1, .max = 0.9, .bins = 14000}, /* about as many as floats tell */
    {.min = 500, .max = 501, .bins = 100},   /* and as far from zero */
    {.max = 1e-40, .bins = 5},               /* floats have no number for a bin's reciprocal */
    {.min = -3e38, .max = 3e38, .bins = 1},  /* nor for this one's */
    {.min = -3e38, .max = 3e38, .bins = 12},
    {.min = 1, .max = 1.0000000000000018, .bins = 8},
    {.edges = {-1e308, -5e-324, 0, 5e-324, 0.1, 0.5, 3, 1e39}, .edge_count = 8},
    {.min = 1e-3, .max = 1e6, .base = {10, 0}},
    {.max = 1, .bins = 70000},
    {.digits = 1},
    {.digits = 2},
    {.digits = 3},
};

static unsigned char data[VALUES_MAX * 8];
static uint64_t *counts, *expected;
static unsigned cases, refused, wrong;

/* --- values --- */

/* The bits of a value near an edge; for floats from the edge as it is shown, which reads back. */
static uint64_t near_edge(const struct histogram_spec *spec, size_t k, int beside)
{
    char text[48];
    if (spec->type.kind != 'f')
        return (uint64_t)(binning_whole_edge(&spec->binning, k) + beside);
    binning_show_edge(&spec->binning, k, text);
    return value_bits(&spec->type, strtod(text, NULL)) + (uint64_t)beside;
}

/* Values beside edges, odd ones, small ones, any. */
static uint64_t value_for(const struct histogram_spec *spec, size_t i)
{
    static const double odd[] = {0,      -0.0,   NAN,    -NAN,    INFINITY, -INFINITY,
                                 5e-324, -1e-45, 1e-310, DBL_MAX, 0.5,      -1};
    const struct value_type *type = &spec->type;
    uint64_t random = random_word();
    switch (i % 5) {
    case 0:
        return near_edge(spec, random % (spec->binning.bins + 1), (int)(i / 5 % 3) - 1);
    case 1:
        if (type->kind == 'f')
            return value_bits(type, odd[i / 5 % (sizeof odd / sizeof odd[0])]);
        return (i / 5 % 2 ? 0 : ~0ull >> 1) + i / 10 % 2;
    case 2:
        return type->kind == 'f' ? value_bits(type, (double)random / 0x1p64) : random % 2000;
    case 3:
        return random;
    default:
        return type->kind == 'f' ? value_bits(type, ldexp(1, (int)(random % 2100) - 1075))
                                 : random >> random % 64;
    }
}

/* --- counting --- */

static void fail(const char *strategy, const struct histogram_spec *spec, size_t len,
                 const char *what)
{
    fprintf(stderr, "FAIL: %s, %s, %zu bins, %zu values: %s\n", strategy, spec->type.name,
            spec->binning.bins, len, what);
    wrong++;
}

/* Several lengths, on a device that goes on adding; the last all one value. */
static void run_lengths(struct device *device, const char *strategy,
                        const struct histogram_spec *spec)
{
    static const size_t lens[] = {1, 2, 7, 17, 1000, 4097, VALUES_MAX_OF_OTHERS, VALUES_MAX, 3000};
    memset(expected, 0, spec->bins * sizeof *expected);
    for (size_t n = 0; n < sizeof lens / sizeof lens[0]; n++) {
        size_t len = lens[n];
        if (len > VALUES_MAX_OF_OTHERS && strcmp(strategy, "lanes") != 0)
            continue;
        for (size_t i = 0; i < len; i++) {
            value_put(&spec->type, data, i,
                      len == 3000 && i > 0 ? value_get(&spec->type, data, 0)
                                           : value_for(spec, i + n));
            expected[value_row(spec, data, i)]++;
        }
        cases++;
        if (seam_count(device, (unsigned)n % 2, data, len * spec->type.size, counts, spec->bins) !=
            0)
            fail(strategy, spec, len, device_error(device));
        else if (memcmp(counts, expected, spec->bins * sizeof *counts) == 0)
            continue;
        else
            fail(strategy, spec, len, "wrong counts");
        exit(1);
    }
}

static void run_strategy(enum strategy_id strategy, const struct histogram_spec *spec)
{
    struct error error = {""};
    if (!strategy_counts(&strategies[strategy], spec))
        return;
    struct device *device = seam_open(strategy, spec, sizeof data, &error);
    if (!device) {
        /* Tables in shared memory, that of a warp at the most; and GPUs without clusters. */
        if ((!strstr(error.text, "of a block's shared memory") || spec->bins < 3000) &&
            !strstr(error.text, "needs a GPU of compute capability"))
            fail(strategies[strategy].name, spec, 0, error.text);
        refused++;
        return;
    }
    run_lengths(device, strategies[strategy].name, spec);
    device_close(device);
}

static void run_layout(const struct value_type *type, size_t layout)
{
    struct binning binning;
    enum binning_error error =
        type->kind == 'f' ? layout_double(&double_layouts[layout], type->size == 4, &binning)
                          : layout_whole(&whole_layouts[layout], &binning);
    if (error) {
        fprintf(stderr, "%s, bins %zu cannot be laid: %d\n", type->name, layout, error);
        exit(1);
    }
    struct histogram_spec spec;
    histogram_spec_values(&spec, type, &binning);
    counts = calloc(spec.bins, sizeof *counts);
    expected = calloc(spec.bins, sizeof *expected);
    for (unsigned i = 0; i < strategy_count; i++)
        run_strategy((enum strategy_id)i, &spec);
    free(counts);
    free(expected);
    binning_free(&binning);
}

/* Emulated, a launch takes long, and under a sanitizer longer still: then a few are enough. */
static size_t step(void)
{
    return !scale_is_small_or_slow() ? 1 : seam_is_emulated() ? 9 : 5;
}

int main(void)
{
    if (!seam_has_device())
        return SEAM_SKIP;
    size_t begin = 0;
    for (const struct value_type *type = value_types; type->name; type++, begin++) {
        bool is_whole = type->kind != 'f';
        size_t number = is_whole ? sizeof whole_layouts / sizeof whole_layouts[0]
                                 : sizeof double_layouts / sizeof double_layouts[0];
        for (size_t i = begin % step(); i < number; i += step())
            run_layout(type, i);
    }
    printf("%u counts, %u refused as too many bins, %u wrong\n", cases, refused, wrong);
    return wrong != 0;
}

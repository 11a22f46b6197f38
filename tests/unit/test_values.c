/* SPDX-License-Identifier: MIT */
/* Every counter of the CPU that this processor can run, over values of every type in bins of every
 * kind, against binning.c's own rows, one value after the other (tests/unit/test_binning.c tests
 * those). */
#include "src/cpu/count.h"
#include "tests/helpers/layouts.h"
#include "tests/helpers/random.h"
#include "tests/helpers/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX ((size_t)50000)

static unsigned char data[VALUES_MAX * 8];
static unsigned cases, wrong;

#define TOP ((int128)1 << 64)

static const struct whole_layout whole_layouts[] = {
    {.bins = 5},
    {.bins = 256},
    {.bins = 257},
    {.min = 1, .max = 101, .bins = 5},
    {.min = 7, .max = 1000000, .bins = 200},
    {.max = 4294967296, .bins = 256},
    /* As wide as powers of two, up to nearly all bits. */
    {.max = 4294967296, .bins = 2},
    {.min = -2147483648, .max = 2147483648, .bins = 64},
    {.max = 4294967296, .bins = 128},
    {.min = 16, .max = 1040, .bins = 256},
    {.min = -2147483648, .max = 2147483648, .bins = 255},
    {.min = -100, .max = 100, .bins = 7},
    {.max = TOP, .bins = 1000},
    {.min = -TOP / 2, .max = TOP / 2, .bins = 256},
    {.min = -5, .max = TOP - 6, .bins = 3},
    {.edges = {-3, 0, 1, 200, 70000}, .edge_count = 5},
    {.min = 1, .max = 1000000, .base = {10, 0}},
};

static const struct double_layout double_layouts[] = {
    {.min = -1, .max = 1, .bins = 10},
    {.max = 1e6, .bins = 256},
    {.min = -1e300, .max = 1e300, .bins = 5000},
    {.edges = {-0.5, 0, 0.5, 1e10}, .edge_count = 4},
    {.min = 1e-3, .max = 1e3, .base = {2, 0}},
    {.digits = 1},
    {.digits = 3},
    {.digits = 4},
};

/* A value's bits: any; or few of them, so that it lies near 0; or a float's that is not too large,
 * or odd. */
static uint64_t draw(const struct value_type *type)
{
    static const double odd[] = {0.0, -0.0, 0.5, 1, -1, 5e-324, 1e6, 1e300};
    uint64_t bits = random_word();
    unsigned kind = (unsigned)(bits >> 60);
    if (kind < 4)
        return bits << 4;
    if (type->kind == 'f')
        return value_bits(type, kind < 8 ? odd[bits % 8] : (double)(int64_t)(bits << 4) * 0x1p-62);
    bits = bits % 1000 >> kind % 4;
    return kind % 2 ? bits : (uint64_t) - (int64_t)bits;
}

static void check(const struct cpu_kernels *kernels, const struct histogram_spec *spec,
                  size_t values, const uint64_t *expected)
{
    size_t size = spec->bins * sizeof(uint64_t), half = values / 3 * spec->type.size;
    uint64_t *counts = calloc(spec->bins, sizeof *counts);
    struct count_plan plan = count_plan(kernels, spec);
    struct tally tally = {.bins = spec->bins, .counts = counts};
    count_samples(&plan, data, half, &tally);
    count_samples(&plan, data + half, values * spec->type.size - half, &tally);
    cases++;
    if (tally.samples != values || memcmp(counts, expected, size) != 0) {
        fprintf(stderr, "FAIL: %s, %s, %zu rows, %zu values\n", kernels->name, spec->type.name,
                spec->bins, values);
        wrong++;
    }
    free(counts);
}

static void check_all_kernels(const struct histogram_spec *spec, size_t values)
{
    uint64_t *expected = calloc(spec->bins, sizeof *expected);
    for (size_t i = 0; i < values; i++) {
        value_put(&spec->type, data, i, draw(&spec->type));
        expected[value_row(spec, data, i)]++;
    }
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++)
        if ((*kernels)->runs_here())
            check(*kernels, spec, values, expected);
    free(expected);
}

/* Every length, in a layout of the type's kind. */
static void check_layout(const struct value_type *type, size_t layout)
{
    static const size_t lengths[] = {0,     1,     2,     15,    16,    17,    63,
                                     64,    65,    1023,  1024,  1025,  16383, 16384,
                                     16385, 16448, 24575, 24576, 24577, 32769, VALUES_MAX};
    struct binning binning;
    struct histogram_spec spec;
    enum binning_error error =
        type->kind == 'f' ? layout_double(&double_layouts[layout], type->size == 4, &binning)
                          : layout_whole(&whole_layouts[layout], &binning);
    if (error) {
        fprintf(stderr, "FAIL: %s, layout %zu: %d\n", type->name, layout, error);
        exit(1);
    }
    histogram_spec_values(&spec, type, &binning);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        check_all_kernels(&spec, lengths[i]);
    binning_free(&binning);
}

int main(void)
{
    for (const struct value_type *type = value_types; type->name; type++) {
        size_t layouts = type->kind == 'f' ? sizeof double_layouts / sizeof double_layouts[0]
                                           : sizeof whole_layouts / sizeof whole_layouts[0];
        for (size_t i = 0; i < layouts; i++)
            check_layout(type, i);
    }
    printf("%u counts, %u wrong\n", cases, wrong);
    return wrong != 0;
}

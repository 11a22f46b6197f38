/* Every counter of the CPU that this processor can run, over values of every type in bins of every
 * kind, against binning.c's own rows, one value after the other (tests/test_binning.c holds those
 * to be right). */
#include "src/cpu/count.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX ((size_t)50000)

static unsigned char data[VALUES_MAX * 8];
static unsigned cases, wrong;

#define TOP ((whole)1 << 64)

/* How bins are laid: equal bins, powers of a base, or edges. */
static const struct {
    bool is_whole;
    whole first, last; /* of whole values; last is 0 where each is its own bin */
    double min, max;   /* of doubles */
    size_t bins;       /* 0: powers, or edges */
    struct decimal base;
} layouts[] = {
    {.is_whole = true, .bins = 5},
    {.is_whole = true, .bins = 256},
    {.is_whole = true, .bins = 257},
    {.is_whole = true, .first = 1, .last = 101, .bins = 5},
    {.is_whole = true, .first = 7, .last = 1000000, .bins = 200},
    {.is_whole = true, .first = 0, .last = 4294967296, .bins = 256},
    /* As wide as powers of two, up to nearly all bits. */
    {.is_whole = true, .first = 0, .last = 4294967296, .bins = 2},
    {.is_whole = true, .first = -2147483648, .last = 2147483648, .bins = 64},
    {.is_whole = true, .first = 0, .last = 4294967296, .bins = 128},
    {.is_whole = true, .first = 16, .last = 1040, .bins = 256},
    {.is_whole = true, .first = -2147483648, .last = 2147483648, .bins = 255},
    {.is_whole = true, .first = -100, .last = 100, .bins = 7},
    {.is_whole = true, .first = 0, .last = TOP, .bins = 1000},
    {.is_whole = true, .first = -TOP / 2, .last = TOP / 2, .bins = 256},
    {.is_whole = true, .first = -5, .last = TOP - 6, .bins = 3},
    {.is_whole = true},
    {.is_whole = true, .first = 1, .last = 1000000, .base = {10, 0}},
    {.min = -1, .max = 1, .bins = 10},
    {.min = 0, .max = 1e6, .bins = 256},
    {.min = -1e300, .max = 1e300, .bins = 5000},
    {.bins = 0},
    {.min = 1e-3, .max = 1e3, .base = {2, 0}},
};

static enum binning_error lay_whole(struct binning *binning, unsigned layout)
{
    static const whole edges[] = {-3, 0, 1, 200, 70000};
    whole first = layouts[layout].first, last = layouts[layout].last;
    if (layouts[layout].base.digits)
        return binning_log_whole(binning, first, last, layouts[layout].base);
    if (!layouts[layout].bins)
        return binning_edges_whole(binning, edges, sizeof edges / sizeof edges[0]);
    if (last != 0)
        return binning_equal_whole(binning, first, last, layouts[layout].bins);
    binning_own(binning, layouts[layout].bins);
    return BINNING_OK;
}

static enum binning_error lay_doubles(struct binning *binning, unsigned layout)
{
    static const double edges[] = {-0.5, 0, 0.5, 1e10};
    double min = layouts[layout].min, max = layouts[layout].max;
    if (layouts[layout].base.digits)
        return binning_log(binning, min, max, layouts[layout].base);
    if (!layouts[layout].bins)
        return binning_edges(binning, edges, sizeof edges / sizeof edges[0]);
    return binning_equal(binning, min, max, layouts[layout].bins);
}

static enum binning_error lay(struct binning *binning, unsigned layout)
{
    return layouts[layout].is_whole ? lay_whole(binning, layout) : lay_doubles(binning, layout);
}

/* A value's bits: any; or few of them, so that it lies near 0; or a float's that is not too large,
 * or odd. */
static uint64_t draw(const struct value_type *type)
{
    static const double odd[] = {0.0, -0.0, 0.5, 1, -1, 5e-324, 1e6, 1e300};
    uint64_t bits = random_word();
    unsigned kind = (unsigned)(bits >> 60);
    if (kind < 4)
        return bits << 4;
    double value = kind < 8 ? odd[kind] : (double)(int64_t)(bits << 4) * 0x1p-62;
    float single = (float)value;
    if (type->kind != 'f') {
        bits = bits % 1000 >> kind % 4;
        return kind % 2 ? bits : (uint64_t) - (int64_t)bits;
    }
    uint32_t single_bits;
    memcpy(&single_bits, &single, sizeof single_bits);
    memcpy(&bits, &value, sizeof bits);
    return type->size == 4 ? single_bits : bits;
}

static void put(const struct value_type *type, size_t i, uint64_t bits)
{
    for (size_t k = 0; k < type->size; k++)
        data[i * type->size + (type->big_endian ? type->size - 1 - k : k)] =
            (unsigned char)(bits >> 8 * k);
}

/* The row of value i, from its bytes. */
static size_t row_of(const struct histogram *histogram, size_t i)
{
    const struct value_type *type = &histogram->type;
    uint64_t bits = 0;
    for (size_t k = 0; k < type->size; k++)
        bits |= (uint64_t)data[i * type->size + (type->big_endian ? type->size - 1 - k : k)]
                << 8 * k;
    if (type->kind == 'f') {
        uint32_t low = (uint32_t)bits;
        float single;
        double value;
        memcpy(&single, &low, sizeof single);
        memcpy(&value, &bits, sizeof value);
        return binning_row(&histogram->binning, type->size == 4 ? (double)single : value);
    }
    unsigned unused = 64 - 8 * (unsigned)type->size;
    whole value = type->kind == 'i' ? (whole)((int64_t)(bits << unused) >> unused) : (whole)bits;
    return binning_row_whole(&histogram->binning, value);
}

static void check(const struct counter *counter, const struct histogram *histogram, size_t values,
                  const uint64_t *expected)
{
    size_t size = histogram->bins * sizeof(uint64_t), half = values / 3 * histogram->type.size;
    uint64_t *counts = calloc(histogram->bins, sizeof *counts);
    struct count_plan plan = count_plan(counter, histogram);
    struct tally tally = {.bins = histogram->bins, .counts = counts};
    count_samples(&plan, data, half, &tally);
    count_samples(&plan, data + half, values * histogram->type.size - half, &tally);
    cases++;
    if (tally.samples != values || memcmp(counts, expected, size) != 0) {
        fprintf(stderr, "FAIL: %s, %s, %zu rows, %zu values\n", counter->name, histogram->type.name,
                histogram->bins, values);
        wrong++;
    }
    free(counts);
}

static void check_counters(const struct histogram *histogram, size_t values)
{
    uint64_t *expected = calloc(histogram->bins, sizeof *expected);
    for (size_t i = 0; i < values; i++) {
        put(&histogram->type, i, draw(&histogram->type));
        expected[row_of(histogram, i)]++;
    }
    for (const struct counter *const *counter = counters; *counter; counter++)
        if ((*counter)->runs_here())
            check(*counter, histogram, values, expected);
    free(expected);
}

int main(void)
{
    static const size_t lengths[] = {0,     1,     2,     15,    16,    17,    63,
                                     64,    65,    1023,  1024,  1025,  16383, 16384,
                                     16385, 16448, 24575, 24576, 24577, 32769, VALUES_MAX};
    for (unsigned layout = 0; layout < sizeof layouts / sizeof layouts[0]; layout++)
        for (const struct value_type *type = value_types; type->name; type++) {
            struct binning binning;
            struct histogram histogram;
            if ((type->kind != 'f') != layouts[layout].is_whole)
                continue;
            enum binning_error error = lay(&binning, layout);
            if (error) {
                fprintf(stderr, "FAIL: layout %u: %d\n", layout, error);
                return 1;
            }
            histogram_values(&histogram, type, &binning);
            for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
                check_counters(&histogram, lengths[i]);
            binning_free(&binning);
        }
    printf("%u counts, %u wrong\n", cases, wrong);
    return wrong != 0;
}

/* Every strategy that counts values, over every type and way to lay bins, against binning.c.
 * Through the seam, as test_strategies.c. */
#include "gpu/device.h"
#include "gpu/strategy.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SKIP 77
#define VALUES_MAX 26001 /* of any size: lanes takes four vectors a thread at a time */
#define VALUES_MAX_OF_OTHERS 5001

#define TOP ((whole)1 << 64)
#define EDGES_MAX 8

/* A way to lay bins of whole values; those of max 0 are their own bin. */
struct whole_lay {
    whole min, max;
    size_t bins; /* 0: powers of two */
    whole edges[EDGES_MAX];
    size_t edge_count; /* 0: by min and max */
};

/* The same of doubles; 0 bins: powers of ten. */
struct double_lay {
    double min, max;
    size_t bins;
    double edges[EDGES_MAX];
    size_t edge_count;
};

static const struct whole_lay whole_lays[] = {
    {.bins = 256},
    {.bins = 1000},
    {.bins = 65536},
    {0, 1000, 7, {0}, 0},
    {0, 65536, 1000, {0}, 0}, /* whose reciprocal is rounded, as far as 16 bits allow */
    {-32768, 32768, 65535, {0}, 0},
    {-40001, -39000, 10, {0}, 0}, /* no value has so few */
    {70001, 70100, 10, {0}, 0},   /* or so many, of 16 bits */
    {-3, 100, 7, {0}, 0},
    {0, 4294967296, 1024, {0}, 0},
    {0, 4294967295, 7, {0}, 0},
    {-2147483648, 2147483648, 64, {0}, 0},
    {-1000, 9000000000, 12, {0}, 0},
    {0, TOP, 50, {0}, 0},
    {-TOP / 2, TOP / 2, 33, {0}, 0},
    {3, TOP - 59, 1000, {0}, 0}, /* whose reciprocal is rounded */
    {-TOP / 2, TOP, 9, {0}, 0},  /* no value has so many bits */
    {5, 8, 20, {0}, 0},          /* bins without a value */
    {.edges = {-5, 0, 3, 200, 70000, 5000000000, TOP - 1, TOP}, .edge_count = 8},
    {.min = 1, .max = 100000},
    {0, 70000, 70000, {0}, 0},    /* too many for one block's shared memory */
    {-5, 700000, 280000, {0}, 0}, /* and for a few passes */
};

static const struct double_lay double_lays[] = {
    {0, 1, 10, {0}, 0},
    {-1e10, 1e10, 1024, {0}, 0},
    {-1e300, 1e300, 3, {0}, 0},
    {1e-5, 2e-5, 7, {0}, 0},
    {0, 1000, 1024, {0}, 0},
    {0.1, 0.9, 14000, {0}, 0}, /* about as many as floats tell */
    {500, 501, 100, {0}, 0},   /* and as far from zero */
    {0, 1e-40, 5, {0}, 0},     /* floats have no number for a bin's reciprocal */
    {-3e38, 3e38, 1, {0}, 0},  /* nor for this one's */
    {-3e38, 3e38, 12, {0}, 0},
    {1, 1.0000000000000018, 8, {0}, 0},
    {.edges = {-1e308, -5e-324, 0, 5e-324, 0.1, 0.5, 3, 1e39}, .edge_count = 8},
    {.min = 1e-3, .max = 1e6},
    {0, 1, 70000, {0}, 0},
};

static unsigned char data[VALUES_MAX * 8];
static uint64_t *counts, *expected;
static unsigned cases, refused, wrong;

/* --- values --- */

static void put(const struct value_type *type, size_t i, uint64_t bits)
{
    for (size_t byte = 0; byte < type->size; byte++)
        data[i * type->size + (type->big_endian ? type->size - 1 - byte : byte)] =
            (unsigned char)(bits >> 8 * byte);
}

static uint64_t get(const struct value_type *type, size_t i)
{
    uint64_t bits = 0;
    for (size_t byte = 0; byte < type->size; byte++)
        bits |= (uint64_t)data[i * type->size + (type->big_endian ? type->size - 1 - byte : byte)]
                << 8 * byte;
    return bits;
}

static double double_of(const struct value_type *type, uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;
    float single;
    double value;
    memcpy(&single, &narrow, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return type->size == 4 ? (double)single : value;
}

static uint64_t bits_of(const struct value_type *type, double value)
{
    float single = (float)value;
    uint32_t narrow;
    uint64_t bits;
    memcpy(&narrow, &single, sizeof narrow);
    memcpy(&bits, &value, sizeof bits);
    return type->size == 4 ? narrow : bits;
}

static size_t row_of(const struct histogram *histogram, size_t i)
{
    const struct value_type *type = &histogram->type;
    uint64_t bits = get(type, i);
    if (type->kind == 'f')
        return binning_row(&histogram->binning, double_of(type, bits));
    bool negative = type->kind == 'i' && bits >> (8 * type->size - 1);
    whole value = (whole)bits - (negative ? (whole)1 << 8 * type->size : 0);
    return binning_row_whole(&histogram->binning, value);
}

/* The bits of a value near an edge; for floats from the edge as it is shown, which reads back. */
static uint64_t near_edge(const struct histogram *histogram, size_t k, int beside)
{
    char text[48];
    if (histogram->type.kind != 'f')
        return (uint64_t)(binning_whole_edge(&histogram->binning, k) + beside);
    binning_show_edge(&histogram->binning, k, text);
    return bits_of(&histogram->type, strtod(text, NULL)) + (uint64_t)beside;
}

/* Values beside edges, odd ones, small ones, any. */
static uint64_t value_for(const struct histogram *histogram, size_t i)
{
    static const double odd[] = {0,      -0.0,   NAN,    -NAN,    INFINITY, -INFINITY,
                                 5e-324, -1e-45, 1e-310, DBL_MAX, 0.5,      -1};
    const struct value_type *type = &histogram->type;
    uint64_t random = random_word();
    switch (i % 5) {
    case 0:
        return near_edge(histogram, random % (histogram->binning.bins + 1), (int)(i / 5 % 3) - 1);
    case 1:
        if (type->kind == 'f')
            return bits_of(type, odd[i / 5 % (sizeof odd / sizeof odd[0])]);
        return (i / 5 % 2 ? 0 : ~0ull >> 1) + i / 10 % 2;
    case 2:
        return type->kind == 'f' ? bits_of(type, (double)random / 0x1p64) : random % 2000;
    case 3:
        return random;
    default:
        return type->kind == 'f' ? bits_of(type, ldexp(1, (int)(random % 2100) - 1075))
                                 : random >> random % 64;
    }
}

/* --- counting --- */

static void fail(const char *strategy, const struct histogram *histogram, size_t len,
                 const char *what)
{
    fprintf(stderr, "FAIL: %s, %s, %zu bins, %zu values: %s\n", strategy, histogram->type.name,
            histogram->binning.bins, len, what);
    wrong++;
}

static int count(struct device *device, unsigned slot, size_t len)
{
    if (device_copy_in(device, slot, data, len) != 0 || device_count(device, slot, len) != 0 ||
        device_snapshot(device, slot, counts) != 0)
        return -1;
    int arrived;
    while ((arrived = device_arrived(device, slot)) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    return arrived == 1 ? 0 : -1;
}

/* Several lengths, on a device that goes on adding; the last all one value. */
static void run_lengths(struct device *device, const char *strategy,
                        const struct histogram *histogram)
{
    static const size_t lens[] = {1, 2, 7, 17, 1000, 4097, VALUES_MAX_OF_OTHERS, VALUES_MAX, 3000};
    memset(expected, 0, histogram->bins * sizeof *expected);
    for (size_t n = 0; n < sizeof lens / sizeof lens[0]; n++) {
        size_t len = lens[n];
        if (len > VALUES_MAX_OF_OTHERS && strcmp(strategy, "lanes") != 0)
            continue;
        for (size_t i = 0; i < len; i++) {
            put(&histogram->type, i,
                len == 3000 && i > 0 ? get(&histogram->type, 0) : value_for(histogram, i + n));
            expected[row_of(histogram, i)]++;
        }
        cases++;
        if (count(device, (unsigned)n % 2, len * histogram->type.size) != 0)
            fail(strategy, histogram, len, device_reason(device));
        else if (memcmp(counts, expected, histogram->bins * sizeof *counts) == 0)
            continue;
        else
            fail(strategy, histogram, len, "wrong counts");
        exit(1);
    }
}

static struct device *open_device(enum strategy_id strategy, const struct histogram *histogram,
                                  struct reason *why)
{
    struct device_plan plan = {
        .strategy = strategy, .histogram = histogram, .slots = 2, .slot_size = sizeof data};
    return device_open(&plan, why);
}

static void run_strategy(enum strategy_id strategy, const struct histogram *histogram)
{
    struct reason why = {""};
    if (!strategy_counts(&strategies[strategy], histogram))
        return;
    struct device *device = open_device(strategy, histogram, &why);
    if (!device) {
        /* Tables in shared memory, that of a warp at the most. */
        if (!strstr(why.text, "do not fit") || histogram->bins < 3000)
            fail(strategies[strategy].name, histogram, 0, why.text);
        refused++;
        return;
    }
    run_lengths(device, strategies[strategy].name, histogram);
    device_close(device);
}

static enum binning_error lay_whole_bins(struct binning *binning, const struct whole_lay *lay)
{
    if (lay->edge_count)
        return binning_edges_whole(binning, lay->edges, lay->edge_count);
    if (!lay->bins)
        return binning_log_whole(binning, lay->min, lay->max, (struct decimal){2, 0});
    if (lay->max != 0)
        return binning_equal_whole(binning, lay->min, lay->max, lay->bins);
    binning_own(binning, lay->bins);
    return BINNING_OK;
}

static enum binning_error lay_double_bins(struct binning *binning, const struct double_lay *lay)
{
    if (lay->edge_count)
        return binning_edges(binning, lay->edges, lay->edge_count);
    if (!lay->bins)
        return binning_log(binning, lay->min, lay->max, (struct decimal){10, 0});
    return binning_equal(binning, lay->min, lay->max, lay->bins);
}

static void run_lay(const struct value_type *type, size_t lay)
{
    struct binning binning;
    enum binning_error error = type->kind == 'f' ? lay_double_bins(&binning, &double_lays[lay])
                                                 : lay_whole_bins(&binning, &whole_lays[lay]);
    if (error) {
        fprintf(stderr, "%s, bins %zu cannot be laid: %d\n", type->name, lay, error);
        exit(1);
    }
    struct histogram histogram;
    histogram_values(&histogram, type, &binning);
    counts = calloc(histogram.bins, sizeof *counts);
    expected = calloc(histogram.bins, sizeof *expected);
    for (unsigned i = 0; i < strategy_count; i++)
        run_strategy((enum strategy_id)i, &histogram);
    free(counts);
    free(expected);
    binning_free(&binning);
}

/* Emulated, a launch takes long, and under a sanitizer longer still: then every fifth is enough. */
static size_t step(void)
{
    return scale_is_small_or_slow() ? 5 : 1;
}

int main(void)
{
    struct histogram bytes;
    struct reason why;
    histogram_bytes(&bytes);
    struct device *device = open_device(STRATEGY_naive, &bytes, &why);
    if (!device) {
        printf("skipped: no GPU: %s\n", why.text);
        return SKIP;
    }
    printf("on %s\n", device_name(device));
    device_close(device);
    size_t begin = 0;
    for (const struct value_type *type = value_types; type->name; type++, begin++) {
        bool is_whole = type->kind != 'f';
        size_t number = is_whole ? sizeof whole_lays / sizeof whole_lays[0]
                                 : sizeof double_lays / sizeof double_lays[0];
        for (size_t i = begin % step(); i < number; i += step())
            run_lay(type, i);
    }
    printf("%u counts, %u refused as too many bins, %u wrong\n", cases, refused, wrong);
    return wrong != 0;
}

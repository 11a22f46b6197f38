/* SPDX-License-Identifier: MIT */
/* The strategies for many bins, over data that try what they take for granted: counters that
 * overflow one by one and one into the next, values that are all of one range of bins, runs, and
 * data that are larger than the memory for sorting them. Values are their own bins. Through the
 * seam, as test_strategies.c. */
#include "gpu/count/strategy.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/seam.h"
#include "tests/helpers/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values; more than the sorting memory of an emulated device has room for. */
#define EMULATED_MAX 140001
#define DEVICE_MAX 5100001 /* an eighth of their tiles is an odd number */

#define TILE ((size_t)16384) /* values that partitioned sorts at once */

/* --- data: each gives value i of len, below bins --- */

static uint64_t uniform(size_t i, size_t len, uint64_t bins)
{
    (void)i, (void)len;
    return random_word() % bins;
}

/* The last bin but two, which is in the middle of a word of counters. */
static uint64_t one_value(size_t i, size_t len, uint64_t bins)
{
    (void)i, (void)len;
    return bins - 3;
}

/* One value, with another one now and then, so that no warp has a single one. */
static uint64_t nearly_one(size_t i, size_t len, uint64_t bins)
{
    (void)len;
    return i % 5 == 3 ? i % bins : bins / 2;
}

/* Counters next to each other that are full, or nearly so, when the one before carries. */
static uint64_t neighbours(size_t i, size_t len, uint64_t bins)
{
    static const unsigned char steps[16] = {0, 1, 2, 3, 0, 1, 2, 0, 1, 0, 0, 7, 6, 5, 4, 4};
    (void)len;
    return (bins / 3 & ~(uint64_t)7) + steps[i % 16];
}

/* 255, 256 or 257 of each value, so that counters overflow at the very end or just not. */
static uint64_t of_each_256(size_t i, size_t len, uint64_t bins)
{
    (void)len;
    return i / 768 * 3 % (bins - 3) + (i % 768 < 255 ? 0 : i % 768 < 511 ? 1 : 2);
}

/* The first range of bins of partitioned: see partition_shape_for in gpu/count/partitioned.cuh. */
static uint64_t one_range(size_t i, size_t len, uint64_t bins)
{
    uint64_t wanted = bins / 4096 | 1;
    uint64_t ranges = wanted < 263 ? wanted : 263;
    (void)len;
    return random_word() % (bins / 8 / ranges) * ranges * 8 + i % 3;
}

static uint64_t runs(size_t i, size_t len, uint64_t bins)
{
    static uint64_t value;
    (void)len;
    if (i == 0 || random_word() % 300 == 0)
        value = random_word() % bins;
    return value;
}

static uint64_t sorted(size_t i, size_t len, uint64_t bins)
{
    return (uint64_t)i * bins / len;
}

/* Counters that are full only after most of the data. */
static uint64_t late(size_t i, size_t len, uint64_t bins)
{
    return i < len / 4 * 3 ? random_word() % bins : neighbours(i, len, bins);
}

/* One range, which several blocks count, of which one has a tile that fills counters. */
static uint64_t one_tile(size_t i, size_t len, uint64_t bins)
{
    return i / TILE == 7 ? i % 8 : one_range(i, len, bins);
}

static const struct kind {
    const char *name;
    uint64_t (*value)(size_t i, size_t len, uint64_t bins);
    bool is_long;  /* as many values as there may be, in the quick suite too */
    bool is_large; /* for so many bins, too, that it is the only one there in the quick suite */
} kinds[] = {
    {"uniform", uniform, false, false},
    {"one value", one_value, true, false},
    {"nearly one", nearly_one, false, false},
    {"neighbours", neighbours, false, false},
    {"256 of each", of_each_256, true, false},
    {"one range", one_range, false, false},
    {"runs", runs, false, false},
    {"sorted", sorted, false, false},
    {"late", late, true, true},
    {"one tile", one_tile, true, true},
};

/* --- counting --- */

static unsigned char *data;
static uint64_t *counts, *expected;
static unsigned cases;

static size_t values_max(void)
{
    return seam_is_emulated() ? EMULATED_MAX : DEVICE_MAX;
}

static void count_one(struct device *device, enum strategy_id strategy,
                      const struct histogram_spec *spec, const struct kind *kind, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        uint64_t value = kind->value(i, len, spec->binning.bins);
        value_put(&spec->type, data, i, value);
        expected[value_row(spec, data, i)]++;
    }
    cases++;
    const char *what = "wrong counts";
    if (seam_count(device, cases % 2, data, len * spec->type.size, counts, spec->bins) != 0)
        what = device_error(device);
    else if (memcmp(counts, expected, spec->bins * sizeof *counts) == 0)
        return;
    fprintf(stderr, "FAIL: %s, %s, %zu bins, %zu values (%s): %s\n", strategies[strategy].name,
            spec->type.name, spec->binning.bins, len, kind->name, what);
    exit(1);
}

/* All kinds, or some; and then lengths about those of a tile, on the same device. */
static void run_strategy(enum strategy_id strategy, const struct histogram_spec *spec, bool all)
{
    static const size_t lens[] = {1, 7, 8191, 8192, 8193, TILE - 1, TILE, TILE + 1, 65535, 65537};
    struct error error = {""};
    struct device *device = seam_open(strategy, spec, values_max() * spec->type.size, &error);
    if (!device) {
        fprintf(stderr, "FAIL: %s: %s\n", strategies[strategy].name, error.text);
        exit(1);
    }
    memset(expected, 0, spec->bins * sizeof *expected);
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        size_t few = scale_is_small_or_slow() && !kinds[kind].is_long ? 9000 : values_max();
        if (all || kinds[kind].is_large)
            count_one(device, strategy, spec, &kinds[kind], few);
    }
    for (size_t n = 0; all && n < sizeof lens / sizeof lens[0]; n++)
        count_one(device, strategy, spec, &kinds[n % 2 * 5], lens[n]);
    device_close(device);
}

static void run_bins(const char *type_name, size_t bins, bool all)
{
    const struct value_type *type = value_types;
    while (strcmp(type->name, type_name) != 0)
        type++;
    struct histogram_spec spec;
    struct binning binning;
    binning_own(&binning, bins);
    histogram_spec_values(&spec, type, &binning);
    counts = calloc(spec.bins, sizeof *counts);
    expected = calloc(spec.bins, sizeof *expected);
    if (all)
        run_strategy(STRATEGY_packed, &spec, true);
    run_strategy(STRATEGY_partitioned, &spec, all);
    free(counts);
    free(expected);
    binning_free(&binning);
}

int main(void)
{
    if (!seam_has_device())
        return SEAM_SKIP;
    data = malloc(values_max() * 8);
    if (!data)
        return 1;
    run_bins("u16", 65536, true);
    run_bins("u32", 300001, true); /* two passes of packed, counters of words in partitioned */
    run_bins("u32be", 70000, true);
    if (!scale_is_small_or_slow())
        run_bins("u64", 65537, true);
    run_bins("u32", 4400000, !scale_is_small_or_slow()); /* counters of bytes in partitioned */
    free(data);
    printf("%u counts, all right\n", cases);
    return 0;
}

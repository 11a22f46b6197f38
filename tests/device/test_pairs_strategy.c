/* SPDX-License-Identifier: MIT */
/* The strategy for pairs of bytes, over every kind of data and length, against a naive count.
 * Through the seam, as test_strategies.c. */
#include "gpu/count/strategy.h"
#include "tests/helpers/random.h"
#include "tests/helpers/samples.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/seam.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a warp and a block take at a time, and what a block counts before it looks at its counters:
 * gpu/count/pairs.cuh. */
#define TILE ((size_t)1024)
#define TILES_OF_BLOCK (32 * TILE)
#define ROUND (16 * TILES_OF_BLOCK)

/* Long enough that each block has a round, one of twice its length, and some more: of the emulated
 * device, which has three, and of a GPU with up to 132. */
#define LONG_OF(blocks) ((blocks) * (3 * ROUND + TILES_OF_BLOCK) + 12345)

/* Data that are hard for this strategy alone, beside those of samples.h. */
enum kind {
    EIGHTHS = SAMPLES_KINDS, /* few pairs, whose first bytes are of all eighths alike */
    EIGHTHS_RARELY,          /* the same after each 1000 bytes of one value */
    LOWER,                   /* one pair, whose counter shares its word */
    LATE,                    /* ASCII, but not after the beginning */
    LATE_LOWER,              /* ASCII, and from the second round on one pair */
    KINDS,
};

static unsigned char *data;
static uint64_t *counts, *expected;
static unsigned cases, wrong;

static void fill(int kind, size_t len, size_t blocks)
{
    if (kind < SAMPLES_KINDS) {
        samples_fill((enum samples)kind, data, len);
        return;
    }
    random_seed(len);
    for (size_t i = 0; i < len; i++) {
        const unsigned char of_all = (unsigned char)(i % 8 * 32 + i / 8 % 3);
        if (kind == EIGHTHS || (kind == EIGHTHS_RARELY && i % 2000 < 1000))
            data[i] = of_all;
        else if (kind == LATE)
            data[i] = (unsigned char)(i < TILES_OF_BLOCK ? 'a' + random_below(26)
                                                         : 0xff - random_below(2));
        else if (kind == LATE_LOWER && i < blocks * ROUND)
            data[i] = (unsigned char)('a' + random_below(26));
        else
            data[i] = 0xd5;
    }
}

static void expect(size_t len, size_t step)
{
    for (size_t i = 0; i + 1 < len; i += step)
        expected[data[i] << 8 | data[i + 1]]++;
}

static void check(struct device *device, const struct histogram_spec *spec, int kind, size_t len)
{
    const size_t used = spec->is_aligned ? len - len % 2 : len;
    if (used == 0)
        return;
    fill(kind, used, seam_is_emulated() ? 3 : 132);
    expect(used, spec->is_aligned ? 2 : 1);
    cases++;
    if (seam_count(device, cases % 2, data, used, counts, PAIR_ROWS) != 0) {
        fprintf(stderr, "FAIL: %s\n", device_error(device));
        exit(1);
    }
    for (size_t pair = 0; pair < PAIR_ROWS; pair++)
        if (counts[pair] != expected[pair] && wrong++ < 10)
            fprintf(stderr, "FAIL: kind %d, %zu bytes%s: %04zx: %llu, not %llu\n", kind, used,
                    spec->is_aligned ? ", aligned" : "", pair, (unsigned long long)counts[pair],
                    (unsigned long long)expected[pair]);
    if (wrong)
        exit(1);
}

/* Lengths about everything that is taken at a time, and some more. */
static void check_lengths(struct device *device, const struct histogram_spec *spec)
{
    static const size_t abouts[] = {2, 16, 32, TILE, 2 * TILE, TILES_OF_BLOCK, 3 * TILES_OF_BLOCK};
    const int step = scale_is_small_or_slow() ? 4 : 1;
    for (size_t i = 0; i < sizeof abouts / sizeof abouts[0]; i++)
        for (size_t len = abouts[i] - 1; len <= abouts[i] + 2; len++)
            check(device, spec, (int)(len % KINDS), len);
    for (int kind = 0; kind < KINDS; kind += step)
        check(device, spec, kind, 2 * TILES_OF_BLOCK + random_below(TILE));
}

static void check_pairs(bool is_aligned)
{
    struct histogram_spec spec;
    struct error error = {""};
    histogram_spec_pairs(&spec, is_aligned);
    memset(expected, 0, PAIR_ROWS * sizeof expected[0]);
    const size_t max = LONG_OF(seam_is_emulated() ? 3 : 132);
    struct device *device = seam_open(STRATEGY_pairs, &spec, max, &error);
    if (!device) {
        fprintf(stderr, "FAIL: %s\n", error.text);
        exit(1);
    }
    check_lengths(device, &spec);
    for (int kind = scale_is_small_or_slow() ? EIGHTHS : 0; kind < KINDS; kind++)
        check(device, &spec, kind, max);
    device_close(device);
}

int main(void)
{
    if (!seam_has_device())
        return SEAM_SKIP;
    data = malloc(LONG_OF(132));
    counts = malloc(PAIR_ROWS * sizeof counts[0]);
    expected = malloc(PAIR_ROWS * sizeof expected[0]);
    if (!data || !counts || !expected)
        return 1;
    check_pairs(false);
    check_pairs(true);
    printf("%u counts, %u wrong\n", cases, wrong);
    return wrong != 0;
}

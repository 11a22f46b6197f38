/* SPDX-License-Identifier: MIT */
/* Counts of pairs of bytes against a naive count: lengths around those that are treated apart,
 * pairs as often as a counter of 8 bits takes to come round, random bytes, one byte again and
 * again, and counts in pages. The data lie between pages that must not be touched. */
#include "src/cpu/count.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "src/tally/histogram_spec.h"
#include "src/tally/paged_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY ((size_t)1 << 20)
#define FEW ((size_t)16 << 10) /* as in src/cpu/count.c */

static unsigned cases, wrong;
static uint64_t expected[PAIR_ROWS], counts[PAIR_ROWS];

/* Pages for all rows, or for hardly any. */
static void count_in_pages(const unsigned char *data, size_t len, bool is_aligned, size_t size,
                           struct tally *tally)
{
    struct paged_set *set = paged_open(PAIR_ROWS, 1, size);
    if (!set)
        exit(99);
    count_byte_pairs(data, len, is_aligned, tally, paged_member(set, 0));
    paged_add(set, counts);
    paged_close(set);
}

static void check(const char *what, const unsigned char *data, size_t len)
{
    for (int kind = 0; kind < 6; kind++) {
        const bool is_aligned = kind % 2;
        uint64_t samples = 7;
        struct tally tally = {.bins = PAIR_ROWS, .counts = counts, .samples = samples};
        for (size_t row = 0; row < PAIR_ROWS; row++) /* they are added to */
            expected[row] = counts[row] = row % 3;
        for (size_t i = 0; i + 1 < len; i += 1 + is_aligned, samples++)
            expected[data[i] * 256 + data[i + 1]]++;
        if (kind < 2)
            count_byte_pairs(data, len, is_aligned, &tally, NULL);
        else
            count_in_pages(data, len, is_aligned, kind < 4 ? (size_t)1 << 20 : 4096, &tally);
        cases++;
        if (memcmp(counts, expected, sizeof counts) == 0 && tally.samples == samples)
            continue;
        printf("FAIL: %s, %zu bytes, kind %d\n", what, len, kind);
        wrong++;
    }
}

/* At the beginning of the room and at its end. */
static void check_both_ends(const char *what, unsigned char *scratch, size_t len)
{
    check(what, scratch, len);
    check(what, scratch + CAPACITY - len, len);
}

static void check_lengths(const char *what, unsigned char *scratch)
{
    static const size_t lengths[] = {0,
                                     1,
                                     2,
                                     3,
                                     8,
                                     9,
                                     255,
                                     FEW - 1,
                                     FEW,
                                     FEW + 1,
                                     FEW + 2,
                                     FEW + 7,
                                     FEW + 8,
                                     FEW + 15,
                                     FEW + 16,
                                     FEW + 17,
                                     262143,
                                     262144,
                                     262145,
                                     262146,
                                     CAPACITY - 1,
                                     CAPACITY - 15,
                                     CAPACITY - 16,
                                     CAPACITY};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        check_both_ends(what, scratch, lengths[i]);
    for (size_t len = FEW; len < FEW + 40; len++)
        check_both_ends(what, scratch, len);
}

/* Fills the room with random bytes of the first `kinds`. */
static void fill(unsigned char *scratch, unsigned kinds)
{
    for (size_t i = 0; i < CAPACITY; i++)
        scratch[i] = (unsigned char)random_below(kinds);
}

/* A pair as often as a counter takes to come round once or more, and once more or less. */
static void check_carries(unsigned char *scratch)
{
    static const unsigned often[] = {254, 255, 256, 257, 511, 512, 513, 16384, 65535, 65536};
    for (size_t i = 0; i < sizeof often / sizeof often[0]; i++) {
        fill(scratch, 254);
        for (unsigned left = often[i]; left > 0; left--) {
            scratch[6 * left] = 254;
            scratch[6 * left + 1] = 255;
        }
        check("a pair some times", scratch, CAPACITY);
        memset(scratch, 'x', often[i] + 1);
        check("a byte some times", scratch, FEW * 8);
    }
}

int main(void)
{
    unsigned char *scratch = guarded_memory(CAPACITY);
    fill(scratch, 256);
    check_lengths("random", scratch);
    fill(scratch, 5);
    check_lengths("five bytes", scratch);
    memset(scratch, 255, CAPACITY);
    check_lengths("one byte", scratch);
    check_carries(scratch);
    for (unsigned round = 0; round < scale_of(20, 200, 2000); round++) {
        const size_t begin = random_below(1000), len = random_below(CAPACITY - 1000);
        fill(scratch, 1 + random_below(256));
        check("random", scratch + begin, len);
    }
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}

/* SPDX-License-Identifier: MIT */
/* For libFuzzer: pairs of bytes, overlapping and aligned, in a table and in pages, against a naive
 * count: at once, and in two parts as chunks have them, the second of which begins with the last
 * byte of the first. The first byte says how often the others come again, as only long data reach
 * the counters of 8 bits; the second where they are cut. */
#include "src/cpu/count.h"
#include "tests/fuzz/fuzz.h"
#include "src/tally/histogram_spec.h"
#include "src/tally/paged_counts.h"

#include <stdlib.h>
#include <string.h>

static uint64_t expected[PAIR_ROWS], counts[PAIR_ROWS];

/* Pages are too few for many kinds of pairs: then all share a table. */
#define FEW_PAGES ((size_t)4096)

static void count(const unsigned char *data, size_t len, bool is_aligned, size_t pages,
                  struct tally *tally)
{
    struct paged_set *set = pages ? paged_open(PAIR_ROWS, 1, pages) : NULL;
    fuzz_require(!pages || set, "out of memory");
    count_byte_pairs(data, len, is_aligned, tally, set ? paged_member(set, 0) : NULL);
    if (set)
        paged_add(set, counts);
    paged_close(set);
}

static void check(const unsigned char *data, size_t len, size_t cut, bool is_aligned, size_t pages)
{
    uint64_t samples = 0;
    struct tally tally = {.bins = PAIR_ROWS, .counts = counts};
    memset(expected, 0, sizeof expected);
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i + 1 < len; i += 1 + is_aligned, samples++)
        expected[data[i] * 256 + data[i + 1]]++;
    if (is_aligned)
        cut -= cut % 2;
    count(data, cut, is_aligned, pages, &tally);
    const size_t again = !is_aligned && cut > 0; /* the last byte begins a pair as well */
    count(data + cut - again, len - cut + again, is_aligned, pages, &tally);
    fuzz_require(memcmp(counts, expected, sizeof counts) == 0, "counts differ");
    fuzz_require(tally.samples == samples, "another number of pairs");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const size_t times = 1 + data[0], len = (size - 2) * times;
    unsigned char *bytes = malloc(len ? len : 1); /* of that size, for the sanitizer */
    fuzz_require(bytes != NULL, "out of memory");
    for (size_t i = 0; i < times; i++)
        memcpy(bytes + i * (size - 2), data + 2, size - 2);
    for (int is_aligned = 0; is_aligned < 2; is_aligned++) {
        check(bytes, len, len * data[1] / 255, is_aligned, 0);
        check(bytes, len, len * data[1] / 255, is_aligned, FEW_PAGES);
    }
    free(bytes);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* The strategy that counts characters, and groups of them, over texts of all scripts, hostile bytes
 * and every length that matters, against the definition. Through the seam, as test_strategies is.
 */
#include "gpu/engine/row_pages.h"
#include "gpu/count/strategy.h"
#include "src/tally/characters.h"
#include "tests/helpers/check_characters.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/seam.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_SIZE ((size_t)1 << 20)

static unsigned char data[SLOT_SIZE];
static unsigned cases, wrong;

enum kind { LETTERS_ALONE, TEXT, BROKEN, HARD, ANY_BYTES, ONE_BYTE, ONE_CHARACTER, PLANES, KINDS };

static void fill_with_points(size_t len, uint32_t first, unsigned count)
{
    size_t at = 0;
    while (at + 4 <= len)
        at += characters_put(data + at, first + random_below(count));
    memset(data + at, ' ', len - at);
}

static void fill(enum kind kind, size_t len)
{
    switch (kind) {
    case LETTERS_ALONE:
        fill_with_points(len, 'a', 26);
        break;
    case TEXT:
        characters_make(data, len, 0);
        break;
    case BROKEN:
        characters_make(data, len, (unsigned)len / 50 + 1);
        break;
    case HARD:
        characters_make_hard(data, len);
        break;
    case ANY_BYTES:
        for (size_t i = 0; i < len; i++)
            data[i] = (unsigned char)random_word();
        break;
    case ONE_BYTE:
        memset(data, random_below(2) ? 'e' : 0x80, len);
        break;
    case ONE_CHARACTER:
        fill_with_points(len, 0x1f600, 1);
        break;
    case PLANES: /* with surrogates, and what is too great */
        fill_with_points(len, 0, 0x120000);
        break;
    case KINDS:
        break;
    }
}

static void expect(const struct histogram_spec *spec, size_t len, uint64_t *expected)
{
    uint32_t point;
    for (size_t at = 0; at < len;) {
        at += characters_naive(data + at, len - at, &point);
        expected[spec->groups ? character_group(spec->groups, point) : point]++;
    }
}

/* A snapshot as rows. */
static void rows_of(const struct histogram_spec *spec, const uint64_t *words, uint64_t *rows)
{
    memset(rows, 0, spec->bins * sizeof *rows);
    if (row_pages_has(spec))
        row_pages_add(words, rows, spec->bins);
    else
        memcpy(rows, words, spec->bins * sizeof *rows);
}

static void run_lengths(struct device *device, const struct histogram_spec *spec,
                        const size_t *lens, size_t count)
{
    const size_t words = device_histogram_words(spec);
    uint64_t *expected = calloc(spec->bins, sizeof *expected);
    uint64_t *rows = calloc(spec->bins, sizeof *rows), *seen = calloc(words, sizeof *seen);
    if (!expected || !rows || !seen)
        abort();
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < count; i++) {
            fill((enum kind)kind, lens[i]);
            expect(spec, lens[i], expected);
            cases++;
            if (seam_count(device, (unsigned)i % 2, data, lens[i], seen, words) != 0) {
                fprintf(stderr, "FAIL: %s\n", device_error(device));
                exit(1);
            }
            rows_of(spec, seen, rows);
            if (memcmp(rows, expected, spec->bins * sizeof *rows) == 0)
                continue;
            fprintf(stderr, "FAIL: %zu bins, kind %d, %zu bytes\n", spec->bins, kind, lens[i]);
            memcpy(expected, rows, spec->bins * sizeof *rows);
            wrong++;
        }
    free(expected);
    free(rows);
    free(seen);
}

static void run(const struct histogram_spec *spec)
{
    static const size_t all[] = {1,    2,    3,    4,    5,    15,   16,    17,    31,   32,
                                 33,   35,   63,   64,   65,   511,  512,   513,   1023, 1024,
                                 1025, 1027, 2047, 2048, 2049, 4097, 65537, 300007};
    static const size_t few[] = {1, 33, 1025, 20011};
    const bool is_quick = scale_is_small_or_slow();
    struct error error = {""};
    struct device *device = seam_open(STRATEGY_characters, spec, SLOT_SIZE, &error);
    if (!device) {
        fprintf(stderr, "FAIL: %s\n", error.text);
        exit(1);
    }
    run_lengths(device, spec, is_quick ? few : all,
                is_quick ? sizeof few / sizeof few[0] : sizeof all / sizeof all[0]);
    device_close(device);
}

int main(void)
{
    struct histogram_spec spec;
    if (!seam_has_device())
        return SEAM_SKIP;
    histogram_spec_characters(&spec);
    run(&spec);
    histogram_spec_categories(&spec);
    run(&spec);
    histogram_spec_blocks(&spec);
    run(&spec);
    printf("%u counts, %u wrong\n", cases, wrong);
    return wrong != 0;
}

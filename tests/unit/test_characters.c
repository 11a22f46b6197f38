/* SPDX-License-Identifier: MIT */
/* Every counter of characters that this processor can run against table 3-7 of the Unicode
 * Standard: all code points, all sequences of two and, at full scale, three bytes, all cuts of a
 * text, random strings of bytes that are hard for a decoder, and counts in pages. */
#include "src/cpu/count.h"
#include "src/tally/characters.h"
#include "tests/helpers/check_characters.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "src/input/engine.h"
#include "src/tally/histogram_spec.h"
#include "src/tally/paged_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY ((size_t)64 << 10)
#define TEXT 1024

static unsigned long cases, wrong;

static void check(const unsigned char *data, size_t len, size_t cut)
{
    cases++;
    if (wrong < 20 && !check_characters(data, len, cut))
        wrong++;
}

/* All code points and some above, many at a time, so that vectors have them. */
static void check_points(unsigned char *scratch)
{
    for (uint32_t point = 0; point < 0x120000;) {
        size_t len = 0;
        while (len < 4000 && point < 0x120000)
            len += characters_put(scratch + len, point++);
        check(scratch, len, len / 2);
    }
}

/* Each sequence of two or three bytes, alone and with 70 letters before and after it. */
static void check_sequences(unsigned char *scratch, bool quick)
{
    static const unsigned char some[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0,
                                         0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef,
                                         0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff};
    memset(scratch, 'x', 143);
    for (unsigned first = 0x80; first < 0x100; first++)
        for (unsigned second = 0; second < 0x100; second += quick ? 13 : 1)
            for (size_t third = 0; third < sizeof some; third++) {
                const unsigned char bytes[] = {(unsigned char)first, (unsigned char)second,
                                               some[third]};
                check(bytes, 3, 1 + third % 2);
                if (quick && (first + second / 13 + third) % 4 != 0)
                    continue; /* most of the time goes here */
                memcpy(scratch + 60 + third % 7, bytes, 3);
                check(scratch, 143, 64);
                memset(scratch + 60, 'x', 12);
            }
}

static void check_cuts(unsigned char *scratch)
{
    for (unsigned errors = 0; errors < 40; errors += 13) {
        characters_make(scratch, TEXT, errors);
        for (size_t cut = 0; cut <= TEXT; cut++)
            check(scratch, TEXT, cut);
    }
}

static void check_random(unsigned char *scratch, unsigned long count)
{
    static const unsigned char hard[] = {'A',  0x80, 0xbf, 0x90, 0xa0, 0x9f, 0x8f, 0xc0, 0xc2, 0xdf,
                                         0xe0, 0xe1, 0xed, 0xee, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};
    for (unsigned long i = 0; i < count; i++) {
        size_t len = 1 + random_below(i % 16 ? 24 : 200);
        unsigned char *data = scratch + CAPACITY - len; /* nothing after it may be read */
        for (size_t at = 0; at < len; at++)
            data[at] = i % 2 ? hard[random_below(sizeof hard)] : (unsigned char)random_word();
        if (i % 4 == 0)
            characters_make(data, len, random_below(3));
        check(data, len, random_below((unsigned)len + 1));
    }
}

/* The same in pages, of which there are few, and in a table. */
static void check_pages(unsigned char *scratch)
{
    struct histogram_spec spec;
    struct tally one, rest;
    histogram_spec_characters(&spec);
    struct paged_set *set = paged_open(spec.bins, 1, 1);
    if (!set || tally_open(&one, &spec) != 0 || tally_open(&rest, &spec) != 0)
        abort();
    struct count_plan plan = count_plan(cpu_kernels_find(NULL), &spec);
    for (unsigned i = 0; i < 60; i++) {
        struct chunk chunk = {.data = scratch,
                              .len = characters_make(scratch, CAPACITY, 100 * (i % 2))};
        count_chunk(&plan, &chunk, &one, NULL, NULL);
        count_chunk(&plan, &chunk, &rest, paged_member(set, 0), NULL);
    }
    paged_add(set, rest.counts);
    cases++;
    if (rest.samples != one.samples ||
        memcmp(rest.counts, one.counts, one.bins * sizeof one.counts[0]) != 0) {
        fprintf(stderr, "FAIL: counts in pages\n");
        wrong++;
    }
    tally_close(&one);
    tally_close(&rest);
    paged_close(set);
}

int main(void)
{
    bool quick = scale_is_small_or_slow();
    unsigned char *scratch = guarded_memory(CAPACITY);
    check_points(scratch);
    check_sequences(scratch, quick);
    check_cuts(scratch);
    check_random(scratch, scale_of(20000, 1000000, 1000000));
    check_pages(scratch);
    if (!check_characters_end()) {
        fprintf(stderr, "FAIL: counts in rows of other characters\n");
        wrong++;
    }
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong != 0;
}

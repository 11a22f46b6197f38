/* SPDX-License-Identifier: MIT */
#include "check_characters.h"
#include "src/cpu/count.h"
#include "src/tally/characters.h"
#include "tests/helpers/random.h"
#include "src/tally/histogram_spec.h"

#include <stdio.h>
#include <stdlib.h>

/* Table 3-7 of the Unicode Standard, "Well-Formed UTF-8 Byte Sequences": the first code point of
 * each row, and the least and the greatest of each byte. */
static const struct {
    uint32_t first;
    unsigned size;
    unsigned char bytes[4][2];
} well_formed[] = {
    {0x0000, 1, {{0x00, 0x7f}}},
    {0x0080, 2, {{0xc2, 0xdf}, {0x80, 0xbf}}},
    {0x0800, 3, {{0xe0, 0xe0}, {0xa0, 0xbf}, {0x80, 0xbf}}},
    {0x1000, 3, {{0xe1, 0xec}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {0xd000, 3, {{0xed, 0xed}, {0x80, 0x9f}, {0x80, 0xbf}}},
    {0xe000, 3, {{0xee, 0xef}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {0x10000, 4, {{0xf0, 0xf0}, {0x90, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {0x40000, 4, {{0xf1, 0xf3}, {0x80, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {0x100000, 4, {{0xf4, 0xf4}, {0x80, 0x8f}, {0x80, 0xbf}, {0x80, 0xbf}}},
};

#define WELL_FORMED (sizeof well_formed / sizeof well_formed[0])

/* Returns how many bytes of the row's character data[0..len) begins with. */
static size_t match(size_t row, const unsigned char *data, size_t len)
{
    size_t i = 0;
    while (i < well_formed[row].size && i < len && data[i] >= well_formed[row].bytes[i][0] &&
           data[i] <= well_formed[row].bytes[i][1])
        i++;
    return i;
}

/* The code point that is so many after the row's first: each byte is a digit, and its least is 0 in
 * the row's first code point. */
static uint32_t point_of(size_t row, const unsigned char *data)
{
    uint32_t offset = 0;
    for (unsigned i = 0; i < well_formed[row].size; i++) {
        offset *= 64;
        offset += (uint32_t)data[i];
        offset -= well_formed[row].bytes[i][0];
    }
    return well_formed[row].first + offset;
}

/* The first character, or the maximal subpart of one: a sequence that cannot be longer and begins a
 * well-formed one, or else one byte. */
size_t characters_naive(const unsigned char *data, size_t len, uint32_t *point)
{
    size_t longest = 1;
    *point = CHARACTER_INVALID;
    for (size_t row = 0; row < WELL_FORMED; row++) {
        size_t matched = match(row, data, len);
        if (matched == well_formed[row].size)
            *point = point_of(row, data);
        longest = matched > longest ? matched : longest;
    }
    return longest;
}

size_t characters_put(unsigned char *to, uint32_t point)
{
    if (point < 0x80) {
        to[0] = (unsigned char)point;
        return 1;
    }
    size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; point >>= 6)
        to[i] = (unsigned char)(0x80 | (point & 0x3f));
    to[0] = (unsigned char)((0xf00 >> size) | point);
    return size;
}

size_t characters_make(unsigned char *to, size_t len, unsigned errors)
{
    static const uint32_t begins[] = {0x20, 0xa0, 0x4e00, 0x1f300};
    static const unsigned lengths[] = {0x5f, 0x700, 0x5000, 0x400};
    size_t at = 0;
    unsigned kind = random_below(4);
    while (at + 4 <= len) {
        kind = random_below(4) ? kind : random_below(4);
        at += characters_put(to + at, begins[kind] + random_below(lengths[kind]));
    }
    while (at < len)
        to[at++] = '.';
    while (errors-- > 0)
        to[random_below((unsigned)len)] = (unsigned char)random_word();
    return len;
}

void characters_make_hard(unsigned char *to, size_t len)
{
    static const unsigned char hard[] = {'A',  0x80, 0xbf, 0x90, 0xa0, 0x9f, 0x8f, 0xc0, 0xc2, 0xdf,
                                         0xe0, 0xe1, 0xed, 0xee, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};
    for (size_t at = 0; at < len; at++)
        to[at] = hard[random_below(sizeof hard)];
}

static struct tally tally; /* all zeros between two checks */

/* Takes the characters of data[0..len) off the tally. True if that leaves none of these rows. */
static bool take_off(const unsigned char *data, size_t len)
{
    bool is_left = false;
    uint32_t point;
    for (size_t at = 0; at < len; at += characters_naive(data + at, len - at, &point)) {
        characters_naive(data + at, len - at, &point);
        tally.counts[point]--;
        tally.samples--;
    }
    for (size_t at = 0; at < len; at += characters_naive(data + at, len - at, &point)) {
        characters_naive(data + at, len - at, &point);
        is_left |= tally.counts[point] != 0;
        tally.counts[point] = 0;
    }
    is_left |= tally.samples != 0;
    tally.samples = 0;
    return !is_left;
}

static bool check_cut(const struct cpu_kernels *kernels, const struct histogram_spec *spec,
                      const unsigned char *data, size_t len, size_t cut)
{
    struct count_plan plan = count_plan(kernels, spec);
    count_samples(&plan, data, cut, &tally);
    count_samples(&plan, data + cut, len - cut, &tally);
    if (take_off(data, len))
        return true;
    fprintf(stderr, "FAIL: %s: %zu bytes, cut at %zu:", kernels->name, len, cut);
    for (size_t i = 0; i < len && i < 100; i++)
        fprintf(stderr, " %02x", data[i]);
    fprintf(stderr, "\n");
    return false;
}

bool check_characters(const unsigned char *data, size_t len, size_t cut)
{
    struct histogram_spec spec;
    bool is_right = true;
    histogram_spec_characters(&spec);
    if (!tally.counts && tally_open(&tally, &spec) != 0)
        abort();
    const size_t kept = cut - characters_tail(data, cut);
    const size_t left = cut + characters_head(data + cut, len - cut);
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++)
        if ((*kernels)->runs_here())
            is_right &= check_cut(*kernels, &spec, data, len, len) &&
                        check_cut(*kernels, &spec, data, len, kept) &&
                        check_cut(*kernels, &spec, data, len, left);
    return is_right;
}

bool check_characters_end(void)
{
    bool is_right = !tally.counts || tally_next_counted(&tally, 0) == tally.bins;
    tally_close(&tally);
    return is_right;
}

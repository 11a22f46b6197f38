/* SPDX-License-Identifier: MIT */
/* Pairs of bytes: each byte with the one after it, or bytes 0 and 1, 2 and 3, and so on. */
#include "statistics.h"

#include <math.h>
#include <stdio.h>

/* Writes a byte as the note of a pair has it: a space in quotes would look like three bytes. */
static void show_in_pair(unsigned byte, char text[ROW_TEXT])
{
    if (byte == ' ')
        snprintf(text, ROW_TEXT, "\\x20");
    else
        byte_show(byte, text);
}

static void pairs_label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    (void)spec;
    const unsigned pair = (unsigned)row;
    char first[ROW_TEXT], second[ROW_TEXT];
    row_label_set(label, pair, pair);
    show_in_pair(pair >> 8, first);
    show_in_pair(pair & 0xff, second);
    snprintf(label->name, sizeof label->name, "0x%04x", pair);
    snprintf(label->note, sizeof label->note, "%.8s%.8s", first, second);
}

/* Returns the entropy of the second byte of a pair whose first byte is known, in bits. */
static double conditional_entropy(const uint64_t *counts)
{
    uint64_t firsts[BYTE_VALUES] = {0};
    for (size_t row = 0; row < PAIR_ROWS; row++)
        firsts[row / BYTE_VALUES] += counts[row];
    const double rest =
        statistics_entropy(counts, PAIR_ROWS) - statistics_entropy(firsts, BYTE_VALUES);
    return rest < 0 ? 0 : rest; /* negative only by rounding; NaN stays NaN */
}

static void pairs_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                 struct statistics *to)
{
    (void)spec;
    const uint64_t *counts = tally->counts;
    uint64_t distinct = 0;
    for (size_t row = 0; row < PAIR_ROWS; row++)
        distinct += counts[row] > 0;
    statistics_add_count(to, "pairs", tally->samples);
    statistics_add_count(to, "distinct", distinct);
    statistics_add_rounded(to, "entropy", statistics_entropy(counts, PAIR_ROWS), 6);
    statistics_add_rounded(to, "conditional-entropy", conditional_entropy(counts), 6);
}

const struct mode mode_pairs = {
    .id = MODE_PAIRS,
    .name = "pairs",
    .has_pairs = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "chars"},
    .label_row = pairs_label_row,
    .add_statistics = pairs_add_statistics,
};

void histogram_spec_pairs(struct histogram_spec *spec, bool is_aligned)
{
    *spec = (struct histogram_spec){.mode = &mode_pairs,
                                    .sample_size = is_aligned ? 2 : 0,
                                    .width = 1,
                                    .bins = PAIR_ROWS,
                                    .is_aligned = is_aligned};
}

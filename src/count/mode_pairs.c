/* SPDX-License-Identifier: MIT */
/* Pairs of bytes: each two bytes that follow each other, or each two of which none is in another
 * pair. */
#include "byte_rows.h"
#include "statistics.h"

#include <math.h>
#include <stdio.h>

#define BYTE_VALUES 256

/* Pairs that overlap have no size of their own: all but the last byte begin one. */
static size_t pair_sample_size(const struct histogram *histogram)
{
    return histogram->is_aligned ? 2 : 0;
}

static uint64_t pair_samples_most(const struct histogram *histogram, size_t len)
{
    return histogram->is_aligned ? len / 2 : len > 0 ? len - 1 : 0;
}

/* The byte as the note of a pair has it: a space in quotes would look like three bytes. */
static void show_in_pair(unsigned byte, char text[ROW_TEXT])
{
    if (byte == ' ')
        snprintf(text, ROW_TEXT, "\\x20");
    else
        byte_show(byte, text);
}

static void pairs_label_row(const struct histogram *histogram, size_t row, struct row_label *label)
{
    (void)histogram;
    const unsigned pair = (unsigned)row;
    char first[ROW_TEXT], second[ROW_TEXT];
    byte_label_row(pair, pair, label);
    show_in_pair(pair >> 8, first);
    show_in_pair(pair & 0xff, second);
    snprintf(label->name, sizeof label->name, "0x%04x", pair);
    snprintf(label->note, sizeof label->note, "%.8s%.8s", first, second);
}

/* How many bits the second byte of a pair tells if the first one is known. */
static double conditional_entropy(const uint64_t *counts)
{
    uint64_t firsts[BYTE_VALUES] = {0};
    for (size_t row = 0; row < PAIR_ROWS; row++)
        firsts[row / BYTE_VALUES] += counts[row];
    const double rest =
        statistics_entropy(counts, PAIR_ROWS) - statistics_entropy(firsts, BYTE_VALUES);
    return rest < 0 ? 0 : rest; /* but for rounding it is not; NaN stays what it is */
}

static void pairs_add_statistics(const struct histogram *histogram, const struct tally *tally,
                                 struct statistics *statistics)
{
    (void)histogram;
    const uint64_t *counts = tally->counts;
    uint64_t distinct = 0;
    for (size_t row = 0; row < PAIR_ROWS; row++)
        distinct += counts[row] > 0;
    statistics_add_count(statistics, "pairs", tally->samples);
    statistics_add_count(statistics, "distinct", distinct);
    statistics_add_rounded(statistics, "entropy", statistics_entropy(counts, PAIR_ROWS), 6);
    statistics_add_rounded(statistics, "conditional-entropy", conditional_entropy(counts), 6);
}

const struct mode mode_pairs = {
    .id = MODE_PAIRS,
    .name = "pairs",
    .has_pairs = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "chars"},
    .sample_size = pair_sample_size,
    .samples_most = pair_samples_most,
    .row_kind = byte_row_kind,
    .label_row = pairs_label_row,
    .add_statistics = pairs_add_statistics,
};

void histogram_pairs(struct histogram *histogram, bool is_aligned)
{
    *histogram = (struct histogram){
        .mode = &mode_pairs, .width = 1, .bins = PAIR_ROWS, .is_aligned = is_aligned};
}

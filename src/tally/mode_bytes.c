/* SPDX-License-Identifier: MIT */
/* Bytes: each byte value is a bin. */
#include "chi_square.h"
#include "statistics.h"

#include <math.h>
#include <stdio.h>

static void bytes_label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    (void)spec;
    const unsigned byte = (unsigned)row;
    row_label_set(label, byte, byte);
    snprintf(label->name, sizeof label->name, "0x%02x", byte);
    byte_show(byte, label->note);
}

/* Returns how far the counts are from being equal. */
static double bytes_chi_square(const uint64_t *counts, double samples)
{
    double expected = samples / BYTE_VALUES, sum = 0;
    for (unsigned byte = 0; byte < BYTE_VALUES; byte++) {
        double difference = (double)counts[byte] - expected;
        sum += difference * difference / expected;
    }
    return sum;
}

/* Returns the probability that two samples, drawn at random, are the same byte. */
static double bytes_coincidence(const uint64_t *counts, double samples)
{
    double sum = 0;
    for (unsigned byte = 0; byte < BYTE_VALUES; byte++)
        if (counts[byte] > 1)
            sum += (double)counts[byte] / samples * ((double)(counts[byte] - 1) / (samples - 1));
    return samples > 1 ? sum : NAN;
}

/* True for printable ASCII and white space. */
static bool byte_is_printable(unsigned byte)
{
    return (byte >= ' ' && byte < 0x7f) || (byte >= '\t' && byte <= '\r');
}

static void bytes_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                 struct statistics *to)
{
    (void)spec;
    const uint64_t *counts = tally->counts;
    struct exact_sum exact = {0};
    int128 sum = 0;
    uint64_t distinct = 0, printable = 0;
    for (unsigned byte = 0; byte < BYTE_VALUES; byte++) {
        distinct += counts[byte] > 0;
        printable += byte_is_printable(byte) ? counts[byte] : 0;
        sum += (int128)counts[byte] * byte;
    }
    exact_sum_add_int128(&exact, sum, 0);
    const bool any = tally->samples > 0;
    const double samples = (double)tally->samples;
    const double chi_square = any ? bytes_chi_square(counts, samples) : NAN;
    statistics_add_count(to, "bytes", tally->samples);
    statistics_add_count(to, "distinct", distinct);
    statistics_add_rounded(to, "entropy", statistics_entropy(counts, BYTE_VALUES), 6);
    statistics_add_rounded(to, "chi-square", chi_square, 2);
    statistics_add_rounded(to, "probability",
                           any ? chi_square_probability(chi_square, BYTE_VALUES - 1) : NAN, 6);
    statistics_add_number(to, "mean", any ? exact_sum_quotient(&exact, tally->samples) : NAN);
    statistics_add_rounded(to, "printable", (double)printable / samples, 6);
    statistics_add_rounded(to, "coincidence", bytes_coincidence(counts, samples), 6);
}

const struct mode mode_bytes = {
    .id = MODE_BYTES,
    .name = "bytes",
    .counts_every = true,
    .columns = {"bin", "count", "char"},
    .label_row = bytes_label_row,
    .add_statistics = bytes_add_statistics,
};

void histogram_spec_bytes(struct histogram_spec *spec)
{
    *spec = (struct histogram_spec){
        .mode = &mode_bytes, .sample_size = 1, .width = 1, .bins = BYTE_VALUES};
    for (unsigned value = 0; value < BYTE_VALUES; value++)
        spec->bin_of[value] = (uint16_t)value;
}

/* SPDX-License-Identifier: MIT */
/* Bytes: each byte value is a bin. */
#include "byte_rows.h"
#include "chi_square.h"
#include "statistics.h"

#include <math.h>
#include <stdio.h>

static void bytes_label_row(const struct histogram *histogram, size_t row, struct row_label *label)
{
    (void)histogram;
    unsigned byte = (unsigned)row;
    byte_label_row(byte, byte, label);
    snprintf(label->name, sizeof label->name, "0x%02x", byte);
    byte_show(byte, label->note);
}

/* --- statistics --- */

#define BYTE_VALUES 256

/* How far the counts are from being all alike. */
static double bytes_chi_square(const uint64_t *counts, double samples)
{
    double expected = samples / BYTE_VALUES, sum = 0;
    for (unsigned byte = 0; byte < BYTE_VALUES; byte++) {
        double difference = (double)counts[byte] - expected;
        sum += difference * difference / expected;
    }
    return sum;
}

/* The probability that two samples, drawn at random, are the same byte. */
static double bytes_coincidence(const uint64_t *counts, double samples)
{
    double sum = 0;
    for (unsigned byte = 0; byte < BYTE_VALUES; byte++)
        if (counts[byte] > 1)
            sum += (double)counts[byte] / samples * ((double)(counts[byte] - 1) / (samples - 1));
    return samples > 1 ? sum : NAN;
}

/* ASCII that can be printed, and white space. */
static bool byte_is_printable(unsigned byte)
{
    return (byte >= ' ' && byte < 0x7f) || (byte >= '\t' && byte <= '\r');
}

static void bytes_add_statistics(const struct histogram *histogram, const struct tally *tally,
                                 struct statistics *statistics)
{
    (void)histogram;
    const uint64_t *counts = tally->counts;
    struct moments moments = {0};
    uint64_t distinct = 0, printable = 0;
    for (unsigned byte = 0; byte < BYTE_VALUES; byte++) {
        distinct += counts[byte] > 0;
        printable += byte_is_printable(byte) ? counts[byte] : 0;
        moments_add_times(&moments, byte, counts[byte]);
    }
    bool any = tally->samples > 0;
    double samples = (double)tally->samples, chi_square = bytes_chi_square(counts, samples);
    statistics_add_count(statistics, "bytes", tally->samples);
    statistics_add_count(statistics, "distinct", distinct);
    statistics_add_rounded(statistics, "entropy", statistics_entropy(counts, BYTE_VALUES), 6);
    statistics_add_rounded(statistics, "chi-square", any ? chi_square : NAN, 2);
    statistics_add_rounded(statistics, "probability",
                           any ? chi_square_probability(chi_square, BYTE_VALUES - 1) : NAN, 6);
    statistics_add_number(statistics, "mean", any ? moments_mean(&moments, tally->samples) : NAN);
    statistics_add_rounded(statistics, "printable", (double)printable / samples, 6);
    statistics_add_rounded(statistics, "coincidence", bytes_coincidence(counts, samples), 6);
}

const struct mode mode_bytes = {
    .id = MODE_BYTES,
    .name = "bytes",
    .counts_every = true,
    .columns = {"bin", "count", "char"},
    .sample_size = byte_sample_size,
    .samples_most = byte_samples_most,
    .row_kind = byte_row_kind,
    .label_row = bytes_label_row,
    .add_statistics = bytes_add_statistics,
};

void histogram_bytes(struct histogram *histogram)
{
    *histogram = (struct histogram){.mode = &mode_bytes, .width = 1, .bins = 256};
    for (unsigned value = 0; value < 256; value++)
        histogram->bin_of[value] = (uint16_t)value;
}

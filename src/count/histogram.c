/* SPDX-License-Identifier: MIT */
#include "histogram.h"

void histogram_split(struct histogram *histogram, unsigned channels)
{
    histogram->bins = histogram_rows(histogram) * channels;
    histogram->channels = channels;
}

unsigned histogram_channels(const struct histogram *histogram)
{
    return histogram->channels > 1 ? histogram->channels : 1;
}

size_t histogram_rows(const struct histogram *histogram)
{
    return histogram->bins / histogram_channels(histogram);
}

struct histogram histogram_of_channel(const struct histogram *histogram)
{
    struct histogram channel = *histogram;
    channel.bins = histogram_rows(histogram);
    channel.channels = 1;
    return channel;
}

size_t histogram_sample_size(const struct histogram *histogram)
{
    return histogram->sample_size * histogram_channels(histogram);
}

uint64_t histogram_samples_most(const struct histogram *histogram, size_t len)
{
    if (histogram->sample_size > 0)
        return len / histogram->sample_size;
    if (histogram->mode->is_text)
        return ((uint64_t)len + 1) / 2; /* a byte each, and white space between two */
    if (histogram->mode->has_pairs)
        return len > 0 ? len - 1 : 0; /* every byte but the last begins one */
    return len;                       /* characters of one byte, or invalid bytes */
}

enum row_kind histogram_row_kind(const struct histogram *histogram, size_t row)
{
    const struct binning *binning = &histogram->binning;
    if (!histogram->mode->is_binned)
        return histogram->mode->has_characters && row == histogram->bins - 1 ? ROW_KIND_INVALID
                                                                             : ROW_KIND_BIN;
    row %= ROWS(binning); /* of its channel */
    return row == ROW_BELOW              ? ROW_KIND_BELOW
           : row == ROW_ABOVE(binning)   ? ROW_KIND_ABOVE
           : row == ROW_INVALID(binning) ? ROW_KIND_INVALID
                                         : ROW_KIND_BIN;
}

void histogram_label_row(const struct histogram *histogram, size_t row, struct row_label *label)
{
    label->kind = histogram_row_kind(histogram, row);
    if (label->kind == ROW_KIND_INVALID)
        *label = (struct row_label){.kind = ROW_KIND_INVALID, .name = "invalid"};
    else
        histogram->mode->label_row(histogram, row, label);
}

bool histogram_is_sparse(const struct histogram *histogram)
{
    return histogram->mode->is_sparse || histogram->binning.kind >= BINNING_DECADES;
}

bool histogram_counts_values(const struct histogram *histogram)
{
    const struct binning *binning = &histogram->binning;
    if (!histogram->mode->is_binned)
        return histogram->mode->counts_every && histogram->width == 1;
    return binning->is_whole && binning->kind == BINNING_EQUAL &&
           binning->span == (whole)binning->bins;
}

bool histogram_adds_up(const struct histogram *histogram, uint64_t counted, uint64_t samples)
{
    return histogram->mode->counts_every ? counted == samples : counted <= samples;
}

void histogram_map(const struct histogram *histogram, const uint64_t bytes[BYTE_VALUES],
                   uint64_t *counts)
{
    for (unsigned value = 0; value < BYTE_VALUES; value++)
        if (histogram->bin_of[value] != NO_BIN)
            counts[histogram->bin_of[value]] += bytes[value];
}

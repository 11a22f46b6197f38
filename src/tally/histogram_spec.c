/* SPDX-License-Identifier: MIT */
#include "histogram_spec.h"

void histogram_spec_split(struct histogram_spec *spec, unsigned channels)
{
    spec->bins = histogram_spec_rows(spec) * channels;
    spec->channels = channels;
}

unsigned histogram_spec_channels(const struct histogram_spec *spec)
{
    return spec->channels > 1 ? spec->channels : 1;
}

size_t histogram_spec_rows(const struct histogram_spec *spec)
{
    return spec->bins / histogram_spec_channels(spec);
}

struct histogram_spec histogram_spec_of_channel(const struct histogram_spec *spec)
{
    struct histogram_spec channel = *spec;
    channel.bins = histogram_spec_rows(spec);
    channel.channels = 1;
    return channel;
}

size_t histogram_spec_sample_size(const struct histogram_spec *spec)
{
    return spec->sample_size * histogram_spec_channels(spec);
}

uint64_t histogram_spec_samples_max(const struct histogram_spec *spec, size_t len)
{
    if (spec->sample_size > 0)
        return len / spec->sample_size;
    if (spec->mode->is_text)
        return ((uint64_t)len + 1) / 2; /* a byte each, and white space between two */
    if (spec->mode->has_pairs)
        return len > 0 ? len - 1 : 0; /* every byte but the last begins one */
    return len;                       /* characters of one byte, or invalid bytes */
}

enum row_kind histogram_spec_row_kind(const struct histogram_spec *spec, size_t row)
{
    const struct binning *binning = &spec->binning;
    if (!spec->mode->is_binned)
        return spec->mode->has_characters && row == spec->bins - 1 ? ROW_KIND_INVALID
                                                                   : ROW_KIND_BIN;
    row %= ROWS(binning); /* of its channel */
    return row == ROW_BELOW              ? ROW_KIND_BELOW
           : row == ROW_ABOVE(binning)   ? ROW_KIND_ABOVE
           : row == ROW_INVALID(binning) ? ROW_KIND_INVALID
                                         : ROW_KIND_BIN;
}

void histogram_spec_label_row(const struct histogram_spec *spec, size_t row,
                              struct row_label *label)
{
    label->kind = histogram_spec_row_kind(spec, row);
    if (label->kind == ROW_KIND_INVALID)
        *label = (struct row_label){.kind = ROW_KIND_INVALID, .name = "invalid"};
    else
        spec->mode->label_row(spec, row, label);
}

bool histogram_spec_is_sparse(const struct histogram_spec *spec)
{
    return spec->mode->is_sparse || spec->binning.kind >= BINNING_DECADES;
}

bool histogram_spec_counts_values(const struct histogram_spec *spec)
{
    const struct binning *binning = &spec->binning;
    if (!spec->mode->is_binned)
        return spec->mode->counts_every && spec->width == 1;
    return binning->is_whole && binning->kind == BINNING_EQUAL &&
           binning->span == (int128)binning->bins;
}

bool histogram_spec_adds_up(const struct histogram_spec *spec, uint64_t counted, uint64_t samples)
{
    return spec->mode->counts_every ? counted == samples : counted <= samples;
}

void histogram_spec_map(const struct histogram_spec *spec, const uint64_t bytes[BYTE_VALUES],
                        uint64_t *counts)
{
    for (unsigned value = 0; value < BYTE_VALUES; value++)
        if (spec->bin_of[value] != NO_BIN)
            counts[spec->bin_of[value]] += bytes[value];
}

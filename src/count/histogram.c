/* SPDX-License-Identifier: MIT */
#include "histogram.h"
#include "row_blocks.h"

#include <stdlib.h>
#include <string.h>

#define PART_ROWS 1024 /* of a tally without blocks */

size_t histogram_sample_size(const struct histogram *histogram)
{
    return histogram->mode->sample_size(histogram);
}

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

bool histogram_is_sparse(const struct histogram *histogram)
{
    return histogram->mode->is_sparse || histogram->binning.decade_bins > 0 ||
           histogram->binning.log_linear || histogram->binning.digits.scales ||
           histogram->binning.whole_digits.digits;
}

bool histogram_counts_values(const struct histogram *histogram)
{
    const struct binning *binning = &histogram->binning;
    if (!histogram->mode->is_binned)
        return histogram->mode->counts_every && histogram->width == 1;
    return binning->is_whole && !binning->whole_edges && binning->span == (whole)binning->bins;
}

bool histogram_adds_up(const struct histogram *histogram, uint64_t counted, uint64_t samples)
{
    return histogram->mode->counts_every ? counted == samples : counted <= samples;
}

void histogram_map(const struct histogram *histogram, const uint64_t bytes[256], uint64_t *counts)
{
    for (unsigned value = 0; value < 256; value++)
        if (histogram->bin_of[value] != NO_BIN)
            counts[histogram->bin_of[value]] += bytes[value];
}

int tally_open(struct tally *tally, const struct histogram *histogram)
{
    const struct histogram *also = histogram->also;
    *tally = (struct tally){.bins = histogram->bins, .channels = histogram_channels(histogram)};
    tally->counts = calloc(tally->bins, sizeof tally->counts[0]);
    if (histogram->has_moments)
        tally->moments = calloc(tally->channels, sizeof *tally->moments);
    if (also)
        tally->also = calloc(1, sizeof *tally->also);
    if (tally->counts && (tally->moments || !histogram->has_moments) &&
        (!also || (tally->also && tally_open(tally->also, also) == 0)))
        return 0;
    tally_close(tally);
    return -1;
}

struct tally tally_of_channel(const struct tally *tally, unsigned channel)
{
    const size_t rows = tally->bins / tally->channels;
    return (struct tally){
        .bins = rows,
        .samples = tally->samples / tally->channels,
        .counts = tally->counts + channel * rows,
        .moments = tally->moments ? &tally->moments[channel] : NULL,
        .channels = 1,
    };
}

void tally_close(struct tally *tally)
{
    if (tally->also)
        tally_close(tally->also);
    free(tally->also);
    free(tally->counts);
    free(tally->moments);
    *tally = (struct tally){0};
}

void tally_clear(struct tally *tally)
{
    tally->samples = tally->bytes = tally->newlines = 0;
    memset(tally->counts, 0, tally->bins * sizeof tally->counts[0]);
    if (tally->moments)
        memset(tally->moments, 0, tally->channels * sizeof *tally->moments);
    if (tally->also)
        tally_clear(tally->also);
}

void tally_add(struct tally *into, const struct tally *from)
{
    into->samples += from->samples;
    into->bytes += from->bytes;
    into->newlines += from->newlines;
    for (size_t bin = 0; bin < into->bins; bin++)
        into->counts[bin] += from->counts[bin];
    for (unsigned i = 0; from->moments && i < from->channels; i++)
        moments_merge(&into->moments[i], &from->moments[i]);
    if (from->also)
        tally_add(into->also, from->also);
}

size_t tally_next_part(const struct tally *tally, size_t row, size_t *end)
{
    const size_t bins = tally->bins;
    if (tally->blocks && !row_blocks_has(tally->blocks, row))
        row = row_blocks_next(tally->blocks, row);
    if (row >= bins)
        return bins;
    *end = tally->blocks ? row_blocks_end(tally->blocks, row) : row + PART_ROWS;
    *end = *end < bins ? *end : bins;
    return row;
}

/* The first row of [row, end) whose count is not 0, or end. */
static inline size_t next_counted(const uint64_t *counts, size_t row, size_t end)
{
    for (; row + 8 <= end; row += 8) {
        const uint64_t *some = counts + row;
        if (some[0] | some[1] | some[2] | some[3] | some[4] | some[5] | some[6] | some[7])
            break;
    }
    while (row < end && counts[row] == 0)
        row++;
    return row;
}

size_t tally_next_counted(const struct tally *tally, size_t row)
{
    size_t end;
    while ((row = tally_next_part(tally, row, &end)) < tally->bins) {
        row = next_counted(tally->counts, row, end);
        if (row < end)
            return row;
    }
    return tally->bins;
}

uint64_t tally_sum(const struct tally *tally, size_t from, size_t to)
{
    uint64_t sum = 0;
    for (size_t row = from, end; (row = tally_next_part(tally, row, &end)) < to; row = end) {
        end = end < to ? end : to;
        for (; row < end; row++)
            sum += tally->counts[row];
    }
    return sum;
}

void tally_seen_decades(const struct tally *tally, const struct histogram *histogram,
                        struct row_range seen[2])
{
    const struct binning *binning = &histogram->binning;
    const size_t others = binning->is_whole ? 1 : 3;           /* zero, and what is next to it */
    const size_t above = binning->bins - binning->decade_bins; /* bins up to these */
    seen[0] = seen[1] = (struct row_range){0, 0};
    if (binning->decade_bins == 0)
        return;
    for (size_t at = 0; (at = tally_next_counted(tally, at)) < tally->bins; at++) {
        const size_t row = at % ROWS(binning);
        struct row_range *range = &seen[row > above];
        if (row < 1 || row > binning->bins || (row > above - others && row <= above))
            continue;
        range->begin = range->end == 0 || row < range->begin ? row : range->begin;
        range->end = row + 1 > range->end ? row + 1 : range->end;
    }
}

uint64_t tally_counted(const struct tally *tally)
{
    return tally_sum(tally, 0, tally->bins);
}

void tally_skip_invalid(struct tally *tally, const struct histogram *histogram)
{
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < tally->bins; row++)
        if (histogram->mode->row_kind(histogram, row) == ROW_KIND_INVALID) {
            tally->samples -= tally->counts[row];
            tally->counts[row] = 0;
        }
}

bool tally_adds_up(const struct tally *tally, const struct histogram *histogram)
{
    return histogram_adds_up(histogram, tally_counted(tally), tally->samples);
}
